//! Pseudo-random permutations in constant memory.
//!
//! A bitmap of a 10 TiB device at 4 KiB takes 340 MB and misses the cache on every access. A keyed bijection needs a
//! few numbers: a counter runs through `0..2^bits`, and invertible steps scatter each value, so that no two values
//! collide. Values beyond the last block are skipped; since `2^bits` is less than twice the number of blocks, that is
//! less than one in two.

use units::random::mix;

/// A keyed bijection of `0..2^bits` onto itself.
#[derive(Clone, Copy, Debug)]
struct Scatter {
    mask: u64,
    shift: u32,
    keys: [u64; 3],
    odds: [u64; 3],
}

impl Scatter {
    fn new(bits: u32, key: u64) -> Self {
        let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
        let word = |n| mix(key, n);
        Self {
            mask,
            shift: (bits / 2).max(1),
            keys: [word(0), word(1), word(2)],
            odds: [word(3) | 1, word(4) | 1, word(5) | 1],
        }
    }

    #[inline]
    fn apply(&self, n: u64) -> u64 {
        let mut x = n;
        for (key, odd) in self.keys.iter().zip(&self.odds) {
            // x(2x + odd) + key is a bijection modulo every power of two. Its square spreads the low bits far better
            // than a product with a constant, which shows as strides in small regions.
            x = x.wrapping_mul(x.wrapping_mul(2).wrapping_add(*odd)).wrapping_add(*key) & self.mask;
            x ^= x >> self.shift;
        }
        x
    }
}

/// The numbers `0..count`, each once, in an order determined by the key.
#[derive(Clone, Debug)]
pub(crate) struct Permutation {
    scatter: Scatter,
    count: u64,
    counter: u64,
    given: u64,
}

impl Permutation {
    pub(crate) fn new(count: u64, key: u64) -> Self {
        let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
        Self { scatter: Scatter::new(bits, key), count, counter: 0, given: 0 }
    }

    /// Returns the next number; `None` once all have been returned.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<u64> {
        if self.given == self.count {
            return None;
        }
        self.given += 1;
        loop {
            let value = self.scatter.apply(self.counter);
            self.counter += 1;
            if value < self.count {
                return Some(value);
            }
        }
    }

    /// Returns the image of `n` under a bijection of `0..count` onto itself, independently of the numbers returned so
    /// far.
    #[inline]
    pub(crate) fn image(&self, n: u64) -> u64 {
        let mut value = self.scatter.apply(n);
        // The orbit of a number below `count` returns to it, so it reaches a number below `count`.
        while value >= self.count {
            value = self.scatter.apply(value);
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(count: u64, key: u64) -> Vec<u64> {
        let mut permutation = Permutation::new(count, key);
        std::iter::from_fn(|| permutation.next()).collect()
    }

    #[test]
    fn returns_every_number_once() {
        let sizes = (0..200).chain([255, 256, 257, 1000, 4095, 4096, 4097, 65_535, 99_991, 262_144]);
        for count in sizes {
            for key in [0, 1, 0xdead_beef] {
                let mut seen = vec![false; count as usize];
                for n in all(count, key) {
                    assert!(!std::mem::replace(&mut seen[n as usize], true), "{n} twice of {count}, key {key}");
                }
                assert!(seen.iter().all(|&seen| seen), "count {count}, key {key}");
            }
        }
    }

    #[test]
    fn image_is_a_bijection() {
        for count in [1, 2, 3, 100, 257, 5000] {
            let permutation = Permutation::new(count, 5);
            let mut images: Vec<_> = (0..count).map(|n| permutation.image(n)).collect();
            images.sort_unstable();
            assert!(images.into_iter().eq(0..count));
        }
    }

    #[test]
    fn keys_determine_the_order() {
        assert_ne!(all(1000, 1), all(1000, 2));
    }

    /// Chi-square of the positions of the first draws in 64 bins: 63 degrees of freedom, so 120 is far in the tail.
    #[test]
    fn every_window_of_the_order_is_spread_evenly() {
        for count in [100_000, 131_072, 1_000_003] {
            let order = all(count, 77);
            for window in order.chunks(6400).filter(|window| window.len() == 6400) {
                let mut bins = [0f64; 64];
                for &n in window {
                    bins[(n * 64 / count) as usize] += 1.0;
                }
                let chi: f64 = bins.iter().map(|seen| (seen - 100.0).powi(2) / 100.0).sum();
                assert!(chi < 120.0, "count {count}: {chi}");
            }
        }
    }

    /// Neighbours in the order are uncorrelated, and no distance between them is more frequent than by chance.
    #[test]
    fn there_is_no_stride() {
        for (count, key) in [(4096, 1), (4096, 2), (100_000, 3), (262_144, 4)] {
            let order = all(count, key);
            let half = count as f64 / 2.0;
            for lag in [1, 2, 3, 64] {
                let products = order.iter().zip(&order[lag..]).map(|(&a, &b)| (a as f64 - half) * (b as f64 - half));
                let correlation = products.sum::<f64>() / (order.len() - lag) as f64 / (half * half / 3.0);
                let bound = 5.0 / (count as f64).sqrt();
                assert!(correlation.abs() < bound, "count {count}, lag {lag}: {correlation}");
                let mut distances = std::collections::BTreeMap::new();
                for (&a, &b) in order.iter().zip(&order[lag..]) {
                    *distances.entry(b.wrapping_sub(a)).or_insert(0u32) += 1;
                }
                let most = distances.values().max().copied().unwrap_or(0);
                assert!(most < 12, "count {count}, lag {lag}: a distance occurs {most} times");
            }
        }
    }
}
