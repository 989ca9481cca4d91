//! Figures of devices in intervals, and their reader for `iostat -x`: text and JSON of sysstat 10 to 12.
//!
//! Columns are recognized by name, in any selection and order; those that a version does not print are `None`.

pub(super) mod columns;
mod json;
pub(super) mod pretty;
mod stacked;
mod table;

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use units::significant;

use crate::input::text::InputText;

pub(super) use json::read as read_json;
pub use stacked::StackedDisk;
pub(super) use stacked::disks_among;
pub(super) use table::{device, is_in, read as read_text, take_banner};

/// Where reports come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum CounterFormat {
    /// Output of `iostat -x`.
    #[default]
    Iostat,
    /// Copies of `/proc/diskstats`, as `fathom capture --sample` writes them.
    Diskstats,
    /// Output of `sar -d`.
    Sar,
    /// Output of `vmstat -d`.
    Vmstat,
    /// Metrics of Prometheus' node_exporter.
    NodeExporter,
}

impl CounterFormat {
    /// Returns the name of the program, or of the file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Iostat => "iostat",
            Self::Diskstats => "diskstats",
            Self::Sar => "sar",
            Self::Vmstat => "vmstat",
            Self::NodeExporter => "node_exporter",
        }
    }
}

/// Reports of `iostat -x`, or of a series of copies of the counters that it reads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Iostat {
    /// Where the reports come from.
    pub format: CounterFormat,
    /// Name of the host, if printed.
    pub host: Option<String>,
    /// CPUs of the host.
    pub cpus: Option<u32>,
    /// Reports in order.
    pub reports: Vec<IostatReport>,
    /// What is missing of the input, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Iostat {
    /// Iterates over reports of intervals, without averages since boot.
    pub fn intervals(&self) -> impl Iterator<Item = &IostatReport> {
        self.reports.iter().filter(|report| !report.since_boot)
    }

    /// Describes the first rates of bytes that rates and sizes of requests contradict, as some versions print them.
    pub(crate) fn contradiction(&self) -> Option<String> {
        const APART: std::ops::RangeInclusive<f64> = 0.5..=2.0;
        /// Last digits from which rounding matters less than that.
        const DIGITS: f64 = 10.0;
        let devices = self.reports.iter().flat_map(|report| &report.devices);
        let mut kinds = devices.flat_map(|device| [(device, "reads", device.read), (device, "writes", device.write)]);
        kinds.find_map(|(device, name, kind)| {
            let (rate, size, bytes) = (kind.per_second?, kind.request_bytes?, kind.bytes_per_second?);
            let step = 0.1_f64.powi(device.decimals as i32);
            let are_exact =
                rate >= DIGITS * step && size >= DIGITS * step * 1024.0 && bytes >= DIGITS * step * 1_048_576.0;
            let words = |bytes: f64| units::Bytes::new(bytes as u64);
            (are_exact && !APART.contains(&(rate * size / bytes))).then(|| {
                format!(
                    "figures disagree: {} {name} of {} on {} amount to {}/s, but {}/s is printed",
                    significant(rate, 3),
                    words(size),
                    device.name,
                    words(rate * size),
                    words(bytes)
                )
            })
        })
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IostatReport {
    /// Time of the report, as printed; `None` without `-t`.
    pub when: Option<String>,
    /// Length of the interval in seconds, from the printed times, or totals and rates; `None` if neither shows it.
    pub seconds: Option<f64>,
    /// Whether it is the average since boot, as the first report is without `-y`. If the text before the reports is
    /// missing, it is assumed to be an interval, unless it differs from all others and has no rates of an interval.
    pub since_boot: bool,
    /// Line on which it begins, from 1.
    pub line: u32,
    /// CPU statistics; `None` with `-d`.
    pub cpu: Option<IostatCpu>,
    /// Devices in order; none if `-z` omitted all of them.
    pub devices: Vec<IostatDevice>,
}

impl IostatReport {
    /// Reports whether all rates are those of whole requests in an interval of seconds, which averages since boot hardly
    /// ever are.
    fn has_rates_of_seconds(&self) -> bool {
        const SECONDS_MAX: u32 = 10;
        /// Hundredths of a second, for each second, by which intervals deviate.
        const LATE: u32 = 2;
        /// Probability that an average since boot has such rates.
        const CHANCE: f64 = 1e-3;
        let rates = self.devices.iter().flat_map(|device| {
            let step = 0.1_f64.powi(device.decimals as i32);
            let kinds = [device.read, device.write, device.discard, device.flush, device.all];
            let rates = kinds.into_iter().flat_map(|kind| [kind.per_second, kind.merges_per_second]);
            rates.flatten().filter(|rate| *rate > 0.0).map(move |rate| (rate, step))
        });
        let rates: Vec<(f64, f64)> = rates.collect();
        let are_whole = |seconds: f64| {
            rates.iter().all(|(rate, step)| {
                let requests = rate * seconds;
                (requests - requests.round()).abs() <= step * seconds / 2.0 + 1e-6
            })
        };
        (1..=SECONDS_MAX).any(|seconds| {
            let tried = 2 * LATE * seconds + 1;
            let chance = rates.iter().map(|(_, step)| (step * f64::from(seconds)).min(1.0)).product::<f64>();
            let hundredths = 100 * seconds - LATE * seconds..=100 * seconds + LATE * seconds;
            f64::from(tried) * chance <= CHANCE && hundredths.map(|one| f64::from(one) / 100.0).any(are_whole)
        })
    }
}

/// CPU time by state, each as a fraction of all CPUs from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IostatCpu {
    /// Line, from 1.
    pub line: u32,
    /// User mode.
    pub user: f64,
    /// User mode at lower priority.
    pub nice: f64,
    /// Kernel.
    pub system: f64,
    /// Idle while an operation was outstanding.
    pub iowait: f64,
    /// Taken by the hypervisor.
    pub steal: f64,
    pub idle: f64,
}

/// One device in one report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IostatDevice {
    pub name: String,
    /// Line, from 1.
    pub line: u32,
    /// Printed decimals, to which values are rounded in their printed units.
    pub decimals: u32,
    pub read: IostatKind,
    pub write: IostatKind,
    pub discard: IostatKind,
    /// Flushes; only rate and wait are printed.
    pub flush: IostatKind,
    /// All kinds combined. Old versions print only wait and size; `-s` and output without `-x` print no others.
    pub all: IostatKind,
    /// Mean number of operations in flight (`aqu-sz`, formerly `avgqu-sz`).
    pub in_flight: Option<f64>,
    /// Fraction of time with at least one operation in flight, from 0 to 1 (`%util`).
    pub util: Option<f64>,
    /// `svctm` of old versions in nanoseconds: utilization over rate, which is meaningless if operations overlap.
    pub svctm_ns: Option<f64>,
}

impl IostatDevice {
    /// Returns the reads and writes per second; of all kinds if they are not separated.
    #[must_use]
    pub fn iops(&self) -> f64 {
        self.data(|kind| kind.per_second)
    }

    /// Returns the bytes read and written per second; of all kinds if they are not separated.
    #[must_use]
    pub fn bytes_per_second(&self) -> f64 {
        self.data(|kind| kind.bytes_per_second)
    }

    fn data(&self, of: fn(&IostatKind) -> Option<f64>) -> f64 {
        let (read, write) = (of(&self.read), of(&self.write));
        if read.or(write).is_none() { of(&self.all).unwrap_or(0.0) } else { read.unwrap_or(0.0) + write.unwrap_or(0.0) }
    }

    /// Reports whether reads and writes have separate rates.
    #[must_use]
    pub fn tells_kinds_apart(&self) -> bool {
        self.read.per_second.or(self.write.per_second).is_some()
    }

    /// Reports whether the device was idle.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        let others = [self.discard, self.flush].iter().filter_map(|kind| kind.per_second).sum::<f64>();
        self.iops() + others == 0.0
    }
}

/// Statistics of one kind of operation on a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IostatKind {
    /// Completed requests per second, after merges.
    pub per_second: Option<f64>,
    /// Bytes per second.
    pub bytes_per_second: Option<f64>,
    /// Merged requests per second.
    pub merges_per_second: Option<f64>,
    /// Fraction of requests that were merged, from 0 to 1.
    pub merged: Option<f64>,
    /// Mean time from queueing to completion, in nanoseconds.
    pub await_ns: Option<f64>,
    /// Mean request size in bytes.
    pub request_bytes: Option<f64>,
}

/// Sets the lengths of intervals from the times of the reports.
fn set_seconds(reports: &mut [IostatReport]) {
    let mut before: Option<f64> = None;
    for report in reports {
        let now = report.when.as_deref().and_then(columns::second_of_day);
        if let (Some(before), Some(now), false) = (before, now, report.since_boot) {
            let passed = (now - before).rem_euclid(86_400.0);
            report.seconds = Some(passed).filter(|passed| *passed > 0.0).or(report.seconds);
        }
        before = now;
    }
}

/// Remedy for unreadable output.
const REMEDY: &str = "create it with `LC_ALL=C iostat -x -o JSON 1 30`, or `LC_ALL=C iostat -x -t 1 30`";

/// Lines of text between tables.
pub(in crate::input) struct BlockTitles<'a>(BTreeMap<&'a str, usize>);

impl<'a> BlockTitles<'a> {
    pub(in crate::input) fn of(text: &'a InputText) -> Self {
        let mut counts = BTreeMap::new();
        text.lines().for_each(|line| *counts.entry(line.trim()).or_default() += 1);
        Self(counts)
    }

    /// Reports whether a line that belongs to no table is the title of those below it. Lines with times, and those that
    /// stand there several times, are of a log around one series of tables.
    pub(in crate::input) fn has(&self, line: &str) -> bool {
        let line = line.trim();
        line.contains(char::is_alphabetic)
            && columns::second_of_day(line).is_none()
            && self.0.get(line).is_none_or(|count| *count == 1)
    }
}

/// Divides copies of counters, each with the line on which it begins, at the titles between them. Only titles above two
/// copies or more separate: single ones are of one series, such as those before and after a load.
pub(in crate::input) fn series(titles: &[usize], copies: &[usize], end: usize) -> Vec<Range<usize>> {
    let titles_above = |line: usize| titles.partition_point(|title| *title < line);
    let parts: Vec<&[usize]> = copies.chunk_by(|a, b| titles_above(*a) == titles_above(*b)).collect();
    let are_apart = parts.iter().all(|part| part.len() >= 2);
    let borders = parts.windows(2).filter(|_| are_apart);
    let begins = borders.filter_map(|pair| titles.get(titles_above(*pair[0].last()?)).copied());
    let begins: Vec<usize> = std::iter::once(0).chain(begins).collect();
    let ends = begins.iter().skip(1).copied().chain([end]);
    begins.iter().zip(ends).map(|(&begin, end)| begin..end).collect()
}
