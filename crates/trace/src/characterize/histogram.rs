//! Log-linear histograms over all 64-bit values.
//!
//! The histogram of `meter` has fio's buckets and ends at 17.2 s; gaps between requests and reuse distances are longer.

use super::profile::TraceDistribution;

/// Binary logarithm of the number of buckets per power of two: values are at most 0.8 % off.
const BITS: u32 = 6;
pub(super) const BUCKETS: usize = (65 - BITS as usize) << BITS;

#[inline]
pub(super) const fn bucket_of(value: u64) -> usize {
    let msb = 63 - (value | 1).leading_zeros();
    if msb <= BITS {
        return value as usize;
    }
    let shift = msb - BITS;
    ((shift as usize + 1) << BITS) + ((value >> shift) as usize & ((1 << BITS) - 1))
}

/// Returns the middle of a bucket, rounded down.
pub(super) const fn value_of(bucket: usize) -> u64 {
    if bucket < 2 << BITS {
        return bucket as u64;
    }
    let shift = (bucket >> BITS) - 1;
    let first = ((1 << BITS) + (bucket & ((1 << BITS) - 1)) as u64) << shift;
    first + ((1 << shift) >> 1)
}

/// Weights per bucket, with exact extremes and moments. The buckets are allocated with the first value.
#[derive(Clone, Debug)]
pub(super) struct WideHistogram {
    weights: Vec<u64>,
    total: u64,
    sum: u128,
    squares: u128,
    min: u64,
    max: u64,
}

impl Default for WideHistogram {
    fn default() -> Self {
        Self { weights: Vec::new(), total: 0, sum: 0, squares: 0, min: u64::MAX, max: 0 }
    }
}

impl WideHistogram {
    /// Adds `value` with a weight, such as the number of its occurrences or the time for which it held.
    #[inline]
    pub(super) fn add(&mut self, value: u64, weight: u64) {
        if weight == 0 {
            return;
        }
        if self.weights.is_empty() {
            self.weights.resize(BUCKETS, 0);
        }
        let at = &mut self.weights[bucket_of(value)];
        *at = at.saturating_add(weight);
        self.total = self.total.saturating_add(weight);
        let product = u128::from(value) * u128::from(weight);
        self.sum = self.sum.saturating_add(product);
        self.squares = self.squares.saturating_add(product.saturating_mul(u128::from(value)));
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Returns the sum of the weights.
    pub(super) const fn total(&self) -> u64 {
        self.total
    }

    /// Returns the sum of value times weight.
    pub(super) const fn sum(&self) -> u128 {
        self.sum
    }

    /// Returns the weight of values of at most `value`, to the end of its bucket.
    pub(super) fn weight_to(&self, value: u64) -> u64 {
        self.weights.iter().take(bucket_of(value) + 1).fold(0, |sum, weight| sum.saturating_add(*weight))
    }

    /// Summarizes the values; `None` without values.
    pub(super) fn distribution(&self) -> Option<TraceDistribution> {
        if self.total == 0 {
            return None;
        }
        let mean = self.sum as f64 / self.total as f64;
        let [p10, p50, p90, p95, p99, p99_9] = [0.1, 0.5, 0.9, 0.95, 0.99, 0.999].map(|part| self.quantile(part));
        Some(TraceDistribution {
            weight: self.total,
            min: self.min,
            max: self.max,
            mean,
            coefficient_of_variation: if mean > 0.0 { self.variance().sqrt() / mean } else { 0.0 },
            p10,
            p50,
            p90,
            p95,
            p99,
            p99_9,
        })
    }

    /// Returns the variance, from integers where they fit: a constant has a variance of exactly zero.
    fn variance(&self) -> f64 {
        let total = u128::from(self.total);
        let exact = total.checked_mul(self.squares).zip(self.sum.checked_mul(self.sum));
        match exact {
            Some((squares, square)) if self.squares < u128::MAX => {
                squares.saturating_sub(square) as f64 / (self.total as f64 * self.total as f64)
            }
            _ if self.min == self.max => 0.0,
            _ => {
                let mean = self.sum as f64 / self.total as f64;
                (self.squares as f64 / self.total as f64 - mean * mean).max(0.0)
            }
        }
    }

    /// Returns the value below or at which a part of the weight is.
    pub(super) fn quantile(&self, part: f64) -> u64 {
        let wanted = (part * self.total as f64).ceil().max(1.0);
        let mut seen = 0u64;
        for (bucket, weight) in self.weights.iter().enumerate() {
            seen = seen.saturating_add(*weight);
            if *weight > 0 && seen as f64 >= wanted {
                return value_of(bucket).clamp(self.min, self.max);
            }
        }
        self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_within_0_8_per_cent_over_all_values() {
        let mut value = 1u64;
        while value < u64::MAX / 2 {
            let near = value_of(bucket_of(value));
            assert!(near.abs_diff(value) as f64 <= value as f64 * 0.008, "{value} as {near}");
            assert_eq!(bucket_of(near), bucket_of(value));
            value += 1 + value / 97;
        }
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn a_constant_does_not_vary_and_extremes_do_not_overflow() {
        let mut same = WideHistogram::default();
        same.add(1_234_567, 1000);
        let summary = same.distribution().unwrap();
        assert_eq!((summary.coefficient_of_variation, summary.p50, summary.mean), (0.0, 1_234_567, 1_234_567.0));
        let mut extreme = WideHistogram::default();
        extreme.add(u64::MAX, u64::MAX);
        extreme.add(0, 5);
        let summary = extreme.distribution().unwrap();
        assert!(summary.mean.is_finite() && summary.coefficient_of_variation.is_finite());
        assert_eq!((summary.min, summary.max), (0, u64::MAX));
    }
}
