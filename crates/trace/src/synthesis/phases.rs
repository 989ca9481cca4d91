//! Phases of a class: intervals within which its rate is constant.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Maximum number of intervals of a series. Beyond it, adjacent intervals are merged and the width doubles.
const INTERVALS_MAX: usize = 16_384;
/// Initial width in nanoseconds.
const WIDTH_NS: u64 = 1_000_000;
/// Least loss of log-likelihood that keeps two phases apart: chance seldom causes as much.
const LOSS_MIN: f64 = 16.0;
/// Greatest dispersion by which losses are divided: above it, the phases themselves make the dispersion.
const DISPERSION_MAX: f64 = 3.0;
/// Least difference of the rates of two phases, relative to the greater one.
const DIFFERENCE_MIN: f64 = 0.1;

/// Requests over time. Memory: 128 KiB.
#[derive(Clone, Debug)]
pub(super) struct PhaseSeries {
    width_ns: u64,
    counts: Vec<u64>,
    /// Beginning of the interval that was used last.
    last_begin: u64,
}

/// An interval with a constant rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Phase {
    /// Begin and end in nanoseconds.
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
    pub(super) requests: u64,
}

impl Phase {
    /// Returns requests per second.
    pub(super) fn rate_per_s(&self) -> f64 {
        self.requests as f64 / (self.end_ns.saturating_sub(self.begin_ns).max(1) as f64 / 1e9)
    }
}

impl PhaseSeries {
    pub(super) fn new() -> Self {
        Self { width_ns: WIDTH_NS, counts: Vec::new(), last_begin: 0 }
    }

    /// Counts a request at `at`, in nanoseconds, which is not before the last one.
    #[inline]
    pub(super) fn add(&mut self, at: u64) {
        if at - self.last_begin < self.width_ns
            && let Some(last) = self.counts.last_mut()
        {
            *last += 1;
            return;
        }
        self.begin(at);
    }

    fn begin(&mut self, at: u64) {
        while at / self.width_ns >= INTERVALS_MAX as u64 {
            self.counts = self.counts.chunks(2).map(|pair| pair.iter().sum()).collect();
            self.width_ns *= 2;
        }
        let index = (at / self.width_ns) as usize;
        self.counts.resize(index + 1, 0);
        self.counts[index] += 1;
        self.last_begin = index as u64 * self.width_ns;
    }

    /// Divides the time up to `end_ns` into phases, at most `phases_max`. Returns them with the number of divisions that
    /// were left out.
    ///
    /// Joins adjacent intervals as long as their rates are equal up to chance, those with the most similar rates first.
    /// Dividing the whole instead would not find bursts that are spread evenly.
    pub(super) fn phases(&self, end_ns: u64, phases_max: usize) -> (Vec<Phase>, u64) {
        let intervals = (end_ns / self.width_ns + 1).max(self.counts.len() as u64).min(INTERVALS_MAX as u64) as usize;
        let counts: Vec<u64> = (0..intervals).map(|index| self.counts.get(index).copied().unwrap_or(0)).collect();
        let loss_min = LOSS_MIN * self.dispersion(intervals).clamp(1.0, DISPERSION_MAX);
        let mut joining = Joining::new(&counts);
        joining.join(|loss, _| loss < loss_min);
        let certain = joining.left;
        joining.join(|_, left| left > phases_max.max(1));
        (self.merged(&joining.begins(), &counts, end_ns), (certain - joining.left) as u64)
    }

    fn merged(&self, cuts: &[usize], counts: &[u64], end_ns: u64) -> Vec<Phase> {
        let mut phases: Vec<Phase> = Vec::new();
        let end = |index: usize| (index as u64 * self.width_ns).min(end_ns);
        for cut in cuts.windows(2) {
            let phase =
                Phase { begin_ns: end(cut[0]), end_ns: end(cut[1]), requests: counts[cut[0]..cut[1]].iter().sum() };
            match phases.last_mut() {
                Some(last) if phase.end_ns == phase.begin_ns || is_alike(last, &phase) => {
                    last.end_ns = phase.end_ns;
                    last.requests += phase.requests;
                }
                _ => phases.push(phase),
            }
        }
        phases
    }

    /// Returns half of the mean squared difference of adjacent counts over the mean count: 1 for Poisson arrivals at any
    /// slowly changing rate.
    fn dispersion(&self, intervals: usize) -> f64 {
        let squares = self.counts.windows(2).map(|pair| (pair[0] as f64 - pair[1] as f64).powi(2)).sum::<f64>();
        let mean = self.counts.iter().sum::<u64>() as f64 / intervals.max(1) as f64;
        if mean > 0.0 { squares / (2.0 * mean * intervals as f64) } else { 1.0 }
    }
}

fn is_alike(a: &Phase, b: &Phase) -> bool {
    let (a, b) = (a.rate_per_s(), b.rate_per_s());
    (a - b).abs() < DIFFERENCE_MIN * a.max(b)
}

/// Adjacent intervals that are joined step by step.
struct Joining {
    /// Length and requests of the group that begins at each interval; the length is zero within groups.
    groups: Vec<(usize, u64)>,
    /// Begin of the group before.
    before: Vec<usize>,
    /// Possible joins: loss of log-likelihood, begin and lengths of both groups, the least loss first.
    joins: BinaryHeap<Reverse<(Loss, usize, usize, usize)>>,
    /// Number of groups.
    left: usize,
}

/// A loss of log-likelihood, in order.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Loss(f64);

impl Eq for Loss {}

impl PartialOrd for Loss {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Loss {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Joining {
    fn new(counts: &[u64]) -> Self {
        let mut joining = Self {
            groups: counts.iter().map(|count| (1, *count)).collect(),
            before: (0..counts.len()).map(|at| at.saturating_sub(1)).collect(),
            joins: BinaryHeap::with_capacity(counts.len()),
            left: counts.len(),
        };
        (1..counts.len()).for_each(|at| joining.consider(at - 1));
        joining
    }

    /// Enters the join of the group that begins at `begin` with the next one.
    fn consider(&mut self, begin: usize) {
        let (length, count) = self.groups[begin];
        let Some(&(next_length, next_count)) = self.groups.get(begin + length) else { return };
        let loss = likelihood(length, count) + likelihood(next_length, next_count)
            - likelihood(length + next_length, count + next_count);
        self.joins.push(Reverse((Loss(loss), begin, length, next_length)));
    }

    /// Joins groups while `goes_on` with the least loss and the number of groups.
    fn join(&mut self, goes_on: impl Fn(f64, usize) -> bool) {
        while let Some(&Reverse((Loss(loss), begin, length, next_length))) = self.joins.peek() {
            let next = begin + length;
            let is_current = self.groups[begin].0 == length && self.groups[next].0 == next_length;
            if is_current && !goes_on(loss, self.left) {
                return;
            }
            self.joins.pop();
            if !is_current {
                continue;
            }
            let (_, count) = std::mem::take(&mut self.groups[next]);
            self.groups[begin].0 += next_length;
            self.groups[begin].1 += count;
            self.left -= 1;
            if let Some(after) = self.before.get_mut(next + next_length) {
                *after = begin;
            }
            self.consider(begin);
            if begin > 0 {
                self.consider(self.before[begin]);
            }
        }
    }

    /// Returns the begins of all groups, and the end of the last one.
    fn begins(&self) -> Vec<usize> {
        let begins = self.groups.iter().enumerate().filter(|(_, group)| group.0 > 0).map(|(at, _)| at);
        begins.chain([self.groups.len()]).collect()
    }
}

/// Returns the log-likelihood of a Poisson count at its own rate, up to a constant.
fn likelihood(length: usize, count: u64) -> f64 {
    if count > 0 { count as f64 * (count as f64 / length as f64).ln() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use units::random::Random;

    use super::*;

    const S: u64 = 1_000_000_000;

    /// Poisson arrivals with a rate per second for each second.
    fn series(seed: u64, rates: &[f64]) -> PhaseSeries {
        let (mut random, mut series) = (Random::new(seed, 0), PhaseSeries::new());
        for (second, rate) in rates.iter().enumerate() {
            let (begin, end) = (second as u64 * S, (second as u64 + 1) * S);
            let mut at = begin as f64;
            loop {
                at += -(1.0 - random.unit()).ln() * 1e9 / rate.max(1e-9);
                if at >= end as f64 {
                    break;
                }
                series.add(at as u64);
            }
        }
        series
    }

    #[test]
    fn a_constant_rate_is_one_phase() {
        for seed in 0..50 {
            let (phases, left_out) = series(seed, &[1000.0; 20]).phases(20 * S, 16);
            assert_eq!((phases.len(), left_out), (1, 0), "seed {seed}: {phases:?}");
        }
    }

    #[test]
    fn a_burst_is_a_phase_of_its_own() {
        let mut rates = [500.0; 30];
        rates[12..15].fill(3000.0);
        for seed in 0..20 {
            let (phases, _) = series(seed, &rates).phases(30 * S, 16);
            assert_eq!(phases.len(), 3, "seed {seed}: {phases:?}");
            let burst = phases[1];
            assert!(burst.begin_ns.abs_diff(12 * S) < S / 20, "seed {seed}: {burst:?}");
            assert!((burst.rate_per_s() / 3000.0 - 1.0).abs() < 0.06, "seed {seed}: {burst:?}");
        }
    }

    #[test]
    fn phases_are_bounded_and_what_is_left_out_is_told() {
        let rates: Vec<f64> = (0..60).map(|second| if second % 2 == 0 { 100.0 } else { 2000.0 }).collect();
        let series = series(7, &rates);
        let (phases, left_out) = series.phases(60 * S, 10);
        assert!(phases.len() <= 10 && left_out >= 40, "{} {left_out}", phases.len());
        let all = series.phases(60 * S, 1000).0;
        assert_eq!(all.len(), 60);
        let requests: u64 = all.iter().map(|phase| phase.requests).sum();
        assert_eq!(requests, series.counts.iter().sum::<u64>());
    }
}
