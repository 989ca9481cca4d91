//! Result of a capture: what was recorded of a live device.

mod json;
mod sample;
mod sample_json;
mod sample_text;
mod text;

use trace::TraceProfile;

pub use sample::{IntervalRates, SampleFile, SampleProgress, SampleReport, SampledKind};

/// What was captured.
#[derive(Clone, Debug, Default)]
pub struct CaptureReport {
    /// What the user named.
    pub asked: String,
    pub device: String,
    /// Its size in bytes.
    pub device_bytes: u64,
    /// Whether bios were captured, because the device has no requests of its own.
    pub takes_bios: bool,
    /// Where the requests came from.
    pub source: CaptureSource,
    /// Process to which the capture was restricted.
    pub process: Option<u32>,
    /// What the user should know, a sentence each.
    pub notes: Vec<String>,
    /// Duration in nanoseconds.
    pub duration_ns: u64,
    /// Why it ended, such as `after the requested time`.
    pub ended: &'static str,
    /// What kind of load it is.
    pub profile: TraceProfile,
    /// Names of processes.
    pub processes: Vec<String>,
    /// Number of events that the kernel could not record: as many requests may be missing or incomplete.
    pub lost_events: u64,
    /// Requests that were completed, and when was not seen.
    pub untimed: u64,
    /// Requests that were in flight when the capture began; they are not recorded.
    pub in_flight_at_start: u64,
    /// Requests that the driver gave back and that were issued again.
    pub requeued: u64,
    /// Calls that waited for a flush of the device; several may wait for one. The kernel counts each as a write.
    pub flush_waits: u64,
    /// Comparison with the counters of the kernel; empty if there is none.
    pub counters: Vec<CounterComparison>,
    /// The file, if one was written.
    pub file: Option<CaptureFile>,
}

/// Where captured requests come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CaptureSource {
    /// Programs in the kernel.
    #[default]
    Bpf,
    /// Events of tracefs.
    Tracefs,
}

impl CaptureSource {
    /// Returns the word of the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bpf => "bpf",
            Self::Tracefs => "tracefs",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureFile {
    pub path: String,
    /// Its length in bytes.
    pub bytes: u64,
    pub requests: u64,
}

/// Completed requests as the kernel counts them and as they were captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterComparison {
    /// Name of the operation, in the plural.
    pub name: &'static str,
    /// Increase of the kernel's counter.
    pub counted: u64,
    /// Number of captured completions: without and with those that happened while the counters were read.
    pub captured: [u64; 2],
}

impl CounterComparison {
    /// Reports whether the numbers agree.
    #[must_use]
    pub fn agrees(&self) -> bool {
        (self.captured[0]..=self.captured[1]).contains(&self.counted)
    }
}

impl CaptureReport {
    /// Reports whether all requests were recorded, as far as events and counters show.
    #[must_use]
    pub fn is_trustworthy(&self) -> bool {
        self.lost_events == 0 && self.counters.iter().all(CounterComparison::agrees)
    }

    /// Returns how many recorded requests were not completed.
    #[must_use]
    pub fn in_flight_at_end(&self) -> u64 {
        self.profile.totals.incomplete_requests.saturating_sub(self.untimed)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CaptureProgress {
    /// Time since the start, in nanoseconds.
    pub elapsed_ns: u64,
    /// Time to the end, in nanoseconds; `None` if it is unknown.
    pub remaining_ns: Option<u64>,
    /// Number of requests so far.
    pub requests: u64,
    /// Requests per second in the last interval.
    pub iops: f64,
    /// Bytes per second in the last interval.
    pub bytes_per_second: f64,
    pub lost_events: u64,
}

impl CaptureProgress {
    /// Returns the progress line: `24.1k IOPS  94.1 MiB/s  160,000 requests  0 lost  0:13 left`.
    #[must_use]
    pub fn line(&self) -> String {
        let time = match self.remaining_ns {
            Some(remaining) => format!("{} left", crate::progress::clock(units::Nanos::new(remaining))),
            None => format!("{} so far", crate::progress::clock(units::Nanos::new(self.elapsed_ns))),
        };
        format!(
            "{} IOPS  {}/s  {} requests  {} lost  {time}",
            units::count(self.iops),
            units::Bytes::new(self.bytes_per_second as u64),
            units::grouped(self.requests),
            units::grouped(self.lost_events)
        )
    }
}
