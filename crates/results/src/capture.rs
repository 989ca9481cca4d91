//! What was captured or sampled of a live device.

use serde::Serialize;
use serde_json::{Map, Value, json};
use trace::{PerOperation, TraceDistribution, TraceProfile};
use units::Problem;

use crate::stored::extended;

/// Version of the documents' layouts.
const SCHEMA: u32 = 1;

/// What was captured.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CaptureResult {
    /// What the user named.
    pub asked: String,
    pub device: String,
    /// Its size in bytes.
    pub device_bytes: u64,
    /// Whether bios were captured, because the device has no requests of its own.
    #[serde(skip)]
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
    #[serde(skip)]
    pub profile: TraceProfile,
    /// Names of processes.
    #[serde(skip)]
    pub processes: Vec<String>,
    /// Number of events that the kernel could not record: as many requests may be missing or incomplete.
    pub lost_events: u64,
    /// Requests that were completed, and when was not seen.
    #[serde(rename = "untimed_requests")]
    pub untimed: u64,
    /// Requests that were in flight when the capture began; they are not recorded.
    pub in_flight_at_start: u64,
    /// Requests that the driver gave back and that were issued again.
    pub requeued: u64,
    /// Calls that waited for a flush of the device; several may wait for one. The kernel counts each as a write.
    pub flush_waits: u64,
    /// Comparison with the counters of the kernel; empty if there is none.
    #[serde(rename = "kernel_counters")]
    pub counters: Vec<CounterComparison>,
    /// The file, if one was written.
    pub file: Option<CaptureFile>,
}

/// Where captured requests come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
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

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CaptureFile {
    pub path: String,
    /// Its length in bytes.
    pub bytes: u64,
    pub requests: u64,
}

/// Completed requests as the kernel counts them and as they were captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CounterComparison {
    /// Name of the operation, in the plural.
    #[serde(rename = "operation")]
    pub name: &'static str,
    /// Increase of the kernel's counter.
    pub counted: u64,
    /// Number of captured completions, without those that happened while the counters were read.
    pub captured_min: u64,
    /// Number of captured completions, with those that happened while the counters were read.
    pub captured_max: u64,
    /// Whether the numbers agree.
    pub agrees: bool,
}

impl CounterComparison {
    /// Compares numbers; `captured` are those without and with completions while the counters were read.
    #[must_use]
    pub fn new(name: &'static str, counted: u64, captured: [u64; 2]) -> Self {
        let [captured_min, captured_max] = captured;
        let agrees = (captured_min..=captured_max).contains(&counted);
        Self { name, counted, captured_min, captured_max, agrees }
    }
}

impl CaptureResult {
    /// Reports whether all requests were recorded, as far as events and counters show.
    #[must_use]
    pub fn is_trustworthy(&self) -> bool {
        self.lost_events == 0 && self.counters.iter().all(|comparison| comparison.agrees)
    }

    /// Returns how many recorded requests were not completed.
    #[must_use]
    pub fn in_flight_at_end(&self) -> u64 {
        self.profile.totals.incomplete_requests.saturating_sub(self.untimed)
    }

    /// Returns the result as JSON: keys end with their units.
    #[must_use]
    pub fn json(&self) -> String {
        let totals = &self.profile.totals;
        let processes = self.profile.processes.iter().map(|process| {
            json!({ "name": self.processes.get(usize::from(process.process)),
                "requests": process.requests.total(), "bytes": process.bytes.total() })
        });
        let depth = self.profile.depth.map(|depth| {
            json!({ "mean": depth.depth.map(|depth| depth.mean), "at_issue": distribution(&depth.depth_at_issue),
                "busy_fraction": depth.busy_time_fraction })
        });
        let of_profile = json!({
            "fathom_capture": SCHEMA,
            "events": if self.takes_bios { "bios" } else { "requests" },
            "requests": totals.requests.total(),
            "operations": operations(self),
            "sync_requests": totals.sync_requests,
            "meta_requests": totals.meta_requests,
            "fua_requests": totals.fua_requests,
            "preflush_requests": totals.preflush_requests,
            "readahead_requests": totals.readahead_requests,
            "failed_requests": totals.failed_requests,
            "in_flight_at_end": self.in_flight_at_end(),
            "queue_depth": depth,
            "processes": processes.collect::<Vec<_>>(),
            "is_trustworthy": self.is_trustworthy(),
        });
        extended(self, of_profile)
    }
}

fn operations(captured: &CaptureResult) -> Value {
    let names = ["read", "write", "flush", "discard", "write_zeroes", "other"];
    let totals = &captured.profile.totals;
    let (requests, bytes) = (totals.requests.all(), totals.bytes.all());
    let service: &PerOperation<Option<TraceDistribution>> = &captured.profile.service_ns;
    let (service, queued, sizes) = (service.all(), captured.profile.queued_ns.all(), captured.profile.sizes.all());
    let mut all = Map::new();
    for (index, name) in names.into_iter().enumerate().filter(|(index, _)| *requests[*index] > 0) {
        let frequent: Vec<Value> = sizes[index]
            .frequent
            .iter()
            .map(|size| json!({ "bytes": size.bytes, "requests": size.requests }))
            .collect();
        let value = json!({
            "requests": requests[index],
            "bytes": bytes[index],
            "service_ns": service[index].as_ref().map(distribution),
            "queued_ns": queued[index].as_ref().map(distribution),
            "frequent_sizes": frequent,
        });
        all.insert(name.to_owned(), value);
    }
    all.into()
}

fn distribution(of: &TraceDistribution) -> Value {
    json!({ "min": of.min, "mean": of.mean, "p50": of.p50, "p90": of.p90, "p99": of.p99, "p99_9": of.p99_9, "max": of.max })
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

/// What the counters of a device counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SampleResult {
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
    #[serde(skip)]
    pub lengths_ns: [u64; 2],
    /// Number of samples that were not taken in time, so that an interval is longer.
    #[serde(rename = "missed_samples")]
    pub missed: u64,
    /// Number of intervals without figures, because the counters began anew.
    #[serde(rename = "counter_restarts")]
    pub restarts: u64,
    /// Kinds of requests that were counted, and all together if there are several.
    #[serde(skip)]
    pub kinds: Vec<SampledKind>,
    /// Requests of all kinds.
    pub requests: u64,
    /// Whether the kernel counts discards and flushes.
    pub counts_discards: bool,
    /// See [`Self::counts_discards`]. Flushes of a partition are counted for its disk.
    pub counts_flushes: bool,
    /// Mean number of requests in flight, over time.
    #[serde(skip)]
    pub depth_mean: f64,
    /// The largest number of requests in flight at a sample.
    #[serde(skip)]
    pub depth_seen_max: u64,
    /// Fraction of time with requests in flight.
    pub busy_fraction: f64,
    /// Why sampling ended early: an error with its remedy.
    #[serde(skip)]
    pub failure: Option<Problem>,
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
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

impl SampledKind {
    /// Returns the mean size of a request in bytes.
    #[must_use]
    pub fn mean_bytes(&self) -> u64 {
        self.bytes / self.requests.max(1)
    }
}

impl SampleResult {
    /// Returns the result as JSON: keys end with their units.
    #[must_use]
    pub fn json(&self) -> String {
        let seconds = self.duration_ns as f64 / 1e9;
        let kind = |kind: &SampledKind| {
            json!({
                "requests": kind.requests,
                "bytes": kind.bytes,
                "merges": kind.merges,
                "iops": kind.iops,
                "bytes_per_second": if seconds > 0.0 { kind.bytes as f64 / seconds } else { 0.0 },
                "mean_bytes": kind.mean_bytes(),
                "mean_latency_ns": kind.latency_ns,
            })
        };
        let kinds: Map<String, Value> = self.kinds.iter().map(|one| (one.name.to_owned(), kind(one))).collect();
        let computed = json!({
            "fathom_capture_sample": SCHEMA,
            "interval_min_ns": self.lengths_ns[0],
            "interval_max_ns": self.lengths_ns[1],
            "kinds": kinds,
            "queue_depth": { "mean": self.depth_mean, "max_at_samples": self.depth_seen_max },
            "confidence": "low",
            "failure": self.failure.as_ref().map(Problem::to_string),
        });
        extended(self, computed)
    }
}
