//! How unevenly accesses are spread over blocks.
//!
//! Blocks of the sample have exact counts, but a sample can miss the few hottest blocks. These are counted apart, with
//! Space-Saving (Metwally, Agrawal and El Abbadi, "Efficient computation of frequent and top-k elements in data streams",
//! ICDT 2005) in sets of eight counters.

use super::profile::{HotProfile, HotShare, ZipfFit};
use super::sampled::{BLOCK_BYTES, SampledBlocks};
use super::zipf;

/// Number of sets of counters; a power of two.
const SETS: usize = 512;
/// Counters per set.
const WAYS: usize = 8;
/// Number of accesses that are all counted, before requests are sampled.
const COUNTED_FIRST: u64 = 1 << 18;
/// One of so many requests is counted after that.
const ONE_OF: u64 = 16;
/// Least number of accesses that were seen of a block whose count is trusted: a standard deviation of 6 %.
const SEEN_MIN: u64 = 256;
/// Percentages of the blocks in use for which a profile has the part of the accesses.
const PERCENTAGES: [f64; 4] = [1.0, 5.0, 10.0, 20.0];

/// Eight counters; an error is how much of a count may belong to other blocks.
#[derive(Clone, Copy, Debug, Default)]
struct CounterSet {
    hashes: [u64; WAYS],
    counts: [u64; WAYS],
    errors: [u64; WAYS],
}

/// Counters of the hottest blocks. Memory: 96 KiB.
#[derive(Clone, Debug)]
pub(super) struct HotCounters {
    sets: Vec<CounterSet>,
    requests: u64,
    accesses: u64,
    state: u64,
    /// Number of requests for which the current one stands; zero if it is not counted.
    step: u64,
}

/// Blocks with equal counts.
#[derive(Clone, Copy, Debug)]
struct Popularity {
    accesses: f64,
    blocks: f64,
}

impl HotCounters {
    pub(super) fn new() -> Self {
        Self {
            sets: vec![CounterSet::default(); SETS],
            requests: 0,
            accesses: 0,
            state: 0x9e37_79b9_7f4a_7c15,
            step: 1,
        }
    }

    /// Decides whether the blocks of the next request are counted. Chosen at random, so that periods of the load have no
    /// effect.
    #[inline]
    pub(super) fn begin_request(&mut self, blocks: u64) {
        self.requests += 1;
        self.accesses += blocks;
        if self.accesses > COUNTED_FIRST {
            self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            self.step = if self.state >> 60 == 0 { ONE_OF } else { 0 };
        }
    }

    #[inline]
    pub(super) const fn is_counted(&self) -> bool {
        self.step > 0
    }

    #[inline(never)]
    pub(super) fn add(&mut self, hash: u64) {
        let set = &mut self.sets[(hash >> 20) as usize & (SETS - 1)];
        if let Some(way) = set.hashes.iter().position(|known| *known == hash) {
            set.counts[way] += self.step;
            return;
        }
        let mut least = 0;
        for way in 1..WAYS {
            if set.counts[way] < set.counts[least] {
                least = way;
            }
        }
        set.hashes[least] = hash;
        set.errors[least] = set.counts[least];
        set.counts[least] += self.step;
    }

    /// Returns the hashes and estimated counts of blocks whose counts are trusted, by hash.
    fn trusted(&self) -> Vec<(u64, f64)> {
        let least = if self.accesses > COUNTED_FIRST { SEEN_MIN * ONE_OF } else { SEEN_MIN };
        let mut found = Vec::new();
        for set in &self.sets {
            for way in 0..WAYS {
                let (count, error) = (set.counts[way], set.errors[way]);
                if count - error >= least && error <= count / 16 {
                    found.push((set.hashes[way], count as f64 - error as f64 / 2.0));
                }
            }
        }
        found.sort_unstable_by_key(|(hash, _)| *hash);
        found
    }

    /// Returns the profile, given the sample in which each block stands for `weight`.
    pub(super) fn finish(&self, sample: &SampledBlocks, weight: f64) -> HotProfile {
        // A complete sample has all blocks with exact counts.
        let mut trusted = if weight > 1.0 { self.trusted() } else { Vec::new() };
        let mut tail = Vec::with_capacity(sample.len());
        for block in sample.iter() {
            let count = f64::from(block.accesses);
            match trusted.binary_search_by_key(&block.hash, |(hash, _)| *hash) {
                Ok(at) => trusted[at].1 = count,
                Err(_) => tail.push(Popularity { accesses: count, blocks: weight }),
            }
        }
        let all = self.accesses as f64;
        let collisions = trusted.iter().map(|(_, count)| count * (count - 1.0)).sum::<f64>()
            + tail.iter().map(|block| block.blocks * block.accesses * (block.accesses - 1.0)).sum::<f64>();
        let in_trusted: f64 = trusted.iter().map(|(_, count)| count).sum();
        let in_tail: f64 = tail.iter().map(|block| block.blocks * block.accesses).sum();
        let scale = if in_tail > 0.0 { (all - in_trusted).max(0.0) / in_tail } else { 1.0 };
        tail.iter_mut().for_each(|block| block.accesses *= scale);
        let mut curve = tail;
        curve.extend(trusted.iter().map(|(_, count)| Popularity { accesses: *count, blocks: 1.0 }));
        curve.sort_unstable_by(|a, b| b.accesses.total_cmp(&a.accesses));
        let shares = shares(&curve);
        let units = (all / self.requests.max(1) as f64).max(1.0);
        let blocks: f64 = curve.iter().map(|block| block.blocks).sum();
        // Over the accesses that the sample stands for: so the error of the number of blocks cancels out of the exponent.
        let sampled = in_trusted + in_tail;
        let collision = if sampled > 1.0 { collisions / (sampled * (sampled - 1.0)) } else { 0.0 };
        HotProfile {
            shares: named(shares),
            zipf: fitted(all / units, blocks / units, collision * units, units, shares),
        }
    }
}

fn named(shares: [f64; 4]) -> Vec<HotShare> {
    let pairs = PERCENTAGES.iter().zip(shares);
    pairs
        .map(|(blocks_percent, accesses_fraction)| HotShare { blocks_percent: *blocks_percent, accesses_fraction })
        .collect()
}

/// Returns the parts of the accesses that the hottest blocks have, of a curve in descending order.
fn shares(curve: &[Popularity]) -> [f64; 4] {
    let (mut blocks, mut accesses) = (0.0, 0.0);
    for block in curve {
        blocks += block.blocks;
        accesses += block.blocks * block.accesses;
    }
    PERCENTAGES.map(|percent| {
        let (mut left, mut sum) = (blocks * percent / 100.0, 0.0);
        for block in curve {
            let part = block.blocks.min(left);
            sum += part * block.accesses;
            left -= part;
            if left <= 0.0 {
                break;
            }
        }
        if accesses > 0.0 { (sum / accesses).min(1.0) } else { 0.0 }
    })
}

/// Fits a zipf distribution over units of some blocks, and compares its parts with those of the trace.
fn fitted(draws: f64, distinct: f64, collision: f64, unit_blocks: f64, shares_found: [f64; 4]) -> Option<ZipfFit> {
    let (theta, units) = zipf::fit(draws, distinct, collision)?;
    let counts = zipf::expected_counts(theta, units, draws);
    let curve: Vec<Popularity> = counts.into_iter().map(|(accesses, blocks)| Popularity { accesses, blocks }).collect();
    let expected = shares(&curve);
    let differences = expected.iter().zip(shares_found).map(|(expected, found)| (expected - found).abs());
    Some(ZipfFit {
        theta,
        units,
        unit_bytes: unit_blocks * BLOCK_BYTES as f64,
        difference_max: differences.fold(0.0, f64::max),
    })
}
