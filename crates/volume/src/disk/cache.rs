//! The write-back cache of a drive.

use std::collections::VecDeque;

use units::{Nanos, random::Random};

use super::geometry::Geometry;
use super::queue::{CommandQueue, DiskCommand};
use crate::hard_disk::HardDisk;

/// The bytes of the writes that fill a cache at the start.
const FILL_BYTES: u32 = 4096;

/// Writes between host and platters.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    slots: u64,
    bytes: u64,
    /// How many writes are in the cache, with the one under the head.
    held: u64,
    held_bytes: u64,
    /// Those of them that the head has not come to.
    pub(super) dirty: CommandQueue,
    /// Writes for which there is no room, in the order of their arrival.
    waiting: VecDeque<DiskCommand>,
    /// Flushes, all of which wait for the same.
    flushes: Vec<u32>,
}

impl Cache {
    pub(super) fn new(drive: &HardDisk) -> Self {
        Self {
            slots: u64::from(drive.cache_slots.max(1)),
            bytes: drive.cache_bytes.get(),
            held: 0,
            held_bytes: 0,
            dirty: CommandQueue::new(drive),
            waiting: VecDeque::new(),
            flushes: Vec::new(),
        }
    }

    /// Fills every slot with a write of 4 KiB somewhere.
    pub(super) fn fill(&mut self, geometry: &Geometry, random: &mut Random) {
        let blocks = geometry.size().div_ceil(u64::from(FILL_BYTES));
        while self.has_room(FILL_BYTES) {
            let offset = random.below(blocks) * u64::from(FILL_BYTES);
            let spot = geometry.spot(offset);
            self.hold(
                DiskCommand { write: true, offset, length: FILL_BYTES, spot, ..DiskCommand::default() },
                geometry,
            );
        }
    }

    /// Whether nothing is in it.
    pub(super) fn is_clean(&self) -> bool {
        self.held == 0
    }

    /// Whether a flush waits until it is empty.
    pub(super) fn is_flushing(&self) -> bool {
        !self.flushes.is_empty()
    }

    /// Whether a write waits for room in it.
    pub(super) fn is_short(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Takes a write, at once or when there is room. If at once, who is told.
    pub(super) fn write(&mut self, command: DiskCommand, geometry: &Geometry) -> Option<u32> {
        self.waiting.push_back(command);
        self.admit(command.since, geometry).and_then(|command| command.answer)
    }

    /// Takes the write that has waited longest, if there is room for it.
    ///
    /// While the cache is being flushed nothing new comes in, or a flush might never end.
    pub(super) fn admit(&mut self, now: Nanos, geometry: &Geometry) -> Option<DiskCommand> {
        let next = self.waiting.front()?;
        if self.is_flushing() || !self.has_room(next.length) {
            return None;
        }
        let command = self.waiting.pop_front()?;
        self.hold(DiskCommand { answer: None, since: now, ..command }, geometry);
        Some(command)
    }

    /// Waits until the cache is empty.
    pub(super) fn flush(&mut self, id: u32) {
        self.flushes.push(id);
    }

    /// A write is on the platters.
    pub(super) fn destaged(&mut self, length: u32) {
        self.held -= 1;
        self.held_bytes -= u64::from(length);
    }

    /// Those who waited until the cache was empty, if it is.
    pub(super) fn flushed(&mut self) -> impl Iterator<Item = u32> {
        let count = if self.is_clean() { self.flushes.len() } else { 0 };
        self.flushes.drain(..count)
    }

    fn has_room(&self, length: u32) -> bool {
        self.held == 0 || (self.held < self.slots && self.held_bytes + u64::from(length) <= self.bytes)
    }

    fn hold(&mut self, command: DiskCommand, geometry: &Geometry) {
        self.held += 1;
        self.held_bytes += u64::from(command.length);
        self.dirty.push(command, geometry);
    }
}
