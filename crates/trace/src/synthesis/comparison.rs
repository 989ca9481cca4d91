//! A job compared with its trace.

use super::{JobLoop, JobOmission, LoadDifference};

/// Greatest relative difference of rates, and of 99th percentiles, that match.
const IOPS_TOLERANCE: f64 = 0.03;
const P99_TOLERANCE: f64 = 0.15;

/// A job for a trace, compared with it.
#[derive(Clone, Debug, PartialEq)]
pub struct JobComparison {
    /// Name of the job file.
    pub file: String,
    pub sections: usize,
    /// How the job issues requests.
    pub job_loop: JobLoop,
    /// Bytes of the file or device that it uses.
    pub bytes: u64,
    /// What the job leaves out or changes.
    pub omissions: Vec<JobOmission>,
    /// Differences of its load from that of the trace.
    pub differences: Vec<LoadDifference>,
    /// The trace and the job on modelled volumes.
    pub volumes: Vec<VolumeComparison>,
    /// Why there are no volumes; `None` if there are.
    pub not_simulated: Option<String>,
}

/// Rate and latency of a load on a volume.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoadLatency {
    /// Reads, writes and discards per second.
    pub iops: f64,
    /// Median from the intended instant to the completion, in nanoseconds.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p99_9_ns: u64,
}

/// A trace and its job on a volume.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeComparison {
    /// Volume, as in `--on`.
    pub volume: String,
    /// The replayed trace.
    pub trace: LoadLatency,
    pub job: LoadLatency,
}

impl VolumeComparison {
    /// Returns by which fraction the job has more requests per second.
    #[must_use]
    pub fn iops_difference(&self) -> f64 {
        self.job.iops / self.trace.iops.max(f64::MIN_POSITIVE) - 1.0
    }

    /// Returns by which fraction the 99th percentile of the job is higher.
    #[must_use]
    pub fn p99_difference(&self) -> f64 {
        self.job.p99_ns as f64 / self.trace.p99_ns.max(1) as f64 - 1.0
    }

    /// Reports whether the rates differ by at most 3 % and the 99th percentiles by at most 15 %.
    #[must_use]
    pub fn is_matched(&self) -> bool {
        self.iops_difference().abs() <= IOPS_TOLERANCE && self.p99_difference().abs() <= P99_TOLERANCE
    }
}
