//! Options of error handling and zones.

use super::Status;
use super::spec::OptionKind::{Flag, Floats, Int, Size, Text};
use super::spec::{ANY, OptionSpec, Setter, int, long, special, switch, word};
use units::Bytes;

use crate::draft::{JobDraft, ZoneMode};
use crate::read::{Findings, error_numbers};

pub(super) static OPTIONS: &[OptionSpec] = &[
    word(
        "continue_on_error",
        &["none", "read", "write", "io", "verify", "all", "0", "1"],
        "Continue after errors of this kind, and count them.",
        |d, w, _, _| {
            let all = matches!(w, "all" | "1");
            d.job.on_error.continue_on_read = all || matches!(w, "read" | "io");
            d.job.on_error.continue_on_write = all || matches!(w, "write" | "io");
            d.job.on_error.continue_on_verify = all || w == "verify";
        },
    )
    .default("none"),
    special(
        "ignore_error",
        Text,
        ignore_error,
        "Errors to ignore, by name or number: lists separated by `:`, for reads, writes and verification.",
    ),
    switch("error_dump", "0", "Print ignored errors.", |d, on| d.job.on_error.error_dump = on),
    word(
        "zonemode",
        &["none", "strided", "zbd"],
        "Zone mode: none, zones at regular distances, or a zoned block device.",
        zonemode,
    )
    .default("none"),
    long("zonesize", 0, "Bytes to transfer in each zone before moving to the next.", |d, n| d.zones.size = n)
        .default("0"),
    long("zonecapacity", 0, "Writable bytes per zone on devices without zones.", |d, n| {
        d.zones.zoned.capacity = (n > 0).then(|| Bytes::new(n));
    })
    .default("0"),
    long("zonerange", 0, "Length of a zone; `zonesize` by default.", |d, n| d.zones.range = n).default("0"),
    OptionSpec::new(
        "zoneskip",
        Size,
        Setter::Size(|d, size| d.zones.skip = Some(size)),
        "Distance in bytes from the end of a zone to the next one.",
    )
    .default("0"),
    switch("read_beyond_wp", "0", "Permit reads beyond a zone's write pointer.", |d, on| {
        d.zones.zoned.read_beyond_wp = on;
    }),
    int(
        "max_open_zones",
        (0, 4096),
        "Maximum number of zones open for writing in all jobs; 0 for the device's limit.",
        |d, n| {
            d.zones.zoned.max_open = n as u32;
        },
    )
    .default("0"),
    int(
        "job_max_open_zones",
        (0, 4096),
        "Maximum number of zones open for writing per worker; 0 for no limit.",
        |d, n| {
            d.zones.zoned.job_max_open = n as u32;
        },
    )
    .default("0"),
    switch("ignore_zone_limits", "0", "Permit a `max_open_zones` above the device's limit.", |d, on| {
        d.zones.zoned.ignore_limits = on;
    }),
    OptionSpec::new(
        "zone_reset_threshold",
        Floats(0.0, 1.0),
        Setter::Floats(|d, list| d.zones.zoned.reset_threshold = list.first().copied().filter(|ratio| *ratio > 0.0)),
        "Start resetting zones when this fraction of the region is written.",
    ),
    OptionSpec::new(
        "zone_reset_frequency",
        Floats(0.0, 1.0),
        Setter::Floats(|d, list| d.zones.zoned.reset_frequency = list.first().copied().filter(|ratio| *ratio > 0.0)),
        "Zone resets per write above `zone_reset_threshold`.",
    ),
    switch("recover_zbd_write_error", "0", "Continue at the device's write pointer after a failed write.", |d, on| {
        d.zones.zoned.recovers = on;
    }),
    switch("write_zone_remainder", "0", "Write the remainder of a zone instead of finishing the zone.", |d, on| {
        d.zones.zoned.writes_remainder = on;
    }),
    profile("threads", "Workers of `profile=tiobench`."),
    profile("block", "Block size of `profile=tiobench`."),
    profile("numruns", "Runs of `profile=tiobench`."),
    profile("dir", "Directory of `profile=tiobench`."),
    profile("device-names", "Devices of `profile=act`."),
    profile("load", "Load of `profile=act`."),
    profile("test-duration", "Duration of `profile=act`."),
    profile("threads-per-queue", "Workers for each device of `profile=act`."),
    profile("read-req-num-512-blocks", "Size of the reads of `profile=act`."),
    profile("large-block-op-kbytes", "Size of the large operations of `profile=act`."),
    OptionSpec::new("prep", Flag, Setter::Nothing, "Prepare the devices for `profile=act`.").status(Status::Profile),
    OptionSpec::new("flow_watermark", Int(0, ANY), Setter::Nothing, "Maximum drift between the jobs of a flow.")
        .status(Status::Deprecated),
    OptionSpec::new("rwmixcycle", Int(0, ANY), Setter::Nothing, "Time that a mixed workload stays in one direction.")
        .status(Status::Removed),
];

const fn profile(name: &'static str, doc: &'static str) -> OptionSpec {
    OptionSpec::new(name, Text, Setter::Nothing, doc).status(Status::Profile)
}

fn ignore_error(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    if let Some(lists) = error_numbers::lists(text, findings) {
        draft.job.on_error.ignored = lists;
    }
}

fn zonemode(draft: &mut JobDraft, word: &'static str, _: Option<&str>, _: &mut Findings) {
    draft.zones.mode = match word {
        "strided" => ZoneMode::Strided,
        "zbd" => ZoneMode::Zbd,
        _ => ZoneMode::None,
    };
}
