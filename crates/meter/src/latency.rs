//! One kind of latency.

use crate::{Histogram, Moments};

/// One kind of latency: exact moments and, where percentiles are wanted, a histogram.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latency {
    /// Count, extremes, mean and deviation.
    pub moments: Moments,
    /// Empty where percentiles are not wanted.
    pub histogram: Histogram,
}

impl Latency {
    /// Adds `n` occurrences of `value` nanoseconds to both.
    #[inline]
    pub fn add(&mut self, value: u64, n: u64) {
        self.moments.add(value, n);
        self.histogram.add(value, n);
    }

    /// Adds what another has counted.
    pub fn merge(&mut self, other: &Self) {
        self.moments.merge(&other.moments);
        self.histogram.merge(&other.histogram);
    }
}
