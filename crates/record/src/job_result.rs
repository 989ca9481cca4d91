//! Results of jobs.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Declared, DirectionResult, LatencyStats, Measured, Quote};

/// The result of one worker, or of several that report together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobResult {
    /// Name of the job; for several jobs, of the first.
    pub name: String,
    /// Description of the job.
    pub description: Option<String>,
    /// Reporting group, from zero.
    pub group: u32,
    /// Worker number, from zero; for several workers, of the first.
    pub number: u32,
    /// Error number that ended the job; zero for none.
    pub error: i32,
    /// Estimated remaining seconds; zero at the end.
    pub eta_s: u64,
    /// Seconds since the program started.
    pub elapsed_s: u64,
    /// Start of the first operation, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// The same instant on the clock of `job_start_clock_id`, in milliseconds; `None` without this option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_clock_ms: Option<u64>,
    /// Process or thread ID.
    pub pid: u32,
    /// Number of workers in the result.
    pub workers: u32,
    /// Options set for this job alone, as typed: name and value.
    pub echo: Vec<(String, String)>,
    /// Requested settings.
    pub declared: Declared,
    pub result: Measured,
    /// Verification results; `None` for jobs that do not verify, and for runs of other programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<Verified>,
    /// What was replayed of a trace; `None` for jobs that replay none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplayRecord>,
    /// Outcome of the search for a queue depth (`latency_target`); `None` for jobs without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth_search: Option<DepthSearchRecord>,
    /// Its steady state; `None` for jobs without `steadystate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<SteadyRecord>,
    /// Number of zones that were reset before writes (`zonemode=zbd`).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub zone_resets: u64,
    /// Whether it is unknown how long the job ran: results of other programs that print rates alone, which count for a
    /// nominal time, or counts alone, which have no rates.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untimed: bool,
    /// Short run of the same job at another depth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<ProbeRecord>,
    /// Facts about the job's environment.
    pub evidence: JobEvidence,
    /// Figures printed by another program, with their resolution; empty if all figures are exact.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotes: Vec<Quote>,
}

/// Reports whether a count has nothing to say.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl JobResult {
    /// Returns the job with its writes alone, if another program read them back only after the last one, to verify them.
    #[must_use]
    pub fn without_verification(&self) -> Option<Self> {
        /// Relative difference by which the times of both may miss that of the job.
        const ROUNDED: f64 = 0.02;
        let (read, write) = (&self.result.read, &self.result.write);
        let (elapsed_ns, both_ns) = (self.result.elapsed_ns() as f64, (read.runtime_ns + write.runtime_ns) as f64);
        let only_writes = self.declared.rw.trim_start_matches("rand") == "write";
        let reads_back = self.declared.verify && self.verified.is_none() && only_writes;
        let are_apart = read.runtime_ns > 0 && write.runtime_ns > 0 && (both_ns / elapsed_ns - 1.0).abs() <= ROUNDED;
        (reads_back && are_apart).then(|| {
            let share = write.runtime_ns as f64 / both_ns;
            let mut job = self.clone();
            let result = &mut job.result;
            result.read = DirectionResult::default();
            for ns in [&mut result.runtime_ns, &mut result.cpu.user_ns, &mut result.cpu.system_ns] {
                *ns = (*ns as f64 * share) as u64;
            }
            job
        })
    }

    /// Returns the outcome of the search for a queue depth, with fio's defaults where there was none.
    #[must_use]
    pub fn fio_depth_search(&self) -> DepthSearchRecord {
        let (percentile, depth) = (100.0, self.declared.iodepth);
        self.depth_search.unwrap_or(DepthSearchRecord { percentile, depth, ..DepthSearchRecord::default() })
    }

    /// Reports whether there is anything to judge. Other programs may state only bytes, or only the times of syncs.
    #[must_use]
    pub fn has_result(&self) -> bool {
        let result = &self.result;
        result.ios() > 0 || self.untimed && (result.bytes() > 0 || result.sync.count > 0)
    }

    /// Returns the number of syncs that fio counts, which excludes `fdatasync`.
    #[must_use]
    pub const fn fio_syncs(&self) -> u64 {
        if self.declared.only_data_syncs { 0 } else { self.result.sync.count }
    }
}

/// The search for the highest queue depth that keeps to a latency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DepthSearchRecord {
    /// The latency in nanoseconds.
    pub target_ns: u64,
    /// Length of each step in nanoseconds.
    pub window_ns: u64,
    /// Percentage of operations that had to keep to it.
    pub percentile: f64,
    /// Highest depth that did; the lowest one tried if none did.
    pub depth: u32,
    /// Whether any depth did.
    pub is_met: bool,
    /// That percentile of the latencies at this depth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<u64>,
    /// That of the next higher depth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above_ns: Option<u64>,
}

/// A short run of the same job at another depth, right after the job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeRecord {
    /// `iodepth` of each worker.
    pub iodepth: u32,
    /// Measured time in nanoseconds.
    pub runtime_ns: u64,
    /// Operations per second over all kinds.
    pub iops: f64,
    /// Mean service time in nanoseconds.
    pub service_mean_ns: f64,
    /// Operations per second of an equally short run at the job's own depth after that; `None` if it was not made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_iops: Option<f64>,
}

/// Facts about a job's environment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobEvidence {
    /// Used files and devices, each once.
    pub targets: Vec<TargetFacts>,
    /// Throttles of the devices below them, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub throttles: Vec<Throttle>,
}

/// A limit of cgroups on the operations or bytes per second of a device, the strictest of its key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Throttle {
    /// Name of the device, as in `/sys/block`.
    pub device: String,
    /// File that sets the limit.
    pub file: String,
    /// `riops`, `wiops`, `rbps` or `wbps`.
    pub key: String,
    /// The limit.
    pub value: u64,
}

impl JobEvidence {
    /// Adds the facts of other workers, each file once.
    pub(crate) fn add<'a>(&mut self, others: impl IntoIterator<Item = &'a Self>) {
        let mut known: BTreeSet<&str> = self.targets.iter().map(|target| target.path.as_str()).collect();
        let mut new = Vec::new();
        for other in others {
            new.extend(other.targets.iter().filter(|target| known.insert(&target.path)).cloned());
            let throttles = &mut self.throttles;
            other.throttles.iter().for_each(|throttle| {
                if !throttles.contains(throttle) {
                    throttles.push(throttle.clone());
                }
            });
        }
        self.targets.extend(new);
    }
}

/// Facts about a file or device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetFacts {
    pub path: String,
    pub kind: TargetKind,
    /// Size in bytes.
    pub size: u64,
    /// Allocated bytes; less than the size if a file has holes.
    pub allocated: Option<u64>,
    /// Fraction in the page cache when the run began, from 0 to 1.
    pub cached_before: Option<f64>,
    /// Fraction in the page cache when the run ended, from 0 to 1.
    pub cached_after: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TargetKind {
    /// A regular file.
    Regular,
    /// A block device.
    Block,
    /// A file in memory (tmpfs).
    Memory,
    /// A character device, a pipe, or an export of an NBD server.
    Other,
}

/// The replay of a trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayRecord {
    /// Path of the trace.
    pub trace: String,
    /// Operations of the replayed part, with syncs.
    pub requests: u64,
    /// Operations issued.
    pub issued: u64,
    /// Instants of the first and last request of the replayed part, in nanoseconds since the start of the trace.
    pub first_ns: u64,
    /// Instant of the last request of the replayed part, in nanoseconds since the start of the trace.
    pub last_ns: u64,
    /// Time from the start of the replay to the intended instant of the last request that was issued, in nanoseconds;
    /// `None` if it keeps no instants (closed loop, speed `max`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_last_ns: Option<u64>,
    /// Speed as a multiple of the original; `None` if the instants of the trace were ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,
    /// Whether requests waited for the completions that their processes waited for (closed loop).
    pub closed_loop: bool,
    /// Longest time by which an operation was issued after its intended instant, in nanoseconds. It includes waits for
    /// a free slot of the queue.
    pub behind_max_ns: u64,
    /// That of the last operation, in nanoseconds.
    pub behind_last_ns: u64,
    /// Maximum number of operations in flight of one worker.
    pub in_flight_max: u64,
    /// Queue depth of each worker, which bounds that number.
    pub depth: u32,
    /// What was left out or changed, one phrase each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl ReplayRecord {
    /// Adds the replay of another worker of the same result.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.issued = self.issued.saturating_add(other.issued);
        self.first_ns = self.first_ns.min(other.first_ns);
        self.last_ns = self.last_ns.max(other.last_ns);
        self.due_last_ns = self.due_last_ns.max(other.due_last_ns);
        self.behind_max_ns = self.behind_max_ns.max(other.behind_max_ns);
        self.behind_last_ns = self.behind_last_ns.max(other.behind_last_ns);
        self.in_flight_max = self.in_flight_max.max(other.in_flight_max);
        for note in &other.notes {
            if !self.notes.contains(note) {
                self.notes.push(note.clone());
            }
        }
    }

    /// Returns whether the queue depth was reached, so that requests may have waited for a free slot.
    #[must_use]
    pub fn has_reached_depth(&self) -> bool {
        self.in_flight_max >= u64::from(self.depth)
    }
}

/// Whether and how a job reached a steady state (`steadystate`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyRecord {
    /// `iops`, `bw` or `lat`.
    pub measure: String,
    /// Whether the slope of the measure is judged instead of its largest deviation from the mean.
    pub is_slope: bool,
    /// Whether limit and criterion are percentages of the mean.
    pub is_percent: bool,
    /// Value below which the state is steady: per second, in nanoseconds for `lat`, or in per cent.
    pub limit: f64,
    /// Length of the window in nanoseconds.
    pub duration_ns: u64,
    /// Whether the state was reached.
    pub is_attained: bool,
    /// The last value that was compared with the limit.
    pub criterion: f64,
    /// Largest deviation from the mean in the last window, in the unit of the limit that is no percentage; zero if the slope is judged.
    pub max_deviation: f64,
    /// Slope in the last window, in that unit per sample; zero if the deviation is judged.
    pub slope: f64,
    /// Operations per second of each sample of the last window.
    pub iops: Vec<f64>,
    /// Bytes per second of each sample of the last window.
    pub bytes_per_second: Vec<f64>,
    /// Mean completion latency of each sample of the last window in nanoseconds; empty unless it is the measure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latencies_ns: Vec<f64>,
}

impl SteadyRecord {
    /// Returns a note on the search of fio, as its text output ends that line.
    pub(crate) fn fio_note(&self) -> String {
        let attained = if self.is_attained { "yes" } else { "no" };
        let how = if self.is_slope { "slope" } else { "mean dev" };
        let value = if self.is_slope && !self.is_percent { self.slope } else { self.criterion };
        let percent = if self.is_percent { "%" } else { "" };
        let limit = if self.limit > 0.0 { format!(" (limit {}{percent})", self.limit) } else { String::new() };
        format!("fio's steady-state check: attained={attained}, {} {how}={value:.3}{percent}{limit}", self.measure)
    }

    /// Returns the mean of the operations per second in the last window.
    #[must_use]
    pub fn iops_mean(&self) -> u64 {
        mean(&self.iops)
    }

    /// Returns the mean of the bytes per second in the last window.
    #[must_use]
    pub fn bytes_per_second_mean(&self) -> u64 {
        mean(&self.bytes_per_second)
    }

    /// Returns the mean of the latencies in the last window, in nanoseconds; `None` unless latency is the measure.
    #[must_use]
    pub fn latency_mean_ns(&self) -> Option<u64> {
        (self.measure == "lat").then(|| mean(&self.latencies_ns))
    }
}

fn mean(values: &[f64]) -> u64 {
    (values.iter().sum::<f64>() / values.len().max(1) as f64) as u64
}

/// Counts of verified blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verified {
    /// Blocks written by this run: one per write or, if offsets may repeat, one for all writes to a block between two
    /// read-backs. Zero for jobs that check an earlier run.
    pub written: u64,
    /// Blocks read back and compared.
    pub checked: u64,
    /// Checked blocks of which only the headers were compared: all with `verify=meta`.
    #[serde(default)]
    pub headers_only: u64,
    /// Checked blocks whose content was wrong.
    pub mismatches: u64,
    /// Nonces in the block headers in ascending order: one, unless blocks belong to several runs; none without headers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nonces: Vec<u32>,
    /// Reason why some blocks were not checked; `None` if all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<Unchecked>,
}

/// Reason why written blocks were not checked, in ascending order of severity. Unless the user chose it, a job that
/// wrote them makes the exit code 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unchecked {
    /// `do_verify=0`.
    DoVerify,
    /// `verify=null`, which compares nothing.
    NullMethod,
    /// `ioengine=null`, which keeps no data.
    NullEngine,
    /// The checksum covers nothing of the payload, and the payload does not follow from the header either.
    Payload,
    /// Blocks were read from a cache that could not be dropped.
    Cached,
    /// A modelled volume, which keeps no data.
    Model,
    /// The job wrote no blocks, and does not check an earlier run.
    Unwritten,
    /// There was nothing to read.
    Nothing,
    /// Reads or the job failed.
    Failed,
    /// Other workers write the same blocks, so a lost write cannot be distinguished from an overwritten one.
    Overwritten,
    /// The runtime was over.
    Runtime,
    /// The job was stopped: by a signal, or by `exitall`.
    Stopped,
}

impl Unchecked {
    /// Reports whether the job chose not to check.
    #[must_use]
    pub const fn is_chosen(self) -> bool {
        matches!(self, Self::DoVerify | Self::NullMethod | Self::NullEngine | Self::Model)
    }
}

impl Verified {
    /// Adds the counts of another worker.
    pub fn merge(&mut self, other: &Self) {
        self.written += other.written;
        self.checked += other.checked;
        self.headers_only += other.headers_only;
        self.mismatches += other.mismatches;
        self.nonces.extend_from_slice(&other.nonces);
        self.nonces.sort_unstable();
        self.nonces.dedup();
        self.unchecked = self.unchecked.max(other.unchecked);
    }
}

/// Figures of one kind of operation; `None` for those that are unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KnownTransfers {
    /// Completed operations.
    pub ios: Option<u64>,
    /// Transferred bytes.
    pub bytes: Option<u64>,
    /// Runtime in nanoseconds.
    pub runtime_ns: Option<u64>,
    /// Operations per second.
    pub iops: Option<f64>,
    /// Bytes per second.
    pub bytes_per_second: Option<f64>,
}

/// Statistics of a latency in nanoseconds; `None` for those that are unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KnownLatency {
    pub mean_ns: Option<f64>,
    /// Sample standard deviation.
    pub stddev_ns: Option<f64>,
    /// Maximum.
    pub max_ns: Option<u64>,
}

impl JobResult {
    /// Returns what is known of the operations of one kind of this job.
    #[must_use]
    pub fn known_transfers(&self, result: &DirectionResult) -> KnownTransfers {
        let &DirectionResult { ios, bytes, runtime_ns, .. } = result;
        let (iops, bytes_per_second) = (result.iops(), result.bytes_per_second());
        if !self.untimed {
            // Of a text without options, what is 0 may as well be unknown: a log of IOPS has no bytes.
            let [has_ios, has_bytes] = [ios, bytes].map(|sum| sum > 0 || !self.declared.header_only);
            return KnownTransfers {
                ios: has_ios.then_some(ios),
                bytes: has_bytes.then_some(bytes),
                runtime_ns: Some(runtime_ns),
                iops: has_ios.then_some(iops),
                bytes_per_second: has_bytes.then_some(bytes_per_second),
            };
        }
        // Rates count for a nominal time, and a mean of unknown operations for one.
        let is_rate = runtime_ns > 0;
        KnownTransfers {
            ios: (!is_rate && ios > 1).then_some(ios),
            bytes: (!is_rate && bytes > 0).then_some(bytes),
            runtime_ns: None,
            iops: (iops > 0.0).then_some(iops),
            bytes_per_second: (bytes_per_second > 0.0).then_some(bytes_per_second),
        }
    }

    /// Returns what is known of a latency of this job.
    #[must_use]
    pub fn known_latency(&self, latency: &LatencyStats) -> KnownLatency {
        let &LatencyStats { count, min_ns, max_ns, mean_ns, stddev_ns, .. } = latency;
        if count == 0 {
            return KnownLatency::default();
        }
        // Statistics that a text does not print are 0, as is the deviation of equal values.
        let is_all = !self.declared.header_only;
        let are_equal = max_ns > 0 && min_ns == max_ns;
        KnownLatency {
            mean_ns: (is_all || mean_ns > 0.0).then_some(mean_ns),
            stddev_ns: (is_all || stddev_ns > 0.0 || are_equal).then_some(stddev_ns),
            max_ns: (is_all || max_ns > 0).then_some(max_ns),
        }
    }
}
