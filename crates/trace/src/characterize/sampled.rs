//! A sample of blocks by their hash, in an open-addressed table.

use std::collections::BinaryHeap;

/// Size of a block in bytes.
pub(super) const BLOCK_BYTES: u64 = 4096;
/// Maximum number of blocks in the sample.
pub(super) const BLOCKS_MAX: usize = 16_384;
/// Slots of the table; a power of two.
const TABLE: usize = 32_768;
/// Instant of a block that was not read or not written.
pub(super) const NEVER: u32 = u32::MAX;

/// A block in the sample. Its hash stands for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampledBlock {
    pub(super) hash: u64,
    /// Place in the order of use; `u32::MAX` in unused entries.
    pub(super) slot: u32,
    pub(super) accesses: u32,
    /// Last read and write in seconds, or [`NEVER`].
    pub(super) read_s: u32,
    pub(super) written_s: u32,
}

const EMPTY: SampledBlock = SampledBlock { hash: 0, slot: u32::MAX, accesses: 0, read_s: NEVER, written_s: NEVER };

/// Blocks with a hash below a threshold, which falls so that at most [`BLOCKS_MAX`] are kept. Memory: 1.1 MiB.
#[derive(Clone, Debug)]
pub(super) struct SampledBlocks {
    table: Vec<SampledBlock>,
    /// Hashes, the greatest first.
    hashes: BinaryHeap<u64>,
    /// Hashes below this are in the sample.
    threshold: u64,
}

impl SampledBlocks {
    pub(super) fn new() -> Self {
        Self { table: vec![EMPTY; TABLE], hashes: BinaryHeap::new(), threshold: u64::MAX }
    }

    /// Returns the hash below which blocks are sampled.
    #[inline]
    pub(super) const fn threshold(&self) -> u64 {
        self.threshold
    }

    /// Returns the number of blocks for which a sampled one stands.
    pub(super) fn weight(&self) -> f64 {
        if self.threshold == u64::MAX { 1.0 } else { 2f64.powi(64) / self.threshold.max(1) as f64 }
    }

    pub(super) fn len(&self) -> usize {
        self.hashes.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &SampledBlock> {
        self.table.iter().filter(|block| block.slot != u32::MAX)
    }

    #[inline]
    fn find(&self, hash: u64) -> usize {
        // The threshold compares high bits, so low bits are the place.
        let mut at = hash as usize & (TABLE - 1);
        while self.table[at].slot != u32::MAX && self.table[at].hash != hash {
            at = (at + 1) & (TABLE - 1);
        }
        at
    }

    #[inline]
    pub(super) fn get_mut(&mut self, hash: u64) -> Option<&mut SampledBlock> {
        let at = self.find(hash);
        (self.table[at].slot != u32::MAX).then(|| &mut self.table[at])
    }

    /// Adds a block that is not in the sample.
    pub(super) fn insert(&mut self, block: SampledBlock) {
        let at = self.find(block.hash);
        self.table[at] = block;
        self.hashes.push(block.hash);
    }

    /// Removes the block with the greatest hash if there are too many, and lowers the threshold. Returns its slot.
    pub(super) fn shrink(&mut self) -> Option<u32> {
        if self.hashes.len() <= BLOCKS_MAX {
            return None;
        }
        let hash = self.hashes.pop()?;
        self.threshold = hash;
        let at = self.find(hash);
        let slot = self.table[at].slot;
        self.remove(at);
        Some(slot)
    }

    /// Removes an entry and moves those behind it, so that none is behind a gap.
    fn remove(&mut self, mut gap: usize) {
        let mut at = gap;
        loop {
            at = (at + 1) & (TABLE - 1);
            let block = self.table[at];
            if block.slot == u32::MAX {
                break;
            }
            let home = block.hash as usize & (TABLE - 1);
            if at.wrapping_sub(home) & (TABLE - 1) >= at.wrapping_sub(gap) & (TABLE - 1) {
                self.table[gap] = block;
                gap = at;
            }
        }
        self.table[gap] = EMPTY;
    }

    /// Numbers the blocks from zero in the order of their slots, of which there are `slots`.
    pub(super) fn renumber(&mut self, slots: usize) {
        let mut places = vec![u32::MAX; slots];
        for (at, block) in (0u32..).zip(&self.table) {
            if let Some(place) = places.get_mut(block.slot as usize) {
                *place = at;
            }
        }
        let used = places.into_iter().filter(|place| *place != u32::MAX);
        for (number, place) in (0u32..).zip(used) {
            self.table[place as usize].slot = number;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use units::random::mix;

    use super::*;

    #[test]
    fn the_blocks_with_the_least_hashes_remain() {
        let mut sample = SampledBlocks::new();
        let mut all = BTreeSet::new();
        for n in 0..60_000u32 {
            let hash = mix(u64::from(n), 9);
            all.insert(hash);
            if hash < sample.threshold() && sample.get_mut(hash).is_none() {
                sample.insert(SampledBlock { hash, slot: n, ..EMPTY });
                sample.shrink();
            }
        }
        let kept: BTreeSet<u64> = sample.iter().map(|block| block.hash).collect();
        assert_eq!((kept.len(), sample.len()), (BLOCKS_MAX, BLOCKS_MAX));
        assert!(all.iter().take(BLOCKS_MAX).all(|hash| kept.contains(hash)));
        assert!(kept.iter().all(|hash| sample.get_mut(*hash).is_some_and(|block| block.hash == *hash)));
        let estimate = sample.len() as f64 * sample.weight();
        assert!((estimate / 60_000.0 - 1.0).abs() < 0.03, "{estimate}");
    }
}
