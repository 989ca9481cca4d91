//! Schedules of bursts: the largest at their instants, the others at equal intervals.

use super::bursts::{Batch, mean_size, requests_of};
use super::schedule::{BATCH_MAX, SchedulePart};

/// How bursts become parts of a schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BurstPlan {
    /// Multiple of the mean rate at which batches of one burst would not have left before the next.
    pub(super) multiple: f64,
    /// Number of parts for the largest bursts.
    pub(super) placed_parts: usize,
    /// Number of sizes of the others.
    pub(super) groups: usize,
    /// Maximum number of intervals in which they are repeated.
    pub(super) intervals: usize,
    /// Instant of the first of the others, as a fraction of their interval.
    pub(super) phase: f64,
}

/// Most requests of a part in batches: as many are in flight on a slow device.
const BATCHED_MAX: u64 = 2048;
/// Least number of requests of a batch that is not a rate.
const BATCH_MIN: u64 = 3;
/// Greatest difference of a part from its rate, in requests, that is not worth another part.
const DEVIATION_MIN: f64 = 32.0;
/// Maximum number of batches of repeated bursts.
const REPEATED_BATCHES_MAX: u64 = 8;
/// Least deviation from one interval for two, as a fraction of the requests.
const INTERVAL_DEVIATION_MIN: f64 = 0.02;
/// Least number of bursts of an interval.
const REPEATED_MIN: usize = 8;

/// Returns the parts of bursts, of which the largest come first, and the number of bursts that are repeated at equal
/// intervals.
pub(super) fn burst_parts(bursts: &[&[Batch]], plan: &BurstPlan, runtime_ns: u64) -> (Vec<SchedulePart>, u64) {
    let placed = (plan.placed_parts / 2).min(bursts.len());
    let (placed, others) = bursts.split_at(placed);
    let mut parts: Vec<SchedulePart> =
        divided(placed, plan.placed_parts).iter().map(|part| placed_part(part)).collect();
    let mut others = others.to_vec();
    others.sort_by_key(|burst| burst[0].begin_ns);
    for interval in intervals(&others, plan.intervals, runtime_ns) {
        repeat(&mut parts, interval, plan);
    }
    (parts, others.len() as u64)
}

/// Divides bursts into parts of nearly constant rates, where these differ most from constant ones.
fn divided<'a>(bursts: &[&'a [Batch]], parts_max: usize) -> Vec<&'a [Batch]> {
    let entry = |part: &'a [Batch]| {
        let (deviation, at) = deviation(part);
        (deviation, at, part)
    };
    let mut parts: Vec<(f64, usize, &[Batch])> = bursts.iter().map(|burst| entry(burst)).collect();
    while parts.len() < parts_max {
        let worst = (0..parts.len()).max_by(|a, b| parts[*a].0.total_cmp(&parts[*b].0));
        let Some(worst) = worst.filter(|worst| parts[*worst].0 >= DEVIATION_MIN) else { break };
        let (_, at, part) = parts.swap_remove(worst);
        let (before, after) = part.split_at(at);
        parts.push(entry(before));
        parts.push(entry(after));
    }
    parts.sort_by_key(|part| part.2[0].begin_ns);
    parts.into_iter().map(|part| part.2).collect()
}

/// Returns the greatest difference of the requests so far from those at a constant rate, and before which batch it is.
fn deviation(part: &[Batch]) -> (f64, usize) {
    let arrivals = part.iter().map(|batch| (batch.begin_ns, batch.requests));
    greatest_deviation(arrivals, (part[0].begin_ns, part[part.len() - 1].end_ns), 1..part.len())
}

/// Returns the greatest difference of the requests so far from those at a constant rate between two instants, before one of
/// the arrivals in `places`, and before which. Arrivals are instants and numbers of requests.
fn greatest_deviation(
    arrivals: impl Iterator<Item = (u64, u64)> + Clone,
    (begin_ns, end_ns): (u64, u64),
    places: std::ops::Range<usize>,
) -> (f64, usize) {
    let all = arrivals.clone().map(|arrival| arrival.1).sum::<u64>() as f64;
    let time = end_ns.saturating_sub(begin_ns).max(1) as f64;
    let (mut sum, mut worst) = (0.0, (0.0, 0));
    for (at, (instant_ns, requests)) in arrivals.enumerate() {
        let difference = (sum - all * instant_ns.saturating_sub(begin_ns) as f64 / time).abs();
        if places.contains(&at) && difference > worst.0 {
            worst = (difference, at);
        }
        sum += requests as f64;
    }
    worst
}

fn placed_part(part: &[Batch]) -> SchedulePart {
    let (begin_ns, end_ns) = (part[0].begin_ns, part[part.len() - 1].end_ns.max(part[0].begin_ns + 1000));
    let requests = requests_of(part);
    let each = (requests as f64 / part.iter().map(|batch| batch.parts).sum::<u64>() as f64).round() as u64;
    let rate = requests as f64 * 1e9 / (end_ns - begin_ns) as f64;
    let (requests_max, size) = (Some(requests), Some(mean_size(part)));
    let part_of =
        |batches| SchedulePart { begin_ns, end_ns, rate, is_even: true, requests: requests_max, size, batches };
    if each < BATCH_MIN || requests > BATCHED_MAX {
        return part_of(None);
    }
    let gaps = requests.div_ceil(each) - 1;
    let between = part[part.len() - 1].begin_ns - begin_ns;
    let interval_ns = between.checked_div(gaps).map_or(end_ns - begin_ns, |gap| gap.max(1000));
    part_of(Some((each as u32, interval_ns)))
}

struct BurstInterval<'a> {
    begin_ns: u64,
    end_ns: u64,
    bursts: Vec<&'a [Batch]>,
}

/// Divides the time into intervals in which bursts have a nearly constant rate.
fn intervals<'a>(bursts: &[&'a [Batch]], intervals_max: usize, runtime_ns: u64) -> Vec<BurstInterval<'a>> {
    if bursts.is_empty() {
        return Vec::new();
    }
    let all: u64 = bursts.iter().map(|burst| requests_of(burst)).sum();
    let mut intervals = vec![BurstInterval { begin_ns: 0, end_ns: runtime_ns, bursts: bursts.to_vec() }];
    while intervals.len() < intervals_max {
        let divisions = intervals.iter().enumerate().map(|(index, interval)| (interval.deviation(), index));
        let Some(((deviation, at), index)) = divisions.max_by(|a, b| a.0.0.total_cmp(&b.0.0)) else { break };
        if deviation < INTERVAL_DEVIATION_MIN * all as f64 {
            break;
        }
        let BurstInterval { begin_ns, end_ns, bursts } = intervals.swap_remove(index);
        let middle_ns = bursts[at][0].begin_ns;
        let (before, after) = bursts.split_at(at);
        intervals.push(BurstInterval { begin_ns, end_ns: middle_ns, bursts: before.to_vec() });
        intervals.push(BurstInterval { begin_ns: middle_ns, end_ns, bursts: after.to_vec() });
    }
    intervals.sort_by_key(|interval| interval.begin_ns);
    intervals
}

impl BurstInterval<'_> {
    /// Returns the greatest difference of the requests so far from those at a constant rate, and before which burst.
    fn deviation(&self) -> (f64, usize) {
        let arrivals = self.bursts.iter().map(|burst| (burst[0].begin_ns, requests_of(burst)));
        let places = REPEATED_MIN..(self.bursts.len() + 1).saturating_sub(REPEATED_MIN);
        greatest_deviation(arrivals, (self.begin_ns, self.end_ns), places)
    }
}

/// Adds bursts of a few sizes at equal intervals, those of one size midway between those of another one.
fn repeat(parts: &mut Vec<SchedulePart>, interval: BurstInterval<'_>, plan: &BurstPlan) {
    let BurstInterval { begin_ns, end_ns, mut bursts } = interval;
    bursts.sort_by_key(|burst| requests_of(burst));
    let (groups, time) = (plan.groups.min(bursts.len()), end_ns.saturating_sub(begin_ns) as f64);
    for number in 0..groups {
        let group = &bursts[bursts.len() * number / groups..bursts.len() * (number + 1) / groups];
        let count = group.len() as f64;
        let requests: u64 = group.iter().map(|burst| requests_of(burst)).sum();
        let batches: u64 = group.iter().flat_map(|burst| burst.iter()).map(|batch| batch.parts).sum();
        let of_burst = (batches as f64 / count).round().clamp(1.0, REPEATED_BATCHES_MAX as f64);
        let each = (requests as f64 / count / of_burst).round().clamp(1.0, BATCH_MAX);
        let rounds = (requests as f64 / (of_burst * each)).round().max(1.0);
        let interval_ns = time / rounds;
        let spans = group.iter().map(|burst| burst[burst.len() - 1].begin_ns - burst[0].begin_ns).sum::<u64>();
        let offset_ns = interval_ns * (number as f64 + plan.phase) / groups as f64;
        // The last batch of the last burst begins before the end too.
        let longest_ns = (interval_ns / 2.0).min(interval_ns - offset_ns);
        let spacing_ns = (spans as f64 / count).min(longest_ns) / (of_burst - 1.0).max(1.0);
        let size = mean_size(group.iter().flat_map(|burst| burst.iter()));
        let first = begin_ns as f64 + offset_ns;
        for batch in 0..of_burst as u64 {
            parts.push(SchedulePart {
                begin_ns: (first + spacing_ns * batch as f64) as u64,
                end_ns,
                rate: each * 1e9 / interval_ns.max(1.0),
                is_even: true,
                requests: Some((rounds * each) as u64),
                size: Some(size),
                batches: Some((each as u32, (interval_ns as u64).max(1000))),
            });
        }
    }
}
