//! Sparse blocks of memory.
//!
//! A tree of fixed fan-out whose height follows from the number of blocks: a lookup takes two or three steps, and an
//! exabyte takes no memory before it is written. One entry can mark a whole subtree as absent or zero.

use std::ops::Range;

use super::Pool;
use super::blocks::parts;
use super::blocks::{BLOCK_BYTES, BlockMap};
use nbd_wire::Errno;

const FAN_BITS: u32 = 10;
const FAN: usize = 1 << FAN_BITS;
const NODE_BYTES: u64 = (FAN * size_of::<Entry>()) as u64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SparseBlock<'a> {
    /// Not allocated.
    Absent,
    /// Reads as zeroes, without memory.
    Zero,
    Data(&'a [u8]),
}

/// A block or a subtree: absent, zero, or its index among blocks or nodes, plus two.
type Entry = u32;
const ABSENT: Entry = 0;
const ZERO: Entry = 1;
const FIRST_INDEX: Entry = 2;

type Node = Box<[Entry; FAN]>;

pub(super) struct Sparse {
    nodes: Slab<Node>,
    blocks: BlockMap,
    root: Entry,
    /// Steps from the root to a block.
    levels: u32,
    /// Number of zero blocks without memory.
    zeroes: u64,
    /// Bytes counted for each of them.
    zero_bytes: u64,
    pool: Pool,
    /// Bytes counted in the pool.
    counted_bytes: u64,
}

impl Sparse {
    /// Creates `size` bytes of absent blocks. Counts blocks and the tree in `pool`, up to its limit; a zero block
    /// counts for `zero_bytes`.
    pub(super) fn new(size: u64, pool: Pool, zero_bytes: u64) -> Self {
        let bits = u64::BITS - size.div_ceil(BLOCK_BYTES).saturating_sub(1).leading_zeros();
        let levels = bits.div_ceil(FAN_BITS).max(1);
        Self {
            nodes: Slab::default(),
            blocks: BlockMap::default(),
            root: ABSENT,
            levels,
            zeroes: 0,
            zero_bytes,
            pool,
            counted_bytes: 0,
        }
    }

    /// Returns the bytes that count towards the limit.
    pub(super) fn allocated_bytes(&self) -> u64 {
        self.nodes.len() * NODE_BYTES + self.blocks.len() * BLOCK_BYTES + self.zeroes * self.zero_bytes
    }

    #[inline]
    pub(super) fn get(&self, number: u64) -> SparseBlock<'_> {
        self.block(self.find(number).0)
    }

    /// Returns a block, and for how many blocks from there on the same entry applies.
    #[inline]
    pub(super) fn get_run(&self, number: u64) -> (SparseBlock<'_>, u64) {
        let (entry, level) = self.find(number);
        let span = 1u64 << (level * FAN_BITS);
        (self.block(entry), span - (number & (span - 1)))
    }

    /// Returns a block for writing, allocated with zeroes if necessary.
    ///
    /// # Errors
    /// [`Errno::NoSpace`] at the limit.
    pub(super) fn allocate(&mut self, number: u64) -> Result<&mut [u8], Errno> {
        let (entry, level) = self.find(number);
        if entry >= FIRST_INDEX {
            return Ok(self.blocks.get_mut(entry - FIRST_INDEX));
        }
        self.insert(number, entry, level)
    }

    /// Writes data; the rest of new blocks is zero.
    ///
    /// # Errors
    /// [`Errno::NoSpace`] at the limit; data before it has been written.
    pub(super) fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), Errno> {
        for part in parts(offset, data.len() as u64) {
            let data = &data[(part.at - offset) as usize..][..part.length as usize];
            self.allocate(part.number)?[part.inside()].copy_from_slice(data);
        }
        Ok(())
    }

    /// Makes blocks absent and frees their memory.
    pub(super) fn clear(&mut self, numbers: Range<u64>) {
        self.fill(&numbers, ABSENT);
    }

    /// Makes blocks zero and frees their memory.
    ///
    /// # Errors
    /// [`Errno::NoSpace`] at the limit.
    pub(super) fn zero(&mut self, numbers: Range<u64>) -> Result<(), Errno> {
        let absent = if self.zero_bytes > 0 { self.absent(&numbers) } else { 0 };
        let nodes = 2 * u64::from(self.levels) * NODE_BYTES;
        self.check_limit(absent.saturating_mul(self.zero_bytes).saturating_add(nodes))?;
        self.fill(&numbers, ZERO);
        Ok(())
    }

    fn absent(&self, numbers: &Range<u64>) -> u64 {
        let (mut at, mut absent) = (numbers.start, 0);
        while at < numbers.end {
            let (block, span) = self.get_run(at);
            let span = span.min(numbers.end - at);
            absent += if block == SparseBlock::Absent { span } else { 0 };
            at += span;
        }
        absent
    }

    #[inline]
    fn block(&self, entry: Entry) -> SparseBlock<'_> {
        match entry {
            ABSENT => SparseBlock::Absent,
            ZERO => SparseBlock::Zero,
            index => SparseBlock::Data(self.blocks.get(index - FIRST_INDEX)),
        }
    }

    fn fill(&mut self, numbers: &Range<u64>, value: Entry) {
        self.root = self.filled(self.root, self.levels, 0, numbers, value);
        while let Some((number, block)) = self.blocks.compact() {
            self.root = self.with_block(self.root, self.levels, number, block + FIRST_INDEX);
        }
        self.count();
    }

    /// Returns the lowest entry that covers a block, and its level: 0 for the block's own.
    #[inline]
    fn find(&self, number: u64) -> (Entry, u32) {
        let (mut entry, mut level) = (self.root, self.levels);
        while entry >= FIRST_INDEX && level > 0 {
            level -= 1;
            entry = self.nodes.get(entry - FIRST_INDEX)[index(number, level)];
        }
        (entry, level)
    }

    fn check_limit(&self, bytes: u64) -> Result<(), Errno> {
        if self.pool.has_room(bytes) { Ok(()) } else { Err(Errno::NoSpace) }
    }

    fn count(&mut self) {
        let bytes = self.allocated_bytes();
        self.pool.change(self.counted_bytes, bytes);
        self.counted_bytes = bytes;
    }

    /// Allocates a block in place of an `entry` found at `level`.
    #[cold]
    fn insert(&mut self, number: u64, entry: Entry, level: u32) -> Result<&mut [u8], Errno> {
        let was_zero = u64::from(entry == ZERO);
        let more = u64::from(level) * NODE_BYTES + BLOCK_BYTES;
        self.check_limit(more.saturating_sub(was_zero * self.zero_bytes))?;
        let block = self.blocks.add(number).ok_or(Errno::NoSpace)?;
        self.zeroes -= was_zero;
        self.root = self.with_block(self.root, self.levels, number, block + FIRST_INDEX);
        self.count();
        Ok(self.blocks.get_mut(block))
    }

    /// Returns a subtree with another entry for one of its blocks.
    fn with_block(&mut self, entry: Entry, level: u32, number: u64, block: Entry) -> Entry {
        if level == 0 {
            return block;
        }
        let node = self.expand(entry);
        let at = index(number, level - 1);
        let child = self.nodes.get(node)[at];
        self.nodes.get_mut(node)[at] = self.with_block(child, level - 1, number, block);
        node + FIRST_INDEX
    }

    /// Returns the node of an entry; an entry for a whole subtree is expanded to a node.
    fn expand(&mut self, entry: Entry) -> u32 {
        match entry.checked_sub(FIRST_INDEX) {
            Some(node) => node,
            None => self.nodes.add(Box::new([entry; FAN])).expect("nodes are fewer than blocks"),
        }
    }

    /// Returns a subtree that begins with block `first`, with `numbers` set to `value`.
    fn filled(&mut self, entry: Entry, level: u32, first: u64, numbers: &Range<u64>, value: Entry) -> Entry {
        let span = 1u64 << (level * FAN_BITS);
        let end = first.saturating_add(span);
        if entry == value || numbers.end <= first || numbers.start >= end {
            return entry;
        }
        if numbers.start <= first && numbers.end >= end {
            self.free_subtree(entry, level);
            self.zeroes += if value == ZERO { span } else { 0 };
            return value;
        }
        let node = self.expand(entry);
        let part = span >> FAN_BITS;
        let from = numbers.start.saturating_sub(first) / part;
        let to = (numbers.end - first).div_ceil(part).min(FAN as u64);
        for at in from..to {
            let child = self.nodes.get(node)[at as usize];
            let filled = self.filled(child, level - 1, first + at * part, numbers, value);
            self.nodes.get_mut(node)[at as usize] = filled;
        }
        self.collapse(node)
    }

    /// Returns the entry of a node, collapsed if all its entries are absent or all are zero.
    fn collapse(&mut self, node: u32) -> Entry {
        let entries = self.nodes.get(node);
        let value = entries[0];
        if value >= FIRST_INDEX || entries.iter().any(|&entry| entry != value) {
            return node + FIRST_INDEX;
        }
        self.nodes.remove(node);
        value
    }

    fn free_subtree(&mut self, entry: Entry, level: u32) {
        match (entry, level) {
            (ABSENT, _) => {}
            (ZERO, _) => self.zeroes -= 1 << (level * FAN_BITS),
            (block, 0) => self.blocks.remove(block - FIRST_INDEX),
            (node, _) => {
                let entries = self.nodes.remove(node - FIRST_INDEX);
                entries.iter().for_each(|&entry| self.free_subtree(entry, level - 1));
            }
        }
    }
}

#[inline]
fn index(number: u64, level: u32) -> usize {
    (number >> (level * FAN_BITS)) as usize & (FAN - 1)
}

/// A vector with reusable gaps.
pub(super) struct Slab<T> {
    items: Vec<Option<T>>,
    gaps: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { items: Vec::new(), gaps: Vec::new() }
    }
}

impl<T> Slab<T> {
    pub(super) fn len(&self) -> u64 {
        (self.items.len() - self.gaps.len()) as u64
    }

    /// Adds an item and returns its number; `None` when all numbers are used.
    pub(super) fn add(&mut self, item: T) -> Option<u32> {
        if let Some(number) = self.gaps.pop() {
            self.items[number as usize] = Some(item);
            return Some(number);
        }
        // Leaves two numbers for callers that encode other states.
        let number = u32::try_from(self.items.len()).ok().filter(|&number| number < u32::MAX - 2)?;
        self.items.push(Some(item));
        Some(number)
    }

    pub(super) fn remove(&mut self, number: u32) -> T {
        let item = self.items[number as usize].take().expect(NONE);
        self.gaps.push(number);
        item
    }

    #[inline]
    pub(super) fn get(&self, number: u32) -> &T {
        self.items[number as usize].as_ref().expect(NONE)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, number: u32) -> &mut T {
        self.items[number as usize].as_mut().expect(NONE)
    }
}

const NONE: &str = "numbers refer to existing items";

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use units::random::Random;

    use super::*;

    #[test]
    fn agrees_with_a_map_of_blocks() {
        for seed in 0..20 {
            let mut random = Random::new(seed, 0);
            let count = [3, FAN as u64, 5 * FAN as u64, (FAN * FAN) as u64 + 7][seed as usize % 4];
            let mut sparse = Sparse::new(count * BLOCK_BYTES, Pool::default(), 1);
            let mut model: BTreeMap<u64, Option<u8>> = BTreeMap::new();
            for _ in 0..400 {
                let start = random.below(count);
                let numbers = start..(start + 1 + random.below(3000)).min(count);
                match random.below(4) {
                    0 => {
                        sparse.clear(numbers.clone());
                        model.retain(|number, _| !numbers.contains(number));
                    }
                    1 => {
                        sparse.zero(numbers.clone()).unwrap();
                        model.extend(numbers.map(|number| (number, None)));
                    }
                    _ => {
                        let byte = random.bits() as u8;
                        sparse.allocate(start).unwrap()[7] = byte;
                        model.insert(start, Some(byte));
                    }
                }
            }
            agree(&sparse, &model, count, seed);
        }
    }

    fn agree(sparse: &Sparse, model: &BTreeMap<u64, Option<u8>>, count: u64, seed: u64) {
        let mut at = 0;
        while at < count {
            let (block, span) = sparse.get_run(at);
            for number in at..(at + span).min(count) {
                match (block, model.get(&number)) {
                    (SparseBlock::Absent, None) | (SparseBlock::Zero, Some(None)) => {}
                    (SparseBlock::Data(bytes), Some(Some(byte))) => assert_eq!(bytes[7], *byte),
                    other => panic!("seed {seed}, block {number}: {other:?}"),
                }
            }
            at += span;
        }
        let zeroes = model.values().filter(|value| value.is_none()).count() as u64;
        let blocks = model.len() as u64 - zeroes;
        assert_eq!((sparse.zeroes, sparse.blocks.len()), (zeroes, blocks), "seed {seed}");
    }

    #[test]
    fn all_memory_is_freed() {
        let mut sparse = Sparse::new(1 << 60, Pool::default(), BLOCK_BYTES);
        let blocks = (1u64 << 60) / BLOCK_BYTES;
        for number in [0, 1, FAN as u64, blocks / 3, blocks - 1] {
            sparse.allocate(number).unwrap();
        }
        sparse.zero(5..100_000).unwrap();
        sparse.clear(0..blocks);
        assert_eq!(sparse.allocated_bytes(), 0);
    }

    #[test]
    fn no_operation_exceeds_the_limit() {
        let limit = 20 * BLOCK_BYTES;
        let mut sparse = Sparse::new(1 << 60, Pool::new(limit), BLOCK_BYTES);
        let mut random = Random::new(1, 0);
        let mut refused = 0;
        for _ in 0..2000 {
            let number = random.below(1 << 40);
            let outcome = match random.below(5) {
                0 => sparse.zero(number..number + random.below(8)),
                1 => {
                    sparse.clear(number..number + random.below(1 << 40));
                    Ok(())
                }
                _ => sparse.allocate(number).map(|_| ()),
            };
            refused += u32::from(outcome == Err(Errno::NoSpace));
            assert!(sparse.allocated_bytes() <= limit + 16 * NODE_BYTES, "{}", sparse.allocated_bytes());
        }
        assert!(refused > 100, "{refused}");
    }
}
