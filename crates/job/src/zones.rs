//! Options of zones.

use units::{Bytes, Problem, ProblemCode};

use crate::draft::{ZoneDraft, ZoneMode};
use crate::model::*;
use crate::strict::StrictContext;

/// Returns the zones of a job with `zonemode=strided`. fio refuses the same combinations.
pub(crate) fn strided(
    draft: &ZoneDraft,
    context: &StrictContext<'_>,
    problems: &mut Vec<Problem>,
) -> Option<StridedZones> {
    let is_strided = draft.mode == ZoneMode::Strided;
    if is_strided != (draft.size > 0) && draft.mode != ZoneMode::Zbd {
        let (option, message, help) = if is_strided {
            ("zonemode", "`zonemode=strided` needs a `zonesize`", "write for example `zonesize=16m`")
        } else {
            ("zonesize", "`zonesize` needs a `zonemode`", "write `zonemode=strided`, or leave `zonesize` out")
        };
        problems.push(context.error(ProblemCode::Zones, option, message).note("fio refuses the job").help(help));
        return None;
    }
    let skip = match draft.skip {
        None => Bytes::ZERO,
        Some(Size::Bytes(bytes)) => bytes,
        Some(Size::Percent(_) | Size::Zones(_)) => {
            let message = "zoneskip: the distance between zones must be in bytes";
            problems.push(context.error(ProblemCode::Zones, "zoneskip", message).help("write bytes"));
            return None;
        }
    };
    let range = if draft.range == 0 { draft.size } else { draft.range };
    is_strided.then(|| StridedZones { size: Bytes::new(draft.size), range: Bytes::new(range), skip })
}

/// Replaces sizes in zones by bytes, where the job says how large its zones are. The others follow from the device.
pub(crate) fn resolve_sizes(
    draft: &ZoneDraft,
    extent: &mut JobExtent,
    context: &StrictContext<'_>,
    problems: &mut Vec<Problem>,
) {
    let is_of_zones = |size: &Size| matches!(size, Size::Zones(_));
    let given = [
        ("size", extent.size.iter_mut().next()),
        ("io_size", extent.io_size.iter_mut().next()),
        ("offset", Some(&mut extent.offset)),
        ("offset_increment", Some(&mut extent.offset_increment)),
    ];
    for (option, size) in given {
        let Some(size) = size.filter(|size| is_of_zones(size)) else { continue };
        if draft.mode == ZoneMode::None {
            let message = format!("{option}: a size in zones needs a `zonemode`");
            let help = "write bytes, or `zonemode=zbd` for a zoned device";
            let note = "fio ignores the size";
            problems.push(context.error(ProblemCode::Zones, option, &message).note(note).help(help));
        } else if draft.size > 0 {
            *size = size.of_zones(draft.size);
        }
    }
}

/// Returns the options of a job with `zonemode=zbd`.
pub(crate) fn zoned(
    draft: &ZoneDraft,
    context: &StrictContext<'_>,
    problems: &mut Vec<Problem>,
) -> Option<ZonedOptions> {
    if draft.mode != ZoneMode::Zbd {
        return None;
    }
    if draft.skip.is_some_and(|skip| skip != Size::Bytes(Bytes::ZERO)) {
        let message = "zoneskip: `zonemode=zbd` uses all zones of the region";
        let note = "fio 3.33 leaves the region of the job, or crashes";
        problems.push(context.error(ProblemCode::Zones, "zoneskip", message).note(note).help("leave `zoneskip` out"));
    }
    let zone_size = (draft.size > 0).then(|| Bytes::new(draft.size));
    let zoned = ZonedOptions { zone_size, ..draft.zoned };
    if let (Some(size), Some(capacity)) = (zone_size, zoned.capacity)
        && capacity > size
    {
        let message = format!("zonecapacity: {capacity} exceeds the zone size of {size}");
        let help = "write a `zonecapacity` of at most `zonesize`";
        problems.push(context.error(ProblemCode::Zones, "zonecapacity", &message).help(help));
    }
    Some(zoned)
}

/// Adds the errors of a job with `zonemode=zbd` whose other options are incompatible with it.
pub(crate) fn check(
    job: &Job,
    zoned: &ZonedOptions,
    has_trace: bool,
    context: &StrictContext<'_>,
    problems: &mut Vec<Problem>,
) {
    let mut refuse = |option: &str, message: &str, help: &str| {
        problems.push(context.error(ProblemCode::Zones, option, message).help(help));
    };
    if has_trace {
        let help = "leave `read_iolog` or `zonemode` out";
        refuse("read_iolog", "a trace has its own offsets, which do not follow write pointers", help);
    }
    if job.pattern.direction == Direction::TrimWrite {
        let help = "write `rw=write`, which resets full zones, or one job that trims and one that writes";
        refuse("rw", "zones do not support pairs of trims and writes", help);
    }
    if job.verify.only || job.verify.state_load {
        let option = if job.verify.only { "verify_only" } else { "verify_state_load" };
        let help = "write `rw=read` with the same `verify`";
        refuse(option, "the offsets of earlier writes in zones cannot be reproduced", help);
    }
    if job.verify.trims.is_any() {
        let help = "leave `trim_percentage` out, or write `rw=trim` with the size of a zone as `bs`";
        refuse("trim_percentage", "a trim resets a whole zone, not a block", help);
    }
    if !runs_on(job.engine.kind) {
        let help = "write for example `ioengine=libaio`, `io_uring` or `psync`";
        refuse("ioengine", "this engine cannot write zones", help);
    }
    if job.engine.nowait && job.pattern.direction.writes() {
        let message = "a write that would block is submitted again, after later ones of its zone";
        refuse("nowait", message, "leave `nowait` out");
    }
    if zoned.recovers && job.has_queue() && job.verify.method.is_some() {
        let help = "leave `verify` or `recover_zbd_write_error` out, or write `ioengine=psync`";
        refuse("recover_zbd_write_error", "failed writes cannot be verified", help);
    }
}

/// Reports whether an engine works on zones. That modelled volumes have none is found out with the volume.
fn runs_on(engine: EngineKind) -> bool {
    use EngineKind::{IoUring, IoUringCmd, Libaio, Model, Null, Posixaio, Psync, Pvsync, Pvsync2, Sync, Vsync};
    matches!(engine, IoUring | IoUringCmd | Libaio | Model | Posixaio | Psync | Sync | Vsync | Pvsync | Pvsync2 | Null)
}
