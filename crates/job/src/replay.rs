//! Checks and defaults of jobs that replay a trace.

use units::{Problem, ProblemCode};

use crate::draft::{JobDraft, MergeDraft};
use crate::model::{EngineKind, Job, MergedInput, ReplayOptions, TraceMerge, split_names};
use crate::strict::StrictContext;

/// Options that describe what a trace contains already.
const REPLACED_BY_TRACE: [&str; 21] = [
    "rw",
    "bs",
    "bsrange",
    "bssplit",
    "blockalign",
    "rwmixread",
    "rwmixwrite",
    "random_distribution",
    "percentage_random",
    "io_size",
    "loops",
    "time_based",
    "rate",
    "rate_iops",
    "rate_process",
    "thinktime",
    "fsync",
    "fdatasync",
    "end_fsync",
    "end_syncfs",
    "sync_file_range",
];

/// Options of a replay, which need a trace.
const NEEDS_TRACE: [&str; 6] =
    ["replay_speed", "replay_loop", "replay_start", "replay_for", "replay_fit", "merge_blktrace_file"];

/// Options of merged traces, which need `merge_blktrace_file`.
const NEEDS_MERGE: [&str; 2] = ["merge_blktrace_scalars", "merge_blktrace_iters"];

/// Chooses what a job of the strict dialect leaves open: an engine that has many requests in flight, without the page
/// cache, which was above the device of the trace too.
pub(crate) fn choose_defaults(draft: &mut JobDraft, context: &StrictContext<'_>) {
    if draft.replay.trace.is_empty() {
        return;
    }
    let is_given = |name| context.last(name).is_some();
    let engine = &mut draft.job.engine;
    if engine.kind == EngineKind::Psync && !is_given("ioengine") {
        engine.kind = EngineKind::IoUring;
        engine.direct |= !is_given("direct") && !is_given("buffered");
    }
    draft.replay.chooses_depth = engine.kind.traits().queues && !is_given("iodepth");
}

/// Returns the traces that a job merges, if any.
///
/// # Errors
///
/// Fails if a list has not one value for each trace, or if a number of iterations is not whole.
pub(crate) fn merge(
    draft: &MergeDraft,
    traces: &str,
    context: &StrictContext<'_>,
) -> Result<Option<TraceMerge>, Problem> {
    if draft.file.is_empty() {
        return Ok(None);
    }
    let traces = split_names(traces);
    let values = |name: &'static str, values: &[f64], default: f64| {
        if values.is_empty() {
            return Ok(vec![default; traces.len()]);
        }
        if values.len() == traces.len() {
            return Ok(values.to_vec());
        }
        let message = format!("{} values for {} traces", values.len(), traces.len());
        let problem = context.error(ProblemCode::Merge, name, &message);
        Err(problem.help("write one value for each trace of `read_iolog`, separated by `:`"))
    };
    let percentages = values("merge_blktrace_scalars", &draft.percentages, 100.0)?;
    let iterations = values("merge_blktrace_iters", &draft.iterations, 1.0)?;
    if let Some(broken) = iterations.iter().find(|value| value.fract() != 0.0) {
        let message = format!("`{broken}` is not a whole number of iterations");
        let problem = context.error(ProblemCode::Merge, "merge_blktrace_iters", &message);
        return Err(problem.help("write, for example, `merge_blktrace_iters=2:1`"));
    }
    let of_trace = traces.into_iter().zip(percentages.into_iter().zip(iterations));
    let inputs = of_trace.map(|(trace, (percentage, iterations))| MergedInput {
        trace,
        scale_ppm: (percentage * (ReplayOptions::ORIGINAL_SPEED / 100) as f64).round() as u64,
        iterations: iterations as u32,
    });
    Ok(Some(TraceMerge { file: draft.file.clone(), inputs: inputs.collect() }))
}

/// Returns combinations that are impossible in both dialects.
pub(crate) fn check(job: &Job, context: &StrictContext<'_>) -> Option<Problem> {
    if job.engine.kind.traits().metadata {
        let message = format!("the engine `{}` transfers no data and cannot replay a trace", job.engine.kind.name());
        let problem = context.error(ProblemCode::Replay, "ioengine", &message);
        return Some(problem.help("write `ioengine=io_uring`, or leave the trace out"));
    }
    job.verify.method.is_some().then(|| {
        context
            .error(ProblemCode::Replay, "verify", "a replay cannot be verified: a trace contains no data")
            .help("leave `verify` out, or verify a job without a trace")
    })
}

/// Returns combinations that the strict dialect refuses.
pub(crate) fn check_strictly(draft: &JobDraft, context: &StrictContext<'_>) -> Vec<Problem> {
    ignored(draft, context).into_iter().chain(no_target(draft, context)).collect()
}

/// Returns an option that a trace replaces, or that has no effect without one.
fn ignored(draft: &JobDraft, context: &StrictContext<'_>) -> Option<Problem> {
    let is_given = |name: &&&str| context.last(name).is_some();
    if let Some(name) = NEEDS_MERGE.iter().find(is_given).filter(|_| draft.merge.file.is_empty()) {
        let message = format!("`{name}` has no effect without `merge_blktrace_file`");
        return Some(context.error(ProblemCode::Merge, name, &message).help("name a file for the merged trace"));
    }
    if draft.replay.trace.is_empty() {
        let name = *NEEDS_TRACE.iter().find(is_given)?;
        let message = format!("`{name}` has no effect without a trace");
        return Some(context.error(ProblemCode::Replay, name, &message).help("name a trace with `replay`, or omit it"));
    }
    let name = *REPLACED_BY_TRACE.iter().find(is_given)?;
    let message = format!("`{name}` has no effect on a replay: the trace determines the requests and their times");
    Some(context.error(ProblemCode::Replay, name, &message).help("omit it"))
}

/// Returns an error for a replay without a target. fio takes the files that the trace names.
fn no_target(draft: &JobDraft, context: &StrictContext<'_>) -> Option<Problem> {
    let (files, engine) = (&draft.job.files, &draft.job.engine);
    let is_placed = !files.filenames.is_empty()
        || draft.redirect.is_some()
        || files.directories.iter().any(|path| !path.is_empty())
        || matches!(engine.kind, EngineKind::Model | EngineKind::Nbd)
        || engine.kind.has_no_storage()
        || engine.volume.is_some();
    (!draft.replay.trace.is_empty() && !is_placed).then(|| {
        context
            .error(ProblemCode::Replay, "replay", "a replay needs a target")
            .note("fio replays a trace on the files it names")
            .help("write `filename=PATH`, `directory=DIR` for a new file, or `--on VOLUME` for a model")
    })
}
