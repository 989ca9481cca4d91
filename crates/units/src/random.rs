//! Seeded randomness.
//!
//! Every random decision in Fathom comes from a [`Random`] with a seed and a stream number. Streams are independent: a
//! job may draw offsets and directions from two streams, and a change in the number of draws from one does not affect
//! the other.

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

/// A generator whose output depends only on its seed and stream.
#[derive(Clone, Debug)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// Creates the generator of `stream` under `seed`.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(mix(seed, stream)))
    }

    /// Returns 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a whole number in `0..bound`; zero if `bound` is zero.
    ///
    /// Lemire's multiplication with rejection, so that every value is equally likely.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        loop {
            let product = u128::from(self.bits()) * u128::from(bound);
            let low = product as u64;
            if low >= bound || low >= bound.wrapping_neg() % bound.max(1) {
                return (product >> 64) as u64;
            }
        }
    }

    /// Returns a number in `[0, 1)` with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Fills `buffer` with random bytes.
    pub fn fill(&mut self, buffer: &mut [u8]) {
        self.0.fill_bytes(buffer);
    }
}

/// Hashes two numbers into 64 bits that all depend on both: for seeds, streams and keyed hashes.
#[must_use]
pub fn mix(a: u64, b: u64) -> u64 {
    let mut outer = SplitMix64::seed_from_u64(a);
    SplitMix64::seed_from_u64(outer.next_u64() ^ b.wrapping_mul(0x9e37_79b9_7f4a_7c15)).next_u64()
}

/// Mixes the bytes of a text into a number.
#[must_use]
pub fn mix_text(number: u64, text: &str) -> u64 {
    text.bytes().fold(number, |number, byte| mix(number, u64::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_and_stream_repeat_and_others_differ() {
        let draw = |seed, stream| {
            let mut random = Random::new(seed, stream);
            [random.bits(), random.bits(), random.bits()]
        };
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2), draw(2, 1));
        assert_ne!(draw(1, 2), draw(1, 3));
    }

    #[test]
    fn below_stays_below_and_reaches_everything() {
        let mut random = Random::new(7, 0);
        let mut seen = [0u32; 10];
        for _ in 0..10_000 {
            seen[random.below(10) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| (850..1150).contains(&n)), "{seen:?}");
        assert_eq!(random.below(0), 0);
        assert_eq!(random.below(1), 0);
    }

    #[test]
    fn unit_is_uniform() {
        let mut random = Random::new(3, 0);
        let mean = (0..100_000).map(|_| random.unit()).sum::<f64>() / 100_000.0;
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
    }
}
