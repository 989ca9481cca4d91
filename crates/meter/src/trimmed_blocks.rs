//! What has become of each block of a file that is trimmed (fio's `block_error_percentiles`).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use units::DataKind;

/// Blocks whose trims are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrimmedRange {
    /// Offset of the first block in bytes.
    pub start: u64,
    /// Size of a block in bytes.
    pub block_bytes: u32,
    pub blocks: u32,
}

impl TrimmedRange {
    /// Returns the memory in bytes that counting takes.
    #[must_use]
    pub const fn memory_bytes(&self) -> u64 {
        self.blocks as u64 * size_of::<TrimmedBlock>() as u64
    }
}

/// State of a block. A failure is final.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TrimmedBlockState {
    /// Neither trimmed nor written.
    #[default]
    Unwritten,
    Trimmed,
    Written,
    TrimFailed,
    WriteFailed,
}

/// Trims of a block until its first failure, and its state.
#[derive(Clone, Copy, Debug, Default)]
struct TrimmedBlock {
    trims: u32,
    state: TrimmedBlockState,
}

/// Counts the trims of each block.
#[derive(Clone, Debug)]
pub(crate) struct TrimmedBlocks {
    range: TrimmedRange,
    blocks: Vec<TrimmedBlock>,
}

impl TrimmedBlocks {
    pub(crate) fn new(range: TrimmedRange) -> Self {
        Self { range, blocks: vec![TrimmedBlock::default(); range.blocks as usize] }
    }

    /// Counts a trim or write of whole blocks. Parts of blocks at its ends do not count.
    pub(crate) fn record(&mut self, direction: DataKind, offset: u64, bytes: u32, succeeded: bool) {
        use TrimmedBlockState::{TrimFailed, Trimmed, WriteFailed, Written};
        let (is_trim, state) = match (direction, succeeded) {
            (DataKind::Read, _) => return,
            (DataKind::Trim, true) => (true, Trimmed),
            (DataKind::Trim, false) => (true, TrimFailed),
            (DataKind::Write, true) => (false, Written),
            (DataKind::Write, false) => (false, WriteFailed),
        };
        let block_bytes = u64::from(self.range.block_bytes);
        let from = offset.saturating_sub(self.range.start);
        let (first, end) = (from.div_ceil(block_bytes), (from + u64::from(bytes)) / block_bytes);
        let end = end.min(self.blocks.len() as u64);
        for block in self.blocks.get_mut(first as usize..end as usize).unwrap_or_default() {
            if !matches!(block.state, TrimFailed | WriteFailed) {
                block.trims = block.trims.saturating_add(u32::from(is_trim && succeeded));
                block.state = state;
            }
        }
    }

    pub(crate) fn counts(&self) -> TrimmedBlockCounts {
        let mut counts = TrimmedBlockCounts::default();
        for block in &self.blocks {
            if block.state != TrimmedBlockState::Unwritten {
                *counts.trims.entry(block.trims).or_default() += 1;
            }
            let state = match block.state {
                TrimmedBlockState::Unwritten => &mut counts.unwritten,
                TrimmedBlockState::Trimmed => &mut counts.trimmed,
                TrimmedBlockState::Written => &mut counts.written,
                TrimmedBlockState::TrimFailed => &mut counts.trim_failed,
                TrimmedBlockState::WriteFailed => &mut counts.write_failed,
            };
            *state += 1;
        }
        counts
    }
}

/// Blocks by their state, and by the number of their trims.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrimmedBlockCounts {
    /// Blocks that were neither trimmed nor written.
    pub unwritten: u64,
    /// Blocks that were trimmed last.
    pub trimmed: u64,
    /// Blocks that were written last.
    pub written: u64,
    /// Blocks of which a trim failed first.
    pub trim_failed: u64,
    /// Blocks of which a write failed first.
    pub write_failed: u64,
    /// Number of blocks that are not unwritten for each number of trims, which are counted until the first failure.
    #[serde(serialize_with = "as_pairs", deserialize_with = "from_pairs")]
    #[schemars(with = "Vec<(u32, u64)>")]
    pub trims: BTreeMap<u32, u64>,
}

fn as_pairs<S: Serializer>(trims: &BTreeMap<u32, u64>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(trims)
}

fn from_pairs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<u32, u64>, D::Error> {
    Ok(Vec::deserialize(deserializer)?.into_iter().collect())
}

impl TrimmedBlockCounts {
    /// Returns the numbers of trims at percentiles. As in fio, unwritten blocks do not count: none if all are.
    pub fn percentiles<'a>(&'a self, percents: &'a [f64]) -> impl ExactSizeIterator<Item = (f64, u32)> + 'a {
        let percents = if self.trims.is_empty() { &[] } else { percents };
        percents.iter().map(|percent| (*percent, self.trims_at(*percent)))
    }

    /// Returns the number of trims at a percentile by the nearest rank.
    fn trims_at(&self, percent: f64) -> u32 {
        let blocks: u64 = self.trims.values().sum();
        let rank = ((percent / 100.0 * blocks as f64).ceil() as u64).clamp(1, blocks.max(1));
        let mut below = 0;
        let reaches = |(_, blocks): &(&u32, &u64)| {
            below += **blocks;
            below >= rank
        };
        self.trims.iter().find(reaches).map_or(0, |(trims, _)| *trims)
    }

    /// Returns the numbers of blocks in each state under fio's names.
    #[must_use]
    pub const fn states(&self) -> [(&'static str, u64); 5] {
        [
            ("unwritten", self.unwritten),
            ("trimmed", self.trimmed),
            ("written", self.written),
            ("trim failure", self.trim_failed),
            ("write failure", self.write_failed),
        ]
    }

    /// Adds the blocks of another worker.
    pub fn merge(&mut self, other: &Self) {
        self.unwritten += other.unwritten;
        self.trimmed += other.trimmed;
        self.written += other.written;
        self.trim_failed += other.trim_failed;
        self.write_failed += other.write_failed;
        for (trims, blocks) in &other.trims {
            *self.trims.entry(*trims).or_default() += blocks;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use DataKind::{Read, Trim, Write};

    fn blocks(blocks: u32) -> TrimmedBlocks {
        TrimmedBlocks::new(TrimmedRange { start: 1 << 20, block_bytes: 4096, blocks })
    }

    const START: u64 = 1 << 20;

    #[test]
    fn a_block_has_the_state_of_its_last_operation() {
        let mut all = blocks(4);
        all.record(Trim, START, 3 * 4096, true);
        all.record(Trim, START, 4096, true);
        all.record(Write, START + 4096, 4096, true);
        all.record(Read, START + 3 * 4096, 4096, true);
        let expected = TrimmedBlockCounts {
            unwritten: 1,
            trimmed: 2,
            written: 1,
            trims: BTreeMap::from([(1, 2), (2, 1)]),
            ..TrimmedBlockCounts::default()
        };
        assert_eq!(all.counts(), expected);
    }

    #[test]
    fn a_failure_ends_the_life_of_a_block() {
        let mut all = blocks(2);
        for round in 0..5 {
            all.record(Trim, START, 4096, round != 3);
            all.record(Write, START + 4096, 4096, round != 2);
            all.record(Trim, START + 4096, 4096, true);
        }
        let counts = all.counts();
        assert_eq!((counts.trim_failed, counts.write_failed), (1, 1));
        assert_eq!(counts.trims, BTreeMap::from([(3, 1), (2, 1)]));
    }

    #[test]
    fn operations_beyond_the_blocks_do_not_count() {
        let mut all = blocks(2);
        all.record(Trim, START + 2 * 4096, 4096, true);
        all.record(Trim, START + 4096 + 512, 4096, true);
        all.record(Trim, START + 512, 512, true);
        all.record(Write, u64::MAX - 4096, 4096, true);
        assert_eq!(all.counts().unwritten, 2);
        all.record(Trim, START + 4096, u32::MAX, true);
        assert_eq!(all.counts().trimmed, 1);
    }

    #[test]
    fn blocks_of_several_workers_add_up() {
        let (mut one, mut two) = (blocks(2), blocks(3));
        one.record(Trim, START, 8192, true);
        two.record(Trim, START, 4096, false);
        let mut sum = one.counts();
        sum.merge(&two.counts());
        assert_eq!((sum.trimmed, sum.trim_failed, sum.unwritten), (2, 1, 2));
        assert_eq!(sum.trims, BTreeMap::from([(0, 1), (1, 2)]));
    }

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let record =
            TrimmedBlockCounts { trims: BTreeMap::from([(0, 1), (3, 8), (90, 1)]), ..TrimmedBlockCounts::default() };
        let at = |percent| record.trims_at(percent);
        assert_eq!([0.0, 10.0, 10.1, 50.0, 90.0, 90.1, 100.0].map(at), [0, 0, 3, 3, 3, 90, 90]);
        assert_eq!(TrimmedBlockCounts::default().percentiles(&[50.0]).len(), 0);
    }
}
