//! Reads `iostat -x`: text and JSON of sysstat 10 to 12.
//!
//! Columns are known by their names, so that any selection and order of them will do; those a version does not print
//! are `None`.

mod columns;
mod json;
mod table;

use serde::{Deserialize, Serialize};

use super::text::InputText;

pub(super) use json::read as read_json;
pub(super) use table::{is_in, read as read_text};

/// Devices as `iostat -x` saw them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Iostat {
    /// The host's name, where it was printed.
    pub host: Option<String>,
    /// Its processors.
    pub cpus: Option<u32>,
    /// The reports in their order.
    pub reports: Vec<IostatReport>,
}

impl Iostat {
    /// The reports of intervals: not those of the time since the host was booted.
    pub fn intervals(&self) -> impl Iterator<Item = &IostatReport> {
        self.reports.iter().filter(|report| !report.since_boot)
    }
}

/// One report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IostatReport {
    /// When it was made, as printed; `None` without `-t`.
    pub when: Option<String>,
    /// How many seconds it is of, as far as times of day tell; `None` for the first and without `-t`.
    pub seconds: Option<f64>,
    /// Whether it is the average since the host was booted, as the first one is without `-y`. Where what stands before
    /// the reports was left away, nothing tells, and it is taken for an interval.
    pub since_boot: bool,
    /// The line on which it begins, from 1.
    pub line: u32,
    /// What the processors did; `None` with `-d`.
    pub cpu: Option<IostatCpu>,
    /// The devices in their order; none where `-z` left all of them out.
    pub devices: Vec<IostatDevice>,
}

/// Shares of processor time, from 0 to 1 of all processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IostatCpu {
    /// The line, from 1.
    pub line: u32,
    /// In user mode.
    pub user: f64,
    /// In user mode with a lower priority.
    pub nice: f64,
    /// In the kernel.
    pub system: f64,
    /// Idle while an operation was outstanding.
    pub iowait: f64,
    /// Taken by the hypervisor.
    pub steal: f64,
    /// Idle.
    pub idle: f64,
}

/// One device in one report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IostatDevice {
    /// Its name.
    pub name: String,
    /// The line, from 1.
    pub line: u32,
    /// Digits behind the point: a value was rounded to the last of them, in the unit it was printed in.
    pub decimals: u32,
    /// Reads.
    pub read: IostatKind,
    /// Writes.
    pub write: IostatKind,
    /// Discards.
    pub discard: IostatKind,
    /// Flushes; only rate and wait are ever printed.
    pub flush: IostatKind,
    /// Requests of all kinds together, where they are printed so: only wait and size are.
    pub all: IostatKind,
    /// Operations in flight on average (`aqu-sz`, formerly `avgqu-sz`).
    pub in_flight: Option<f64>,
    /// Share of time in which at least one operation was in flight, from 0 to 1 (`%util`).
    pub util: Option<f64>,
    /// `svctm` of old versions in nanoseconds: utilisation over rate, which means nothing where operations overlap.
    pub svctm_ns: Option<f64>,
}

impl IostatDevice {
    /// Operations per second of all kinds that were printed.
    #[must_use]
    pub fn iops(&self) -> f64 {
        [self.read, self.write, self.discard].iter().filter_map(|kind| kind.per_second).sum()
    }

    /// Bytes per second, read and written.
    #[must_use]
    pub fn bytes_per_second(&self) -> f64 {
        [self.read, self.write].iter().filter_map(|kind| kind.bytes_per_second).sum()
    }

    /// Whether nothing was done in the time.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.iops() + self.flush.per_second.unwrap_or(0.0) == 0.0
    }
}

/// Figures of one kind of operation at a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IostatKind {
    /// Requests completed per second, after merges.
    pub per_second: Option<f64>,
    /// Bytes per second.
    pub bytes_per_second: Option<f64>,
    /// Requests merged per second.
    pub merges_per_second: Option<f64>,
    /// Share of requests that were merged, from 0 to 1.
    pub merged: Option<f64>,
    /// Mean time from queueing to completion in nanoseconds.
    pub await_ns: Option<f64>,
    /// Mean size of a request in bytes.
    pub request_bytes: Option<f64>,
}

/// Sets what the reports' times of day tell.
fn set_seconds(reports: &mut [IostatReport]) {
    let mut before: Option<f64> = None;
    for report in reports {
        let now = report.when.as_deref().and_then(columns::second_of_day);
        if let (Some(before), Some(now), false) = (before, now, report.since_boot) {
            let passed = (now - before).rem_euclid(86_400.0);
            report.seconds = (passed > 0.0).then_some(passed);
        }
        before = now;
    }
}

/// The line with a number, for people.
fn number(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}

/// Remedy: how to produce readable output.
const REMEDY: &str = "make it with `LC_ALL=C iostat -x -o JSON 1 30`, or `LC_ALL=C iostat -x -t 1 30`";

/// Error for too few columns.
fn too_short(text: &InputText, index: usize, part: &str, option: &str) -> super::InputError {
    text.fault(index, part, format!("this is from `iostat` {option}, which leaves out latencies by kind"), REMEDY)
}
