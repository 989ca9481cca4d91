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
    /// `None` if the last write may not have completed.
    number: Option<u32>,
    is_read: bool,
}

impl LatestWrites {
    /// Records the next write. Returns whether it covers a block that no earlier one covered.
    pub(super) fn record(&mut self, op: &Decision, interval: u32) -> bool {
        let mut is_new = false;
        for (at, _) in blocks(op.length as usize, interval as usize) {
            let last = LastWrite { number: Some(op.pass), is_read: false };
            is_new |= self.blocks.insert((op.file, op.offset + at as u64), last).is_none();
        }
        is_new
    }

    /// Records that this write may not have completed. Its blocks are not read alone, and accepted with others.
    pub(super) fn doubt(&mut self, op: &Decision, interval: u32) {
        for (at, _) in blocks(op.length as usize, interval as usize) {
            self.blocks.insert((op.file, op.offset + at as u64), LastWrite { number: None, is_read: true });
        }
    }

    /// Returns the number of the last write to the block.
    pub(super) fn number(&self, file: u32, block: u64) -> Option<u32> {
        self.blocks.get(&(file, block)).and_then(|last| last.number)
    }

    /// Reports whether the last write to the block may not have completed.
    pub(super) fn is_doubtful(&self, file: u32, block: u64) -> bool {
        self.blocks.get(&(file, block)).is_some_and(|last| last.number.is_none())
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
