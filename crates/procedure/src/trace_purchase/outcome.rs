//! Results of replays, from the records of runs.

use std::collections::BTreeMap;

use meter::Histogram;
use plan::replay::{ReplayCredits, ReplayInterval, ReplayLimit, ReplayResult};
use record::{DataKind, JobResult, LatencyBlock, ModelRecord, Run, ServiceStage};
use runner::CreditPolicy;
use trace::TraceSeries;
use volume::Spec;
use volume::closed::{CapPart, Load, caps};

use super::TraceWindow;

/// Percentiles of each replay, as fractions.
const PERCENTILES: [f64; 6] = [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999];

/// Returns the result of a replay of `planned` requests whose instants span `intended_secs`; `None` as that if they have
/// no instants, as in a closed loop. `None` if nothing was replayed.
pub(super) fn outcome(run: &Run, planned: u64, intended_secs: Option<f64>, was_stopped: bool) -> Option<ReplayResult> {
    let (job, model) = (run.jobs.first()?, run.model.as_ref()?);
    let elapsed_secs = model.elapsed_ns as f64 / 1e9;
    let mut histogram = Histogram::default();
    let (mut requests, mut sum_ns, mut max_ns) = (0, 0.0, 0);
    for (_, side) in job.result.kinds() {
        let stats = side.in_blocks();
        stats.buckets.iter().for_each(|&(bucket, count)| histogram.add_at(bucket, count));
        requests += side.ios;
        sum_ns += stats.sum_ns();
        max_ns = max_ns.max(stats.max_ns);
    }
    let at = |share: f64| {
        let ns = histogram.percentile(100.0 * share)?.get();
        // The last bucket has no upper bound.
        let is_beyond = meter::bucket_of(ns) == meter::BUCKETS - 1;
        Some((share, if is_beyond { max_ns } else { ns.min(max_ns) } as f64 / 1e9))
    };
    Some(ReplayResult {
        requests,
        planned,
        was_stopped,
        intended_secs: intended_secs.unwrap_or(elapsed_secs),
        elapsed_secs,
        mean_secs: sum_ns / histogram.total().max(1) as f64 / 1e9,
        percentiles: PERCENTILES.into_iter().filter_map(at).collect(),
        max_secs: max_ns as f64 / 1e9,
        limits: model.stages_of(job).map(|stage| limit(stage, model)).collect(),
        course: course(job),
    })
}

fn limit(stage: &ServiceStage, model: &ModelRecord) -> ReplayLimit {
    let credits = stage.credits.map(|credits| {
        let levels: Vec<(f64, f64)> = stage.levels.iter().map(|(at, left)| (*at as f64 / 1e9, *left)).collect();
        let end = (model.elapsed_ns as f64 / 1e9, credits.left);
        let lowest = levels.iter().copied().chain([end]).min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or(end);
        ReplayCredits {
            in_bytes: credits.bytes,
            capacity: credits.most,
            // The level is recorded at some instants only; at that of the first delay it is zero.
            low: credits.empty_at_ns.map_or((lowest.1.max(0.0), lowest.0), |at| (0.0, at as f64 / 1e9)),
            left: credits.left,
            empty_at_secs: credits.empty_at_ns.map(|at| at as f64 / 1e9),
            levels,
        }
    });
    ReplayLimit {
        name: stage.label(),
        delayed: stage.delayed as f64 / stage.requests.max(1) as f64,
        delay_secs: stage.delay_ns as f64 / 1e9,
        throttled: stage.throttled_ns as f64 / model.elapsed_ns.max(1) as f64,
        utilisation: stage.utilisation,
        credits,
    }
}

/// Returns rates and latencies over time, one interval for each block of latencies.
fn course(job: &JobResult) -> Vec<ReplayInterval> {
    let mut from = 0;
    let interval = |block: &LatencyBlock| {
        let mut histogram = Histogram::default();
        for kind in DataKind::ALL {
            block.of(kind).iter().for_each(|&(bucket, count)| histogram.add_at(bucket as usize, count));
        }
        let (begin, end) = (std::mem::replace(&mut from, block.end_ns) as f64 / 1e9, block.end_ns as f64 / 1e9);
        let secs = |percent: f64| histogram.percentile(percent).map_or(0.0, units::Nanos::secs_f64);
        ReplayInterval {
            from_secs: begin,
            to_secs: end,
            iops: histogram.total() as f64 / (end - begin).max(1e-9),
            p50_secs: secs(50.0),
            p99_secs: secs(99.0),
        }
    };
    job.result.blocks.iter().map(interval).collect()
}

/// Rates of the trace before the replayed part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceHistory {
    /// Width of the intervals in seconds.
    width_secs: f64,
    /// Requests of each interval.
    requests: Vec<f64>,
    /// Fraction of reads.
    read_share: f64,
    /// Mean length in bytes.
    block_bytes: u32,
}

impl TraceHistory {
    /// Returns the history of a part of a trace whose series begins at `first_ns`.
    #[must_use]
    pub fn before(window: TraceWindow, series: &TraceSeries, first_ns: u64) -> Self {
        let width_ns = series.width_ns.max(1);
        let intervals = (window.start_ns.saturating_sub(first_ns) / width_ns) as usize;
        let intervals = &series.intervals[..intervals.min(series.intervals.len())];
        let sum = |of: &dyn Fn(&trace::TraceInterval) -> u64| intervals.iter().map(of).sum::<u64>();
        let (all, reads) = (sum(&|one| one.requests.total()), sum(&|one| one.requests.read));
        let bytes = sum(&|one| one.bytes.read.saturating_add(one.bytes.write));
        Self {
            width_secs: width_ns as f64 / 1e9,
            requests: intervals.iter().map(|one| one.requests.total() as f64).collect(),
            read_share: reads as f64 / all.max(1) as f64,
            block_bytes: (bytes / all.max(1)).clamp(512, 1 << 26) as u32,
        }
    }

    /// Returns the credits that a volume has left after the history at a speed, if it began with those of a new one.
    /// Each interval counts by its mean rate.
    pub(super) fn credits_of(&self, spec: &Spec, speed: f64) -> CreditPolicy {
        let load = Load::mixed(self.read_share, self.block_bytes.max(512), f64::INFINITY);
        let left: BTreeMap<String, u64> = caps(spec, &load)
            .into_iter()
            .filter_map(|cap| {
                let (CapPart::Limit(index), Some(bucket)) = (cap.part, cap.bucket) else { return None };
                let gained = cap.iops * self.width_secs / speed;
                let after = |level: f64, requests: &f64| (level + gained - requests).clamp(0.0, bucket.most);
                let level = self.requests.iter().fold(bucket.at_start, after);
                let billionths = 1e9 * level / bucket.most.max(1e-9);
                Some((spec.limits.get(index)?.name.clone(), billionths as u64))
            })
            .collect();
        if left.is_empty() || self.requests.is_empty() { CreditPolicy::AsDefined } else { CreditPolicy::Left(left) }
    }
}

#[cfg(test)]
mod tests {
    use trace::{PerOperation, TraceInterval};
    use volume::catalogue;

    use super::*;

    fn spec(name: &str) -> Spec {
        catalogue::resolve_all(&[name], &catalogue::no_files).unwrap().remove(0).spec
    }

    /// Returns the credits left after `minutes` at a rate, in billionths.
    fn left(volume: &str, minutes: usize, iops: u64, speed: f64) -> Option<u64> {
        let interval = TraceInterval {
            requests: PerOperation { read: 60 * iops, ..PerOperation::default() },
            bytes: PerOperation { read: 60 * iops * 4096, ..PerOperation::default() },
            ..TraceInterval::default()
        };
        let series = TraceSeries { width_ns: 60_000_000_000, intervals: vec![interval; minutes + 60] };
        let window = TraceWindow { start_ns: 7 + minutes as u64 * series.width_ns, end_ns: u64::MAX };
        match TraceHistory::before(window, &series, 7).credits_of(&spec(volume), speed) {
            CreditPolicy::Left(left) => left.into_values().next(),
            _ => None,
        }
    }

    #[test]
    fn credits_are_spent_and_earned_before_the_part_begins() {
        // 5.4 million credits and 300 IOPS: at 1,300 IOPS, 1,000 are spent per second.
        let half = left("aws/gp2,size=100GiB", 45, 1_300, 1.0).unwrap();
        assert!((499_000_000..=501_000_000).contains(&half), "{half}");
        assert_eq!(left("aws/gp2,size=100GiB", 120, 1_300, 1.0), Some(0));
        assert_eq!(left("aws/gp2,size=100GiB", 45, 100, 1.0), Some(1_000_000_000));
        // Twice as fast: 2,300 per second for half the time.
        let faster = left("aws/gp2,size=100GiB", 45, 1_300, 2.0).unwrap();
        assert!((424_000_000..=426_000_000).contains(&faster), "{faster}");
    }

    #[test]
    fn without_history_or_buckets_volumes_begin_as_defined() {
        assert_eq!(left("aws/gp2,size=100GiB", 0, 1_300, 1.0), None);
        assert_eq!(left("aws/gp3", 45, 1_300, 1.0), None);
    }
}
