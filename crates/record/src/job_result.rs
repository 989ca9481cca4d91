//! The result of a job.

use serde::{Deserialize, Serialize};

use crate::{Declared, Measured, Quote, Verified};

/// The result of one worker, or of several that report together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobResult {
    /// The job's name; of several, the first one's.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// The reporting group, from zero.
    pub group: u32,
    /// The number of the worker, from zero; of several, the first one's.
    pub number: u32,
    /// The error number that ended it, zero for none.
    pub error: i32,
    /// Seconds it will still take, zero at the end.
    pub eta_s: u64,
    /// Seconds since the program began.
    pub elapsed_s: u64,
    /// When its first operation began, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// The process or thread that ran it.
    pub pid: u32,
    /// How many workers are in here.
    pub workers: u32,
    /// Options set for this job alone, as typed: name and text.
    pub echo: Vec<(String, String)>,
    /// What it asked for.
    pub declared: Declared,
    /// What was measured.
    pub result: Measured,
    /// What it verified; `None` of jobs that do not verify, and of runs of other programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<Verified>,
    /// What the same job did for a moment at another depth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<ProbeRecord>,
    /// What is known of its surroundings.
    pub evidence: JobEvidence,
    /// What another program printed, with its resolution; empty where figures are exact.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotes: Vec<Quote>,
}

impl JobResult {
    /// How many syncs fio would count: it leaves out those of data alone.
    #[must_use]
    pub const fn fio_syncs(&self) -> u64 {
        if self.declared.only_data_syncs { 0 } else { self.result.sync.count }
    }
}

/// A short run of the same job at another depth, right after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProbeRecord {
    /// `iodepth` of each worker.
    pub iodepth: u32,
    /// How long was measured, in nanoseconds.
    pub runtime_ns: u64,
    /// Operations per second, of all kinds.
    pub iops: f64,
    /// The mean time of an operation in nanoseconds.
    pub service_mean_ns: f64,
    /// Operations per second of as short a run at the job's own depth right after that; `None` where it was not made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_iops: Option<f64>,
}

/// Facts about a job's environment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobEvidence {
    /// The files and devices it used, each once.
    pub targets: Vec<TargetFacts>,
}

/// A file or device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetFacts {
    /// Its path.
    pub path: String,
    /// What it is.
    pub kind: TargetKind,
    /// Its size in bytes.
    pub size: u64,
    /// Bytes that have a place on the device; less than the size where a file has holes.
    pub allocated: Option<u64>,
    /// The share of it that was in the page cache when the run began, from 0 to 1.
    pub cached_before: Option<f64>,
    /// The share of it that was in the page cache when the run ended.
    pub cached_after: Option<f64>,
}

/// Kinds of targets.
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
