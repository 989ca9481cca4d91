//! A file or device as the store of an export.
//!
//! Each slot has a `DiskSlot`, a state machine that returns the next system call and takes its result. Calls go through
//! `io_uring`, or are made directly where it is unavailable. `RangeLocks` serializes overlapping changes if one of them
//! has to read a sector before it writes it.
//!
//! A flush is `fdatasync`, and a durable write has `RWF_DSYNC`: both end when the device has been told to make the
//! bytes durable.

mod issue;
mod open;
mod range_locks;
mod ring;
mod slot;

use std::os::fd::{BorrowedFd, RawFd};

use nbd::store::{Extents, Footprint, Operation, Pieces, Pool, Store, StoreCapabilities, StoreEnd, StoreProgress};
use nbd::wire::{Errno, Extent};

use crate::error::last_errno;
use crate::files::{File, FileKind};
pub use open::DiskOptions;
use range_locks::RangeLocks;
use ring::Ring;
use slot::{DiskCall, DiskSlot, SlotAction, StoreGeometry};

/// The store of one file or device.
///
/// Only the thread that opened it may use it.
pub struct Disk {
    file: File,
    geometry: StoreGeometry,
    /// `None` if calls are made directly.
    ring: Option<Ring>,
    slots: Vec<DiskSlot>,
    range_locks: RangeLocks,
    /// Slots and results that the kernel has reported and that are not processed yet.
    results: Vec<(u32, i32)>,
    /// Operations that ended while another one was being processed.
    ended: Vec<StoreEnd>,
    /// Counts the unused bytes of the slots' buffers.
    pool: Pool,
}

/// Returns the descriptor for a call. A store never closes its file while it is in use.
fn descriptor(file: &File, call: DiskCall) -> RawFd {
    match call {
        DiskCall::Allocate { .. } | DiskCall::Discard { .. } => file.range_fd().unwrap_or_else(|_| file.fd()),
        _ => file.fd(),
    }
}

impl Disk {
    /// Reports whether operations go through `io_uring` instead of being executed one at a time on request.
    #[must_use]
    pub fn has_ring(&self) -> bool {
        self.ring.is_some()
    }

    fn slot(&mut self, slot: u32) -> &mut DiskSlot {
        let slot = slot as usize;
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, DiskSlot::default);
        }
        &mut self.slots[slot]
    }

    /// Advances an operation until it waits for the kernel or ends.
    fn advance(&mut self, slot: u32, mut next: SlotAction) -> StoreProgress {
        let state = &mut self.slots[slot as usize];
        loop {
            match next {
                SlotAction::Ended(result) => {
                    state.end(result, &self.pool);
                    self.range_locks.unlock(slot);
                    return StoreProgress::Ended(result);
                }
                SlotAction::Call(call) => {
                    let fd = descriptor(&self.file, call);
                    let Some(result) = issue::issue(self.ring.as_mut(), slot, call, fd, state) else {
                        state.report_unused(&self.pool);
                        return StoreProgress::Pending;
                    };
                    next = state.on_result(result, &self.geometry);
                }
            }
        }
    }

    /// Starts the waiting changes that no longer conflict.
    fn start_waiting(&mut self) {
        while let Some(slot) = self.range_locks.next_granted() {
            let next = self.slots[slot as usize].first_action(&self.geometry);
            if let StoreProgress::Ended(result) = self.advance(slot, next) {
                self.ended.push(StoreEnd { slot, result });
            }
        }
    }
}

impl Store for Disk {
    fn size(&self) -> u64 {
        self.geometry.size
    }

    fn abilities(&self) -> StoreCapabilities {
        let write = self.file.access().write;
        StoreCapabilities { write, trim: write, fast_zero: write }
    }

    /// Changes may read the sectors at their ends into the same buffer, and zeroes may have to be written.
    fn footprint(&self) -> Footprint {
        let sectors = 2 * u64::from(self.geometry.unit);
        Footprint { copies: true, write_bytes: sectors, zero_bytes: slot::ZERO_STEP_BYTES + sectors }
    }

    fn keep_within(&mut self, pool: &Pool) {
        for slot in &mut self.slots {
            slot.move_report(&self.pool, pool);
        }
        self.pool = pool.clone();
    }

    fn start(&mut self, slot: u32, operation: Operation<&[u8]>) -> StoreProgress {
        let geometry = self.geometry;
        if let Err(errno) = self.slot(slot).take(operation, &geometry) {
            return StoreProgress::Ended(Err(errno));
        }
        let state = &mut self.slots[slot as usize];
        state.report_unused(&self.pool);
        if let Some(span) = state.span(&geometry)
            && !self.range_locks.try_lock(slot, span)
        {
            return StoreProgress::Pending;
        }
        let next = state.first_action(&geometry);
        let progress = self.advance(slot, next);
        self.start_waiting();
        progress
    }

    fn submit(&mut self) {
        if let Some(ring) = &mut self.ring {
            ring.submit();
        }
    }

    fn collect(&mut self, ended: &mut Vec<StoreEnd>) {
        let mut results = std::mem::take(&mut self.results);
        if let Some(ring) = &mut self.ring {
            ring.collect(&mut results);
        }
        for (slot, result) in results.drain(..) {
            let next = self.slots[slot as usize].on_result(result, &self.geometry);
            if let StoreProgress::Ended(result) = self.advance(slot, next) {
                ended.push(StoreEnd { slot, result });
            }
        }
        self.results = results;
        self.start_waiting();
        ended.append(&mut self.ended);
        self.submit();
    }

    fn signal(&self) -> Option<BorrowedFd<'_>> {
        self.ring.as_ref().map(Ring::signal)
    }

    fn lend<'a>(&'a self, slot: u32, _offset: u64, length: u32, from: u32, pieces: &mut Pieces<'_, 'a>) {
        if let Some(bytes) = self.slots.get(slot as usize).and_then(DiskSlot::read) {
            pieces.push(&bytes[from as usize..length as usize]);
        }
    }

    fn release(&mut self, slot: u32) {
        if let Some(state) = self.slots.get_mut(slot as usize) {
            state.release(&self.pool);
        }
    }

    fn extents(&mut self, offset: u64, length: u64, most: usize) -> Result<Vec<Extent>, Errno> {
        find_extents(&self.file, offset, length, most)
    }
}

impl Drop for Disk {
    /// Waits for all calls in flight, because the kernel uses the buffers until then.
    fn drop(&mut self) {
        if let Some(ring) = &mut self.ring {
            ring.settle();
        }
    }
}

/// Returns the data and holes of a range. A device has no known holes: all of it is data.
fn find_extents(file: &File, offset: u64, length: u64, most: usize) -> Result<Vec<Extent>, Errno> {
    let mut extents = Extents::new(length, most);
    let end = offset + length;
    while extents.left() > 0 {
        let at = end - extents.left();
        let data = if file.kind() == FileKind::Regular { next(file.fd(), at, libc::SEEK_DATA, end)? } else { at };
        if data > at {
            extents.push(Extent { length: data - at, hole: true, zero: true });
            continue;
        }
        let hole = if file.kind() == FileKind::Regular { next(file.fd(), at, libc::SEEK_HOLE, end)? } else { end };
        // A concurrent change may have made a hole here, which would end the data at once.
        let hole = hole.max(at + 1);
        extents.push(Extent { length: hole - at, hole: false, zero: false });
    }
    Ok(extents.into_vec())
}

/// Returns the offset of the next data or hole from `at` on, or `end` if there is none before it. Filesystems without
/// support report everything as data.
fn next(fd: RawFd, at: u64, whence: i32, end: u64) -> Result<u64, Errno> {
    // SAFETY: the call takes no memory; the file position that it moves is not used.
    let found = unsafe { libc::lseek64(fd, at as i64, whence) };
    if found >= 0 {
        return Ok((found as u64).min(end));
    }
    match last_errno() {
        libc::ENXIO => Ok(end),
        libc::EINVAL => Ok(if whence == libc::SEEK_DATA { at } else { end }),
        errno => Err(Errno::from_os(errno)),
    }
}
