//! The last write to each block, where writes may overlap.

use std::collections::BTreeMap;

use super::blocks;
use crate::decision::Decision;

/// The blocks of a read-back: the number of the last write to each, and whether it has been read.
///
/// Uses memory per distinct block, only while overlapping writes are read back.
#[derive(Clone, Debug, Default)]
pub(crate) struct LatestWrites {
    blocks: BTreeMap<(u32, u64), LastWrite>,
}

#[derive(Clone, Copy, Debug)]
struct LastWrite {
    number: u32,
    is_read: bool,
}

impl LatestWrites {
    /// Records the next write. Returns whether it covers a block that no earlier one covered.
    pub(super) fn record(&mut self, op: &Decision, interval: u32) -> bool {
        let mut is_new = false;
        for (at, _) in blocks(op.length as usize, interval as usize) {
            let last = LastWrite { number: op.pass, is_read: false };
            is_new |= self.blocks.insert((op.file, op.offset + at as u64), last).is_none();
        }
        is_new
    }

    /// Returns the number of the last write to the block.
    pub(super) fn number(&self, file: u32, block: u64) -> Option<u32> {
        self.blocks.get(&(file, block)).map(|last| last.number)
    }

    /// Marks the blocks of a write as read. Returns whether one of them was unread.
    pub(super) fn read(&mut self, op: &Decision, interval: u32) -> bool {
        let mut is_new = false;
        for (at, _) in blocks(op.length as usize, interval as usize) {
            if let Some(last) = self.blocks.get_mut(&(op.file, op.offset + at as u64)) {
                is_new |= !std::mem::replace(&mut last.is_read, true);
            }
        }
        is_new
    }
}
