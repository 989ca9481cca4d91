//! Minimum, maximum, mean and standard deviation in one pass.

use crate::Histogram;
use units::Nanos;

/// Count, extremes, sum and sum of squares of latencies in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moments {
    count: u64,
    min: u64,
    max: u64,
    sum: u128,
    squares: u128,
}

impl Default for Moments {
    fn default() -> Self {
        Self { count: 0, min: u64::MAX, max: 0, sum: 0, squares: 0 }
    }
}

impl Moments {
    /// Adds `n` occurrences of `value` nanoseconds.
    #[inline]
    pub fn add(&mut self, value: u64, n: u64) {
        self.count += n;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.sum += u128::from(value) * u128::from(n);
        let square = u128::from(value) * u128::from(value);
        self.squares += if n == 1 { square } else { square * u128::from(n) };
    }

    /// Restores the moments of `count` values from their extremes, mean and standard deviation in nanoseconds.
    ///
    /// The sum is exact up to 2^52 ns (52 days of latency); the sum of squares has the digits of the deviation.
    #[must_use]
    pub fn restored(count: u64, (min, max): (Nanos, Nanos), mean_ns: f64, stddev_ns: f64) -> Self {
        if count == 0 {
            return Self::default();
        }
        let sum = (mean_ns * count as f64).round().max(0.0);
        let about_mean = stddev_ns * stddev_ns * (count - 1) as f64;
        let square_of_sum = (sum as u128)
            .checked_mul(sum as u128)
            .map_or_else(|| (sum * mean_ns).max(0.0) as u128, |square| square / u128::from(count));
        let squares = square_of_sum.saturating_add(about_mean.round().max(0.0) as u128);
        Self { count, min: min.get(), max: max.get(), sum: sum as u128, squares }
    }

    /// Adds the values of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum = self.sum.saturating_add(other.sum);
        self.squares = self.squares.saturating_add(other.squares);
    }

    /// Returns the sum in nanoseconds.
    pub(crate) const fn sum_ns(&self) -> u128 {
        self.sum
    }

    /// Returns the number of values.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Returns the least value; zero without values.
    #[must_use]
    pub const fn min(&self) -> Nanos {
        Nanos::new(if self.count == 0 { 0 } else { self.min })
    }

    /// Returns the greatest value; zero without values.
    #[must_use]
    pub const fn max(&self) -> Nanos {
        Nanos::new(self.max)
    }

    /// Returns the mean in nanoseconds; zero without values.
    #[must_use]
    pub fn mean_ns(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// Returns the sample standard deviation (divided by n − 1) in nanoseconds; zero for fewer than two values.
    #[must_use]
    pub fn stddev_ns(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        // Integers keep the digits of large values with a small spread.
        let about_mean = match self.sum.checked_mul(self.sum) {
            Some(square) => self.squares.saturating_sub(square / u128::from(self.count)) as f64,
            None => (self.squares as f64 - self.sum as f64 * self.mean_ns()).max(0.0),
        };
        (about_mean / (self.count - 1) as f64).sqrt()
    }
}

/// Running statistics of bandwidth samples in KiB/s or of IOPS samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Samples {
    /// Number of samples.
    pub count: u64,
    /// Minimum.
    pub min: f64,
    /// Maximum.
    pub max: f64,
    pub mean: f64,
    /// Sum of squared differences from the mean.
    pub spread: f64,
}

impl Samples {
    /// Adds one sample.
    pub fn add(&mut self, value: f64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += 1;
        let distance = value - self.mean;
        self.mean += distance / self.count as f64;
        self.spread += distance * (value - self.mean);
    }

    /// Adds `count` samples of zero.
    pub fn add_zeroes(&mut self, count: u64) {
        if count == 0 {
            return;
        }
        let (before, all) = (self.count as f64, (self.count + count) as f64);
        self.min = 0.0;
        self.count += count;
        self.spread += self.mean * self.mean * before * (count as f64 / all);
        self.mean *= before / all;
    }

    /// Returns the sample standard deviation.
    #[must_use]
    pub fn stddev(&self) -> f64 {
        if self.count < 2 { 0.0 } else { (self.spread / (self.count - 1) as f64).sqrt() }
    }

    /// Adds the samples of a worker that ran at the same time. As in fio, minimum, maximum and mean are added, because
    /// bandwidths of concurrent workers add up.
    pub fn merge_beside(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.min += other.min;
        self.max += other.max;
        self.mean += other.mean;
        self.spread += other.spread;
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_match_a_textbook_example() {
        let mut moments = Moments::default();
        for value in [2, 4, 4, 4, 5, 5, 7, 9] {
            moments.add(value, 1);
        }
        assert_eq!((moments.count(), moments.min(), moments.max()), (8, Nanos::new(2), Nanos::new(9)));
        assert!((moments.mean_ns() - 5.0).abs() < 1e-12);
        assert!((moments.stddev_ns() - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn small_spread_on_large_values_keeps_its_digits() {
        let mut moments = Moments::default();
        for i in 0..1_000_000u64 {
            moments.add(60_000_000_000 + i % 2, 1);
        }
        assert!((moments.stddev_ns() - 0.5).abs() < 1e-3, "{}", moments.stddev_ns());
    }

    #[test]
    fn repeated_values_and_merging_equal_single_values() {
        let (mut once, mut each, mut half) = (Moments::default(), Moments::default(), Moments::default());
        once.add(7, 3);
        once.add(9, 1);
        for value in [7, 7] {
            each.add(value, 1);
        }
        half.add(7, 1);
        half.add(9, 1);
        each.merge(&half);
        assert_eq!(once, each);
    }

    #[test]
    fn restored_moments_merge_like_the_originals() {
        let (mut one, mut two) = (Moments::default(), Moments::default());
        for value in 0..10_000u64 {
            one.add(1_000 + value * 37 % 9_001, 1 + value % 3);
            two.add(2_000_000 + value * value % 77_777, 1);
        }
        let restored = |of: &Moments| Moments::restored(of.count(), (of.min(), of.max()), of.mean_ns(), of.stddev_ns());
        let (mut exact, mut merged) = (one, restored(&one));
        exact.merge(&two);
        merged.merge(&restored(&two));
        assert_eq!((merged.count, merged.min, merged.max, merged.sum), (exact.count, exact.min, exact.max, exact.sum));
        assert!((merged.stddev_ns() / exact.stddev_ns() - 1.0).abs() < 1e-12);
        assert_eq!(restored(&Moments::default()), Moments::default());
    }

    #[test]
    fn moments_without_values_are_zero() {
        let nothing = Moments::default();
        assert_eq!((nothing.min(), nothing.max()), (Nanos::ZERO, Nanos::ZERO));
        assert_eq!((nothing.mean_ns(), nothing.stddev_ns()), (0.0, 0.0));
    }
}
