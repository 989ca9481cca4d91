//! Figures of all operations of some jobs together, and what limited a job, in few words.

use analyse::{Code, Verdict};
use record::{DataKind, JobResult, LatencyStats, Run};
use units::{Bytes, Nanos, count};

/// Mean size of operations from which throughput says more than IOPS.
pub(crate) const LARGE_BYTES: f64 = 65_536.0;

/// Percentile from which an assumed distribution of latencies says nothing.
const TAIL: f64 = 99.9;

/// Formats a percentile, with `~` where it follows from an assumed distribution of latencies.
pub(crate) fn modelled_percentile(percent: f64, value: Option<record::Percentile>, is_assumed: bool) -> String {
    let mark = if is_assumed && percent >= TAIL && value.is_some() { "~" } else { "" };
    format!("{mark}{}", super::percentile(value))
}

/// Figures of all operations of some jobs together; rates are zero if they are not known.
pub(crate) struct TotalFigures {
    pub(crate) iops: f64,
    pub(crate) bytes_per_second: f64,
    /// Mean and percentiles of all operations; `None` if they are not known together.
    pub(crate) mean_ns: Option<f64>,
    latency: Option<LatencyStats>,
}

impl TotalFigures {
    pub(crate) fn of(run: &Run) -> Self {
        Self::of_jobs(&run.jobs)
    }

    pub(crate) fn of_jobs(jobs: &[JobResult]) -> Self {
        let kinds = || jobs.iter().flat_map(|job| job.result.used_kinds().map(move |(_, kind)| (job, kind)));
        // Other programs do not print every figure.
        let known = || kinds().map(|(job, kind)| job.known_transfers(kind));
        let (sum_ns, count) = kinds().fold((0.0, 0), |(sum, count), (job, kind)| {
            let latency = kind.in_blocks();
            match job.known_latency(latency).mean_ns {
                Some(mean_ns) => (sum + mean_ns * latency.count as f64, count + latency.count),
                None => (sum, count),
            }
        });
        let latency = match (kinds().count(), kinds().next()) {
            (1, Some((_, kind))) => Some(kind.in_blocks().clone()),
            _ => {
                let blocks: Vec<_> = jobs.iter().flat_map(|job| job.result.blocks.iter().cloned()).collect();
                Some(LatencyStats::of_blocks(&blocks, &DataKind::ALL)).filter(|all| all.count == count)
            }
        };
        Self {
            iops: known().filter_map(|known| known.iops).sum(),
            bytes_per_second: known().filter_map(|known| known.bytes_per_second).sum(),
            mean_ns: (count > 0).then(|| sum_ns / count as f64),
            latency,
        }
    }

    pub(crate) fn percentile_ns(&self, percent: f64) -> Option<f64> {
        self.latency.as_ref()?.percentile_ns(percent).map(|ns| ns as f64)
    }

    /// Returns IOPS, bandwidth, mean latency, p50, p99 and p99.9.
    pub(crate) fn cells(&self, is_assumed: bool) -> Vec<String> {
        let mean = self.mean_ns.map_or_else(|| "-".to_owned(), |ns| Nanos::new(ns.round() as u64).to_string());
        let known = |rate: f64, words: String| if rate > 0.0 { words } else { "-".to_owned() };
        let bytes = format!("{}/s", Bytes::new(self.bytes_per_second as u64));
        let mut cells = vec![known(self.iops, count(self.iops)), known(self.bytes_per_second, bytes), mean];
        cells.extend([50.0, 99.0, 99.9].map(|percent| {
            let value = self.latency.as_ref().and_then(|latency| latency.percentile(percent));
            modelled_percentile(percent, value, is_assumed)
        }));
        cells
    }

    /// Returns `3.00k IOPS`, or bytes per second of large operations.
    pub(crate) fn rate(&self) -> String {
        match self.bytes_per_second >= LARGE_BYTES * self.iops {
            true => format!("{}/s", Bytes::new(self.bytes_per_second as u64)),
            false => format!("{} IOPS", count(self.iops)),
        }
    }

    pub(crate) fn at(&self) -> String {
        self.mean_ns.map_or_else(String::new, |ns| format!(" at {}", Nanos::new(ns.round() as u64)))
    }
}

/// Describes the limit of a result in a few words.
pub(crate) fn limit(verdicts: &[Verdict], job: usize) -> String {
    let verdict = verdicts.iter().find(|verdict| verdict.job == job);
    let Some(finding) = verdict.map(|verdict| &verdict.headline) else { return String::new() };
    match (finding.code, &finding.subject) {
        (Code::ModelHeldBack, Some(stage)) => stage.clone(),
        (Code::ModelNotReached, _) => "latency".to_owned(),
        (Code::RateKept, _) => "the requested rate".to_owned(),
        (Code::QueueTooShallow, _) => "queue depth".to_owned(),
        _ => String::new(),
    }
}
