//! Intervals between copies of the kernel's counters, whichever program printed them.

use std::collections::BTreeMap;

use super::DEVICES_MAX;
use super::iostat::{CounterFormat, Iostat, IostatDevice, IostatKind, IostatReport};
use super::text::line_number;
use crate::{DiskCounters, KindCounters};

/// Decimals to which rates are known: they follow from exact counters and times.
const DECIMALS: u32 = 4;

/// Copies of counters with their times; two of a device make a report of the interval between them.
#[derive(Default)]
pub(super) struct CounterSeries {
    pub(super) iostat: Iostat,
    /// Report of the interval that ends with the current copy.
    pub(super) report: IostatReport,
    /// Time of the current copy in nanoseconds.
    pub(super) now_ns: Option<u64>,
    /// Whether a copy precedes the current one.
    has_before: bool,
    /// The last counters of each device, and the time of their copy.
    devices: BTreeMap<String, (u64, DiskCounters)>,
}

impl CounterSeries {
    /// Begins a copy, which is later than the one before.
    pub(super) fn begin(&mut self, now_ns: u64, when: &str, line: usize) {
        self.end();
        let seconds = self.now_ns.map(|before| now_ns.saturating_sub(before) as f64 / 1e9);
        self.has_before = self.now_ns.replace(now_ns).is_some();
        self.report =
            IostatReport { when: Some(when.to_owned()), seconds, line: line_number(line), ..IostatReport::default() };
    }

    /// Adds the counters of a device in the current copy; `false` if there are too many devices.
    pub(super) fn add(&mut self, name: &str, counters: &DiskCounters, line: usize) -> bool {
        let now_ns = self.now_ns.unwrap_or(0);
        let before = self.devices.insert(name.to_owned(), (now_ns, *counters));
        // Counters that began anew, and two lines in one copy, make no interval.
        let increase = before
            .filter(|(before_ns, _)| *before_ns < now_ns)
            .and_then(|(before_ns, before)| Some((now_ns - before_ns, counters.since(&before)?)));
        if let Some((passed_ns, increase)) = increase {
            let of_interval = of_increase(&increase, passed_ns as f64 / 1e9);
            self.report.devices.push(IostatDevice { name: name.to_owned(), line: line_number(line), ..of_interval });
        }
        self.devices.len() <= DEVICES_MAX
    }

    fn end(&mut self) {
        let report = std::mem::take(&mut self.report);
        // The first copy begins an interval and ends none.
        if self.has_before {
            self.iostat.reports.push(report);
        }
    }

    pub(super) fn finish(mut self, format: CounterFormat) -> Iostat {
        self.end();
        Iostat { format, ..self.iostat }
    }
}

/// Returns what `iostat -x` prints of an interval.
pub(super) fn of_increase(increase: &DiskCounters, seconds: f64) -> IostatDevice {
    let kind = |counters: &KindCounters| {
        let queued = counters.requests.saturating_add(counters.merges);
        IostatKind {
            per_second: Some(counters.requests as f64 / seconds),
            bytes_per_second: Some(counters.bytes() as f64 / seconds),
            merges_per_second: Some(counters.merges as f64 / seconds),
            merged: (queued > 0).then(|| counters.merges as f64 / queued as f64),
            await_ns: Some(counters.await_ns().unwrap_or(0.0)),
            request_bytes: Some(counters.request_bytes().unwrap_or(0.0)),
        }
    };
    let optional = |counters: &Option<KindCounters>| counters.as_ref().map(kind).unwrap_or_default();
    let flush = optional(&increase.flush);
    IostatDevice {
        decimals: DECIMALS,
        read: kind(&increase.read),
        write: kind(&increase.write),
        discard: optional(&increase.discard),
        flush: IostatKind { per_second: flush.per_second, await_ns: flush.await_ns, ..IostatKind::default() },
        in_flight: Some(increase.weighted_ms as f64 / 1e3 / seconds),
        util: Some((increase.busy_ms as f64 / 1e3 / seconds).min(1.0)),
        ..IostatDevice::default()
    }
}
