//! Working sets, reuse distances and the miss ratio of an LRU cache, from a sample of blocks.
//!
//! Waldspurger, Park, Garthwaite and Ahmad, "Efficient MRC construction with SHARDS", FAST '15: fixed-size sampling, with
//! the adjustment of the number of references (SHARDS-adj).

mod short;

use super::histogram::{BUCKETS, bucket_of, value_of};
use super::hot::HotCounters;
use super::profile::{MissRatioPoint, ReuseProfile, WorkingSetWindow};
use super::sampled::{BLOCK_BYTES, NEVER, SampledBlock, SampledBlocks};
use super::windows::{TouchedSets, WINDOW_COUNT};
use short::ShortReuse;

/// Maximum number of blocks of a request that are examined: 16 MiB.
const REQUEST_BLOCKS_MAX: u64 = 4096;

/// Blocks in use. Memory: 3 MiB.
#[derive(Clone, Debug)]
pub(super) struct Reuse {
    sample: SampledBlocks,
    recency: Recency,
    weight: f64,
    accesses: u64,
    read_accesses: u64,
    all: Distances,
    reads: Distances,
    short: ShortReuse,
    touched: TouchedSets,
    hot: HotCounters,
    skipped: u64,
}

impl Reuse {
    pub(super) fn new() -> Self {
        Self {
            sample: SampledBlocks::new(),
            recency: Recency::new(),
            weight: 1.0,
            accesses: 0,
            read_accesses: 0,
            all: Distances::new(),
            reads: Distances::new(),
            short: ShortReuse::new(),
            touched: TouchedSets::default(),
            hot: HotCounters::new(),
            skipped: 0,
        }
    }

    /// Adds a read or write of at least one byte at an instant in nanoseconds. Returns the estimated number of blocks
    /// that it touches for the first time.
    #[inline]
    pub(super) fn add(&mut self, at: u64, device: u16, offset: u64, length: u32, is_write: bool) -> f64 {
        let first = offset / BLOCK_BYTES;
        let last = offset.saturating_add(u64::from(length.max(1)) - 1) / BLOCK_BYTES;
        let end = last.min(first.saturating_add(REQUEST_BLOCKS_MAX - 1));
        self.skipped += last - end;
        let blocks = end - first + 1;
        self.accesses += blocks;
        if !is_write {
            self.read_accesses += blocks;
        }
        let device_key = u64::from(device).wrapping_mul(0xd6e8_feb8_6659_fd93);
        self.hot.begin_request(blocks);
        if self.hot.is_counted() {
            (first..=end).for_each(|block| self.hot.add(hash(block ^ device_key)));
        }
        if self.short.begin_request(blocks) {
            (first..=end).for_each(|block| self.short.add(hash(block ^ device_key), is_write));
        }
        let mut fresh = 0.0;
        for block in first..=end {
            let hash = hash(block ^ device_key);
            if hash < self.sample.threshold() {
                fresh += self.access(at, hash, is_write);
            }
        }
        fresh
    }

    /// Counts an access of a sampled block. Returns its weight if it is the first one.
    fn access(&mut self, at: u64, hash: u64, is_write: bool) -> f64 {
        let now_s = u32::try_from(at / 1_000_000_000).unwrap_or(NEVER).min(NEVER - 1);
        let weight = self.weight;
        let slot = self.next_slot();
        let (before, distance) = match self.sample.get_mut(hash) {
            Some(block) => {
                let before = *block;
                block.slot = slot;
                block.accesses = block.accesses.saturating_add(1);
                *(if is_write { &mut block.written_s } else { &mut block.read_s }) = now_s;
                // The new slot is after the old one, and is the block itself.
                let distinct = self.recency.after(before.slot) - 1;
                self.recency.clear(before.slot);
                ((before.read_s, before.written_s), Some((f64::from(distinct) * weight) as u64))
            }
            None => {
                let (read_s, written_s) = if is_write { (NEVER, now_s) } else { (now_s, NEVER) };
                self.sample.insert(SampledBlock { hash, slot, accesses: 1, read_s, written_s });
                while let Some(removed) = self.sample.shrink() {
                    self.recency.clear(removed);
                }
                self.weight = self.sample.weight();
                ((NEVER, NEVER), None)
            }
        };
        self.all.add(distance, weight);
        if !is_write {
            self.reads.add(distance, weight);
        }
        self.touched.add(now_s, before, is_write, weight);
        if distance.is_none() { weight } else { 0.0 }
    }

    #[inline]
    fn next_slot(&mut self) -> u32 {
        if let Some(slot) = self.recency.push() {
            return slot;
        }
        self.sample.renumber(SLOTS);
        self.recency.restart(self.sample.len());
        self.recency.push().unwrap_or(SLOTS as u32 - 1)
    }

    pub(super) fn finish(mut self, duration_ns: u64) -> Option<ReuseProfile> {
        if self.accesses == 0 {
            return None;
        }
        let weight = self.weight;
        let bytes = |blocks: usize| blocks as f64 * weight * BLOCK_BYTES as f64;
        let (mut read, mut written) = (0, 0);
        for block in self.sample.iter() {
            read += usize::from(block.read_s != NEVER);
            written += usize::from(block.written_s != NEVER);
        }
        let footprint = self.sample.len() as f64 * weight;
        let windows: [Option<WorkingSetWindow>; WINDOW_COUNT] = self.touched.finish(duration_ns);
        let accesses = self.accesses;
        Some(ReuseProfile {
            block_bytes: BLOCK_BYTES,
            accesses,
            skipped_blocks: self.skipped,
            footprint_bytes: bytes(self.sample.len()),
            read_footprint_bytes: bytes(read),
            written_footprint_bytes: bytes(written),
            footprint_relative_error: if weight > 1.0 { 1.0 / (self.sample.len() as f64).sqrt() } else { 0.0 },
            windows: windows.into_iter().flatten().collect(),
            miss_ratios: self.miss_ratios(footprint),
            hot: self.hot.finish(&self.sample, weight),
        })
    }

    /// Returns the miss ratios of caches of one block to twice the footprint, two per power of two.
    fn miss_ratios(&self, footprint: f64) -> Vec<MissRatioPoint> {
        let mut blocks = vec![1u64];
        let mut power = 1u64;
        while (power as f64) < footprint && power < 1 << 61 {
            blocks.extend([power * 2, power * 3]);
            power *= 2;
        }
        blocks.sort_unstable();
        blocks.dedup();
        let mut all = self.all.miss_ratios(&blocks, self.accesses as f64);
        let mut reads = self.reads.miss_ratios(&blocks, self.read_accesses as f64);
        // Without sampling, everything is exact.
        if let Some(blocks_max) = self.short.blocks_max().filter(|_| self.weight > 1.0) {
            let exact = blocks.partition_point(|size| *size <= blocks_max);
            correct(&mut all, &self.short.all.miss_ratios(&blocks[..exact], self.short.all.sum()));
            correct(&mut reads, &self.short.reads.miss_ratios(&blocks[..exact], self.short.reads.sum()));
        }
        let points = blocks.iter().zip(all.into_iter().zip(reads));
        points
            .map(|(blocks, (miss_ratio, read_miss_ratio))| MissRatioPoint {
                cache_bytes: blocks.saturating_mul(BLOCK_BYTES),
                miss_ratio,
                read_miss_ratio,
            })
            .collect()
    }
}

/// Replaces the miss ratios of the smallest caches by exact ones, and moves the others by a difference that decreases to
/// zero at the largest cache: its misses are the first accesses, which the sample estimates well.
fn correct(ratios: &mut [f64], exact: &[f64]) {
    let Some((last, least)) = exact.last().zip(ratios.last().copied()) else { return };
    let border = exact.len() - 1;
    let (difference, fall) = (last - ratios[border], ratios[border] - least);
    for (at, ratio) in ratios.iter_mut().enumerate() {
        match exact.get(at) {
            Some(exact) => *ratio = *exact,
            None if fall > 0.0 => *ratio += difference * (*ratio - least) / fall,
            None => {}
        }
    }
    let mut before = 1.0f64;
    for ratio in ratios {
        *ratio = ratio.clamp(0.0, before);
        before = *ratio;
    }
}

/// Mixes all bits: the finalizer of MurmurHash3.
#[inline]
const fn hash(key: u64) -> u64 {
    let key = (key ^ (key >> 33) ^ 0x5851_f42d_4c95_7f2d).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let key = (key ^ (key >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    key ^ (key >> 33)
}

/// Reuse distances by weight. Memory: 30 KiB.
#[derive(Clone, Debug)]
pub(super) struct Distances {
    weights: Vec<f64>,
    sum: f64,
}

impl Distances {
    pub(super) fn new() -> Self {
        Self { weights: vec![0.0; BUCKETS], sum: 0.0 }
    }

    /// Adds an access; without a distance, it is the first one of its block.
    #[inline]
    pub(super) fn add(&mut self, distance: Option<u64>, weight: f64) {
        self.sum += weight;
        if let Some(distance) = distance {
            self.weights[bucket_of(distance)] += weight;
        }
    }

    pub(super) const fn sum(&self) -> f64 {
        self.sum
    }

    /// Returns the miss ratios of caches of some numbers of blocks, in ascending order, for `all` accesses; zero without
    /// accesses.
    ///
    /// SHARDS-adj: a sample holds too few or too many accesses by chance. Hot blocks cause the difference, and their
    /// distances are short, so it is counted as hits.
    pub(super) fn miss_ratios(&self, blocks: &[u64], all: f64) -> Vec<f64> {
        if all <= 0.0 {
            return vec![0.0; blocks.len()];
        }
        let mut hits = all - self.sum;
        let mut bucket = 0;
        let ratio = |size: &u64| {
            // A distance below the size hits. Sizes are powers of two and one and a half times as much, where buckets end.
            while bucket < BUCKETS && value_of(bucket) < *size {
                hits += self.weights[bucket];
                bucket += 1;
            }
            (1.0 - hits / all).clamp(0.0, 1.0)
        };
        blocks.iter().map(ratio).collect()
    }
}

/// Number of slots: twice the number of blocks, so that renumbering is rare.
pub(super) const SLOTS: usize = 32_768;
const WORDS: usize = SLOTS / 64;
/// Words per group of the upper level.
const GROUP: usize = 16;

/// Slots in the order of use, one bit for each block at its last use. Counting takes 16 words and 32 groups at most.
#[derive(Clone, Debug)]
pub(super) struct Recency {
    words: Box<[u64; WORDS]>,
    /// Marked slots of each word: cheaper than counting bits on CPUs that are not asked for an instruction for it.
    counts: [u8; WORDS],
    groups: [u32; WORDS / GROUP],
    next: usize,
}

impl Recency {
    pub(super) fn new() -> Self {
        Self { words: Box::new([0; WORDS]), counts: [0; WORDS], groups: [0; WORDS / GROUP], next: 0 }
    }

    /// Returns the next slot and marks it; `None` if all are in use, so that blocks have to be renumbered.
    #[inline]
    pub(super) fn push(&mut self) -> Option<u32> {
        let slot = self.next;
        if slot >= SLOTS {
            return None;
        }
        self.next += 1;
        self.words[slot / 64] |= 1 << (slot % 64);
        self.counts[slot / 64] += 1;
        self.groups[slot / 64 / GROUP] += 1;
        Some(slot as u32)
    }

    #[inline]
    pub(super) fn clear(&mut self, slot: u32) {
        let word = slot as usize / 64;
        self.words[word] &= !(1 << (slot % 64));
        self.counts[word] -= 1;
        self.groups[word / GROUP] -= 1;
    }

    /// Returns the number of marked slots after `slot`.
    #[inline]
    pub(super) fn after(&self, slot: u32) -> u32 {
        let word = slot as usize / 64;
        let group = word / GROUP;
        let within = (self.words[word] >> (slot % 64) >> 1).count_ones();
        let words: u32 = self.counts[word + 1..(group + 1) * GROUP].iter().map(|count| u32::from(*count)).sum();
        let groups: u32 = self.groups[group + 1..=(self.next.min(SLOTS - 1) / 64 / GROUP).max(group)].iter().sum();
        within + words + groups
    }

    /// Marks the first `count` slots only.
    pub(super) fn restart(&mut self, count: usize) {
        self.words.fill(0);
        self.counts.fill(0);
        self.groups.fill(0);
        self.next = 0;
        for _ in 0..count.min(SLOTS) {
            let _ = self.push();
        }
    }
}

#[cfg(test)]
mod tests {
    use units::random::Random;

    use super::*;

    #[test]
    fn counts_are_those_of_a_list() {
        let (mut recency, mut list, mut random) = (Recency::new(), vec![false; SLOTS], Random::new(5, 0));
        for slot in 0..SLOTS {
            assert_eq!(recency.push(), Some(slot as u32));
            list[slot] = true;
            let cleared = random.below(slot as u64 + 1) as usize;
            if std::mem::take(&mut list[cleared]) {
                recency.clear(cleared as u32);
            }
            if slot % 997 == 0 || slot == SLOTS - 1 {
                let from = random.below(slot as u64 + 1) as usize;
                let marked = list[from + 1..].iter().filter(|marked| **marked).count();
                assert_eq!(recency.after(from as u32) as usize, marked, "after {from} of {slot}");
            }
        }
        assert_eq!(recency.push(), None);
        recency.restart(100);
        assert_eq!((recency.after(0), recency.push(), recency.after(99)), (99, Some(100), 1));
    }
}
