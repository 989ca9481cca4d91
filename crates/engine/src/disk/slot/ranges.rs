//! Zeroing and discarding ranges.

use std::ops::Range;

use nbd::store::Operation;
use nbd::wire::Errno;

use super::{DiskCall, DiskSlot, SlotAction, SlotStage, StoreGeometry, failed};
use crate::inline::PUNCH;

const ZERO_RANGE: i32 = libc::FALLOC_FL_ZERO_RANGE | libc::FALLOC_FL_KEEP_SIZE;

/// Bytes of zeroes written at a time if the kernel cannot zero a range.
pub(in crate::disk) const ZERO_STEP_BYTES: u64 = 1 << 20;

impl DiskSlot {
    /// Zeroes the next part of a range: the kernel zeroes whole grains, partial grains are written.
    pub(super) fn zero_next(&mut self, geometry: &StoreGeometry) -> SlotAction {
        let (from, end, grain) = (self.done_to, self.range.end, u64::from(geometry.grain));
        let whole = from.next_multiple_of(grain)..end / grain * grain;
        if from == end {
            return self.finish();
        }
        if self.writes_zeroes {
            let unit = u64::from(geometry.unit);
            return self.write_zeroes(((from + ZERO_STEP_BYTES) / unit * unit).min(end), geometry);
        }
        if from == whole.start && from < whole.end {
            let allocated = matches!(self.operation, Some(Operation::Zero { allocated: true, .. }));
            let mode = if allocated { ZERO_RANGE } else { PUNCH };
            return self.call(SlotStage::Allocate, DiskCall::Allocate { mode, at: from, length: whole.end - from });
        }
        self.write_zeroes(if from < whole.start { whole.start.min(end) } else { end }, geometry)
    }

    fn write_zeroes(&mut self, to: u64, geometry: &StoreGeometry) -> SlotAction {
        match self.set_transfer(self.done_to..to, geometry) {
            Ok(bytes) => bytes.fill(0),
            Err(errno) => return SlotAction::Ended(Err(errno)),
        }
        self.head(geometry)
    }

    pub(super) fn trim(&mut self, geometry: &StoreGeometry) -> SlotAction {
        let Range { start, end } = self.whole_grains(geometry);
        if start >= end {
            return SlotAction::Ended(Ok(()));
        }
        self.call(SlotStage::Allocate, DiskCall::Allocate { mode: PUNCH, at: start, length: end - start })
    }

    fn whole_grains(&self, geometry: &StoreGeometry) -> Range<u64> {
        let grain = u64::from(geometry.grain);
        self.range.start.next_multiple_of(grain)..self.range.end / grain * grain
    }

    pub(super) fn after_allocate(&mut self, result: i32, geometry: &StoreGeometry) -> SlotAction {
        match (result, self.operation) {
            (..0, _) => failed(result),
            (_, Some(Operation::Zero { .. })) => {
                self.done_to = self.whole_grains(geometry).end;
                self.zero_next(geometry)
            }
            _ => self.finish(),
        }
    }

    /// Returns the alternative if the kernel cannot zero or deallocate a range.
    pub(super) fn without_allocate(&mut self, geometry: &StoreGeometry) -> SlotAction {
        match self.operation {
            Some(Operation::Zero { fast: true, .. }) => SlotAction::Ended(Err(Errno::NotSupported)),
            Some(Operation::Zero { .. }) => {
                self.writes_zeroes = true;
                self.zero_next(geometry)
            }
            _ if geometry.device => {
                let Range { start, end } = self.whole_grains(geometry);
                self.call(SlotStage::Discard, DiskCall::Discard { at: start, length: end - start })
            }
            // Trimmed data may stay.
            _ => self.finish(),
        }
    }

    /// Ends a change of a range, after a sync if it must be durable.
    pub(super) fn finish(&mut self) -> SlotAction {
        let durable = self.operation.is_some_and(|operation| operation.is_durable());
        if durable { self.call(SlotStage::Sync, DiskCall::DataSync) } else { SlotAction::Ended(Ok(())) }
    }
}
