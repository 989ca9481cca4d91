//! Latency statistics of one kind of operation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{DataKind, LatencyBlock, bucket_range_ns};

/// Statistics of one kind of latency, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
}
