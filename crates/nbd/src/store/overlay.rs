//! A store of changes in memory over a read-only store.
//!
//! A block is below until something changes in it; then all of it is above, or it is zero. A change of a part of a block
//! that is still below first fetches the block, and waits for that where the store below lets it wait. No block ever goes
//! back.

use std::io::IoSlice;
use std::os::fd::BorrowedFd;

use super::blocks::BLOCK_BYTES;
use super::parts::{Part, split};
use super::scratch::ScratchBuffer;
use super::sparse::{Sparse, SparseBlock};
use super::{Abilities, Extents, Footprint, Operation, Pieces, Pool, Store, StoreEnd, StoreProgress};
use nbd_wire::Errno;
use nbd_wire::Extent;

/// Copy-on-write over another store, which is never written to. Nothing of the changes survives the process.
pub struct Overlay {
    below: Box<dyn Store>,
    blocks: Sparse,
    slots: Vec<OverlaySlot>,
    /// What the changes that wait are to write.
    scratch: ScratchBuffer,
    /// Blocks that are on their way from below.
    fetches: Vec<Option<Fetch>>,
    ended_below: Vec<StoreEnd>,
}

#[derive(Default)]
struct OverlaySlot {
    /// The part of a read that was read below: where it begins.
    below: Option<u64>,
    waiting: Option<WaitingCopy>,
}

/// A change that cannot be made before blocks have been fetched.
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
    /// The slots that wait for it.
    slots: Vec<u32>,
}

/// The slot below for the reads of a slot here.
fn slot_below(slot: u32) -> u32 {
    2 * slot
}

/// The slot below for a fetch.
fn fetch_slot(fetch: usize) -> u32 {
    2 * fetch as u32 + 1
}

impl Overlay {
    /// What is below, with changes that take at most `limit_bytes` of memory; then they fail with [`Errno::NoSpace`].
    #[must_use]
    pub fn new(below: Box<dyn Store>, limit_bytes: u64) -> Self {
        Self::within(below, Pool::new(limit_bytes))
    }

    /// The same with a limit that other stores may share.
    #[must_use]
    pub fn within(below: Box<dyn Store>, pool: Pool) -> Self {
        Self {
            blocks: Sparse::new(below.size(), pool, 0),
            below,
            slots: Vec::new(),
            scratch: ScratchBuffer::default(),
            fetches: Vec::new(),
            ended_below: Vec::new(),
        }
    }

    /// Bytes that count towards the limit.
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

    /// Reads below what is not above: one range, from the first such byte to the last.
    fn read(&mut self, slot: u32, offset: u64, length: u32) -> StoreProgress {
        let absent = self.absent(offset, offset + u64::from(length));
        self.slot(slot).below = absent.map(|(from, _)| from);
        let Some((from, to)) = absent else { return StoreProgress::Ended(Ok(())) };
        let read = Operation::Read { offset: from, length: (to - from) as u32 };
        let progress = self.below.start(slot_below(slot), read);
        if matches!(progress, StoreProgress::Ended(Err(_))) {
            self.slot(slot).below = None;
        }
        progress
    }

    /// From the first to the last byte of a range that is not above.
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

    /// What a byte's block is, and how many bytes from there on to `end` at most the same is known of.
    fn run(&self, at: u64, end: u64) -> (SparseBlock<'_>, u64) {
        let (block, span) = self.blocks.look(at / BLOCK_BYTES);
        (block, (span.saturating_mul(BLOCK_BYTES) - at % BLOCK_BYTES).min(end - at))
    }

    /// Makes a change as soon as the blocks of which it changes a part are above.
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
                self.blocks.make(edge.number)?[edge.inside()].fill(0);
            }
        }
        self.blocks.zero(whole)
    }

    /// Sees to it that a block is above, for a change in `slot`.
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
        match self.below.start(fetch_slot(free), Operation::Read { offset, length }) {
            StoreProgress::Ended(result) => StoreProgress::Ended(self.take_over(free, edge.number, result)),
            StoreProgress::Pending => {
                self.fetches[free] = Some(Fetch { number: edge.number, slots: vec![slot] });
                StoreProgress::Pending
            }
        }
    }

    /// Where a block begins, and its bytes: the last may be cut off.
    fn extent_of(&self, number: u64) -> (u64, u32) {
        let offset = number * BLOCK_BYTES;
        (offset, (self.size() - offset).min(BLOCK_BYTES) as u32)
    }

    /// Takes over a block that was fetched, unless it has come above in another way meanwhile.
    fn take_over(&mut self, fetch: usize, number: u64, result: Result<(), Errno>) -> Result<(), Errno> {
        result?;
        let (offset, length) = self.extent_of(number);
        let slot = fetch_slot(fetch);
        let taken = match self.blocks.get(number) {
            SparseBlock::Absent => self.blocks.make(number).map(|block| {
                copy_lent(self.below.as_ref(), slot, offset, &mut block[..length as usize]);
            }),
            _ => Ok(()),
        };
        self.below.release(slot);
        taken
    }

    /// Makes the changes that have waited for a fetch and for no other.
    fn fetched(&mut self, fetch: usize, result: Result<(), Errno>, ended: &mut Vec<StoreEnd>) {
        let Some(Fetch { number, slots }) = self.fetches[fetch].take() else { return };
        let failure = self.take_over(fetch, number, result).err();
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

    /// Makes a change that has waited.
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

    /// The extents below a range of which nothing is above.
    fn extents_below(&mut self, at: u64, run: u64, most: usize, extents: &mut Extents) -> Result<u64, Errno> {
        let found = self.below.extents(at, run, most)?;
        let told: u64 = found.iter().map(|extent| extent.length).sum();
        found.into_iter().for_each(|extent| extents.push(extent));
        Ok(told.min(run))
    }
}

/// Copies a read that has ended.
fn copy_lent(store: &dyn Store, slot: u32, offset: u64, to: &mut [u8]) {
    let mut done = 0;
    while done < to.len() {
        let mut room = [IoSlice::new(&[]); 16];
        let mut pieces = Pieces::new(&mut room);
        store.lend(slot, offset, to.len() as u32, done as u32, &mut pieces);
        for piece in pieces.slices() {
            to[done..done + piece.len()].copy_from_slice(piece);
            done += piece.len();
        }
    }
}

impl Store for Overlay {
    fn size(&self) -> u64 {
        self.below.size()
    }

    fn abilities(&self) -> Abilities {
        Abilities { write: true, trim: true, fast_zero: true }
    }

    /// A change of parts of blocks fetches one at each end, and each has a buffer below.
    fn footprint(&self) -> Footprint {
        let fetched = 2 * BLOCK_BYTES;
        Footprint { copies: true, write_bytes: fetched, zero_bytes: fetched }
    }

    fn keep_within(&mut self, pool: &Pool) {
        self.scratch.keep_within(pool);
        self.below.keep_within(pool);
    }

    fn start(&mut self, slot: u32, operation: Operation<'_>) -> StoreProgress {
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
            Operation::Cache { .. } => self.below.start(slot_below(slot), operation),
        }
    }

    fn submit(&mut self) {
        self.below.submit();
    }

    fn collect(&mut self, ended: &mut Vec<StoreEnd>) {
        let mut below = std::mem::take(&mut self.ended_below);
        self.below.collect(&mut below);
        for StoreEnd { slot, result } in below.drain(..) {
            let (number, fetches) = (slot / 2, slot % 2 == 1);
            if fetches {
                self.fetched(number as usize, result, ended);
                continue;
            }
            if result.is_err() {
                self.slot(number).below = None;
            }
            ended.push(StoreEnd { slot: number, result });
        }
        self.ended_below = below;
    }

    fn signal(&self) -> Option<BorrowedFd<'_>> {
        self.below.signal()
    }

    fn lend<'a>(&'a self, slot: u32, offset: u64, length: u32, from: u32, pieces: &mut Pieces<'_, 'a>) {
        let (mut at, end) = (offset + u64::from(from), offset + u64::from(length));
        let below = self.slots.get(slot as usize).and_then(|slot| slot.below);
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
                    let Some(start) = below else { return };
                    let length = (at + run - start) as u32;
                    self.below.lend(slot_below(slot), start, length, (at - start) as u32, pieces);
                }
            }
            at += (pieces.bytes() - before) as u64;
        }
    }

    fn release(&mut self, slot: u32) {
        if self.slot(slot).below.take().is_some() {
            self.below.release(slot_below(slot));
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
            } else if self.extents_below(at, run, most, &mut extents)? < run {
                break;
            }
        }
        Ok(extents.into_vec())
    }
}

#[cfg(test)]
mod tests;
