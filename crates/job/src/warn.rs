//! fio's warnings, which `--warnings-fatal` turns into errors.

use units::{Nanos, Problem, ProblemCode, ProblemLevel};

use crate::Dialect;
use crate::draft::JobDraft;
use crate::model::{Job, Pattern};
use crate::strict::StrictContext;

/// Settings of a draft that reconciliation removes from the job.
pub(crate) struct JobRequest {
    /// `time_based` without a `runtime`.
    time_based_alone: bool,
    /// `norandommap` or `blockalign`, which allow blocks to repeat.
    allows_repeats: bool,
}

impl JobRequest {
    pub(crate) fn of(draft: &JobDraft) -> Self {
        let extent = &draft.job.extent;
        let allows_repeats = draft.job.pattern.norandommap || draft.align.iter().any(Option::is_some);
        Self { time_based_alone: extent.time_based && extent.runtime == Nanos::ZERO, allows_repeats }
    }
}

/// Returns warnings about a job.
pub(crate) fn check(job: &Job, request: &JobRequest, dialect: Dialect, context: &StrictContext<'_>) -> Vec<Problem> {
    let checks = [
        (request.time_based_alone && dialect == Dialect::Fio).then(|| endless(context)),
        request.allows_repeats.then(|| overlapping_blocks(job, context)).flatten(),
        several_writers(job, context),
    ];
    let warnings = checks.into_iter().flatten();
    warnings.map(|diagnostic| Problem { level: ProblemLevel::Warning, ..diagnostic }).collect()
}

/// The strict dialect reports an error instead.
fn endless(context: &StrictContext<'_>) -> Problem {
    context
        .error(ProblemCode::TimeBased, "time_based", "`time_based` has no effect without a `runtime`")
        .help("write `runtime=60s`, or leave `time_based` out")
}

/// A write may overwrite part of an earlier block, whose header and checksum are then wrong.
fn overlapping_blocks(job: &Job, context: &StrictContext<'_>) -> Option<Problem> {
    (job.verify.method.is_some() && !one_block_size(&job.pattern)).then(|| {
        context
            .error(
                ProblemCode::VerifyOverlap,
                "norandommap",
                "blocks of several sizes may overlap, and not all can be verified",
            )
            .help("leave `norandommap` out, or use one block size")
    })
}

fn one_block_size(pattern: &Pattern) -> bool {
    let sizes = &pattern.block_sizes;
    let sizes = [&sizes.read, &sizes.write, &sizes.trim];
    sizes.iter().all(|one| one.min() == sizes[0].min() && one.max() == sizes[0].min())
}

fn several_writers(job: &Job, context: &StrictContext<'_>) -> Option<Problem> {
    let files = &job.files;
    let shared = !files.filenames.is_empty() || !files.filename_format.to_ascii_lowercase().contains("$jobnum");
    let verified = job.verify.method.is_some() && job.verify.do_verify && job.pattern.direction.writes();
    (verified && shared && job.grouping.numjobs > 1).then(|| {
        context
            .error(
                ProblemCode::VerifyOverlap,
                "numjobs",
                "several workers write one file, and overwrite blocks that others verify",
            )
            .help("give each worker its own file by leaving `filename` out, or write `numjobs=1`")
    })
}
