//! Memory blocks, allocated in chunks.
//!
//! A chunk is zeroed memory fresh from the kernel, so only pages that are written are touched. The allocator would
//! clear a single block: sixteen page faults instead of the one that a write of 4 KiB needs. 16 k random writes caused
//! 89 k page faults, and cause 16.5 k by chunks. Blocks are moved together where trims leave gaps, so that the memory
//! limit covers what is allocated.

use std::collections::BTreeSet;
use std::ops::Range;

pub(super) const BLOCK_BYTES: u64 = 64 << 10;

const BLOCK: usize = BLOCK_BYTES as usize;
/// Large enough that allocators map a chunk instead of clearing memory.
const CHUNK_BLOCKS: usize = 64;
/// Makes a write of a page touch one page.
const ALIGNMENT: usize = 4096;
/// Owner of a free block.
const NONE: u64 = u64::MAX;

struct BlockChunk {
    bytes: Box<[u8]>,
    start: usize,
}

impl BlockChunk {
    fn new() -> Self {
        let bytes = vec![0; CHUNK_BLOCKS * BLOCK + ALIGNMENT].into_boxed_slice();
        let start = bytes.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        Self { bytes, start }
    }
}

/// Blocks by number, each with its owner.
#[derive(Default)]
pub(super) struct BlockMap {
    chunks: Vec<BlockChunk>,
    owners: Vec<u64>,
    gaps: BTreeSet<u32>,
    /// Blocks below this number have been used and may not be zero.
    touched: usize,
}

impl BlockMap {
    pub(super) fn len(&self) -> u64 {
        (self.owners.len() - self.gaps.len()) as u64
    }

    /// Allocates a zeroed block for an owner below `u64::MAX`; `None` when all numbers are used.
    pub(super) fn add(&mut self, owner: u64) -> Option<u32> {
        if let Some(number) = self.gaps.pop_first() {
            self.owners[number as usize] = owner;
            self.get_mut(number).fill(0);
            return Some(number);
        }
        // Leaves two numbers for callers that encode other states.
        let number = u32::try_from(self.owners.len()).ok().filter(|&number| number < u32::MAX - 2)?;
        if number as usize == self.chunks.len() * CHUNK_BLOCKS {
            self.chunks.push(BlockChunk::new());
        }
        self.owners.push(owner);
        if (number as usize) < self.touched {
            self.get_mut(number).fill(0);
        }
        self.touched = self.touched.max(self.owners.len());
        Some(number)
    }

    pub(super) fn remove(&mut self, number: u32) {
        self.owners[number as usize] = NONE;
        self.gaps.insert(number);
        self.shorten();
    }

    /// If free blocks hold more than a fifth of the memory, moves a block into a gap and returns its owner and new
    /// number. Callers repeat this until `None`, so that freed memory is returned.
    pub(super) fn compact(&mut self) -> Option<(u64, u32)> {
        if self.gaps.len() <= CHUNK_BLOCKS + self.owners.len() / 5 {
            return None;
        }
        let gap = self.gaps.pop_first()?;
        let last = self.owners.len() - 1;
        let bytes: Box<[u8]> = self.get(last as u32).into();
        self.get_mut(gap).copy_from_slice(&bytes);
        let owner = self.owners[last];
        self.owners[gap as usize] = owner;
        self.owners.pop();
        self.shorten();
        Some((owner, gap))
    }

    #[inline]
    pub(super) fn get(&self, number: u32) -> &[u8] {
        let (chunk, at) = place(number);
        let chunk = &self.chunks[chunk];
        &chunk.bytes[chunk.start + at..][..BLOCK]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, number: u32) -> &mut [u8] {
        let (chunk, at) = place(number);
        let chunk = &mut self.chunks[chunk];
        &mut chunk.bytes[chunk.start + at..][..BLOCK]
    }

    /// Drops free blocks at the end.
    fn shorten(&mut self) {
        while self.owners.last() == Some(&NONE) {
            self.owners.pop();
            self.gaps.pop_last();
        }
        self.chunks.truncate(self.owners.len().div_ceil(CHUNK_BLOCKS));
        self.touched = self.touched.min(self.chunks.len() * CHUNK_BLOCKS);
    }
}

#[inline]
fn place(number: u32) -> (usize, usize) {
    (number as usize / CHUNK_BLOCKS, number as usize % CHUNK_BLOCKS * BLOCK)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) number: u64,
    /// Offset in the store.
    pub(super) at: u64,
    pub(super) length: u64,
}

impl Part {
    pub(super) fn inside(&self) -> Range<usize> {
        let from = (self.at % BLOCK_BYTES) as usize;
        from..from + self.length as usize
    }
}

pub(super) fn parts(offset: u64, length: u64) -> impl Iterator<Item = Part> {
    let end = offset + length;
    let mut at = offset;
    std::iter::from_fn(move || {
        let length = (BLOCK_BYTES - at % BLOCK_BYTES).min(end - at);
        let part = Part { number: at / BLOCK_BYTES, at, length };
        at += length;
        (length > 0).then_some(part)
    })
}

/// Splits a range in a store of `size` bytes into partial blocks at its ends and the whole blocks between them.
pub(super) fn split(offset: u64, length: u64, size: u64) -> ([Option<Part>; 2], Range<u64>) {
    let end = offset + length;
    let first = offset.div_ceil(BLOCK_BYTES);
    // The end of the store may cut the last block, which counts as whole.
    let last = if end == size { end.div_ceil(BLOCK_BYTES) } else { end / BLOCK_BYTES };
    let part =
        |from: u64, to: u64| (from < to).then(|| Part { number: from / BLOCK_BYTES, at: from, length: to - from });
    if first > last {
        return ([part(offset, end), None], 0..0);
    }
    ([part(offset, end.min(first * BLOCK_BYTES)), part(offset.max(last * BLOCK_BYTES), end)], first..last)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use units::random::Random;

    use super::*;

    #[test]
    fn moved_blocks_keep_their_content_and_memory_is_freed() {
        let mut blocks = BlockMap::default();
        let mut numbers: BTreeMap<u64, u32> = BTreeMap::new();
        let mut random = Random::new(7, 0);
        for owner in 0..2000 {
            let number = blocks.add(owner).unwrap();
            assert_eq!(blocks.get(number)[9..11], [0; 2], "new blocks are zero");
            blocks.get_mut(number)[9..11].copy_from_slice(&(owner as u16).to_ne_bytes());
            numbers.insert(owner, number);
        }
        let mut moves = 0;
        while !numbers.is_empty() {
            let owner = *numbers.keys().nth(random.below(numbers.len() as u64) as usize).unwrap();
            blocks.remove(numbers.remove(&owner).unwrap());
            while let Some((owner, number)) = blocks.compact() {
                moves += 1;
                numbers.insert(owner, number);
            }
            let held = blocks.chunks.len() * CHUNK_BLOCKS;
            assert!(held <= numbers.len() * 5 / 4 + 3 * CHUNK_BLOCKS, "{held} held of {}", numbers.len());
            if let Some((owner, &number)) = numbers.iter().nth(numbers.len() / 2) {
                assert_eq!(blocks.get(number)[9..11], (*owner as u16).to_ne_bytes());
            }
        }
        assert!((1..2000).contains(&moves), "{moves}");
        assert_eq!((blocks.len(), blocks.chunks.len()), (0, 0));
    }

    #[test]
    fn a_reused_block_is_zero() {
        let mut blocks = BlockMap::default();
        let [first, second] = [1, 2].map(|owner| blocks.add(owner).unwrap());
        // In a gap and at the end.
        for number in [first, second] {
            blocks.get_mut(number).fill(7);
            blocks.remove(number);
            assert_eq!(blocks.add(3), Some(number));
            assert!(blocks.get(number).iter().all(|&byte| byte == 0));
        }
    }
}
