//! The speed of a replay.

use job::ReplayOptions;

/// Scales durations of a trace to those of the replay, exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Speed {
    multiplier: u64,
    divisor: u64,
}

impl Speed {
    /// Creates a speed in millionths of the original.
    pub(super) fn new(ppm: u64) -> Self {
        let ppm = ppm.max(1);
        let common = gcd(ppm, ReplayOptions::ORIGINAL_SPEED);
        Self { multiplier: ReplayOptions::ORIGINAL_SPEED / common, divisor: ppm / common }
    }

    /// Returns the duration in the replay, in nanoseconds.
    #[inline]
    pub(super) fn apply(self, ns: u64) -> u64 {
        if (self.multiplier, self.divisor) == (1, 1) {
            return ns;
        }
        match ns.checked_mul(self.multiplier) {
            Some(product) => product / self.divisor,
            None => {
                let exact = u128::from(ns) * u128::from(self.multiplier) / u128::from(self.divisor);
                u64::try_from(exact).unwrap_or(u64::MAX)
            }
        }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_exact_and_saturate() {
        for (ppm, ns, expected) in [
            (1_000_000, 12_345, 12_345),
            (2_000_000, 12_345, 6_172),
            (500_000, 12_345, 24_690),
            (333_333, 1_000_000, 3_000_003),
            (1, u64::MAX, u64::MAX),
            (3_000_000, u64::MAX, u64::MAX / 3),
        ] {
            assert_eq!(Speed::new(ppm).apply(ns), expected, "{ppm}");
        }
    }
}
