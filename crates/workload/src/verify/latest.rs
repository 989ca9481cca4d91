//! The last write to each block, where writes may overlap.

use std::collections::BTreeMap;

use super::blocks;
use crate::decision::Decision;

/// The blocks of a read-back: the number of the last write to each, and whether it has been read.
///
/// Takes memory for each distinct block, and only while writes that may overlap are read back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Latest {
    blocks: BTreeMap<(u32, u64), Last>,
}

#[derive(Clone, Copy, Debug)]
struct Last {
    number: u32,
    is_read: bool,
}

impl Latest {
    /// Takes note of a write, in the order of writes. Returns whether it has a block that none before it had.
    pub(super) fn note(&mut self, op: &Decision, interval: u32) -> bool {
        let mut is_new = false;
        for (at, _) in blocks(op.length as usize, interval as usize) {
            let last = Last { number: op.pass, is_read: false };
            is_new |= self.blocks.insert((op.file, op.offset + at as u64), last).is_none();
        }
        is_new
    }

    /// The number of the last write to the block.
    pub(super) fn number(&self, file: u32, block: u64) -> Option<u32> {
        self.blocks.get(&(file, block)).map(|last| last.number)
    }

    /// Marks the blocks of a write as read. Returns whether one of them had not been read.
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
