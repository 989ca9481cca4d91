//! A state machine for one operation of a store, which returns system calls and takes their results.

mod ranges;

pub(super) use ranges::ZERO_STEP_BYTES;

use std::ops::Range;

use nbd::store::{Operation, Pool};
use nbd::wire::Errno;
use target::Tag;

use super::range_locks::LockRange;
use crate::buffers::Buffers;

/// Larger buffers are freed as soon as they are unused, in bytes.
const KEPT_BYTES: usize = 2 << 20;

/// Size and granularity of a store, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoreGeometry {
    pub(super) size: u64,
    /// Granularity of reads and writes.
    pub(super) unit: u32,
    /// Granularity of zeroing and deallocation.
    pub(super) grain: u32,
    pub(super) device: bool,
    pub(super) writable: bool,
}

/// The next action of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlotAction {
    Call(DiskCall),
    Ended(Result<(), Errno>),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SlotStage {
    /// The slot is free.
    #[default]
    Idle,
    /// A change waits for conflicting changes or is about to start.
    Begun,
    /// The first or last sector of a write is being read.
    Head,
    Tail,
    /// Whole sectors are being read or written.
    Body,
    /// A range is being zeroed or deallocated.
    Allocate,
    Discard,
    Sync,
    /// A call is in flight whose failure is ignored.
    Hint,
    /// A read has ended and its bytes can be lent.
    Read,
}

/// A transfer of whole sectors, and the requested bytes in them.
#[derive(Clone, Copy, Debug, Default)]
struct SectorTransfer {
    at: u64,
    /// Length of the sectors in bytes. The buffer has one more sector after them.
    cover: u32,
    /// Offset of the first requested byte in the buffer.
    skip: u32,
    /// Offset of the end of the requested bytes in the buffer.
    end: u32,
    done: u32,
}

/// A slot with its buffer, which nothing else uses while a call is in flight.
#[derive(Default)]
pub(super) struct DiskSlot {
    operation: Option<Operation<()>>,
    stage: SlotStage,
    range: Range<u64>,
    /// Whether zeroes are written because the kernel cannot zero ranges.
    writes_zeroes: bool,
    /// How far zeroing has progressed, as an offset in the file.
    done_to: u64,
    transfer: SectorTransfer,
    call: Option<DiskCall>,
    buffer: Option<Buffers>,
    /// Bytes of the buffer that have ever been used, and those in use now.
    touched: u64,
    used: u64,
    /// Unused bytes that were reported to a pool: `touched - used` at that time.
    reported: u64,
}

impl DiskSlot {
    /// Takes an operation and copies the data to be written.
    ///
    /// # Errors
    /// Returns the error of an operation that cannot be started.
    pub(super) fn take(&mut self, operation: Operation<&[u8]>, geometry: &StoreGeometry) -> Result<(), Errno> {
        if !matches!(self.stage, SlotStage::Idle | SlotStage::Read) {
            return Err(Errno::Invalid);
        }
        self.stage = SlotStage::Idle;
        check(operation, geometry)?;
        self.operation = Some(operation.map(|_| ()));
        self.range = operation.range();
        self.writes_zeroes = false;
        self.done_to = self.range.start;
        match operation {
            Operation::Read { .. } => drop(self.set_transfer(self.range.clone(), geometry)?),
            Operation::Write { data, .. } => self.set_transfer(self.range.clone(), geometry)?.copy_from_slice(data),
            _ => {}
        }
        self.stage = SlotStage::Begun;
        Ok(())
    }

    /// Returns the sectors that an operation changes.
    pub(super) fn span(&self, geometry: &StoreGeometry) -> Option<LockRange> {
        let operation = self.operation?;
        let sector = match operation {
            Operation::Write { .. } => u64::from(geometry.unit),
            Operation::Zero { .. } | Operation::Trim { .. } => u64::from(geometry.unit.max(geometry.grain)),
            _ => return None,
        };
        let Range { start, end } = self.range;
        let partial = !start.is_multiple_of(sector) || !end.is_multiple_of(sector);
        let reads = geometry.unit > 1 && !matches!(operation, Operation::Trim { .. });
        Some(LockRange {
            start: start / sector * sector,
            end: end.next_multiple_of(sector),
            exclusive: partial && reads,
        })
    }

    pub(super) fn buffer(&self) -> Option<&Buffers> {
        self.buffer.as_ref()
    }

    /// Returns the bytes of a completed read.
    pub(super) fn read(&self) -> Option<&[u8]> {
        let transfer = self.transfer;
        let bytes = self.buffer.as_ref().filter(|_| self.stage == SlotStage::Read)?.peek(Tag(0))?;
        bytes.get(transfer.skip as usize..transfer.end as usize)
    }

    /// Ends the use of the bytes of a completed read.
    pub(super) fn release(&mut self, pool: &Pool) {
        if self.stage == SlotStage::Read {
            self.stage = SlotStage::Idle;
            self.release_buffer(pool);
        }
    }

    /// Reports to a pool how much of the buffer is unused.
    #[inline]
    pub(super) fn report_unused(&mut self, pool: &Pool) {
        let unused = self.touched - self.used;
        pool.change(self.reported, unused);
        self.reported = unused;
    }

    /// Moves the reported bytes from one pool to another.
    pub(super) fn move_report(&mut self, before: &Pool, after: &Pool) {
        before.change(self.reported, 0);
        after.change(0, self.reported);
    }

    /// Ends the operation with its result.
    pub(super) fn end(&mut self, result: Result<(), Errno>, pool: &Pool) {
        let reads = matches!(self.operation, Some(Operation::Read { .. }));
        self.stage = if reads && result.is_ok() { SlotStage::Read } else { SlotStage::Idle };
        if self.stage == SlotStage::Idle {
            self.release_buffer(pool);
        }
    }

    /// Keeps the buffer for the next operation only if the pool has room for it.
    fn release_buffer(&mut self, pool: &Pool) {
        self.used = 0;
        let keep = pool.has_room(self.touched - self.reported);
        if self.buffer.take_if(|buffer| !keep || buffer.bytes() > KEPT_BYTES).is_some() {
            self.touched = 0;
        }
        self.report_unused(pool);
    }

    /// Returns the first call of an operation that may start.
    pub(super) fn first_action(&mut self, geometry: &StoreGeometry) -> SlotAction {
        match self.operation {
            None => SlotAction::Ended(Ok(())),
            Some(Operation::Read { .. }) => self.body(),
            Some(Operation::Write { .. }) => self.head(geometry),
            Some(Operation::Zero { .. }) => self.zero_next(geometry),
            Some(Operation::Trim { .. }) => self.trim(geometry),
            Some(Operation::Flush) => self.call(SlotStage::Sync, DiskCall::DataSync),
            Some(Operation::Cache { offset, length }) => {
                let advise = DiskCall::Advise { at: offset, length: length.min(1 << 30) as u32 };
                self.call(SlotStage::Hint, advise)
            }
        }
    }

    /// Returns the action after a call with this result: bytes, or a negated error number.
    pub(super) fn on_result(&mut self, result: i32, geometry: &StoreGeometry) -> SlotAction {
        if let Some(call) = self.call.filter(|_| matches!(-result, libc::EINTR | libc::EAGAIN)) {
            return SlotAction::Call(call);
        }
        match self.stage {
            SlotStage::Head => self.after_head(result, geometry),
            SlotStage::Tail => self.after_tail(result, geometry),
            SlotStage::Body => self.after_body(result, geometry),
            SlotStage::Allocate if unsupported(result) => self.without_allocate(geometry),
            SlotStage::Allocate => self.after_allocate(result, geometry),
            // A device that cannot discard keeps its data, which is permitted.
            SlotStage::Discard if unsupported(result) => self.finish(),
            SlotStage::Discard if result >= 0 => self.finish(),
            SlotStage::Sync if result >= 0 => SlotAction::Ended(Ok(())),
            SlotStage::Hint => SlotAction::Ended(Ok(())),
            _ => failed(result),
        }
    }

    fn call(&mut self, stage: SlotStage, call: DiskCall) -> SlotAction {
        self.stage = stage;
        self.call = Some(call);
        SlotAction::Call(call)
    }

    /// Sets up a transfer of `range` in whole sectors. Returns the requested part of the buffer.
    fn set_transfer(&mut self, range: Range<u64>, geometry: &StoreGeometry) -> Result<&mut [u8], Errno> {
        let unit = u64::from(geometry.unit);
        let at = range.start / unit * unit;
        let cover = range.end.next_multiple_of(unit) - at;
        let (skip, end) = ((range.start - at) as u32, (range.end - at) as u32);
        self.transfer = SectorTransfer { at, cover: cover as u32, skip, end, done: 0 };
        let bytes = cover + unit;
        if self.buffer.as_ref().is_none_or(|buffer| (buffer.bytes() as u64) < bytes) {
            self.touched = 0;
        }
        (self.touched, self.used) = (self.touched.max(bytes), bytes);
        let buffer = grow(&mut self.buffer, bytes as usize)?;
        Ok(&mut buffer[skip as usize..end as usize])
    }

    /// Reads the sector in which a write starts, unless it starts at a sector boundary.
    fn head(&mut self, geometry: &StoreGeometry) -> SlotAction {
        let SectorTransfer { at, cover, skip, .. } = self.transfer;
        if skip == 0 {
            return self.tail(geometry);
        }
        self.call(SlotStage::Head, DiskCall::Read { at, skip: cover, length: geometry.unit })
    }

    fn after_head(&mut self, result: i32, geometry: &StoreGeometry) -> SlotAction {
        let skip = self.transfer.skip as usize;
        self.keep_sector(result, geometry, 0, 0..skip).map_or_else(|next| next, |()| self.tail(geometry))
    }

    /// Reads the sector in which a write ends, unless it ends at a sector boundary.
    fn tail(&mut self, geometry: &StoreGeometry) -> SlotAction {
        let SectorTransfer { at, cover, end, .. } = self.transfer;
        if end == cover {
            return self.body();
        }
        let at = at + u64::from(cover - geometry.unit);
        self.call(SlotStage::Tail, DiskCall::Read { at, skip: cover, length: geometry.unit })
    }

    fn after_tail(&mut self, result: i32, geometry: &StoreGeometry) -> SlotAction {
        let SectorTransfer { cover, end, .. } = self.transfer;
        let last = cover - geometry.unit;
        let kept = (end - last) as usize..geometry.unit as usize;
        self.keep_sector(result, geometry, last as usize, kept).map_or_else(|next| next, |()| self.body())
    }

    /// Copies a part of the sector that was read behind the others to the sector at `to`.
    fn keep_sector(
        &mut self,
        result: i32,
        geometry: &StoreGeometry,
        to: usize,
        part: Range<usize>,
    ) -> Result<(), SlotAction> {
        if result < geometry.unit as i32 {
            return Err(failed(result));
        }
        let from = self.transfer.cover as usize;
        let bytes = self.buffer.as_mut().and_then(|buffer| buffer.slice(Tag(0))).ok_or(failed(-libc::EFAULT))?;
        bytes.copy_within(from + part.start..from + part.end, to + part.start);
        Ok(())
    }

    /// Transfers the rest of the whole sectors.
    fn body(&mut self) -> SlotAction {
        let SectorTransfer { at, cover, done, .. } = self.transfer;
        let (at, skip, length) = (at + u64::from(done), done, cover - done);
        let call = match self.operation {
            Some(Operation::Read { .. }) => DiskCall::Read { at, skip, length },
            Some(Operation::Write { durable, .. }) => DiskCall::Write { at, skip, length, durable },
            _ => DiskCall::Write { at, skip, length, durable: false },
        };
        self.call(SlotStage::Body, call)
    }

    fn after_body(&mut self, result: i32, geometry: &StoreGeometry) -> SlotAction {
        if result < geometry.unit as i32 {
            return failed(result);
        }
        let transfer = &mut self.transfer;
        transfer.done += result as u32 / geometry.unit * geometry.unit;
        if transfer.done < transfer.cover {
            return self.body();
        }
        match self.operation {
            Some(Operation::Zero { .. }) => {
                self.done_to = self.transfer.at + u64::from(self.transfer.end);
                self.zero_next(geometry)
            }
            _ => SlotAction::Ended(Ok(())),
        }
    }
}

/// Refuses an operation that cannot be started.
fn check(operation: Operation<&[u8]>, geometry: &StoreGeometry) -> Result<(), Errno> {
    if operation.changes() && !geometry.writable {
        return Err(Errno::NotPermitted);
    }
    match operation {
        // If a device must keep its blocks allocated, the kernel may have to write zeroes, which is not faster. An
        // unaligned request is refused before its ends are written, because a refused request must not have changed
        // anything.
        Operation::Zero { offset, length, allocated, fast: true, .. }
            if geometry.device && (allocated || !(offset | length).is_multiple_of(u64::from(geometry.grain))) =>
        {
            Err(Errno::NotSupported)
        }
        _ => Ok(()),
    }
}

fn unsupported(result: i32) -> bool {
    matches!(-result, libc::EOPNOTSUPP | libc::ENOSYS | libc::ENODEV | libc::ENOTTY)
}

/// Returns the failure of a call, or of a transfer that ended early.
fn failed(result: i32) -> SlotAction {
    SlotAction::Ended(Err(if result < 0 { Errno::from_os(-result) } else { Errno::Io }))
}

/// Returns a buffer of at least `bytes`.
fn grow(buffer: &mut Option<Buffers>, bytes: usize) -> Result<&mut [u8], Errno> {
    if buffer.as_ref().is_none_or(|buffer| buffer.bytes() < bytes) {
        *buffer = None;
        *buffer = Some(Buffers::single(bytes.next_power_of_two()).map_err(|_| Errno::NoMemory)?);
    }
    buffer.as_mut().and_then(|buffer| buffer.slice(Tag(0))).ok_or(Errno::NoMemory)
}

/// A system call on the file of a store. `skip` is an offset in the slot's buffer, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DiskCall {
    Read {
        at: u64,
        skip: u32,
        length: u32,
    },
    /// With `durable`, returns once the bytes would survive a power loss.
    Write {
        at: u64,
        skip: u32,
        length: u32,
        durable: bool,
    },
    /// `fallocate`.
    Allocate {
        mode: i32,
        at: u64,
        length: u64,
    },
    /// `BLKDISCARD`, which `io_uring` does not support before Linux 6.12.
    Discard {
        at: u64,
        length: u64,
    },
    DataSync,
    /// Reads the range ahead (`POSIX_FADV_WILLNEED`).
    Advise {
        at: u64,
        length: u32,
    },
}

#[cfg(test)]
mod tests;
