//! Warnings of fio, fatal with `--warnings-fatal`.

use units::Nanos;

use crate::Dialect;
use crate::diagnostic::{Diagnostic, DiagnosticLevel};
use crate::draft::JobDraft;
use crate::model::{Job, Pattern};
use crate::strict::StrictContext;

/// Requests of a draft that the resulting job does not show.
pub(crate) struct JobRequest {
    /// To go on until a `runtime` ends that is not there.
    endless: bool,
    /// That blocks may come again, by `norandommap` or `blockalign`.
    free: bool,
}

impl JobRequest {
    pub(crate) fn of(draft: &JobDraft) -> Self {
        let extent = &draft.job.extent;
        let free = draft.job.pattern.norandommap || draft.align.iter().any(Option::is_some);
        Self { endless: extent.time_based && extent.runtime == Nanos::ZERO, free }
    }
}

/// Warnings about a job.
pub(crate) fn check(job: &Job, asked: &JobRequest, dialect: Dialect, context: &StrictContext<'_>) -> Vec<Diagnostic> {
    let checks = [
        (asked.endless && dialect == Dialect::Fio).then(|| endless(context)),
        asked.free.then(|| overlapping_blocks(job, context)).flatten(),
        several_writers(job, context),
    ];
    let warnings = checks.into_iter().flatten();
    warnings.map(|diagnostic| Diagnostic { severity: DiagnosticLevel::Warning, ..diagnostic }).collect()
}

/// The strict dialect refuses this.
fn endless(context: &StrictContext<'_>) -> Diagnostic {
    context
        .error("time-based", "time_based", "`time_based` has no effect without a `runtime`")
        .remedy("write `runtime=60s`, or leave `time_based` out")
}

/// A write may cover part of an earlier one, whose header and checksum are then wrong.
fn overlapping_blocks(job: &Job, context: &StrictContext<'_>) -> Option<Diagnostic> {
    (job.verify.method.is_some() && !one_block_size(&job.pattern)).then(|| {
        context
            .error("verify-overlap", "norandommap", "blocks of several sizes may overlap, and not all can be verified")
            .remedy("leave `norandommap` out, or use one block size")
    })
}

fn one_block_size(pattern: &Pattern) -> bool {
    let sizes = &pattern.block_sizes;
    let sizes = [&sizes.read, &sizes.write, &sizes.trim];
    sizes.iter().all(|one| one.min() == sizes[0].min() && one.max() == sizes[0].min())
}

fn several_writers(job: &Job, context: &StrictContext<'_>) -> Option<Diagnostic> {
    let files = &job.files;
    let shared = !files.filenames.is_empty() || !files.filename_format.to_ascii_lowercase().contains("$jobnum");
    let verified = job.verify.method.is_some() && job.verify.do_verify && job.pattern.direction.writes();
    (verified && shared && job.grouping.numjobs > 1).then(|| {
        context
            .error(
                "several-writers",
                "numjobs",
                "several workers write one file, and overwrite blocks that others verify",
            )
            .remedy("give each worker a file of its own by leaving `filename` out, or write `numjobs=1`")
    })
}
