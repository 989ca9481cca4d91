//! Percentages of counts over classes.

use serde::{Deserialize, Serialize};

use crate::LatencyStats;

/// Counts in fio's seven classes of depth or batch size, and what they are a share of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shares {
    /// The count of each class.
    pub counts: [u64; 7],
    /// The whole. It may be less than the sum: depths are counted at syncs too, but are a share of transfers.
    pub total: u64,
}

impl Shares {
    /// Shares of a whole that is the sum of the counts.
    #[must_use]
    pub fn of(counts: [u64; 7]) -> Self {
        Self { counts, total: counts.iter().sum() }
    }

    /// Each class in per cent of the whole, as fio prints it: what occurred at all is at least 0.1.
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

/// Shares of service times in fio's classes, in per cent. A class holds what lies below its bound and not below the
/// bound before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyShares {
    /// Below 2, 4, 10, 20, 50, 100, 250, 500, 750 and 1000 nanoseconds.
    pub ns: [f64; 10],
    /// Below as many microseconds.
    pub us: [f64; 10],
    /// Below as many milliseconds, then below 2000, then the rest.
    pub ms: [f64; 12],
}

impl LatencyShares {
    /// The upper bounds of the classes, each exclusive: nanoseconds, microseconds and milliseconds alike.
    pub const BOUNDS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

    /// The shares of what several histograms counted.
    ///
    /// A bucket falls into the class of the value that stands for it, so that values within 0.8 % of a bound may be
    /// in the next class.
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

    /// The share of what lies below 2 µs in what several histograms counted. No bucket lies across that bound.
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
    fn classes_are_bounded_above() {
        for (ns, class) in [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2), (999, 9), (1_000, 10), (1_999, 10), (2_000, 11)] {
            assert_eq!(class_of(ns), class, "{ns} ns");
        }
        assert_eq!(class_of(999_999), 19);
        assert_eq!(class_of(1_000_000), 20);
        assert_eq!(class_of(1_999_999_999), 30);
        assert_eq!(class_of(2_000_000_000), 31);
    }

    #[test]
    fn what_occurred_is_never_zero() {
        let shares = Shares::of([1, 0, 9_999, 0, 0, 0, 0]);
        assert_eq!(shares.percent()[..3], [0.1, 0.0, 99.99]);
        assert_eq!(Shares::default().percent(), [0.0; 7]);
    }
}
