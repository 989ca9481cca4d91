//! Statistics of one kind of latency.

use crate::{Histogram, Moments};

/// One kind of latency: exact moments and, if percentiles are enabled, a histogram.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latency {
    /// Count, extremes, mean and deviation.
    pub moments: Moments,
    /// Histogram; empty if percentiles are disabled.
    pub histogram: Histogram,
}

impl Latency {
    /// Adds `n` occurrences of `value` nanoseconds to moments and histogram.
    #[inline]
    pub fn add(&mut self, value: u64, n: u64) {
        self.moments.add(value, n);
        self.histogram.add(value, n);
    }

    /// Adds the statistics of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.moments.merge(&other.moments);
        self.histogram.merge(&other.histogram);
    }
}
