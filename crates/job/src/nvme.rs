//! Checks of jobs that send commands to NVMe namespaces.

use crate::diagnostic::Diagnostic;
use crate::model::{Engine, Job, NvmeWrite, PlacementKind, PlacementSelect, VerifyMethod};
use crate::strict::StrictContext;

/// Returns what makes the commands of a job impossible. fio refuses the same combinations when the job starts.
pub(crate) fn check(job: &Job, context: &StrictContext<'_>) -> Option<Diagnostic> {
    placement(job, context).or_else(|| comparison(job, context)).or_else(|| verified_commands(job, context))
}

/// A device can compare data that are known before they are read.
fn comparison(job: &Job, context: &StrictContext<'_>) -> Option<Diagnostic> {
    let compares = job.engine.engine == Engine::IoUringCmd && job.engine.nvme.compares;
    (compares && job.verify.method != Some(VerifyMethod::Pattern)).then(|| {
        context
            .error("compare", "verify_mode", "`verify_mode=compare` needs a pattern")
            .note("fio compares with a pattern only")
            .remedy("write `verify=pattern` and `verify_pattern=PATTERN`, or leave `verify_mode` out")
    })
}

/// Only Write stores what verification expects.
fn verified_commands(job: &Job, context: &StrictContext<'_>) -> Option<Diagnostic> {
    let nvme = &job.engine.nvme;
    let others = nvme.writes.iter().any(|(write, percentage)| *write != NvmeWrite::Write && *percentage > 0);
    let is_verified = job.engine.engine == Engine::IoUringCmd && job.verify.method.is_some();
    (is_verified && others && job.pattern.direction.writes()).then(|| {
        context
            .error("write-mode", "write_mode", "only `write_mode=write` stores data that can be verified")
            .remedy("leave `verify` or `write_mode` out")
    })
}

fn placement(job: &Job, context: &StrictContext<'_>) -> Option<Diagnostic> {
    let placement = &job.engine.nvme.placement;
    let given = if placement.kind == PlacementKind::None { "fdp" } else { "dataplacement" };
    let problem = |name: &str, message: String, remedy: &str| {
        Some(context.error("placement", name, &message).note("fio refuses the job").remedy(remedy))
    };
    let kind = placement.effective();
    if kind == PlacementKind::None {
        return None;
    }
    if job.engine.engine != Engine::IoUringCmd {
        let message = format!("the engine `{}` tells devices no placements", job.engine.engine.name());
        return problem(given, message, "write `ioengine=io_uring_cmd`, or leave it out");
    }
    let by_scheme = placement.select == PlacementSelect::Scheme;
    if by_scheme && placement.scheme.is_none() {
        let message = "`plid_select=scheme` needs the file of a scheme".to_owned();
        return problem("plid_select", message, "write `dp_scheme=FILE`");
    }
    if kind == PlacementKind::Streams && placement.ids.is_empty() && !by_scheme {
        let message = "streams need stream identifiers".to_owned();
        return problem(given, message, "write `plids`, such as `plids=1-4`");
    }
    None
}
