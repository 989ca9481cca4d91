//! Results of replays, from the records of runs.

use meter::Histogram;
use plan::replay::{ReplayCredits, ReplayInterval, ReplayLimit, ReplayResult};
use record::{DataKind, JobResult, LatencyBlock, ModelRecord, ModelStage, Run};

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

fn limit(stage: &ModelStage, model: &ModelRecord) -> ReplayLimit {
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
