//! Latency distributions.

use units::{Nanos, random::Random};

/// A distribution of durations. All parameters are in nanoseconds unless said otherwise.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    Constant(Nanos),
    /// Any duration between two, equally likely.
    Uniform {
        /// Minimum.
        least: Nanos,
        /// Maximum.
        most: Nanos,
    },
    /// Memoryless.
    Exponential {
        mean: Nanos,
    },
    /// `shift + scale × (u / (1 − u))^(1 / shape)`, cut off at `most`: a steep front and a long tail, as in networked
    /// block storage.
    LogLogistic {
        /// Minimum.
        shift: Nanos,
        /// Median above the minimum.
        scale: Nanos,
        /// Shape, without unit; the larger, the shorter the tail.
        shape: f64,
        /// Maximum.
        most: Nanos,
    },
    /// `shift` plus a log-normal time, cut off at `most`.
    LogNormal {
        /// Minimum.
        shift: Nanos,
        /// Median above the minimum.
        median: Nanos,
        /// Standard deviation of the logarithm, without unit.
        sigma: f64,
        /// Maximum.
        most: Nanos,
    },
    /// Measured quantiles with linear interpolation: pairs of a fraction from 0 to 1 and the duration that this
    /// fraction does not exceed, both rising.
    Quantiles(Vec<(f64, Nanos)>),
}

impl Law {
    /// Returns the duration that the fraction `u` of requests does not exceed; `u` from 0 to 1.
    #[must_use]
    pub fn quantile(&self, u: f64) -> Nanos {
        let u = u.clamp(0.0, 1.0);
        match self {
            Self::Constant(value) => *value,
            Self::Uniform { least, most } => *least + scaled(most.since(*least), u),
            Self::Exponential { mean } => scaled(*mean, -libm::log1p(-u.min(1.0 - EPSILON))),
            Self::LogLogistic { shift, scale, shape, most } => {
                let odds = u / (1.0 - u).max(EPSILON);
                (*shift + scaled(*scale, libm::pow(odds, 1.0 / shape))).min(*most)
            }
            Self::LogNormal { shift, median, sigma, most } => {
                let deviations = normal_quantile(u.clamp(EPSILON, 1.0 - EPSILON));
                (*shift + scaled(*median, libm::exp(sigma * deviations))).min(*most)
            }
            Self::Quantiles(points) => interpolate(points, u),
        }
    }

    /// Returns the mean, by quadrature over the quantiles; exact to 10^-4 for these distributions.
    #[must_use]
    pub fn mean(&self) -> Nanos {
        match self {
            Self::Constant(value) => *value,
            Self::Exponential { mean } => *mean,
            _ => {
                let points = 1 << 16;
                let sum: u128 = (0..points)
                    .map(|point| u128::from(self.quantile((f64::from(point) + 0.5) / f64::from(points)).get()))
                    .sum();
                Nanos::new((sum / points as u128) as u64)
            }
        }
    }
}

/// Distance from 0 and 1 to which fractions are clamped: one in 10^12 requests.
const EPSILON: f64 = 1e-12;

fn scaled(duration: Nanos, factor: f64) -> Nanos {
    Nanos::new(libm::round(duration.get() as f64 * factor) as u64)
}

fn interpolate(points: &[(f64, Nanos)], u: f64) -> Nanos {
    let after = points.partition_point(|(share, _)| *share < u);
    match (after.checked_sub(1).and_then(|before| points.get(before)), points.get(after)) {
        (Some((low, from)), Some((high, to))) => *from + scaled(to.since(*from), (u - low) / (high - low).max(EPSILON)),
        (None, Some((_, only))) | (Some((_, only)), None) => *only,
        (None, None) => Nanos::ZERO,
    }
}

/// Returns the quantile of the standard normal distribution, by bisection of its distribution function: only tables
/// need it.
fn normal_quantile(u: f64) -> f64 {
    let (mut low, mut high) = (-8.0, 8.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if 0.5 * libm::erfc(-middle * std::f64::consts::FRAC_1_SQRT_2) < u {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

/// A distribution prepared for drawing: a table of quantiles with linear interpolation, except at both ends.
#[derive(Clone, Debug)]
pub(crate) struct LawSampler {
    law: Law,
    /// `BINS + 1` quantiles; empty for constants.
    table: Vec<u64>,
    constant: Nanos,
}

/// 16 KiB of table fit into the first-level cache.
const BINS_BITS: u32 = 11;
const BINS: usize = 1 << BINS_BITS;

impl LawSampler {
    pub(crate) fn new(law: &Law) -> Self {
        let (table, constant) = match law {
            Law::Constant(value) => (Vec::new(), *value),
            law => ((0..=BINS).map(|bin| law.quantile(bin as f64 / BINS as f64).get()).collect(), Nanos::ZERO),
        };
        Self { law: law.clone(), table, constant }
    }

    #[inline]
    pub(crate) fn draw(&self, random: &mut Random) -> Nanos {
        if self.table.is_empty() {
            return self.constant;
        }
        let bits = random.bits();
        let bin = (bits >> (64 - BINS_BITS)) as usize;
        if bin == 0 || bin == BINS - 1 {
            return self.draw_end(bits);
        }
        let (from, to) = (self.table[bin], self.table[bin + 1]);
        // 20 bits of fraction: durations below 2^44 ns, five hours, cannot overflow.
        let fraction = (bits << BINS_BITS) >> 44;
        Nanos::new(from + (((to - from) * fraction) >> 20))
    }

    /// Draws from the tails, which bend too much for linear interpolation.
    #[cold]
    fn draw_end(&self, bits: u64) -> Nanos {
        self.law.quantile((bits >> 11) as f64 * (1.0 / (1_u64 << 53) as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(us: f64) -> Nanos {
        Nanos::new((us * 1e3) as u64)
    }

    fn laws() -> Vec<Law> {
        vec![
            Law::Constant(micros(100.0)),
            Law::Uniform { least: micros(10.0), most: micros(50.0) },
            Law::Exponential { mean: micros(200.0) },
            Law::LogLogistic { shift: micros(815.0), scale: micros(469.0), shape: 4.62, most: micros(4200.0) },
            Law::LogNormal { shift: micros(957.0), median: micros(281.0), sigma: 0.6155, most: micros(9000.0) },
            Law::Quantiles(vec![(0.0, micros(50.0)), (0.5, micros(80.0)), (0.97, micros(300.0)), (1.0, micros(400.0))]),
        ]
    }

    #[test]
    fn draws_follow_the_quantiles() {
        for law in laws() {
            let sampler = LawSampler::new(&law);
            let mut random = Random::new(1, 2);
            let mut drawn: Vec<u64> = (0..400_000).map(|_| sampler.draw(&mut random).get()).collect();
            drawn.sort_unstable();
            for share in [0.01, 0.1, 0.5, 0.9, 0.99, 0.999] {
                let (found, exact) = (drawn[(share * 400_000.0) as usize], law.quantile(share).get());
                let error = (found as f64 - exact as f64).abs() / exact as f64;
                assert!(error < 0.02, "{law:?} at {share}: {found} for {exact}");
            }
            let mean = drawn.iter().sum::<u64>() as f64 / drawn.len() as f64;
            assert!((mean / law.mean().get() as f64 - 1.0).abs() < 0.01, "{law:?}: mean {mean}");
        }
    }

    #[test]
    fn the_normal_quantile_matches_tables() {
        for (share, deviations) in [(0.5, 0.0), (0.975, 1.959_964), (0.999, 3.090_232), (0.01, -2.326_348)] {
            assert!((normal_quantile(share) - deviations).abs() < 1e-5);
        }
    }
}
