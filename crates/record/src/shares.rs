//! Distributions of counts over classes.

use serde::{Deserialize, Serialize};

use crate::LatencyStats;

/// Counts in fio's seven classes of depths or batch sizes, with the total that percentages refer to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shares {
    /// Count of each class.
    pub counts: [u64; 7],
    /// Total. It may be less than the sum: depths are also counted at syncs, but relate to transfers.
    pub total: u64,
}

impl Shares {
    /// Creates counts whose total is their sum.
    #[must_use]
    pub fn of(counts: [u64; 7]) -> Self {
        Self { counts, total: counts.iter().sum() }
    }

    /// Returns each class in percent of the total, as fio prints it: at least 0.1 for a non-zero count.
    #[must_use]
    pub fn percent(&self) -> [f64; 7] {
        self.counts.map(|count| percent_at_least(count, self.total, 0.1))
    }
}

fn percent_at_least(count: u64, total: u64, least: f64) -> f64 {
    if count == 0 || total == 0 {
        return 0.0;
    }
    (100.0 * count as f64 / total as f64).max(least)
}

/// Service times over fio's classes, in percent. Each class ends before its own bound and begins at the previous one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyShares {
    /// Below 2, 4, 10, 20, 50, 100, 250, 500, 750 and 1000 nanoseconds.
    pub ns: [f64; 10],
    /// Below the same bounds in microseconds.
    pub us: [f64; 10],
    /// Below the same bounds in milliseconds, below 2000 ms, and the rest.
    pub ms: [f64; 12],
}

impl LatencyShares {
    /// Exclusive upper bounds of the classes, equal for nanoseconds, microseconds and milliseconds.
    pub const BOUNDS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

    /// Returns the distribution of several histograms.
    ///
    /// Buckets are classified by their representative value, so values within 0.8 % of a bound may fall into the next
    /// class.
    pub(crate) fn of<'a>(latencies: impl Iterator<Item = &'a LatencyStats>, total: u64) -> Self {
        let mut counts = [0u64; 32];
        for (value, count) in latencies.flat_map(LatencyStats::bins) {
            counts[class_of(value)] += count;
        }
        let percent = counts.map(|count| percent_at_least(count, total, 0.01));
        let mut shares = Self::default();
        shares.ns.copy_from_slice(&percent[..10]);
        shares.us.copy_from_slice(&percent[10..20]);
        shares.ms.copy_from_slice(&percent[20..]);
        shares
    }

    /// Returns the percentage of values below 2 µs in several histograms. No bucket spans that bound.
    pub(crate) fn percent_below_2us<'a>(latencies: impl Iterator<Item = &'a LatencyStats>, total: u64) -> f64 {
        let below = latencies.flat_map(LatencyStats::bins).filter(|(value, _)| *value < 2_000).map(|(_, n)| n).sum();
        percent_at_least(below, total, 0.01)
    }
}

fn class_of(ns: u64) -> usize {
    let within = |value: u64| LatencyShares::BOUNDS.iter().position(|&bound| value < bound).unwrap_or(9);
    match ns {
        0..1_000 => within(ns),
        1_000..1_000_000 => 10 + within(ns / 1_000),
        1_000_000..1_000_000_000 => 20 + within(ns / 1_000_000),
        1_000_000_000..2_000_000_000 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upper_bounds_are_exclusive() {
        for (ns, class) in [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2), (999, 9), (1_000, 10), (1_999, 10), (2_000, 11)] {
            assert_eq!(class_of(ns), class, "{ns} ns");
        }
        assert_eq!(class_of(999_999), 19);
        assert_eq!(class_of(1_000_000), 20);
        assert_eq!(class_of(1_999_999_999), 30);
        assert_eq!(class_of(2_000_000_000), 31);
    }

    #[test]
    fn non_zero_counts_are_never_zero_percent() {
        let shares = Shares::of([1, 0, 9_999, 0, 0, 0, 0]);
        assert_eq!(shares.percent()[..3], [0.1, 0.0, 99.99]);
        assert_eq!(Shares::default().percent(), [0.0; 7]);
    }
}
