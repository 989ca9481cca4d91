//! A log-linear histogram with fio's buckets.

use units::Nanos;

/// Binary logarithm of the number of buckets per power of two.
const BITS: u32 = 6;
/// Number of groups. As in fio, all values from 2^34 ns (17.2 s) on are in the last bucket.
const GROUPS: usize = 29;
pub const BUCKETS: usize = GROUPS << BITS;

/// Returns the bucket of a value in nanoseconds.
#[inline]
#[must_use]
pub const fn bucket_of(value: u64) -> usize {
    let msb = 63 - (value | 1).leading_zeros();
    if msb <= BITS {
        return value as usize;
    }
    let shift = msb - BITS;
    let index = ((shift as usize + 1) << BITS) + ((value >> shift) as usize & ((1 << BITS) - 1));
    if index < BUCKETS { index } else { BUCKETS - 1 }
}

/// Returns the value in nanoseconds that represents a bucket: its middle, rounded down.
#[must_use]
pub const fn value_of(bucket: usize) -> u64 {
    if bucket < 2 << BITS {
        return bucket as u64;
    }
    let shift = (bucket >> BITS) - 1;
    let base = 1u64 << (shift + BITS as usize);
    let step = (bucket & ((1 << BITS) - 1)) as u64;
    base + (step << shift) + ((1 << shift) >> 1)
}

/// Returns the least value of a bucket and of the next one, in nanoseconds. The last bucket has no upper bound.
#[must_use]
pub const fn range_of(bucket: usize) -> (u64, u64) {
    if bucket < 2 << BITS {
        return (bucket as u64, bucket as u64 + 1);
    }
    let shift = (bucket >> BITS) - 1;
    let first = ((1 << BITS) + (bucket & ((1 << BITS) - 1)) as u64) << shift;
    (first, first + (1 << shift))
}

/// Counts per latency bucket, allocated with the first count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    counts: Option<Box<[u64; BUCKETS]>>,
}

impl Histogram {
    /// Counts `n` occurrences of `value` nanoseconds.
    #[inline]
    pub fn add(&mut self, value: u64, n: u64) {
        self.add_at(bucket_of(value), n);
    }

    /// Counts `n` occurrences in `bucket`, or in the last bucket if `bucket` is out of range.
    #[inline]
    pub fn add_at(&mut self, bucket: usize, n: u64) {
        let counts = match &mut self.counts {
            Some(counts) => counts,
            empty => empty.insert(empty_counts()),
        };
        counts[bucket.min(BUCKETS - 1)] += n;
    }

    /// Resets all counts without freeing the memory.
    pub fn clear(&mut self) {
        if let Some(counts) = &mut self.counts {
            counts.fill(0);
        }
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Self) {
        let Some(theirs) = &other.counts else { return };
        match &mut self.counts {
            None => self.counts = Some(theirs.clone()),
            Some(ours) => ours.iter_mut().zip(theirs.iter()).for_each(|(a, b)| *a = a.saturating_add(*b)),
        }
    }

    /// Returns the number of occurrences.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.as_deref().map_or(0, |counts| counts.iter().copied().fold(0, u64::saturating_add))
    }

    /// Returns the counts of a range of buckets; empty if nothing was counted.
    #[must_use]
    pub(crate) fn slice(&self, buckets: std::ops::Range<usize>) -> &[u64] {
        self.counts.as_deref().map_or(&[], |counts| &counts[buckets])
    }

    /// Returns the non-empty buckets in ascending order, with their counts.
    pub fn buckets(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let counts: &[u64] = self.counts.as_deref().map_or(&[], |counts| counts);
        counts.iter().copied().enumerate().filter(|&(_, n)| n > 0)
    }

    /// Returns the least bucket value such that at least `percent` per cent of the occurrences are in this bucket or
    /// below; `None` if nothing was counted.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> Option<Nanos> {
        let total = self.total();
        let mut seen = 0u64;
        let mut last = None;
        for (bucket, n) in self.buckets() {
            seen = seen.saturating_add(n);
            last = Some(Nanos::new(value_of(bucket)));
            if reaches(seen, percent, total) {
                break;
            }
        }
        last
    }
}

/// Reports whether `seen` is at least `percent` per cent of `total`, without rounding errors: 99.95 as a binary
/// fraction is slightly more than 99.95, so 7996 of 8000 are not enough. fio compares these numbers with more than
/// double precision.
fn reaches(seen: u64, percent: f64, total: u64) -> bool {
    const FRACTION_BITS: u32 = f64::MANTISSA_DIGITS - 1;
    let exponent = (percent.to_bits() >> FRACTION_BITS) as u32;
    let mantissa = (percent.to_bits() & ((1 << FRACTION_BITS) - 1)) | (1 << FRACTION_BITS);
    // For every percentage of at least 2^-10, percent = mantissa / 2^shift.
    let shift = (1023 + FRACTION_BITS).checked_sub(exponent).filter(|shift| *shift <= FRACTION_BITS + 10);
    let scaled = shift.and_then(|shift| (u128::from(seen) * 100).checked_mul(1 << shift));
    match scaled {
        Some(scaled) => scaled >= u128::from(mantissa) * u128::from(total),
        None => seen as f64 >= percent / 100.0 * total as f64,
    }
}

fn empty_counts() -> Box<[u64; BUCKETS]> {
    // Allocated as a vector, because a boxed array literal may be built on the stack.
    vec![0u64; BUCKETS].into_boxed_slice().try_into().expect("a vector of BUCKETS zeroes has BUCKETS elements")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_those_of_fio() {
        // Values that fio prints in json+ for these buckets.
        for (value, bucket, printed) in
            [(0, 0, 0), (127, 127, 127), (131, 129, 131), (402, 228, 402), (3855, 439, 3856)]
        {
            let got = bucket_of(value);
            assert_eq!(value_of(got), printed, "value {value} (bucket {bucket})");
        }
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
        assert_eq!(bucket_of(1 << 34), BUCKETS - 1);
    }

    #[test]
    fn bucket_values_are_within_0_8_per_cent() {
        let mut value = 1u64;
        while value < 1 << 33 {
            let stands = value_of(bucket_of(value));
            assert!(stands.abs_diff(value) as f64 <= value as f64 * 0.008, "{value} as {stands}");
            assert_eq!(bucket_of(stands), bucket_of(value));
            value += 1 + value / 97;
        }
    }

    #[test]
    fn ranges_of_buckets_are_contiguous() {
        for bucket in 0..BUCKETS - 1 {
            let (first, next) = range_of(bucket);
            assert_eq!((bucket_of(first), bucket_of(next - 1), bucket_of(next)), (bucket, bucket, bucket + 1));
            assert_eq!(range_of(bucket + 1).0, next);
        }
    }

    #[test]
    fn percentiles_are_the_first_bucket_that_reaches_them() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.percentile(50.0), None);
        for value in 1..=100 {
            histogram.add(value, 1);
        }
        assert_eq!(histogram.percentile(1.0), Some(Nanos::new(1)));
        assert_eq!(histogram.percentile(50.0), Some(Nanos::new(50)));
        assert_eq!(histogram.percentile(99.5), Some(Nanos::new(100)));
        assert_eq!(histogram.percentile(100.0), Some(Nanos::new(100)));
    }

    #[test]
    fn percentages_are_compared_as_in_fio() {
        let mut histogram = Histogram::default();
        histogram.add(10, 7996);
        histogram.add(20, 4);
        for (percent, value) in [(99.5, 10), (99.95, 20), (0.0, 10), (1e-300, 10)] {
            assert_eq!(histogram.percentile(percent), Some(Nanos::new(value)), "{percent}");
        }
    }

    #[test]
    fn merging_adds_counts() {
        let (mut a, mut b) = (Histogram::default(), Histogram::default());
        a.add(5, 2);
        b.add(5, 1);
        b.add(1 << 20, 4);
        a.merge(&b);
        a.merge(&Histogram::default());
        assert_eq!(a.buckets().collect::<Vec<_>>(), [(5, 3), (bucket_of(1 << 20), 4)]);
        assert_eq!(a.total(), 7);
    }
}
