//! What was captured or sampled of a live device.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use trace::{DepthProfile, ProcessProfile, TraceDistribution, TraceOperation, TraceProfile, TraceSizeCount};
use units::Problem;

use crate::stored::sorted;

/// Version of the layout of both documents.
pub const SCHEMA: u32 = 1;

/// What was captured.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CaptureFile {
    pub path: String,
    /// Its length in bytes.
    pub bytes: u64,
    pub requests: u64,
}

/// Completed requests as the kernel counts them and as they were captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
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
        sorted(&CaptureDocument {
            fathom_capture: SCHEMA,
            result: self,
            events: if self.takes_bios { "bios" } else { "requests" },
            requests: totals.requests.total(),
            operations: self.operations(),
            sync_requests: totals.sync_requests,
            meta_requests: totals.meta_requests,
            fua_requests: totals.fua_requests,
            preflush_requests: totals.preflush_requests,
            readahead_requests: totals.readahead_requests,
            failed_requests: totals.failed_requests,
            in_flight_at_end: self.in_flight_at_end(),
            queue_depth: self.profile.depth.as_ref().map(CapturedDepth::from),
            processes: self.profile.processes.iter().map(|process| self.process(process)).collect(),
            is_trustworthy: self.is_trustworthy(),
        })
    }

    fn process(&self, process: &ProcessProfile) -> CapturedProcess<'_> {
        CapturedProcess {
            name: self.processes.get(usize::from(process.process)).map(String::as_str),
            requests: process.requests.total(),
            bytes: process.bytes.total(),
        }
    }

    fn operations(&self) -> CapturedOperations<'_> {
        let profile = &self.profile;
        let captured = |operation: TraceOperation| {
            let requests = *profile.totals.requests.get(operation);
            (requests > 0).then(|| CapturedOperation {
                requests,
                bytes: *profile.totals.bytes.get(operation),
                service_ns: profile.service_ns.get(operation).as_ref().map(CapturedDistribution::from),
                queued_ns: profile.queued_ns.get(operation).as_ref().map(CapturedDistribution::from),
                frequent_sizes: &profile.sizes.get(operation).frequent,
            })
        };
        CapturedOperations {
            read: captured(TraceOperation::Read),
            write: captured(TraceOperation::Write),
            flush: captured(TraceOperation::Flush),
            discard: captured(TraceOperation::Discard),
            write_zeroes: captured(TraceOperation::WriteZeroes),
            other: captured(TraceOperation::Other),
        }
    }
}

/// What was captured, with what follows from it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CaptureDocument<'a> {
    /// Version of the document's layout.
    fathom_capture: u32,
    #[serde(flatten)]
    result: &'a CaptureResult,
    /// `requests`, or `bios` for a device without requests of its own.
    events: &'static str,
    requests: u64,
    operations: CapturedOperations<'a>,
    /// Requests for which a process waits.
    sync_requests: u64,
    /// Requests of filesystem metadata.
    meta_requests: u64,
    /// Writes that are on stable storage when they complete.
    fua_requests: u64,
    /// Requests that a flush precedes.
    preflush_requests: u64,
    /// Requests that read ahead.
    readahead_requests: u64,
    failed_requests: u64,
    /// Recorded requests that were not completed.
    in_flight_at_end: u64,
    /// Requests in flight; `null` without known completions.
    queue_depth: Option<CapturedDepth>,
    /// Processes, the one with the most requests first.
    processes: Vec<CapturedProcess<'a>>,
    /// Whether all requests were recorded, as far as events and counters show.
    is_trustworthy: bool,
}

/// Requests in flight.
#[derive(Debug, Serialize, JsonSchema)]
struct CapturedDepth {
    /// Mean over time.
    mean: Option<f64>,
    at_issue: CapturedDistribution,
    /// Fraction of the time with requests in flight.
    busy_fraction: f64,
}

impl From<&DepthProfile> for CapturedDepth {
    fn from(depth: &DepthProfile) -> Self {
        Self {
            mean: depth.depth.map(|depth| depth.mean),
            at_issue: CapturedDistribution::from(&depth.depth_at_issue),
            busy_fraction: depth.busy_time_fraction,
        }
    }
}

/// Operations that occurred.
#[derive(Debug, Serialize, JsonSchema)]
struct CapturedOperations<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<CapturedOperation<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    write: Option<CapturedOperation<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flush: Option<CapturedOperation<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    discard: Option<CapturedOperation<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    write_zeroes: Option<CapturedOperation<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<CapturedOperation<'a>>,
}

/// Requests of one operation.
#[derive(Debug, Serialize, JsonSchema)]
struct CapturedOperation<'a> {
    requests: u64,
    bytes: u64,
    /// Time from the issue to the completion; `null` if unknown.
    service_ns: Option<CapturedDistribution>,
    /// Time in the queue of the scheduler; `null` if unknown.
    queued_ns: Option<CapturedDistribution>,
    /// The most frequent sizes.
    frequent_sizes: &'a [TraceSizeCount],
}

/// Distribution of nanoseconds, or of requests in flight.
#[derive(Debug, Serialize, JsonSchema)]
struct CapturedDistribution {
    min: u64,
    mean: f64,
    p50: u64,
    p90: u64,
    p99: u64,
    p99_9: u64,
    max: u64,
}

impl From<&TraceDistribution> for CapturedDistribution {
    fn from(of: &TraceDistribution) -> Self {
        let TraceDistribution { min, mean, p50, p90, p99, p99_9, max, .. } = *of;
        Self { min, mean, p50, p90, p99, p99_9, max }
    }
}

/// Requests of one process.
#[derive(Debug, Serialize, JsonSchema)]
struct CapturedProcess<'a> {
    /// `null` if unknown.
    name: Option<&'a str>,
    requests: u64,
    bytes: u64,
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
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
    /// Number of intervals without figures, because the counters were reset.
    #[serde(rename = "counter_restarts")]
    pub restarts: u64,
    /// Kinds of requests that were counted, and all together if there are several.
    #[serde(skip)]
    pub kinds: Vec<SampledKind>,
    /// Requests of all kinds.
    pub requests: u64,
    /// Whether the kernel counts discards.
    pub counts_discards: bool,
    /// Whether the kernel counts flushes. Those of a partition are counted for its disk.
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
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
        let kind = |kind: &SampledKind| SampledKindDocument {
            requests: kind.requests,
            bytes: kind.bytes,
            merges: kind.merges,
            iops: kind.iops,
            bytes_per_second: if seconds > 0.0 { kind.bytes as f64 / seconds } else { 0.0 },
            mean_bytes: kind.mean_bytes(),
            mean_latency_ns: kind.latency_ns,
        };
        sorted(&SampleDocument {
            fathom_capture_sample: SCHEMA,
            result: self,
            interval_min_ns: self.lengths_ns[0],
            interval_max_ns: self.lengths_ns[1],
            kinds: self.kinds.iter().map(|one| (one.name, kind(one))).collect(),
            queue_depth: SampledDepth { mean: self.depth_mean, max_at_samples: self.depth_seen_max },
            confidence: "low",
            failure: self.failure.as_ref().map(Problem::to_string),
        })
    }
}

/// What the counters of a device counted, with what follows from it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SampleDocument<'a> {
    /// Version of the document's layout.
    fathom_capture_sample: u32,
    #[serde(flatten)]
    result: &'a SampleResult,
    /// The shortest measured interval.
    interval_min_ns: u64,
    /// The longest measured interval.
    interval_max_ns: u64,
    /// Kinds of requests that were counted, and `all` together if there are several.
    kinds: BTreeMap<&'static str, SampledKindDocument>,
    queue_depth: SampledDepth,
    /// Counters have no single requests: `low`.
    confidence: &'static str,
    /// Why sampling ended early: an error with its remedy.
    failure: Option<String>,
}

/// Requests of one kind.
#[derive(Debug, Serialize, JsonSchema)]
struct SampledKindDocument {
    /// Completed requests.
    requests: u64,
    bytes: u64,
    /// Requests that were merged into others before.
    merges: u64,
    /// Requests per second.
    iops: IntervalRates,
    bytes_per_second: f64,
    /// Mean size of a request.
    mean_bytes: u64,
    /// Mean time from queueing to completion; `null` without requests.
    mean_latency_ns: Option<f64>,
}

/// Requests in flight.
#[derive(Debug, Serialize, JsonSchema)]
struct SampledDepth {
    /// Mean over time.
    mean: f64,
    /// The largest number at a sample.
    max_at_samples: u64,
}
