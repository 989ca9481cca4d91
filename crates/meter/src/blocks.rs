//! Latency histograms over time, in bounded memory.

use std::iter::Peekable;

use units::Nanos;

use crate::histogram::{BUCKETS, bucket_of};
use crate::latency::Latency;
use crate::series::IntervalWidths;

/// The most blocks that are kept; beyond it neighbours are joined and blocks become twice as long.
const BLOCKS_MAX: usize = 512;
/// The most bytes that blocks take, unless they are told otherwise.
pub const BLOCK_BYTES_MAX: usize = 256 << 10;
/// So few blocks say nothing that the whole run does not: what would have to be joined to fewer is given up.
const BLOCKS_MIN: usize = 8;

/// Latencies of one stretch of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// When it ended, from the start of measurement on.
    pub end: Nanos,
    /// Buckets that are not empty, in rising order, with their counts: of reads, writes and trims.
    pub latency: [Vec<(usize, u64)>; 3],
}

/// Histograms of blocks of equal length from the start of measurement on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks {
    widths: IntervalWidths,
    width: Nanos,
    bytes_max: usize,
    /// For each bucket that is not empty its distance from the one before and its count, each in groups of seven
    /// bits. Buckets of writes follow those of reads, and those of trims follow these.
    packed: Vec<u8>,
    /// Where each block ends in `packed`.
    ends: Vec<u32>,
    /// When the last one ended.
    until: Nanos,
}

impl Default for Blocks {
    fn default() -> Self {
        Self::new(IntervalWidths::of(Nanos::from_secs(1)), BLOCK_BYTES_MAX)
    }
}

impl Blocks {
    /// No blocks; they take no more than about `bytes_max` bytes.
    #[must_use]
    pub fn new(widths: IntervalWidths, bytes_max: usize) -> Self {
        let width = widths.first.max(Nanos::new(1));
        Self { widths, width, bytes_max, packed: Vec::new(), ends: Vec::new(), until: Nanos::ZERO }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The blocks in the order of time; the last one may have been cut short.
    pub fn iter(&self) -> impl Iterator<Item = Block> + '_ {
        (0..self.len()).map(|index| {
            let mut latency: [Vec<(usize, u64)>; 3] = Default::default();
            self.entries(index).for_each(|(key, count)| latency[key / BUCKETS].push((key % BUCKETS, count)));
            let end = self.width.get().saturating_mul(index as u64 + 1);
            let last = index + 1 == self.len() && self.until > Nanos::ZERO;
            Block { end: if last { self.until.min(Nanos::new(end)) } else { Nanos::new(end) }, latency }
        })
    }

    /// Adds the blocks of a worker that ran beside this one.
    pub fn merge(&mut self, other: &Self) {
        if self.is_empty() {
            *self = other.clone();
            return;
        }
        let mut other = other.clone();
        while self.width < other.width && !other.is_empty() {
            self.double();
        }
        while other.width < self.width && !other.is_empty() {
            other.double();
        }
        self.until = self.until.max(other.until);
        let both = Self { packed: Vec::new(), ends: Vec::new(), ..*self };
        *self = (0..self.len().max(other.len())).fold(both, |mut both, index| {
            both.push(sum(self.entries(index), other.entries(index)));
            both
        });
        self.shrink();
    }

    /// Joins neighbours until they take no more than `bytes`; where few would be left, all are given up.
    pub fn shrink_to(&mut self, bytes: usize) {
        self.bytes_max = bytes;
        self.shrink();
        if self.packed.len() > bytes {
            *self = Self::new(self.widths, bytes);
        }
    }

    fn shrink(&mut self) {
        while self.packed.len() > self.bytes_max && self.len() >= 2 * BLOCKS_MIN {
            self.double();
        }
    }

    /// What one block holds: key and count, by rising keys. Nothing beyond the last block.
    fn entries(&self, index: usize) -> impl Iterator<Item = (usize, u64)> + '_ {
        let end = |index: usize| self.ends.get(index).map_or(self.packed.len(), |&end| end as usize);
        let begin = if index == 0 { 0 } else { end(index - 1) };
        let (mut bytes, mut key) = (self.packed[begin..end(index)].iter(), 0);
        std::iter::from_fn(move || {
            key += unpacked(&mut bytes)? as usize;
            Some((key, unpacked(&mut bytes)?))
        })
    }

    fn push(&mut self, entries: impl Iterator<Item = (usize, u64)>) {
        let mut last = 0;
        for (key, count) in entries {
            pack(&mut self.packed, (key - last) as u64);
            pack(&mut self.packed, count);
            last = key;
        }
        self.ends.push(self.packed.len() as u32);
    }

    /// Adds to the block of this index, which is the last one or comes after it.
    fn add(&mut self, mut index: usize, entries: Vec<(usize, u64)>) {
        while index >= self.widths.room(self.width, BLOCKS_MAX) {
            self.double();
            index /= 2;
        }
        while self.len() < index {
            self.push(std::iter::empty());
        }
        let known: Vec<(usize, u64)> = self.entries(index).collect();
        self.ends.truncate(index);
        self.packed.truncate(self.ends.last().map_or(0, |&end| end as usize));
        self.push(sum(known.into_iter(), entries.into_iter()));
        self.shrink();
    }

    fn double(&mut self) {
        let whole = Self { packed: Vec::with_capacity(self.packed.len()), ends: Vec::new(), ..*self };
        *self = (0..self.len()).step_by(2).fold(whole, |mut joined, index| {
            joined.push(sum(self.entries(index), self.entries(index + 1)));
            joined
        });
        self.width = self.width + self.width;
    }
}

/// Both together, by rising keys.
fn sum(
    a: impl Iterator<Item = (usize, u64)>,
    b: impl Iterator<Item = (usize, u64)>,
) -> impl Iterator<Item = (usize, u64)> {
    let (mut a, mut b) = (a.peekable(), b.peekable());
    std::iter::from_fn(move || {
        let key = match (a.peek(), b.peek()) {
            (Some((a, _)), Some((b, _))) => *a.min(b),
            (one, other) => one.or(other)?.0,
        };
        Some((key, count_of(&mut a, key) + count_of(&mut b, key)))
    })
}

fn count_of(entries: &mut Peekable<impl Iterator<Item = (usize, u64)>>, key: usize) -> u64 {
    entries.next_if(|(known, _)| *known == key).map_or(0, |(_, count)| count)
}

fn pack(packed: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        packed.push(value as u8 | 0x80);
        value >>= 7;
    }
    packed.push(value as u8);
}

fn unpacked(bytes: &mut std::slice::Iter<'_, u8>) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.next()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    Some(value)
}

/// The histograms that together hold the responses of reads, writes and trims.
pub(crate) type Running<'a> = [[Option<&'a Latency>; 2]; 3];

/// Cuts histograms into blocks while they go on counting: nothing is done for an operation.
#[derive(Clone, Debug)]
pub(crate) struct Cutter {
    blocks: Blocks,
    /// When the block that is open ends, from the start of measurement on.
    end: Nanos,
    /// What was counted when it began.
    before: [CountedBlock; 3],
}

impl Cutter {
    pub(crate) fn new(widths: IntervalWidths, bytes_max: usize) -> Self {
        let blocks = Blocks::new(widths, bytes_max);
        Self { end: blocks.width, blocks, before: Default::default() }
    }

    /// When to cut next, from the start of measurement on.
    pub(crate) const fn end(&self) -> Nanos {
        self.end
    }

    /// Ends the block that is open, which `now` has reached the end of.
    pub(crate) fn cut(&mut self, now: Nanos, running: &Running<'_>) {
        let counted = running.each_ref().map(CountedBlock::of);
        let fresh = self.fresh(&counted);
        if !fresh.is_empty() {
            self.blocks.add(self.index(), fresh);
        }
        self.before = counted;
        let width = self.blocks.width.get();
        self.end = Nanos::new((now.get() / width + 1).saturating_mul(width));
    }

    /// All blocks until `now`, the one that is open among them.
    pub(crate) fn until(&self, now: Nanos, running: &Running<'_>) -> Blocks {
        let mut blocks = self.blocks.clone();
        let fresh = self.fresh(&running.each_ref().map(CountedBlock::of));
        if !fresh.is_empty() {
            blocks.add(self.index(), fresh);
        }
        blocks.until = now;
        blocks
    }

    /// Of the block that is open.
    fn index(&self) -> usize {
        (self.end.get() / self.blocks.width.get()).saturating_sub(1) as usize
    }

    /// What was counted since the block that is open began.
    fn fresh(&self, counted: &[CountedBlock; 3]) -> Vec<(usize, u64)> {
        let mut fresh = Vec::new();
        for (kind, (now, before)) in counted.iter().zip(&self.before).enumerate() {
            let grown = now.counts.iter().zip(now.first..).map(|(count, at)| (at, count - before.at(at)));
            fresh.extend(grown.filter(|(_, count)| *count > 0).map(|(at, count)| (kind * BUCKETS + at, count)));
        }
        fresh
    }
}

/// Counts of one kind, from the first bucket in use to the last.
#[derive(Clone, Debug, Default)]
struct CountedBlock {
    first: usize,
    counts: Vec<u64>,
}

impl CountedBlock {
    fn of(running: &[Option<&Latency>; 2]) -> Self {
        let used = || running.iter().flatten().filter(|latency| latency.moments.count() > 0);
        let first = used().map(|latency| bucket_of(latency.moments.min().get())).min().unwrap_or(0);
        let end = used().map(|latency| bucket_of(latency.moments.max().get()) + 1).max().unwrap_or(0);
        let mut counts = vec![0; end.saturating_sub(first)];
        for latency in used() {
            counts.iter_mut().zip(latency.histogram.slice(first..end)).for_each(|(sum, count)| *sum += count);
        }
        Self { first, counts }
    }

    fn at(&self, bucket: usize) -> u64 {
        bucket.checked_sub(self.first).and_then(|at| self.counts.get(at)).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cutter that has counted `ios(second)` operations in each second, of a latency that moves.
    fn counted_for(seconds: u64, bytes_max: usize, ios: impl Fn(u64) -> u64) -> Blocks {
        let (mut latency, mut cutter) =
            (Latency::default(), Cutter::new(IntervalWidths::of(Nanos::from_secs(1)), bytes_max));
        for second in 0..seconds {
            let now = Nanos::from_secs(second);
            if now >= cutter.end() {
                cutter.cut(now, &[[None; 2], [Some(&latency), None], [None; 2]]);
            }
            latency.add(1_000 + second * 10, ios(second));
        }
        cutter.until(Nanos::from_millis(seconds * 1_000 - 500), &[[None; 2], [Some(&latency), None], [None; 2]])
    }

    fn ios(block: &Block) -> u64 {
        block.latency.iter().flatten().map(|(_, count)| count).sum()
    }

    #[test]
    fn each_block_has_what_was_counted_in_it() {
        let blocks: Vec<Block> =
            counted_for(4, BLOCK_BYTES_MAX, |second| [5, 0, 7, 300][second as usize]).iter().collect();
        assert_eq!(blocks.iter().map(ios).collect::<Vec<_>>(), [5, 0, 7, 300]);
        let ends: Vec<u64> = blocks.iter().map(|block| block.end.millis()).collect();
        assert_eq!(ends, [1_000, 2_000, 3_000, 3_500], "the last was cut short");
        assert_eq!(blocks[3].latency[1], [(crate::bucket_of(1_030), 300)]);
    }

    #[test]
    fn memory_is_bounded_and_nothing_is_lost() {
        let long = counted_for(28_800, BLOCK_BYTES_MAX, |second| 1 + second % 3);
        assert!(long.len() > BLOCKS_MAX / 2 && long.len() <= BLOCKS_MAX, "{}", long.len());
        assert_eq!(long.iter().map(|block| ios(&block)).sum::<u64>(), 28_800 + 28_800 / 3 * 3);
        assert_eq!(long.iter().last().map(|block| block.end), Some(Nanos::from_millis(28_799_500)));
        let narrow = counted_for(500, 600, |_| 1);
        assert!(
            narrow.packed.len() <= 600 && narrow.len() >= BLOCKS_MIN,
            "{} in {}",
            narrow.packed.len(),
            narrow.len()
        );
        assert_eq!(narrow.iter().map(|block| ios(&block)).sum::<u64>(), 500);
    }

    /// A block that was cut at an odd place when blocks became twice as long goes on.
    #[test]
    fn blocks_that_become_longer_keep_their_places() {
        let long = counted_for(1_500, BLOCK_BYTES_MAX, |second| second);
        assert_eq!(long.width, Nanos::from_secs(4));
        for (index, block) in long.iter().enumerate() {
            let first = 4 * index as u64;
            assert_eq!(ios(&block), (first..(first + 4).min(1_500)).sum::<u64>(), "block {index}");
        }
    }

    #[test]
    fn workers_are_merged_by_their_places_in_time() {
        let (long, short) = (counted_for(1_000, BLOCK_BYTES_MAX, |_| 1), counted_for(10, BLOCK_BYTES_MAX, |_| 10));
        for (first, second) in [(&long, &short), (&short, &long)] {
            let mut both = Blocks::default();
            [first, &Blocks::default(), second].iter().for_each(|one| both.merge(one));
            let counts: Vec<u64> = both.iter().map(|block| ios(&block)).collect();
            assert_eq!((both.width, counts.len()), (Nanos::from_secs(2), 500));
            assert_eq!(counts[..7], [22, 22, 22, 22, 22, 2, 2]);
        }
    }

    #[test]
    fn what_has_no_room_is_given_up() {
        let mut blocks = counted_for(100, BLOCK_BYTES_MAX, |_| 1);
        let whole = blocks.packed.len();
        blocks.shrink_to(whole / 2);
        assert!(blocks.packed.len() <= whole / 2 && blocks.len() >= BLOCKS_MIN);
        blocks.shrink_to(3);
        assert!(blocks.is_empty() && blocks.packed.is_empty());
    }

    #[test]
    fn large_numbers_are_packed_and_unpacked() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let mut packed = Vec::new();
            pack(&mut packed, value);
            assert_eq!(unpacked(&mut packed.iter()), Some(value));
        }
    }
}
