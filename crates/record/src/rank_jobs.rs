//! Results of a rank by job.

use serde::{Deserialize, Serialize};

use crate::{Declared, DirectionResult, JobResult, LatencyStats, Measured, SeriesRecord};

/// Maximum number of results by job that a rank adds to the record of all ranks.
pub const RANK_JOBS_MAX: usize = 64;

/// The results of one job in one rank. Its latencies have percentiles instead of histograms, which would make the record
/// of many ranks large.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankJob {
    /// Name. Jobs of equal names are in the order of the merged record.
    pub name: String,
    /// Error number that ended the job; zero for none.
    pub error: i32,
    /// Seconds since the program started.
    pub elapsed_s: u64,
    /// Start of the first operation, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// Options set for this job alone, with the variables of the rank replaced.
    pub echo: Vec<(String, String)>,
    /// Measured results, without series.
    pub result: Measured,
}

impl RankJob {
    /// Summarizes the results of all jobs; none if there are too many.
    pub(crate) fn all_of(jobs: &[JobResult]) -> Vec<Self> {
        if jobs.len() > RANK_JOBS_MAX { Vec::new() } else { jobs.iter().map(Self::of).collect() }
    }

    fn of(job: &JobResult) -> Self {
        Self {
            name: job.name.clone(),
            error: job.error,
            elapsed_s: job.elapsed_s,
            started_unix_ms: job.started_unix_ms,
            echo: job.echo.clone(),
            result: job.result.without_histograms(&job.declared),
        }
    }
}

impl Measured {
    /// Returns the results with the requested percentiles instead of histograms, and without series.
    fn without_histograms(&self, declared: &Declared) -> Self {
        let kept = &declared.kept;
        let wanted = |is_wanted: bool| if is_wanted { declared.percentiles.as_slice() } else { &[] };
        let direction = |result: &DirectionResult| DirectionResult {
            submission: result.submission.without_histogram(wanted(kept.slat_percentiles)),
            service: result.service.without_histogram(wanted(kept.clat_percentiles)),
            latency: result.latency.without_histogram(wanted(kept.lat_percentiles)),
            response: result.response.without_histogram(&[]),
            priorities: Vec::new(),
            ..*result
        };
        Self {
            read: direction(&self.read),
            write: direction(&self.write),
            trim: direction(&self.trim),
            sync: self.sync.without_histogram(wanted(kept.clat_percentiles || kept.lat_percentiles)),
            lateness: self.lateness.without_histogram(&[]),
            series: SeriesRecord::default(),
            blocks: Vec::new(),
            trimmed: self.trimmed.clone(),
            quoted_shares: Some(self.latency_shares()),
            ..*self
        }
    }
}

impl LatencyStats {
    fn without_histogram(&self, percents: &[f64]) -> Self {
        Self { buckets: Vec::new(), quoted: self.fio_percentiles_ns(percents), ..*self }
    }
}
