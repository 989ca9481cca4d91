//! Trims of the blocks of a file (`block_error_percentiles`).

use serde::{Deserialize, Serialize};

/// Blocks by their state at the end, and by the number of their trims.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrimmedBlocksRecord {
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
    /// Numbers of trims, which are counted until the first failure, each with its number of blocks that are not unwritten,
    /// in rising order.
    pub trims: Vec<(u32, u64)>,
}

impl TrimmedBlocksRecord {
    /// Returns the numbers of trims at percentiles. As in fio, unwritten blocks do not count: none if all are.
    pub fn percentiles<'a>(&'a self, percents: &'a [f64]) -> impl ExactSizeIterator<Item = (f64, u32)> + 'a {
        let percents = if self.trims.is_empty() { &[] } else { percents };
        percents.iter().map(|percent| (*percent, self.trims_at(*percent)))
    }

    /// Returns the number of trims at a percentile by the nearest rank.
    fn trims_at(&self, percent: f64) -> u32 {
        let blocks: u64 = self.trims.iter().map(|(_, blocks)| blocks).sum();
        let rank = ((percent / 100.0 * blocks as f64).ceil() as u64).clamp(1, blocks.max(1));
        let mut below = 0;
        let reaches = |(_, blocks): &&(u32, u64)| {
            below += blocks;
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
}

impl From<&meter::TrimmedBlockCounts> for TrimmedBlocksRecord {
    fn from(counts: &meter::TrimmedBlockCounts) -> Self {
        Self {
            unwritten: counts.unwritten,
            trimmed: counts.trimmed,
            written: counts.written,
            trim_failed: counts.trim_failed,
            write_failed: counts.write_failed,
            trims: counts.trims.iter().map(|(trims, blocks)| (*trims, *blocks)).collect(),
        }
    }
}

impl From<&TrimmedBlocksRecord> for meter::TrimmedBlockCounts {
    fn from(record: &TrimmedBlocksRecord) -> Self {
        Self {
            unwritten: record.unwritten,
            trimmed: record.trimmed,
            written: record.written,
            trim_failed: record.trim_failed,
            write_failed: record.write_failed,
            trims: record.trims.iter().copied().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let record = TrimmedBlocksRecord { trims: vec![(0, 1), (3, 8), (90, 1)], ..TrimmedBlocksRecord::default() };
        let at = |percent| record.trims_at(percent);
        assert_eq!([0.0, 10.0, 10.1, 50.0, 90.0, 90.1, 100.0].map(at), [0, 0, 3, 3, 3, 90, 90]);
        assert_eq!(TrimmedBlocksRecord::default().percentiles(&[50.0]).len(), 0);
    }
}
