//! Result of sampling the counters of a device, which is possible without privileges.

use crate::progress::clock;

/// What the counters of a device counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampleReport {
    /// What the user named.
    pub asked: String,
    pub device: String,
    /// Its size in bytes.
    pub device_bytes: u64,
    /// What the user should know, a sentence each.
    pub notes: Vec<String>,
    /// Requested time between samples, in nanoseconds.
    pub interval_ns: u64,
    /// Time from the first sample to the last one, in nanoseconds.
    pub duration_ns: u64,
    /// Why it ended, such as `after the requested time`.
    pub ended: &'static str,
    /// Number of measured intervals.
    pub intervals: u64,
    /// The shortest and the longest of them, in nanoseconds.
    pub lengths_ns: [u64; 2],
    /// Number of samples that were not taken in time, so that an interval is longer.
    pub missed: u64,
    /// Number of intervals without figures, because the counters began anew.
    pub restarts: u64,
    /// Kinds of requests that were counted, and all together if there are several.
    pub kinds: Vec<SampledKind>,
    /// Requests of all kinds.
    pub requests: u64,
    /// Whether the kernel counts discards and flushes.
    pub counts_discards: bool,
    /// See [`Self::counts_discards`]. Flushes of a partition are counted for its disk.
    pub counts_flushes: bool,
    /// Mean number of requests in flight, over time.
    pub depth_mean: f64,
    /// The largest number of requests in flight at a sample.
    pub depth_seen_max: u64,
    /// Fraction of time with requests in flight.
    pub busy_fraction: f64,
    /// Why sampling ended early: an error with its remedy.
    pub failure: Option<String>,
    /// The file, if one was written.
    pub file: Option<SampleFile>,
}

/// Requests of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampledKind {
    /// Its name; `all` for all kinds together.
    pub name: &'static str,
    /// Completed requests.
    pub requests: u64,
    /// Requests that were merged into others before.
    pub merges: u64,
    /// Bytes of the requests.
    pub bytes: u64,
    /// Mean time from queueing to completion in nanoseconds, if there were requests.
    pub latency_ns: Option<f64>,
    /// Requests per second.
    pub iops: IntervalRates,
}

/// A rate over intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IntervalRates {
    /// Mean over the whole time.
    pub mean: f64,
    /// Median of the intervals.
    pub p50: f64,
    /// 95th percentile of the intervals.
    pub p95: f64,
    /// Rate of the busiest interval.
    pub max: f64,
}

/// File with a series of samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampleFile {
    pub path: String,
    /// Its length in bytes.
    pub bytes: u64,
    pub samples: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SampleProgress {
    /// Time since the start, in nanoseconds.
    pub elapsed_ns: u64,
    /// Time to the end, in nanoseconds; `None` if it is unknown.
    pub remaining_ns: Option<u64>,
    /// Requests per second in the last interval.
    pub iops: f64,
    /// Bytes per second in the last interval.
    pub bytes_per_second: f64,
    /// Number of samples so far.
    pub samples: u64,
}

impl SampleProgress {
    /// Returns the progress line: `24.1k IOPS  94.1 MiB/s  60 samples  0:13 left`.
    #[must_use]
    pub fn line(&self) -> String {
        let time = match self.remaining_ns {
            Some(remaining) => format!("{} left", clock(units::Nanos::new(remaining))),
            None => format!("{} so far", clock(units::Nanos::new(self.elapsed_ns))),
        };
        let (iops, bytes) = (units::count(self.iops), units::Bytes::new(self.bytes_per_second as u64));
        format!("{iops} IOPS  {bytes}/s  {} samples  {time}", units::grouped(self.samples))
    }
}

impl SampledKind {
    /// Returns the mean size of a request in bytes.
    #[must_use]
    pub fn mean_bytes(&self) -> u64 {
        self.bytes / self.requests.max(1)
    }
}
