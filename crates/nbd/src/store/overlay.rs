//! Changes in memory over a read-only store.
//!
//! A block is read from the lower store until something changes in it; then it is entirely in the overlay or zero. A
//! partial change of a block in the lower store fetches the block first, asynchronously if the lower store is. No block
//! ever returns to the lower store.

use std::io::IoSlice;
use std::os::fd::BorrowedFd;

use super::blocks::BLOCK_BYTES;
use super::blocks::{Part, split};
use super::scratch::ScratchBuffer;
use super::sparse::{Sparse, SparseBlock};
use super::{Extents, Footprint, Operation, Pieces, Pool, Store, StoreCapabilities, StoreEnd, StoreProgress};
use nbd_wire::{Errno, Extent};

/// Copy-on-write over another store, which is never written. The changes end with the process.
pub struct Overlay {
    lower: Box<dyn Store>,
    blocks: Sparse,
    slots: Vec<OverlaySlot>,
    /// Data of waiting writes.
    scratch: ScratchBuffer,
    /// Fetches in flight from the lower store.
    fetches: Vec<Option<Fetch>>,
    ended_lower: Vec<StoreEnd>,
}

#[derive(Default)]
struct OverlaySlot {
    /// Start of the part of a read that the lower store has.
    lower: Option<u64>,
    waiting: Option<WaitingCopy>,
}

/// A change that waits for blocks to be fetched.
struct WaitingCopy {
    change: OverlayChange,
    fetches: u32,
    failure: Option<Errno>,
}

#[derive(Clone, Copy)]
enum OverlayChange {
    Write { offset: u64, length: u32 },
    Zero { offset: u64, length: u64 },
}

struct Fetch {
    number: u64,
    slots: Vec<u32>,
}

/// Returns the lower store's slot for reads of a slot.
fn lower_slot(slot: u32) -> u32 {
    2 * slot
}

/// Returns the lower store's slot for a fetch.
fn fetch_slot(fetch: usize) -> u32 {
    2 * fetch as u32 + 1
}

impl Overlay {
    /// Creates an overlay whose changes take at most `limit_bytes` of memory; then they fail with [`Errno::NoSpace`].
    #[must_use]
    pub fn new(lower: Box<dyn Store>, limit_bytes: u64) -> Self {
        Self::within(lower, Pool::new(limit_bytes))
    }

    /// Creates an overlay whose limit may be shared with other stores.
    #[must_use]
    pub fn within(lower: Box<dyn Store>, pool: Pool) -> Self {
        Self {
            blocks: Sparse::new(lower.size(), pool, 0),
            lower,
            slots: Vec::new(),
            scratch: ScratchBuffer::default(),
            fetches: Vec::new(),
            ended_lower: Vec::new(),
        }
    }

    /// Returns the bytes that count towards the limit.
    #[must_use]
    pub fn allocated_bytes(&self) -> u64 {
        self.blocks.allocated_bytes()
    }

    fn slot(&mut self, slot: u32) -> &mut OverlaySlot {
        let slot = slot as usize;
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, OverlaySlot::default);
        }
        &mut self.slots[slot]
    }

    /// Reads one range from the lower store, from the first byte missing in the overlay to the last.
    fn read(&mut self, slot: u32, offset: u64, length: u32) -> StoreProgress {
        let absent = self.absent(offset, offset + u64::from(length));
        self.slot(slot).lower = absent.map(|(from, _)| from);
        let Some((from, to)) = absent else { return StoreProgress::Ended(Ok(())) };
        let read = Operation::Read { offset: from, length: (to - from) as u32 };
        let progress = self.lower.start(lower_slot(slot), read);
        if matches!(progress, StoreProgress::Ended(Err(_))) {
            self.slot(slot).lower = None;
        }
        progress
    }

    /// Returns the range from the first to the last byte missing in the overlay.
    fn absent(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let mut found: Option<(u64, u64)> = None;
        let mut at = start;
        while at < end {
            let (block, run) = self.run(at, end);
            if block == SparseBlock::Absent {
                found = Some((found.map_or(at, |(from, _)| from), at + run));
            }
            at += run;
        }
        found
    }

    /// Returns the state of a byte's block, and for how many bytes up to `end` it is known to hold.
    fn run(&self, at: u64, end: u64) -> (SparseBlock<'_>, u64) {
        let (block, span) = self.blocks.get_run(at / BLOCK_BYTES);
        (block, (span.saturating_mul(BLOCK_BYTES) - at % BLOCK_BYTES).min(end - at))
    }

    /// Makes a change once the overlay has the blocks that it changes in part.
    fn change(&mut self, slot: u32, change: OverlayChange, data: &[u8]) -> StoreProgress {
        let (offset, length) = match change {
            OverlayChange::Write { offset, length } => (offset, u64::from(length)),
            OverlayChange::Zero { offset, length } => (offset, length),
        };
        let edges = split(offset, length, self.size()).0;
        let (mut fetches, mut failure) = (0, None);
        for edge in edges.into_iter().flatten() {
            match self.fetch(edge, slot) {
                StoreProgress::Pending => fetches += 1,
                StoreProgress::Ended(result) => failure = failure.or(result.err()),
            }
        }
        if fetches == 0 {
            return StoreProgress::Ended(failure.map_or_else(|| self.apply(change, data), Err));
        }
        self.scratch.get_mut(slot, data.len()).copy_from_slice(data);
        self.slot(slot).waiting = Some(WaitingCopy { change, fetches, failure });
        StoreProgress::Pending
    }

    fn apply(&mut self, change: OverlayChange, data: &[u8]) -> Result<(), Errno> {
        match change {
            OverlayChange::Write { offset, .. } => self.blocks.write(offset, data),
            OverlayChange::Zero { offset, length } => self.zero(offset, length),
        }
    }

    fn zero(&mut self, offset: u64, length: u64) -> Result<(), Errno> {
        let (edges, whole) = split(offset, length, self.size());
        for edge in edges.into_iter().flatten() {
            if self.blocks.get(edge.number) != SparseBlock::Zero {
                self.blocks.allocate(edge.number)?[edge.inside()].fill(0);
            }
        }
        self.blocks.zero(whole)
    }

    /// Fetches a block into the overlay if it is missing, for a change in `slot`.
    fn fetch(&mut self, edge: Part, slot: u32) -> StoreProgress {
        if self.blocks.get(edge.number) != SparseBlock::Absent {
            return StoreProgress::Ended(Ok(()));
        }
        if let Some(fetch) = self.fetches.iter_mut().flatten().find(|fetch| fetch.number == edge.number) {
            fetch.slots.push(slot);
            return StoreProgress::Pending;
        }
        let free = self.fetches.iter().position(Option::is_none).unwrap_or_else(|| {
            self.fetches.push(None);
            self.fetches.len() - 1
        });
        let (offset, length) = self.extent_of(edge.number);
        match self.lower.start(fetch_slot(free), Operation::Read { offset, length }) {
            StoreProgress::Ended(result) => StoreProgress::Ended(self.store_fetched(free, edge.number, result)),
            StoreProgress::Pending => {
                self.fetches[free] = Some(Fetch { number: edge.number, slots: vec![slot] });
                StoreProgress::Pending
            }
        }
    }

    /// Returns the offset and length of a block; the end of the store may cut the last one.
    fn extent_of(&self, number: u64) -> (u64, u32) {
        let offset = number * BLOCK_BYTES;
        (offset, (self.size() - offset).min(BLOCK_BYTES) as u32)
    }

    /// Stores a fetched block, unless the overlay has it by now.
    fn store_fetched(&mut self, fetch: usize, number: u64, result: Result<(), Errno>) -> Result<(), Errno> {
        result?;
        let (offset, length) = self.extent_of(number);
        let slot = fetch_slot(fetch);
        let taken = match self.blocks.get(number) {
            SparseBlock::Absent => self.blocks.allocate(number).map(|block| {
                copy_lent(self.lower.as_ref(), slot, offset, &mut block[..length as usize]);
            }),
            _ => Ok(()),
        };
        self.lower.release(slot);
        taken
    }

    /// Makes the changes that waited only for this fetch.
    fn fetched(&mut self, fetch: usize, result: Result<(), Errno>, ended: &mut Vec<StoreEnd>) {
        let Some(Fetch { number, slots }) = self.fetches[fetch].take() else { return };
        let failure = self.store_fetched(fetch, number, result).err();
        for slot in slots {
            let Some(waiting) = self.slots[slot as usize].waiting.as_mut() else { continue };
            waiting.fetches -= 1;
            waiting.failure = waiting.failure.or(failure);
            if waiting.fetches == 0 {
                let result = self.finish(slot);
                ended.push(StoreEnd { slot, result });
            }
        }
    }

    fn finish(&mut self, slot: u32) -> Result<(), Errno> {
        let Some(WaitingCopy { change, failure, .. }) = self.slots[slot as usize].waiting.take() else { return Ok(()) };
        let result = match (failure, change) {
            (Some(failure), _) => Err(failure),
            (None, OverlayChange::Write { offset, length }) => {
                self.blocks.write(offset, &self.scratch.get(slot)[..length as usize])
            }
            (None, OverlayChange::Zero { offset, length }) => self.zero(offset, length),
        };
        self.scratch.release(slot);
        result
    }

    /// Appends the lower store's extents of a range that is missing in the overlay.
    fn lower_extents(&mut self, at: u64, run: u64, most: usize, extents: &mut Extents) -> Result<u64, Errno> {
        let found = self.lower.extents(at, run, most)?;
        let covered: u64 = found.iter().map(|extent| extent.length).sum();
        found.into_iter().for_each(|extent| extents.push(extent));
        Ok(covered.min(run))
    }
}

fn copy_lent(store: &dyn Store, slot: u32, offset: u64, to: &mut [u8]) {
    let mut done = 0;
    while done < to.len() {
        let mut slices = [IoSlice::new(&[]); 16];
        let mut pieces = Pieces::new(&mut slices);
        store.lend(slot, offset, to.len() as u32, done as u32, &mut pieces);
        for piece in pieces.slices() {
            to[done..done + piece.len()].copy_from_slice(piece);
            done += piece.len();
        }
    }
}

impl Store for Overlay {
    fn size(&self) -> u64 {
        self.lower.size()
    }

    fn abilities(&self) -> StoreCapabilities {
        StoreCapabilities { write: true, trim: true, fast_zero: true }
    }

    /// A partial change fetches a block at each end, each with a buffer in the lower store.
    fn footprint(&self) -> Footprint {
        let fetched = 2 * BLOCK_BYTES;
        Footprint { copies: true, write_bytes: fetched, zero_bytes: fetched }
    }

    fn keep_within(&mut self, pool: &Pool) {
        self.scratch.keep_within(pool);
        self.lower.keep_within(pool);
    }

    fn start(&mut self, slot: u32, operation: Operation<&[u8]>) -> StoreProgress {
        match operation {
            Operation::Read { offset, length } => self.read(slot, offset, length),
            Operation::Write { offset, data, .. } => {
                self.change(slot, OverlayChange::Write { offset, length: data.len() as u32 }, data)
            }
            Operation::Zero { offset, length, .. } => self.change(slot, OverlayChange::Zero { offset, length }, &[]),
            Operation::Trim { offset, length, .. } => {
                StoreProgress::Ended(self.blocks.zero(split(offset, length, self.size()).1))
            }
            Operation::Flush => StoreProgress::Ended(Ok(())),
            Operation::Cache { .. } => self.lower.start(lower_slot(slot), operation),
        }
    }

    fn submit(&mut self) {
        self.lower.submit();
    }

    fn collect(&mut self, ended: &mut Vec<StoreEnd>) {
        let mut lower = std::mem::take(&mut self.ended_lower);
        self.lower.collect(&mut lower);
        for StoreEnd { slot, result } in lower.drain(..) {
            let (number, fetches) = (slot / 2, slot % 2 == 1);
            if fetches {
                self.fetched(number as usize, result, ended);
                continue;
            }
            if result.is_err() {
                self.slot(number).lower = None;
            }
            ended.push(StoreEnd { slot: number, result });
        }
        self.ended_lower = lower;
    }

    fn signal(&self) -> Option<BorrowedFd<'_>> {
        self.lower.signal()
    }

    fn lend<'a>(&'a self, slot: u32, offset: u64, length: u32, from: u32, pieces: &mut Pieces<'_, 'a>) {
        let (mut at, end) = (offset + u64::from(from), offset + u64::from(length));
        let lower = self.slots.get(slot as usize).and_then(|slot| slot.lower);
        while at < end && !pieces.is_full() {
            let (block, run) = self.run(at, end);
            let before = pieces.bytes();
            match block {
                SparseBlock::Data(bytes) => {
                    pieces.push(&bytes[(at % BLOCK_BYTES) as usize..][..run as usize]);
                }
                SparseBlock::Zero => {
                    pieces.push_zeroes(run);
                }
                SparseBlock::Absent => {
                    let Some(start) = lower else { return };
                    let length = (at + run - start) as u32;
                    self.lower.lend(lower_slot(slot), start, length, (at - start) as u32, pieces);
                }
            }
            at += (pieces.bytes() - before) as u64;
        }
    }

    fn release(&mut self, slot: u32) {
        if self.slot(slot).lower.take().is_some() {
            self.lower.release(lower_slot(slot));
        }
    }

    fn extents(&mut self, offset: u64, length: u64, most: usize) -> Result<Vec<Extent>, Errno> {
        let mut extents = Extents::new(length, most);
        let end = offset + length;
        while extents.left() > 0 {
            let at = end - extents.left();
            let (block, run) = self.run(at, end);
            let zero = block == SparseBlock::Zero;
            if block != SparseBlock::Absent {
                extents.push(Extent { length: run, hole: zero, zero });
            } else if self.lower_extents(at, run, most, &mut extents)? < run {
                break;
            }
        }
        Ok(extents.into_vec())
    }
}

#[cfg(test)]
mod tests;
