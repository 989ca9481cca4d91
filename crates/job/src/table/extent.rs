//! Options of size, offset and runtime.

use units::{Bytes, Nanos, ProblemCode};

use super::spec::OptionKind::Seconds;
use super::spec::{OptionKind, OptionSpec, Setter, flag, int, long, special};
use crate::draft::JobDraft;
use crate::model::{Size, SteadyMeasure, SteadyState};
use crate::read::number::{NumberUnit, micros};
use crate::read::{Findings, lists};

pub(super) static OPTIONS: &[OptionSpec] = &[
    size("size", "Total size of the job's files, or a percentage of existing files.", |d, size| {
        d.job.extent.size = nonzero(size);
    }),
    size("io_size", "Bytes to transfer, if different from `size`.", |d, size| {
        d.job.extent.io_size = nonzero(size);
    })
    .alias(&["io_limit"]),
    size("offset", "Start offset within the files.", |d, size| d.job.extent.offset = size)
        .alias(&["fileoffset"])
        .default("0"),
    size("offset_increment", "Increment of the start offset per clone.", |d, size| {
        d.job.extent.offset_increment = size;
    })
    .default("0"),
    long(
        "offset_align",
        0,
        "Round percentage start offsets up to a multiple of this; 0 for the smallest block.",
        |d, n| d.job.extent.offset_align = Bytes::new(n),
    )
    .default("0"),
    long("number_ios", 0, "Maximum number of operations.", |d, n| d.job.extent.number_ios = (n > 0).then_some(n))
        .default("0"),
    time("runtime", "Maximum duration.", |d, t| d.job.extent.runtime = t).alias(&["timeout"]).default("0"),
    flag("time_based", "Repeat the workload until `runtime` has elapsed.", |d, on| d.job.extent.time_based = on),
    time("ramp_time", "Warm-up time before results count; `runtime` starts after it.", |d, t| {
        d.job.extent.ramp_time = t;
    }),
    long(
        "ramp_size",
        0,
        "Bytes to transfer before results count; with `group_reporting`, by all workers of a group together.",
        |d, n| d.job.extent.ramp_size = Bytes::new(n),
    ),
    special("startdelay", Seconds, startdelay, "Delay before the job starts; a range `low-high` draws a random delay.")
        .default("0"),
    special(
        "steadystate",
        OptionKind::Text,
        steadystate,
        "Stop when the deviation or slope of IOPS, bandwidth or latency is below a limit: `iops:5%`, `bw_slope:0.3%`.",
    )
    .alias(&["ss"])
    .default("iops_slope:0.01%"),
    time("steadystate_duration", "Required duration of the steady state; 0 to disable the check.", |d, t| {
        d.steady.duration = t;
    })
    .alias(&["ss_dur"])
    .default("0"),
    time("steadystate_ramp_time", "Time to wait before the first sample.", |d, t| d.steady.ramp = t)
        .alias(&["ss_ramp"])
        .default("0"),
    time("steadystate_check_interval", "Interval between samples.", |d, t| {
        d.steady.interval = t.max(Nanos::from_millis(1));
    })
    .alias(&["ss_interval"])
    .default("1"),
    int("num_range", (0, 256), "Number of ranges per trim command (io_uring_cmd).", |d, n| {
        d.job.engine.nvme.ranges = (n as u32).max(1);
    })
    .default("1"),
];

const fn size(name: &'static str, doc: &'static str, set: fn(&mut JobDraft, Size)) -> OptionSpec {
    OptionSpec::new(name, OptionKind::Size, Setter::Size(set), doc)
}

const fn time(name: &'static str, doc: &'static str, set: fn(&mut JobDraft, Nanos)) -> OptionSpec {
    OptionSpec::new(name, Seconds, Setter::Time(set), doc)
}

/// Treats a size of zero as absent, as fio does.
fn nonzero(size: Size) -> Option<Size> {
    match size {
        Size::Bytes(bytes) if bytes.get() == 0 => None,
        Size::Percent(0) | Size::Zones(0) => None,
        size => Some(size),
    }
}

fn startdelay(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    let mut ends = (Nanos::ZERO, Nanos::ZERO);
    lists::interval(text, NumberUnit::Seconds, findings, |slot, last, value| {
        let value = micros(value);
        if slot == 0 {
            ends.0 = value;
        }
        if slot == 1 || (slot == 0 && last) {
            ends.1 = value;
        }
    });
    draft.job.extent.startdelay = (ends.0.min(ends.1), ends.0.max(ends.1));
}

fn steadystate(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    let (name, limit) = text.split_once(':').map_or((text, None), |(name, limit)| (name, Some(limit)));
    let (measure, is_slope) = match name {
        "iops" => (SteadyMeasure::Iops, false),
        "iops_slope" => (SteadyMeasure::Iops, true),
        "bw" => (SteadyMeasure::Bandwidth, false),
        "bw_slope" => (SteadyMeasure::Bandwidth, true),
        "lat" => (SteadyMeasure::Latency, false),
        "lat_slope" => (SteadyMeasure::Latency, true),
        _ => {
            findings
                .fault(0..name.len(), ProblemCode::SteadyState, format!("`{name}` is not a steady-state criterion"))
                .help("write `iops`, `bw` or `lat`, optionally with `_slope`, and a limit: `iops:5%`");
            return;
        }
    };
    let Some(limit) = limit else {
        findings
            .fault(0..text.len(), ProblemCode::SteadyState, "a limit is missing")
            .help(format!("write for example `{name}:5%`"));
        return;
    };
    let (number, is_percent) = limit.strip_suffix('%').map_or((limit, false), |number| (number, true));
    let bytes = |text: &str| {
        let unit = NumberUnit::Count { kb_base: draft.kb_base() };
        crate::read::number::read(text, unit, &mut Findings::default()).map(|bytes| bytes as f64)
    };
    let read = match (measure, is_percent) {
        (SteadyMeasure::Bandwidth, false) => bytes(number),
        _ => number.parse().ok(),
    };
    let Some(limit) = read.filter(|limit: &f64| limit.is_finite() && *limit >= 0.0) else {
        findings
            .fault(name.len() + 1..text.len(), ProblemCode::SteadyState, format!("`{limit}` is not a limit"))
            .help(format!("write for example `{name}:5%`"));
        return;
    };
    draft.steady = SteadyState { measure, is_slope, limit, is_percent, ..draft.steady };
}
