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
    outcome: WriteOutcome,
    is_read: bool,
}

/// What is known of the last write to a block.
#[derive(Clone, Copy, Debug)]
enum WriteOutcome {
    /// It completed, and has this number.
    Completed(u32),
    /// It may not have completed: the block is of it or of an earlier one.
    Doubtful,
    /// It failed: the block may hold anything.
    Failed,
}

impl LatestWrites {
    /// Records the next write. Returns whether it covers a block that no earlier one covered.
    pub(super) fn record(&mut self, op: &Decision, interval: u32) -> bool {
        let mut is_new = false;
        for (at, _) in blocks(op.length as usize, interval as usize) {
            let last = LastWrite { outcome: WriteOutcome::Completed(op.pass), is_read: false };
            is_new |= self.blocks.insert((op.file, op.offset + at as u64), last).is_none();
        }
        is_new
    }

    /// Records that this write may not have completed. Its blocks are not read alone, and accepted with others.
    pub(super) fn doubt(&mut self, op: &Decision, interval: u32) {
        self.leave_unread(op, interval, WriteOutcome::Doubtful);
    }

    /// Records that this write failed. Its blocks are not checked.
    pub(super) fn fail(&mut self, op: &Decision, interval: u32) {
        self.leave_unread(op, interval, WriteOutcome::Failed);
    }

    fn leave_unread(&mut self, op: &Decision, interval: u32, outcome: WriteOutcome) {
        for (at, _) in blocks(op.length as usize, interval as usize) {
            self.blocks.insert((op.file, op.offset + at as u64), LastWrite { outcome, is_read: true });
        }
    }

    /// Returns the number of the last write to the block.
    pub(super) fn number(&self, file: u32, block: u64) -> Option<u32> {
        match self.blocks.get(&(file, block))?.outcome {
            WriteOutcome::Completed(number) => Some(number),
            WriteOutcome::Doubtful | WriteOutcome::Failed => None,
        }
    }

    /// Reports whether the last write to the block may not have completed.
    pub(super) fn is_doubtful(&self, file: u32, block: u64) -> bool {
        self.blocks.get(&(file, block)).is_some_and(|last| matches!(last.outcome, WriteOutcome::Doubtful))
    }

    /// Reports whether the last write to the block failed.
    pub(super) fn has_failed(&self, file: u32, block: u64) -> bool {
        self.blocks.get(&(file, block)).is_some_and(|last| matches!(last.outcome, WriteOutcome::Failed))
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
