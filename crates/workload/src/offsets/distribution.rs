//! Distributions of offsets where blocks may repeat.
//!
//! Zipf and Pareto draw a rank, and a keyed bijection maps ranks to blocks, so that hot blocks are spread over the file
//! as in real workloads and in fio. A normal distribution is used for the position of its hot blocks, so it is not
//! spread and peaks at its center.

use job::Distribution;
use units::random::{Random, mix};

use super::permutation::Permutation;

/// Draws one of `count` blocks.
#[derive(Clone, Debug)]
pub(crate) struct Draw {
    count: u64,
    shape: DistributionShape,
}

#[derive(Clone, Debug)]
enum DistributionShape {
    Uniform,
    Ranked { rank: Rank, places: Permutation, shift: u64 },
    Normal { middle: f64, deviation: f64 },
    Zoned { zones: Vec<DistributionZone>, sum: u64 },
    Sequence(BlockSequence),
}

/// Blocks in a given order, again and again, and where in it the next draw is.
#[derive(Clone, Debug)]
struct BlockSequence {
    blocks: Vec<u64>,
    /// Blocks to advance by after each round.
    stride: u64,
    /// Sum of the advances, modulo the number of blocks.
    base: u64,
    next: usize,
}

#[derive(Clone, Debug)]
enum Rank {
    Zipf(Zipf),
    Pareto { exponent: f64 },
}

/// A zone of the blocks `first..first + count`; `total` is the running total of percentages.
#[derive(Clone, Debug)]
struct DistributionZone {
    total: u64,
    first: u64,
    count: u64,
}

impl Draw {
    /// Creates a distribution over `count` blocks of `block` bytes; `key` decides which blocks are hot.
    pub(crate) fn new(distribution: &Distribution, count: u64, block: u64, key: u64) -> Self {
        let count = count.max(1);
        let shape = match distribution {
            Distribution::Uniform => DistributionShape::Uniform,
            Distribution::Zipf { theta, center } => ranked(Rank::Zipf(Zipf::new(count, *theta)), count, *center, key),
            Distribution::Pareto { h, center } => {
                let exponent = libm::log(*h) / libm::log(1.0 - *h);
                ranked(Rank::Pareto { exponent }, count, *center, key)
            }
            Distribution::Normal { deviation, center } => DistributionShape::Normal {
                middle: center.unwrap_or(0.5) * count as f64,
                deviation: deviation / 100.0 * count as f64,
            },
            Distribution::Zoned(parts) => {
                zoned(parts.iter().map(|(share, size)| (*share, count as f64 * f64::from(*size) / 100.0)), count)
            }
            Distribution::ZonedAbs(parts) => {
                zoned(parts.iter().map(|(share, size)| (*share, size.get() as f64 / block.max(1) as f64)), count)
            }
            // Indices beyond the end continue at the start.
            Distribution::Sequence { blocks, strided } => DistributionShape::Sequence(BlockSequence {
                blocks: blocks.iter().map(|block| block % count).collect(),
                stride: if *strided { blocks.len() as u64 % count } else { 0 },
                base: 0,
                next: 0,
            }),
        };
        Self { count, shape }
    }

    /// Draws the next block.
    #[inline]
    pub(crate) fn draw(&mut self, random: &mut Random) -> u64 {
        match &mut self.shape {
            DistributionShape::Uniform => random.below(self.count),
            DistributionShape::Ranked { rank, places, shift } => {
                let place = places.image(rank.draw(self.count, random)) + *shift;
                if place >= self.count { place - self.count } else { place }
            }
            &mut DistributionShape::Normal { middle, deviation } => self.normal(middle, deviation, random),
            DistributionShape::Sequence(sequence) => sequence.draw(self.count),
            DistributionShape::Zoned { zones, sum } => {
                let point = random.below(*sum);
                let zone = zones.iter().find(|zone| point < zone.total).unwrap_or(&zones[0]);
                zone.first + random.below(zone.count)
            }
        }
    }

    /// Redraws values outside the file, so that they do not accumulate at its ends.
    fn normal(&self, middle: f64, deviation: f64, random: &mut Random) -> u64 {
        for _ in 0..64 {
            let block = libm::floor(middle + deviation * gauss(random));
            if block >= 0.0 && block < self.count as f64 {
                return block as u64;
            }
        }
        (middle as u64).min(self.count - 1)
    }
}

impl BlockSequence {
    fn draw(&mut self, count: u64) -> u64 {
        let block = self.blocks.get(self.next).map_or(0, |block| (block + self.base) % count);
        self.next += 1;
        if self.next >= self.blocks.len() {
            (self.next, self.base) = (0, (self.base + self.stride) % count);
        }
        block
    }
}

/// Draws a standard normal number by the Box-Muller method.
fn gauss(random: &mut Random) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - random.unit()));
    radius * libm::cos(std::f64::consts::TAU * random.unit())
}

fn ranked(rank: Rank, count: u64, center: Option<f64>, key: u64) -> DistributionShape {
    let places = Permutation::new(count, key);
    let hottest = match center {
        Some(share) => ((share * count as f64) as u64).min(count - 1),
        None => mix(key, 1) % count,
    };
    let shift = (hottest + count - places.image(0)) % count;
    DistributionShape::Ranked { rank, places, shift }
}

/// Places zones in order. Parts beyond the last block are cut off, and percentages of empty zones are dropped.
fn zoned(parts: impl Iterator<Item = (u32, f64)>, count: u64) -> DistributionShape {
    let (mut total, mut end, mut zones) = (0, 0.0, Vec::new());
    for (share, size) in parts {
        let first = (libm::round(end) as u64).min(count);
        end += size;
        let last = (libm::round(end) as u64).min(count);
        if share > 0 && last > first {
            total += u64::from(share);
            zones.push(DistributionZone { total, first, count: last - first });
        }
    }
    if zones.is_empty() { DistributionShape::Uniform } else { DistributionShape::Zoned { zones, sum: total } }
}

impl Rank {
    fn draw(&self, count: u64, random: &mut Random) -> u64 {
        match self {
            Self::Zipf(zipf) => zipf.draw(random) - 1,
            // Self-similar: the first fraction h of the ranks gets 1 - h of the draws, at every scale.
            Self::Pareto { exponent } => ((count as f64 * libm::pow(random.unit(), *exponent)) as u64).min(count - 1),
        }
    }
}

/// Draws ranks `1..=count` with probability proportional to `rank^-theta`, by rejection-inversion (Hörmann and
/// Derflinger 1996): exact, in constant time and memory for any count.
#[derive(Clone, Debug)]
struct Zipf {
    theta: f64,
    count: f64,
    at_first: f64,
    at_last: f64,
    certain: f64,
}

impl Zipf {
    fn new(count: u64, theta: f64) -> Self {
        let mut zipf = Self { theta, count: count as f64, at_first: 0.0, at_last: 0.0, certain: 0.0 };
        zipf.at_first = zipf.integral(1.5) - 1.0;
        zipf.at_last = zipf.integral(zipf.count + 0.5);
        zipf.certain = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    fn density(&self, x: f64) -> f64 {
        libm::exp(-self.theta * libm::log(x))
    }

    /// Returns the integral of the density from 1 to `x`, which is the logarithm if `theta` is 1.
    fn integral(&self, x: f64) -> f64 {
        let log = libm::log(x);
        let slope = (1.0 - self.theta) * log;
        if slope.abs() < 1e-9 { log } else { libm::expm1(slope) / slope * log }
    }

    fn inverse(&self, y: f64) -> f64 {
        let slope = ((1.0 - self.theta) * y).max(-1.0);
        if slope.abs() < 1e-9 { libm::exp(y) } else { libm::exp(libm::log1p(slope) / slope * y) }
    }

    fn draw(&self, random: &mut Random) -> u64 {
        loop {
            let u = self.at_last + random.unit() * (self.at_first - self.at_last);
            let x = self.inverse(u);
            let rank = libm::round(x).clamp(1.0, self.count);
            if rank - x <= self.certain || u >= self.integral(rank + 0.5) - self.density(rank) {
                return rank as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Bytes;

    const DRAWS: u32 = 200_000;

    fn histogram(distribution: &Distribution, count: u64) -> Vec<f64> {
        let mut draw = Draw::new(distribution, count, 4096, 9);
        let mut random = Random::new(4, 0);
        let mut seen = vec![0.0; count as usize];
        for _ in 0..DRAWS {
            seen[draw.draw(&mut random) as usize] += 1.0 / f64::from(DRAWS);
        }
        seen
    }

    fn by_heat(mut shares: Vec<f64>) -> Vec<f64> {
        shares.sort_by(|a, b| b.total_cmp(a));
        shares
    }

    #[test]
    fn zipf_matches_its_theoretical_frequencies() {
        for theta in [0.5, 0.99, 1.0, 1.2, 2.0] {
            let count = 1000;
            let sum: f64 = (1..=count).map(|k| (k as f64).powf(-theta)).sum();
            let mut heat = 0.0;
            let mut theory = 0.0;
            let draw = Zipf::new(count, theta);
            let mut random = Random::new(8, 0);
            let mut seen = vec![0.0; count as usize + 1];
            for _ in 0..DRAWS {
                seen[draw.draw(&mut random) as usize] += 1.0 / f64::from(DRAWS);
            }
            for k in 1..=count {
                heat += seen[k as usize];
                theory += (k as f64).powf(-theta) / sum;
                // Kolmogorov-Smirnov: 2 / sqrt(n) is far beyond the 0.1 % point.
                assert!((heat - theory).abs() < 2.0 / f64::from(DRAWS).sqrt(), "theta {theta}, rank {k}");
            }
        }
    }

    #[test]
    fn hot_blocks_are_spread_and_the_hottest_is_at_the_center() {
        let shares = histogram(&Distribution::Zipf { theta: 1.2, center: Some(0.25) }, 1000);
        let hottest = (0..1000).max_by(|&a, &b| shares[a].total_cmp(&shares[b]));
        assert_eq!(hottest, Some(250));
        let quarters: Vec<f64> = shares.chunks(250).map(|quarter| quarter.iter().sum()).collect();
        assert!(quarters.iter().all(|&share| share > 0.02), "{quarters:?}");
    }

    #[test]
    fn pareto_is_self_similar() {
        let heat = by_heat(histogram(&Distribution::Pareto { h: 0.2, center: None }, 10_000));
        let top: f64 = heat[..2000].iter().sum();
        assert!((top - 0.8).abs() < 0.01, "{top}");
        let tip: f64 = heat[..400].iter().sum();
        assert!((tip - 0.64).abs() < 0.01, "{tip}");
    }

    #[test]
    fn normal_has_its_deviation_around_its_center() {
        let shares = histogram(&Distribution::Normal { deviation: 10.0, center: None }, 1000);
        let within: f64 = shares[400..600].iter().sum();
        assert!((within - 0.6827).abs() < 0.01, "{within}");
        let aside = histogram(&Distribution::Normal { deviation: 5.0, center: Some(0.0) }, 1000);
        assert!(aside[..50].iter().sum::<f64>() > 0.65);
    }

    #[test]
    fn zones_have_their_percentages() {
        let percent = histogram(&Distribution::Zoned(vec![(60, 10), (30, 20), (8, 30), (2, 40)]), 1000);
        let bytes =
            histogram(&Distribution::ZonedAbs(vec![(60, Bytes::new(100 * 4096)), (40, Bytes::new(1 << 40))]), 1000);
        assert!((percent[..100].iter().sum::<f64>() - 0.6).abs() < 0.01);
        assert!((percent[100..300].iter().sum::<f64>() - 0.3).abs() < 0.01);
        assert!((percent[600..].iter().sum::<f64>() - 0.02).abs() < 0.005);
        assert!((bytes[..100].iter().sum::<f64>() - 0.6).abs() < 0.01);
    }

    #[test]
    fn sequences_repeat_or_advance_and_wrap_around() {
        let drawn = |blocks: &[u64], strided, count, draws| -> Vec<u64> {
            let sequence = Distribution::Sequence { blocks: blocks.to_vec(), strided };
            let (mut draw, mut random) = (Draw::new(&sequence, count, 4096, 9), Random::new(4, 0));
            (0..draws).map(|_| draw.draw(&mut random)).collect()
        };
        assert_eq!(drawn(&[2, 0, 1], false, 8, 7), [2, 0, 1, 2, 0, 1, 2]);
        assert_eq!(drawn(&[2, 0, 1], true, 8, 10), [2, 0, 1, 5, 3, 4, 0, 6, 7, 3]);
        assert_eq!(drawn(&[u64::MAX, 9, 0], false, 4, 4), [3, 1, 0, 3]);
        assert_eq!(drawn(&[5, 6, 7], true, 1, 4), [0; 4]);
    }

    #[test]
    fn a_single_block_is_always_drawn() {
        for distribution in [
            Distribution::Uniform,
            Distribution::Zipf { theta: 1.2, center: None },
            Distribution::Pareto { h: 0.2, center: Some(1.0) },
            Distribution::Normal { deviation: 10.0, center: Some(1.0) },
        ] {
            assert_eq!(histogram(&distribution, 1).len(), 1);
        }
    }
}
