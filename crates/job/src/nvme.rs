//! Checks of jobs that send commands to NVMe namespaces.

use units::{Problem, ProblemCode};

use crate::model::{Direction, EngineKind, Job, NvmeWrite, PlacementKind, PlacementSelect, VerifyMethod};
use crate::strict::StrictContext;

/// Returns what makes the commands of a job impossible. fio refuses the same combinations when the job starts.
pub(crate) fn check(job: &Job, context: &StrictContext<'_>) -> Option<Problem> {
    zones(job, context)
        .or_else(|| placement(job, context))
        .or_else(|| ranges(job, context))
        .or_else(|| comparison(job, context))
        .or_else(|| verified_commands(job, context))
}

/// Most bytes of all ranges of a trim, whose result is a number of 31 bits.
const RANGES_MAX_BYTES: u64 = 1 << 30;

fn ranges(job: &Job, context: &StrictContext<'_>) -> Option<Problem> {
    let ranges = job.engine.nvme.ranges;
    let problem = |message: String, help: &str| {
        Some(
            context
                .error(ProblemCode::ConflictingOptions, "num_range", &message)
                .note("fio refuses the job")
                .help(help),
        )
    };
    if ranges <= 1 {
        return None;
    }
    if job.engine.kind != EngineKind::IoUringCmd {
        let message = format!("the engine `{}` trims one range at a time", job.engine.kind.name());
        return problem(message, "write `ioengine=io_uring_cmd`, or leave `num_range` out");
    }
    if job.pattern.direction != Direction::Trim {
        let message = "`num_range` needs a job that only trims".to_owned();
        return problem(message, "write `rw=trim` or `rw=randtrim`, or leave `num_range` out");
    }
    let bytes = u64::from(ranges) * u64::from(job.pattern.block_sizes.trim.max());
    (bytes > RANGES_MAX_BYTES)
        .then(|| {
            problem(
                format!("{ranges} ranges have {bytes} bytes; a trim can have at most {RANGES_MAX_BYTES}"),
                "reduce `bs` or `num_range`",
            )
        })
        .flatten()
}

/// A device can compare data that are known before they are read.
fn comparison(job: &Job, context: &StrictContext<'_>) -> Option<Problem> {
    let compares = job.engine.kind == EngineKind::IoUringCmd && job.engine.nvme.compares;
    (compares && job.verify.method != Some(VerifyMethod::Pattern)).then(|| {
        context
            .error(ProblemCode::ConflictingOptions, "verify_mode", "`verify_mode=compare` needs a pattern")
            .note("fio compares with a pattern only")
            .help("write `verify=pattern` and `verify_pattern=PATTERN`, or leave `verify_mode` out")
    })
}

/// Only Write stores what verification expects.
fn verified_commands(job: &Job, context: &StrictContext<'_>) -> Option<Problem> {
    let others = has_other_writes(job);
    let is_verified = job.engine.kind == EngineKind::IoUringCmd && job.verify.method.is_some();
    (is_verified && others && job.pattern.direction.writes()).then(|| {
        context
            .error(
                ProblemCode::ConflictingOptions,
                "write_mode",
                "only `write_mode=write` stores data that can be verified",
            )
            .help("leave `verify` or `write_mode` out")
    })
}

fn zones(job: &Job, context: &StrictContext<'_>) -> Option<Problem> {
    if job.engine.kind != EngineKind::IoUringCmd || job.pattern.zoned.is_none() {
        return None;
    }
    if has_other_writes(job) {
        let message = "commands other than Write do not advance write pointers by the bytes written";
        let error = context.error(ProblemCode::ConflictingOptions, "write_mode", message);
        return Some(error.help("leave `write_mode` or `zonemode=zbd` out"));
    }
    (job.engine.nvme.ranges > 1).then(|| {
        let error = context.error(ProblemCode::ConflictingOptions, "num_range", "a reset applies to one zone");
        error.help("leave `num_range` or `zonemode=zbd` out")
    })
}

/// Reports whether some writes are other commands than Write.
fn has_other_writes(job: &Job) -> bool {
    job.engine.nvme.writes.iter().any(|(write, percentage)| *write != NvmeWrite::Write && *percentage > 0)
}

fn placement(job: &Job, context: &StrictContext<'_>) -> Option<Problem> {
    let placement = &job.engine.nvme.placement;
    let given = if placement.kind == PlacementKind::None { "fdp" } else { "dataplacement" };
    let problem = |name: &str, message: String, help: &str| {
        Some(context.error(ProblemCode::Placement, name, &message).note("fio refuses the job").help(help))
    };
    let kind = placement.effective();
    if kind == PlacementKind::None {
        return None;
    }
    if job.engine.kind != EngineKind::IoUringCmd {
        let message = format!("`{given}`: the engine `{}` does not support data placement", job.engine.kind.name());
        return problem(given, message, "write `ioengine=io_uring_cmd`, or omit it");
    }
    let by_scheme = placement.select == PlacementSelect::Scheme;
    if by_scheme && placement.scheme.is_none() {
        let message = "`plid_select=scheme` needs a scheme file".to_owned();
        return problem("plid_select", message, "write `dp_scheme=FILE`");
    }
    if kind == PlacementKind::Streams && placement.ids.is_empty() && !by_scheme {
        let message = "streams need stream identifiers".to_owned();
        return problem(given, message, "write `plids`, such as `plids=1-4`");
    }
    None
}
