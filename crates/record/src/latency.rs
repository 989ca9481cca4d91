//! Latency statistics of one kind of operation.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{DataKind, LatencyBlock, bucket_range_ns};

/// Statistics of one kind of latency, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyStats {
    /// Number of values.
    pub count: u64,
    /// Minimum; zero without values.
    pub min_ns: u64,
    /// Maximum.
    pub max_ns: u64,
    /// Mean; zero without values.
    pub mean_ns: f64,
    /// Sample standard deviation; zero for fewer than two values.
    pub stddev_ns: f64,
    /// Non-empty buckets in ascending order: index (of [`meter::bucket_of`]) and count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buckets: Vec<(usize, u64)>,
    /// Percentiles without buckets, of another program or of one rank: percent and nanoseconds, in ascending order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quoted: Vec<(f64, u64)>,
}

/// Start of the last class of fio's histograms in nanoseconds, which has no upper bound: 16.6 s before fio 3, which
/// counted microseconds, and 17.0 s since.
const LAST_CLASS_NS: u64 = 16_646_144_000;

/// A percentile of latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percentile {
    /// Its value in nanoseconds.
    pub ns: u64,
    /// Whether it may be any longer, because it lies in the last class of the histogram.
    pub at_least: bool,
}

impl LatencyStats {
    /// Returns a percentile, within 0.8 % and never beyond the extremes; `None` without values or histogram.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> Option<Percentile> {
        if self.buckets.is_empty() {
            let quoted = self.quoted.iter().find(|(quoted, _)| *quoted == percent);
            return quoted.map(|&(_, ns)| Percentile { ns, at_least: ns >= LAST_CLASS_NS });
        }
        let ns = self.histogram().percentile(percent)?.get();
        let at_least = ns >= meter::value_of(meter::BUCKETS - 1);
        Some(Percentile { ns: ns.max(self.min_ns).min(self.max_ns), at_least })
    }

    /// Returns the value of a [percentile](Self::percentile) in nanoseconds.
    #[must_use]
    pub fn percentile_ns(&self, percent: f64) -> Option<u64> {
        self.percentile(percent).map(|percentile| percentile.ns)
    }

    /// Returns percentiles as fio prints them, in percent and nanoseconds. They are based on buckets alone, so they may
    /// lie slightly beyond the extremes. Empty if none is known.
    #[must_use]
    pub fn fio_percentiles_ns(&self, percents: &[f64]) -> Vec<(f64, u64)> {
        if self.buckets.is_empty() {
            return self.quoted.iter().filter(|(percent, _)| percents.contains(percent)).copied().collect();
        }
        let histogram = self.histogram();
        let value = |percent: f64| histogram.percentile(percent).map(|ns| (percent, ns.get()));
        percents.iter().filter_map(|&percent| value(percent)).collect()
    }

    /// Returns the buckets as fio's `bins`: representative value in nanoseconds, and count.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.buckets.iter().map(|&(bucket, count)| (meter::value_of(bucket), count))
    }

    /// Returns the cumulative distribution: fractions from 0 to 1 in ascending order, each with its quantile in
    /// nanoseconds. The last point is the maximum, at all but half an operation, which is the resolution of the counts.
    #[must_use]
    pub fn distribution(&self) -> Vec<(f64, u64)> {
        if self.buckets.is_empty() {
            return self.quoted.iter().map(|&(percent, ns)| (percent / 100.0, ns)).collect();
        }
        let total: u64 = self.buckets.iter().map(|(_, count)| count).sum();
        let mut below = 0;
        let mut points = vec![(0.0, self.min_ns)];
        for (ns, count) in self.bins() {
            below += count;
            let fraction = (below as f64 / total as f64).min(1.0 - 0.5 / total as f64);
            points.push((fraction, ns.max(self.min_ns).min(self.max_ns)));
        }
        if let Some(last) = points.last_mut() {
            last.1 = self.max_ns;
        }
        points
    }

    /// Sums the blocks of a run over some kinds; extremes and mean are computed from buckets.
    #[must_use]
    pub fn of_blocks(blocks: &[LatencyBlock], kinds: &[DataKind]) -> Self {
        let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
        for &(bucket, count) in blocks.iter().flat_map(|block| kinds.iter().map(|kind| block.of(*kind))).flatten() {
            *counts.entry(bucket).or_default() += count;
        }
        let (first, last) = (counts.keys().next(), counts.keys().next_back());
        let mut all = Self {
            count: counts.values().sum(),
            min_ns: first.map_or(0, |bucket| bucket_range_ns(*bucket).0),
            max_ns: last.map_or(0, |bucket| bucket_range_ns(*bucket).1.saturating_sub(1)),
            buckets: counts.into_iter().map(|(bucket, count)| (bucket as usize, count)).collect(),
            ..Self::default()
        };
        let sum: f64 = all.bins().map(|(ns, count)| ns as f64 * count as f64).sum();
        all.mean_ns = if all.count == 0 { 0.0 } else { sum / all.count as f64 };
        all
    }

    /// Returns the percents of the percentiles of another program.
    pub(crate) fn quoted_percents(&self) -> Vec<f64> {
        self.quoted.iter().map(|(percent, _)| *percent).collect()
    }

    /// Returns the coefficient of variation; `None` for fewer than two values.
    #[must_use]
    pub fn variation(&self) -> Option<f64> {
        (self.count > 1 && self.mean_ns > 0.0).then(|| self.stddev_ns / self.mean_ns)
    }

    /// Returns the sum of all values in nanoseconds.
    #[must_use]
    pub fn sum_ns(&self) -> f64 {
        self.mean_ns * self.count as f64
    }

    fn histogram(&self) -> meter::Histogram {
        let mut histogram = meter::Histogram::default();
        self.buckets.iter().for_each(|&(bucket, count)| histogram.add_at(bucket, count));
        histogram
    }
}

impl From<&meter::Latency> for LatencyStats {
    fn from(latency: &meter::Latency) -> Self {
        Self {
            count: latency.moments.count(),
            min_ns: latency.moments.min().get(),
            max_ns: latency.moments.max().get(),
            mean_ns: latency.moments.mean_ns(),
            stddev_ns: latency.moments.stddev_ns(),
            buckets: latency.histogram.buckets().collect(),
            quoted: Vec::new(),
        }
    }
}

/// Counts in fio's seven classes of depths or batch sizes, with the total that percentages refer to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    fn distribution_rises_from_minimum_to_maximum() {
        let mut histogram = meter::Histogram::default();
        [1_000, 1_000, 5_000, 90_000].into_iter().for_each(|ns| histogram.add_at(meter::bucket_of(ns), 1));
        let latency = LatencyStats {
            count: 4,
            min_ns: 1_000,
            max_ns: 90_123,
            buckets: histogram.buckets().collect(),
            ..LatencyStats::default()
        };
        let points = latency.distribution();
        assert_eq!((points[0], *points.last().unwrap()), ((0.0, 1_000), (0.875, 90_123)));
        assert!(points.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1), "{points:?}");
        let quoted = LatencyStats { quoted: vec![(50.0, 7), (99.0, 9)], ..LatencyStats::default() };
        assert_eq!(quoted.distribution(), [(0.5, 7), (0.99, 9)]);
    }

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
