//! Latency histograms over time, in bounded memory.

use std::iter::Peekable;

use units::Nanos;

use crate::histogram::{BUCKETS, bucket_of};
use crate::moments::Latency;
use crate::series::IntervalWidths;

/// Maximum number of blocks. Beyond it, adjacent blocks are merged and the width doubles.
const BLOCKS_MAX: usize = 512;
/// Default maximum size of blocks in bytes.
pub const BLOCK_BYTES_MAX: usize = 256 << 10;
/// Minimum number of blocks. Fewer show no more than the whole run, so they are dropped instead of merged further.
const BLOCKS_MIN: usize = 8;

/// Latencies of one interval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// End of the interval since the start of measurement.
    pub end: Nanos,
    /// Non-empty buckets in ascending order, with their counts: of reads, writes and trims.
    pub latency: [Vec<(usize, u64)>; 3],
}

/// Histograms of intervals of equal width since the start of measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks {
    widths: IntervalWidths,
    width: Nanos,
    bytes_max: usize,
    /// For each non-empty bucket, its distance from the previous one and its count, both in groups of seven bits.
    /// Buckets of writes follow those of reads; buckets of trims follow those of writes.
    packed: Vec<u8>,
    /// End of each block in `packed`.
    ends: Vec<u32>,
    /// End of the last block.
    until: Nanos,
}

impl Default for Blocks {
    fn default() -> Self {
        Self::new(IntervalWidths::of(Nanos::from_secs(1)), BLOCK_BYTES_MAX)
    }
}

impl Blocks {
    /// Returns an empty list of blocks, limited to about `bytes_max` bytes.
    #[must_use]
    pub fn new(widths: IntervalWidths, bytes_max: usize) -> Self {
        let width = widths.first.max(Nanos::new(1));
        Self { widths, width, bytes_max, packed: Vec::new(), ends: Vec::new(), until: Nanos::ZERO }
    }

    /// Restores consecutive blocks of `width`; the last one may be shorter.
    #[must_use]
    pub fn restored(width: Nanos, pace: Nanos, blocks: impl IntoIterator<Item = Block>) -> Self {
        let width = width.max(Nanos::new(1));
        let mut restored = Self::new(IntervalWidths { first: width, pace: pace.max(width) }, BLOCK_BYTES_MAX);
        for block in blocks {
            let keyed = |(kind, buckets): (usize, Vec<(usize, u64)>)| {
                buckets.into_iter().map(move |(bucket, count)| (kind * BUCKETS + bucket, count))
            };
            restored.until = block.end;
            restored.push(block.latency.into_iter().enumerate().flat_map(keyed));
        }
        restored
    }

    /// Returns the number of blocks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Reports whether there are no blocks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the blocks in chronological order; the last one may be shorter.
    pub fn iter(&self) -> impl Iterator<Item = Block> + '_ {
        (0..self.len()).map(|index| {
            let mut latency: [Vec<(usize, u64)>; 3] = Default::default();
            self.entries(index).for_each(|(key, count)| latency[key / BUCKETS].push((key % BUCKETS, count)));
            let end = self.width.get().saturating_mul(index as u64 + 1);
            let last = index + 1 == self.len() && self.until > Nanos::ZERO;
            Block { end: if last { self.until.min(Nanos::new(end)) } else { Nanos::new(end) }, latency }
        })
    }

    /// Adds the blocks of a worker that ran at the same time.
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

    /// Merges adjacent blocks until they fit into `bytes`; drops all if fewer than eight would remain.
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

    /// Returns the keys and counts of a block by ascending key; nothing beyond the last block.
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

    /// Adds to the block at `index`, which is the last one or a later one.
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

    /// Merges adjacent blocks, which doubles the width.
    fn double(&mut self) {
        let empty = Self { packed: Vec::with_capacity(self.packed.len()), ends: Vec::new(), ..*self };
        *self = (0..self.len()).step_by(2).fold(empty, |mut joined, index| {
            joined.push(sum(self.entries(index), self.entries(index + 1)));
            joined
        });
        self.width = self.width + self.width;
    }
}

/// Adds two lists of counts, by ascending key.
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

/// The histograms that together hold the latencies of reads, writes and trims.
pub(crate) type RunningHistograms<'a> = [[Option<&'a Latency>; 2]; 3];

/// Builds blocks as differences of running histograms, without any work per operation.
#[derive(Clone, Debug)]
pub(crate) struct BlockRecorder {
    blocks: Blocks,
    /// End of the current block since the start of measurement.
    end: Nanos,
    /// Counts at the start of the current block.
    before: [CountedBlock; 3],
}

impl BlockRecorder {
    pub(crate) fn new(widths: IntervalWidths, bytes_max: usize) -> Self {
        let blocks = Blocks::new(widths, bytes_max);
        Self { end: blocks.width, blocks, before: Default::default() }
    }

    /// Returns the end of the current block since the start of measurement.
    pub(crate) const fn end(&self) -> Nanos {
        self.end
    }

    /// Ends the current block at `now`, which is at or after its end.
    pub(crate) fn cut(&mut self, now: Nanos, running: &RunningHistograms<'_>) {
        let counted = running.each_ref().map(CountedBlock::of);
        let fresh = self.fresh(&counted);
        if !fresh.is_empty() {
            self.blocks.add(self.index(), fresh);
        }
        self.before = counted;
        let width = self.blocks.width.get();
        self.end = Nanos::new((now.get() / width + 1).saturating_mul(width));
    }

    /// Returns all blocks up to `now`, including the current one.
    pub(crate) fn until(&self, now: Nanos, running: &RunningHistograms<'_>) -> Blocks {
        let mut blocks = self.blocks.clone();
        let fresh = self.fresh(&running.each_ref().map(CountedBlock::of));
        if !fresh.is_empty() {
            blocks.add(self.index(), fresh);
        }
        blocks.until = now;
        blocks
    }

    /// Returns the index of the current block.
    fn index(&self) -> usize {
        (self.end.get() / self.blocks.width.get()).saturating_sub(1) as usize
    }

    /// Returns the counts since the start of the current block.
    fn fresh(&self, counted: &[CountedBlock; 3]) -> Vec<(usize, u64)> {
        let mut fresh = Vec::new();
        for (kind, (now, before)) in counted.iter().zip(&self.before).enumerate() {
            fresh.extend(now.since(before).map(|(at, count)| (kind * BUCKETS + at, count)));
        }
        fresh
    }
}

/// Counts of one kind, from its first to its last used bucket.
#[derive(Clone, Debug, Default)]
pub(crate) struct CountedBlock {
    first: usize,
    counts: Vec<u64>,
}

impl CountedBlock {
    pub(crate) fn of(running: &[Option<&Latency>; 2]) -> Self {
        let used = || running.iter().flatten().filter(|latency| latency.moments.count() > 0);
        let first = used().map(|latency| bucket_of(latency.moments.min().get())).min().unwrap_or(0);
        let end = used().map(|latency| bucket_of(latency.moments.max().get()) + 1).max().unwrap_or(0);
        let mut counts = vec![0; end.saturating_sub(first)];
        for latency in used() {
            counts.iter_mut().zip(latency.histogram.slice(first..end)).for_each(|(sum, count)| *sum += count);
        }
        Self { first, counts }
    }

    /// Returns the buckets that have grown since `before`, in ascending order, with their growth.
    pub(crate) fn since(&self, before: &Self) -> impl Iterator<Item = (usize, u64)> {
        let grown = self.counts.iter().zip(self.first..).map(|(count, at)| (at, count - before.at(at)));
        grown.filter(|(_, count)| *count > 0)
    }

    fn at(&self, bucket: usize) -> u64 {
        bucket.checked_sub(self.first).and_then(|at| self.counts.get(at)).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the blocks of `ios(second)` operations per second, with a latency that increases.
    fn counted_for(seconds: u64, bytes_max: usize, ios: impl Fn(u64) -> u64) -> Blocks {
        let (mut latency, mut cutter) =
            (Latency::default(), BlockRecorder::new(IntervalWidths::of(Nanos::from_secs(1)), bytes_max));
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
    fn each_block_has_the_counts_of_its_interval() {
        let blocks: Vec<Block> =
            counted_for(4, BLOCK_BYTES_MAX, |second| [5, 0, 7, 300][second as usize]).iter().collect();
        assert_eq!(blocks.iter().map(ios).collect::<Vec<_>>(), [5, 0, 7, 300]);
        let ends: Vec<u64> = blocks.iter().map(|block| block.end.millis()).collect();
        assert_eq!(ends, [1_000, 2_000, 3_000, 3_500], "the last block is shorter");
        assert_eq!(blocks[3].latency[1], [(crate::bucket_of(1_030), 300)]);
    }

    #[test]
    fn memory_is_bounded_and_no_count_is_lost() {
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

    /// The width doubles at an odd index, within a merged block.
    #[test]
    fn counts_stay_in_their_intervals_when_the_width_doubles() {
        let long = counted_for(1_500, BLOCK_BYTES_MAX, |second| second);
        assert_eq!(long.width, Nanos::from_secs(4));
        for (index, block) in long.iter().enumerate() {
            let first = 4 * index as u64;
            assert_eq!(ios(&block), (first..(first + 4).min(1_500)).sum::<u64>(), "block {index}");
        }
    }

    #[test]
    fn blocks_of_workers_are_merged_by_time() {
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
    fn blocks_that_do_not_fit_are_dropped() {
        let mut blocks = counted_for(100, BLOCK_BYTES_MAX, |_| 1);
        let whole = blocks.packed.len();
        blocks.shrink_to(whole / 2);
        assert!(blocks.packed.len() <= whole / 2 && blocks.len() >= BLOCKS_MIN);
        blocks.shrink_to(3);
        assert!(blocks.is_empty() && blocks.packed.is_empty());
    }

    #[test]
    fn large_numbers_survive_packing() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let mut packed = Vec::new();
            pack(&mut packed, value);
            assert_eq!(unpacked(&mut packed.iter()), Some(value));
        }
    }
}
