//! Options of rates, idle time and syncing.

use units::{Nanos, PerKind, ProblemCode, Rate};

use super::spec::OptionKind::{Floats, Int, Long, Micros, Word};
use super::spec::{ANY, OptionSpec, Setter, accepted, int, special, switch, word};
use crate::draft::JobDraft;
use crate::model::{Arrivals, SyncRangeOptions, ThinktimeBlocks};
use crate::read::number::{NumberUnit, micros};
use crate::read::{self, Findings, lists};

pub(super) static OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(
        "rate",
        Long(0),
        Setter::Slots(|d, slot, last, n| fill_rate(&mut d.job.pace.rate, slot, last, n)),
        "Rate limit of each worker in bytes per second; up to three values for reads, writes and trims.",
    ),
    OptionSpec::new(
        "rate_iops",
        Int(0, ANY),
        Setter::Slots(|d, slot, last, n| fill_rate(&mut d.job.pace.rate_iops, slot, last, n)),
        "Rate limit of each worker in operations per second; up to three values for reads, writes and trims.",
    ),
    word("rate_process", &["linear", "poisson"], "Arrival process under a rate.", |d, w, _, _| {
        d.job.pace.process = if w == "poisson" { Arrivals::Poisson } else { Arrivals::Linear };
    })
    .default("linear"),
    OptionSpec::new(
        "rate_min",
        Long(0),
        Setter::Slots(|d, slot, last, n| fill_rate(&mut d.job.pace.floor.bytes, slot, last, n)),
        "Fail below this many bytes per second; up to three values for reads, writes and trims.",
    )
    .alias(&["ratemin"]),
    OptionSpec::new(
        "rate_iops_min",
        Int(0, ANY),
        Setter::Slots(|d, slot, last, n| fill_rate(&mut d.job.pace.floor.operations, slot, last, n)),
        "Fail below this many operations per second; up to three values for reads, writes and trims.",
    ),
    int("rate_cycle", (0, ANY), "Averaging window of the minimum rates, in milliseconds.", |d, n| {
        d.job.pace.floor.cycle = Nanos::from_millis(n);
    })
    .alias(&["ratecycle"])
    .default("1000"),
    switch("rate_ignore_thinktime", "0", "Do not catch up with the rate after idle time.", |d, on| {
        d.job.pace.rate_ignores_thinktime = on;
    }),
    idle("thinktime", "Idle time after each `thinktime_blocks` operations.", |d, t| d.job.pace.thinktime = t),
    idle("thinktime_spin", "Part of the idle time to busy-wait.", |d, t| d.job.pace.thinktime_spin = t),
    idle("thinktime_iotime", "Idle after each interval of this length instead.", |d, t| {
        d.job.pace.thinktime_iotime = t;
    }),
    int("thinktime_blocks", (0, ANY), "Number of operations between idle times.", |d, n| {
        d.job.pace.thinktime_blocks = n.max(1);
    })
    .default("1"),
    word(
        "thinktime_blocks_type",
        &["complete", "issue"],
        "Count operations on completion or on issue.",
        |d, w, _, _| {
            d.job.pace.thinktime_blocks_type =
                if w == "issue" { ThinktimeBlocks::Issue } else { ThinktimeBlocks::Complete };
        },
    )
    .default("complete"),
    int("thinkcycles", (0, ANY), "CPU cycles to spend after each operation, before the idle time.", |d, n| {
        d.job.pace.thinkcycles = n as u32;
    })
    .default("0"),
    special(
        "max_latency",
        Micros,
        max_latency,
        "Fail if an operation takes longer than this; up to three values for reads, writes and trims.",
    ),
    OptionSpec::new(
        "latency_target",
        Micros,
        Setter::Time(|d, t| d.job.pace.target.latency = t),
        "Find the highest queue depth that keeps latency below this.",
    ),
    OptionSpec::new(
        "latency_window",
        Micros,
        Setter::Time(|d, t| d.job.pace.target.window = t),
        "Duration of each step of the `latency_target` search.",
    ),
    OptionSpec::new(
        "latency_percentile",
        Floats(0.0, 100.0),
        Setter::Floats(|d, values| d.job.pace.target.percentile = values.first().copied().unwrap_or(100.0)),
        "Percentage of operations that must meet the target.",
    )
    .default("100"),
    switch("latency_run", "0", "Keep adjusting the depth after the search has found it.", |d, on| {
        d.job.pace.target.continues = on;
    }),
    int("fsync", (0, ANY), "Number of writes between fsync calls; 0 for none.", |d, n| d.job.sync.fsync = n as u32)
        .default("0"),
    int("fdatasync", (0, ANY), "Number of writes between fdatasync calls; 0 for none.", |d, n| {
        d.job.sync.fdatasync = n as u32;
    })
    .default("0"),
    switch("end_fsync", "0", "Call fsync once at the end of the job.", |d, on| d.job.sync.end_fsync = on),
    switch("fsync_on_close", "0", "Call fsync when a file is closed.", |d, on| d.job.sync.fsync_on_close = on),
    switch("end_syncfs", "0", "Call syncfs once at the end of the job.", |d, on| d.job.sync.end_syncfs = on),
    special(
        "sync_file_range",
        Word(SYNC_PHASES),
        sync_file_range,
        "Phases of sync_file_range, separated by commas, then `:` and the number of writes between calls.",
    ),
    accepted(
        "write_barrier",
        Int(0, ANY),
        "Number of writes between barrier writes.",
        "Linux has no barrier writes; fio marks these writes, but every engine ignores the mark. Use `fdatasync`.",
    )
    .default("0"),
];

const SYNC_PHASES: &[&str] = &["wait_before", "write", "wait_after"];

/// Parses `write,wait_after:8`. As in fio, a call follows each write if there is no number.
fn sync_file_range(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    let (phases, count) = text.split_once(':').map_or((text, None), |(phases, count)| (phases, Some(count)));
    let mut range = SyncRangeOptions { writes: 1, ..SyncRangeOptions::default() };
    let mut at = 0;
    for phase in phases.split(',') {
        match findings.within(at, |findings| read::word::read(phase, SYNC_PHASES, findings)) {
            Some(("wait_before", _)) => range.flags.wait_before = true,
            Some(("write", _)) => range.flags.write = true,
            Some(_) => range.flags.wait_after = true,
            None => return,
        }
        at += phase.len() + 1;
    }
    if let Some(count) = count {
        let Ok(writes) = count.parse() else {
            let message = format!("`{count}` is not a number of writes");
            findings
                .fault(phases.len() + 1..text.len(), ProblemCode::NotANumber, message)
                .help("write a number such as `8`");
            return;
        };
        range.writes = writes;
    }
    draft.job.sync.range = range;
}

const fn idle(name: &'static str, doc: &'static str, set: fn(&mut JobDraft, Nanos)) -> OptionSpec {
    OptionSpec::new(name, Micros, Setter::Time(set), doc).default("0")
}

/// Sets a rate; zero removes it.
fn fill_rate(rates: &mut PerKind<Option<Rate>>, slot: usize, last: bool, n: u64) {
    JobDraft::fill_kinds(rates, slot, last, &(n > 0).then_some(Rate::per_sec(n)));
}

/// Sets the maximum latencies; zero removes one.
fn max_latency(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    let limits = &mut draft.job.pace.max_latency;
    lists::numbers(text, NumberUnit::Micros, findings, |slot, last, value| {
        JobDraft::fill_kinds(limits, slot, last, &(value != 0).then(|| micros(value)));
    });
}
