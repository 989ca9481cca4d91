//! Results of jobs.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{Declared, Measured, Quote, ReplayRecord, SteadyRecord, Verified};

/// The result of one worker, or of several that report together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// Whether it is not known how long the job ran: results of other programs that print rates alone, which count for a
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobEvidence {
    /// Used files and devices, each once.
    pub targets: Vec<TargetFacts>,
    /// Throttles of the devices below them, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub throttles: Vec<Throttle>,
}

/// A limit of cgroups on the operations or bytes per second of a device, the strictest of its key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
