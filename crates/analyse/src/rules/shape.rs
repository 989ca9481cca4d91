//! Rules for the distribution of latencies and for throughput over time.

use record::{LatencyStats, RankRecord};

use crate::facts::Facts;
use crate::knee::steady::{self, SteadyStep, SteadyWindow};
use crate::rules::limit;
use crate::{Code, EvidenceSource, Finding, IntervalDemand, Observation, Quantity, Remedy, Severity};

/// Minimum number of complete intervals to judge steadiness.
const INTERVALS_MIN: usize = 20;

/// Examines throughput over time: a lasting change or, without one, a different beginning and an unsteady end.
pub(crate) fn of_time(seen: &Observation) -> Vec<Finding> {
    if !seen.device {
        return Vec::new();
    }
    match fall(seen) {
        // A model knows the reason better, and less demand needs none.
        Some(step) if seen.modelled || !demand_stays(seen, &step) => Vec::new(),
        Some(step) => vec![burst_used_up(seen, &step)],
        None if seen.paces.len() < INTERVALS_MIN => Vec::new(),
        None => warm_up(seen).into_iter().chain(not_steady(seen)).collect(),
    }
}

/// Returns a lasting drop of throughput by more than a tenth.
fn fall(seen: &Observation) -> Option<SteadyStep> {
    const TENTH: f64 = 0.9;
    steady::step(&seen.paces).filter(|step| step.ratio() < TENTH)
}

/// Reports whether a device was the limit after a drop: it stayed busy, with as many requests waiting.
fn demand_stays(seen: &Observation, step: &SteadyStep) -> bool {
    /// Fraction of the time, and requests in flight, of a device that hardly ever waits for requests.
    const BUSY: f64 = 0.8;
    const HALF: f64 = 0.5;
    let Some((before, after)) = seen.demands.as_ref().and_then(|demands| demands.split_at_checked(step.at)) else {
        return seen.demands.is_none();
    };
    let mean = |demands: &[IntervalDemand], of: fn(&IntervalDemand) -> Option<f64>| {
        let known: Vec<f64> = demands.iter().filter_map(of).collect();
        (!known.is_empty()).then(|| steady::mean(&known))
    };
    let queues = mean(before, |demand| demand.in_flight).zip(mean(after, |demand| demand.in_flight));
    queues.is_some_and(|(before, after)| after >= BUSY.max(HALF * before))
        && mean(after, |demand| demand.busy).is_none_or(|busy| busy >= BUSY)
}

/// Reports that credits ran out, or a cache filled up.
fn burst_used_up(seen: &Observation, step: &SteadyStep) -> Finding {
    let at_ns = step.at as f64 * seen.interval_ns;
    Finding::new(Code::BurstUsedUp, Severity::Advice)
        .with(Quantity::ChangedAt, at_ns, EvidenceSource::Intervals)
        .with(Quantity::ChangeFactor, step.ratio(), EvidenceSource::Intervals)
        .with(Quantity::EarlyIops, step.before, EvidenceSource::Intervals)
        .with(Quantity::LateIops, step.after, EvidenceSource::Intervals)
        .remedy(Remedy::Ramp { ramp_s: (at_ns / 1e9).ceil() as u64 + 1 })
}

/// Checks for a warm-up that affects the mean.
fn warm_up(seen: &Observation) -> Option<Finding> {
    const MATTERS: f64 = 0.02;
    const DIFFERENT: f64 = 0.1;
    let iops = &seen.paces;
    // A load that pauses has no beginning to leave out.
    if seen.demands.is_some() && iops.contains(&0.0) {
        return None;
    }
    let judged = steady::judge(iops);
    let (first, rest) = iops.split_at(judged.from);
    let (with, without) = (steady::mean(iops), steady::mean(rest));
    let changes = (with / without - 1.0).abs() > MATTERS && (steady::mean(first) / without - 1.0).abs() > DIFFERENT;
    (judged.from > 0 && judged.step.is_none() && changes).then(|| {
        let warm_up_ns = judged.from as f64 * seen.interval_ns;
        Finding::new(Code::WarmupCounted, Severity::Advice)
            .with(Quantity::WarmupTime, warm_up_ns, EvidenceSource::Intervals)
            .with(Quantity::SteadyIops, without, EvidenceSource::Intervals)
            .remedy(Remedy::Ramp { ramp_s: (warm_up_ns / 1e9).ceil().max(1.0) as u64 })
    })
}

/// Checks whether the last rounds of a run differ.
fn not_steady(seen: &Observation) -> Option<Finding> {
    const ROUNDS: usize = 10;
    let iops = &seen.paces;
    let each = iops.len() / ROUNDS;
    let rounds: Vec<f64> = iops[iops.len() - each * ROUNDS..].chunks(each).map(steady::mean).collect();
    let window = SteadyWindow::of(&rounds).filter(|window| !window.is_steady())?;
    let runtime_s = (iops.len() as f64 * seen.interval_ns / 1e9 * 5.0).ceil() as u64;
    let finding = Finding::new(Code::NotSteady, Severity::Warning)
        .with(Quantity::IopsSpread, window.spread, EvidenceSource::Intervals)
        .with(Quantity::IopsSlope, window.slope, EvidenceSource::Intervals)
        .remedy(Remedy::RunLonger { runtime_s: runtime_s.max(300) });
    Some(finding)
}

/// Checks for two separate groups of operations, the slow ones delayed by about one slice of a throttle: the kernel's
/// `blk-throttle` and similar limiters delay operations until the next slice of about 100 ms. One slice delays as many
/// operations as are in flight, so a single pause of the host is not mistaken for throttling.
pub(super) fn throttled(facts: Facts<'_>) -> Option<Finding> {
    /// Slices are longer than this, and latencies of healthy devices shorter.
    const SLICE_NS: u64 = 8_000_000;
    const MOST: f64 = 0.5;
    const SOME: f64 = 0.002;
    /// Minimum number of slices.
    const SLICES: u64 = 4;
    let service = facts.result().kind(facts.main_kind()).with_percentiles();
    let (fast, slow) = two_modes(service)?;
    let counted = service.count as f64;
    let (fast_share, slow_share) = (fast.count as f64 / counted, slow.count as f64 / counted);
    let repeatedly = slow.count >= SLICES * facts.declared().in_flight_asked.unwrap_or(1).max(1);
    let slices = slow_share >= SOME && slow.median_ns >= SLICE_NS && repeatedly;
    // The operations of a rank that is slow as a whole are no slices.
    let is_slow = |rank: &RankRecord| rank.latency_ns.is_some_and(|[median, ..]| median >= slow.median_ns / 2);
    if facts.run.fleet.as_ref().is_some_and(|fleet| fleet.members.iter().any(is_slow)) {
        return None;
    }
    // A throttle that is known says more, and a model knows its limits.
    (facts.run.model.is_none()
        && facts.has_device()
        && fast_share >= MOST
        && slices
        && limit::throttle(facts).is_none())
    .then(|| {
        Finding::new(Code::Throttled, Severity::Advice)
            .with(Quantity::FastMode, fast.median_ns as f64, EvidenceSource::Histogram)
            .with(Quantity::SlowMode, slow.median_ns as f64, EvidenceSource::Histogram)
            .with(Quantity::SlowShare, slow_share, EvidenceSource::Histogram)
    })
}

/// A group of operations with similar latencies.
#[derive(Clone, Copy, Debug)]
struct LatencyMode {
    count: u64,
    median_ns: u64,
}

/// Splits latencies at the widest empty gap on a logarithmic scale, if it is wide enough.
fn two_modes(latency: &LatencyStats) -> Option<(LatencyMode, LatencyMode)> {
    /// Minimum ratio of the latencies at the ends of the gap.
    const GAP: f64 = 4.0;
    let bins: Vec<(u64, u64)> = latency.bins().filter(|&(_, count)| count > 0).collect();
    let gap = |index: &usize| bins[*index].0 as f64 / bins[*index - 1].0.max(1) as f64;
    let at = (1..bins.len()).max_by(|a, b| gap(a).total_cmp(&gap(b))).filter(|at| gap(at) >= GAP)?;
    let (fast, slow) = bins.split_at(at);
    Some((mode(fast)?, mode(slow)?))
}

fn mode(bins: &[(u64, u64)]) -> Option<LatencyMode> {
    let count: u64 = bins.iter().map(|&(_, count)| count).sum();
    let mut seen = 0;
    let median = bins.iter().find(|(_, here)| {
        seen += here;
        seen >= count - seen
    })?;
    Some(LatencyMode { count, median_ns: median.0 })
}
