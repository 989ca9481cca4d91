//! Jobs that replay traces: what their traces contain, and the issuers of their workers.

use std::collections::BTreeMap;
use std::fmt;

use job::{BlockSizes, Dialect, EngineKind, Job, Plan, ReplayFacts, ReplayOptions, TraceMerge};
use units::{PerKind, Problem, ProblemCode};
use workload::{Issuer, JobLayout, MergedTrace, TraceBytes, WorkerIndex, scan_trace};

/// Opens the traces that jobs replay.
pub trait TraceFiles: fmt::Debug + Send + Sync {
    /// Opens a trace at its start. It is opened once before the run and once by each worker.
    ///
    /// # Errors
    ///
    /// Returns why it cannot be opened.
    fn open(&self, path: &str) -> Result<Box<dyn TraceBytes>, Problem>;

    /// Writes a trace to a file.
    ///
    /// # Errors
    ///
    /// Returns why it cannot be read or written.
    fn write(&self, path: &str, trace: &mut dyn TraceBytes) -> Result<(), Problem> {
        let _ = trace;
        Err(Problem::error(ProblemCode::Trace, format!("{path}: this command cannot write traces"))
            .help("use `fathom run` or `fathom sim`"))
    }
}

/// Opens no trace, for runners of jobs that replay none.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTraces;

impl TraceFiles for NoTraces {
    fn open(&self, path: &str) -> Result<Box<dyn TraceBytes>, Problem> {
        Err(Problem::error(ProblemCode::Trace, format!("{path}: this command cannot replay traces"))
            .help("use `fathom run` or `fathom sim`"))
    }
}

/// Queue depth of a replay on a model if the job gives none: more than real applications have in flight.
const MODEL_DEPTH: u32 = 4096;
/// The same on a device, where each operation in flight has a buffer.
const DEVICE_DEPTH: u32 = 1024;
/// Maximum memory of the buffers of such a replay in bytes, unless that leaves less than [`LEAST_DEPTH`] operations.
const BUFFER_BYTES_MAX: u64 = 256 << 20;
const LEAST_DEPTH: u32 = 32;

/// Reads the traces of a plan and resolves what follows from them. A job whose facts are known keeps them, so that one
/// trace can be replayed by many plans and is read for the first only.
///
/// # Errors
///
/// Returns a diagnostic for each job whose trace cannot be replayed.
pub fn resolve_replays(plan: &mut Plan, dialect: Dialect, traces: &dyn TraceFiles) -> Vec<Problem> {
    let mut known: BTreeMap<String, Result<ReplayFacts, Problem>> = BTreeMap::new();
    let mut problems = Vec::new();
    for job in &mut plan.jobs {
        let Some(replay) = &mut job.replay else { continue };
        if replay.facts.is_none() {
            let scan = || open(replay, traces).and_then(|bytes| scan_trace(replay, bytes));
            match known.entry(identity(replay)).or_insert_with(scan) {
                Ok(facts) => replay.facts = Some(facts.clone()),
                Err(error) => {
                    problems.push(of_job(job, error));
                    continue;
                }
            }
        }
        resolve(job, dialect);
    }
    problems
}

/// Returns what determines the facts of a trace.
fn identity(replay: &ReplayOptions) -> String {
    let ReplayOptions { trace, merge, start, length, scale, align, skip, .. } = replay;
    format!("{:?}", (trace, merge, start, length, scale, align, skip))
}

/// Opens the trace of a job. Traces that are merged are merged anew, so that the merged file need not exist yet.
fn open(replay: &ReplayOptions, traces: &dyn TraceFiles) -> Result<Box<dyn TraceBytes>, Problem> {
    match &replay.merge {
        None => traces.open(&replay.trace),
        Some(merge) => Ok(Box::new(merged(merge, traces)?)),
    }
}

fn merged(merge: &TraceMerge, traces: &dyn TraceFiles) -> Result<MergedTrace, Problem> {
    let bytes = merge.inputs.iter().map(|input| traces.open(&input.trace)).collect::<Result<_, _>>()?;
    MergedTrace::new(merge, bytes)
}

/// Writes the merged traces of a plan to their files (`merge_blktrace_file`).
///
/// # Errors
///
/// Returns why one of them cannot be written.
pub fn write_merged_traces(plan: &Plan, traces: &dyn TraceFiles) -> Result<(), Problem> {
    let merges: BTreeMap<_, _> = plan
        .jobs
        .iter()
        .filter_map(|job| job.replay.as_ref()?.merge.as_ref())
        .map(|merge| (&merge.file, merge))
        .collect();
    merges.into_values().try_for_each(|merge| {
        let written = traces.write(&merge.file, &mut merged(merge, traces)?);
        written.map_err(|problem| problem.of("merge_blktrace_file"))
    })
}

/// Moves the problem of a trace to the option of a job that names the trace.
fn of_job(job: &Job, problem: &Problem) -> Problem {
    let place = ["replay", "read_iolog"].iter().find_map(|name| {
        job.origin.options.iter().rev().find(|(known, _)| known == name).map(|(_, place)| place.clone())
    });
    let within = problem.place.as_ref().map_or_else(String::new, |place| format!("{place}: "));
    let what = format!("job `{}`: {within}{}", job.name, problem.what);
    Problem { what, ..problem.clone() }.at(place)
}

/// Sets the pattern of a job to what its trace contains, and its queue depth if the job gives none.
fn resolve(job: &mut Job, dialect: Dialect) {
    let Some(replay) = &job.replay else { return };
    let Some(facts) = &replay.facts else { return };
    let PerKind { read, write, trim } = facts.lengths;
    let sizes = |(least, most): (u32, u32)| match (least, most) {
        (_, 0) => BlockSizes::Fixed(facts.unit.max(1)),
        (least, most) if least == most => BlockSizes::Fixed(most),
        (least, most) => BlockSizes::Range(least, most),
    };
    let pattern = &mut job.pattern;
    pattern.direction = facts.direction();
    // fio takes the order of `rw` for advice to the kernel, which is sequential unless the job says otherwise.
    if dialect == Dialect::Strict {
        (pattern.random, pattern.modifier) = (true, 1);
    }
    // Trims have no buffers and may be longer than the target.
    pattern.block_sizes = PerKind { read: sizes(read), write: sizes(write), trim: sizes((trim.0, trim.0)) };
    if replay.chooses_depth {
        job.pace.iodepth = depth(job.engine.kind, read.1.max(write.1));
    }
    let names_no_file = job.files.filenames.is_empty() && job.files.directories.iter().all(String::is_empty);
    if dialect == Dialect::Fio && names_no_file && job.engine.uri.is_none() {
        job.files.filenames = facts.devices.iter().map(|(name, _)| name.clone()).collect();
        job.files.nrfiles = job.files.filenames.len() as u32;
    }
}

fn depth(engine: EngineKind, longest: u32) -> u32 {
    if engine == EngineKind::Model {
        return MODEL_DEPTH;
    }
    let within_memory = BUFFER_BYTES_MAX / u64::from(longest.max(1));
    u32::try_from(within_memory).unwrap_or(DEVICE_DEPTH).clamp(LEAST_DEPTH, DEVICE_DEPTH)
}

/// Creates the issuer of a worker, which opens the trace that its job replays.
///
/// # Errors
///
/// Returns why the job cannot run.
pub fn issuer(
    job: &Job,
    worker: WorkerIndex,
    layout: &JobLayout,
    seed: u64,
    traces: &dyn TraceFiles,
) -> Result<Issuer, Problem> {
    match &job.replay {
        None => Issuer::new(job, worker, layout, seed),
        Some(replay) => Issuer::replaying(job, worker, layout, seed, open(replay, traces)?),
    }
}
