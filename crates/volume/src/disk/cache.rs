//! The write-back cache of a drive.

use std::collections::VecDeque;

use units::{Nanos, random::Random};

use super::geometry::Geometry;
use super::queue::{CommandQueue, DiskCommand};
use crate::hard_disk::HardDisk;

/// Length of the writes that fill a cache at the start.
const FILL_BYTES: u32 = 4096;

#[derive(Clone, Debug)]
pub(super) struct Cache {
    slots: u64,
    bytes: u64,
    /// Writes in the cache, including the one under the head.
    held: u64,
    held_bytes: u64,
    /// Writes that the head has not reached.
    pub(super) dirty: CommandQueue,
    /// Writes that wait for space, in order of arrival.
    waiting: VecDeque<DiskCommand>,
    /// Flushes that wait until the cache is empty.
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

    /// Fills the cache with random writes of 4 KiB.
    pub(super) fn fill(&mut self, geometry: &Geometry, random: &mut Random) {
        let blocks = geometry.size().div_ceil(u64::from(FILL_BYTES));
        while self.has_room(FILL_BYTES) {
            let offset = random.below(blocks) * u64::from(FILL_BYTES);
            let position = geometry.position(offset);
            self.hold(
                DiskCommand { write: true, offset, length: FILL_BYTES, position, ..DiskCommand::default() },
                geometry,
            );
        }
    }

    pub(super) fn is_clean(&self) -> bool {
        self.held == 0
    }

    /// Reports whether a flush waits until the cache is empty.
    pub(super) fn is_flushing(&self) -> bool {
        !self.flushes.is_empty()
    }

    pub(super) fn has_waiting_writes(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Accepts a write. Returns the request to complete if there was space at once.
    pub(super) fn write(&mut self, command: DiskCommand, geometry: &Geometry) -> Option<u32> {
        self.waiting.push_back(command);
        self.admit(command.since, geometry).and_then(|command| command.request)
    }

    /// Accepts the oldest waiting write if there is space.
    ///
    /// During a flush nothing is accepted, or the flush might never end.
    pub(super) fn admit(&mut self, now: Nanos, geometry: &Geometry) -> Option<DiskCommand> {
        let next = self.waiting.front()?;
        if self.is_flushing() || !self.has_room(next.length) {
            return None;
        }
        let command = self.waiting.pop_front()?;
        self.hold(DiskCommand { request: None, since: now, ..command }, geometry);
        Some(command)
    }

    /// Adds a flush, which waits until the cache is empty.
    pub(super) fn flush(&mut self, id: u32) {
        self.flushes.push(id);
    }

    /// Removes a write that has reached the platters.
    pub(super) fn destaged(&mut self, length: u32) {
        self.held -= 1;
        self.held_bytes -= u64::from(length);
    }

    /// Returns the flushes to complete, if the cache is empty.
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
