//! One kind of latency.

use serde::{Deserialize, Serialize};

/// Figures of one kind of latency, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyStats {
    /// How many were counted.
    pub count: u64,
    /// The least; zero of nothing.
    pub min_ns: u64,
    /// The greatest.
    pub max_ns: u64,
    /// The mean; zero of nothing.
    pub mean_ns: f64,
    /// The deviation of a sample; zero of fewer than two.
    pub stddev_ns: f64,
    /// Buckets that are not empty, in rising order: index (as [`meter::bucket_of`] gives it) and count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buckets: Vec<(usize, u64)>,
    /// Percentiles that somebody else printed, for want of buckets: per cent and nanoseconds, in rising order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quoted: Vec<(f64, u64)>,
}

impl LatencyStats {
    /// The value of one percentile in nanoseconds, within 0.8 % and never beyond the extremes; `None` where nothing was
    /// counted or no histogram was kept.
    #[must_use]
    pub fn percentile_ns(&self, percent: f64) -> Option<u64> {
        if self.buckets.is_empty() {
            return self.quoted.iter().find(|(quoted, _)| *quoted == percent).map(|(_, ns)| *ns);
        }
        self.histogram().percentile(percent).map(|ns| ns.get().max(self.min_ns).min(self.max_ns))
    }

    /// The values of several percentiles as fio prints them: per cent and nanoseconds, by the buckets alone, so that
    /// they may lie a little beyond the extremes. Empty where none is known.
    #[must_use]
    pub fn fio_percentiles_ns(&self, percents: &[f64]) -> Vec<(f64, u64)> {
        if self.buckets.is_empty() {
            return self.quoted.iter().filter(|(percent, _)| percents.contains(percent)).copied().collect();
        }
        let histogram = self.histogram();
        let value = |percent: f64| histogram.percentile(percent).map(|ns| (percent, ns.get()));
        percents.iter().filter_map(|&percent| value(percent)).collect()
    }

    /// The buckets as fio's `bins`: the value that stands for each in nanoseconds, and its count.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.buckets.iter().map(|&(bucket, count)| (meter::value_of(bucket), count))
    }

    /// Deviation over mean; `None` of fewer than two values.
    #[must_use]
    pub fn variation(&self) -> Option<f64> {
        (self.count > 1 && self.mean_ns > 0.0).then(|| self.stddev_ns / self.mean_ns)
    }

    /// The time that all of them took together, in nanoseconds.
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
