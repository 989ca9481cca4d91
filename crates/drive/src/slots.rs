//! The tags of a worker and its operations in flight.

use target::Tag;
use units::Nanos;
use workload::Decision;

/// An operation in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    /// The issuer's decision.
    pub decision: Decision,
    /// Instant at which the loop began to handle it.
    pub started: Nanos,
    /// Instant of its first submission to the device; [`Nanos::MAX`] until its first completion reports it.
    pub submitted: Nanos,
    /// Bytes transferred so far: positive only after a short transfer.
    pub moved: u32,
}

/// The tags of a worker: free tags and the times at which they became free, and operations in flight.
#[derive(Debug)]
pub(crate) struct FlightSlots {
    base: u32,
    free: Vec<u32>,
    flights: Vec<Option<Flight>>,
    freed: Vec<Nanos>,
    prepared: Vec<bool>,
}

impl FlightSlots {
    pub(crate) fn new(depth: u32) -> Self {
        Self {
            base: 0,
            // Tags are taken from the end, so that the lowest ones, whose buffers are cached, are used first.
            free: (0..depth).rev().collect(),
            flights: vec![None; depth as usize],
            freed: vec![Nanos::ZERO; depth as usize],
            prepared: vec![false; depth as usize],
        }
    }

    /// Assigns the tags from `base` on to this worker.
    pub(crate) fn place(&mut self, base: u32) {
        self.base = base;
    }

    /// Returns the lowest tag.
    pub(crate) fn first_tag(&self) -> Tag {
        Tag(self.base)
    }

    pub(crate) fn depth(&self) -> u32 {
        self.flights.len() as u32
    }

    #[inline]
    pub(crate) fn in_flight(&self) -> u32 {
        (self.flights.len() - self.free.len()) as u32
    }

    #[inline]
    pub(crate) fn has_free(&self) -> bool {
        !self.free.is_empty()
    }

    /// Takes a free tag for `flight`. Returns the tag and the time at which it became free.
    #[inline]
    pub(crate) fn take(&mut self, flight: Flight) -> Option<(Tag, Nanos)> {
        let slot = self.free.pop()?;
        self.flights[slot as usize] = Some(flight);
        Some((Tag(self.base + slot), self.freed[slot as usize]))
    }

    /// Returns the index of a tag's buffer at the first call for this tag, then `None`.
    #[inline]
    pub(crate) fn first_use(&mut self, tag: Tag) -> Option<u32> {
        let slot = tag.0 - self.base;
        let first = !std::mem::replace(&mut self.prepared[slot as usize], true);
        first.then_some(slot)
    }

    #[inline]
    pub(crate) fn get(&self, tag: Tag) -> Option<&Flight> {
        self.flights.get(tag.0.wrapping_sub(self.base) as usize)?.as_ref()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, tag: Tag) -> Option<&mut Flight> {
        self.flights.get_mut(tag.0.wrapping_sub(self.base) as usize)?.as_mut()
    }

    /// Resets the transferred bytes of an operation.
    pub(crate) fn begin_again(&mut self, tag: Tag) {
        if let Some(flight) = self.get_mut(tag) {
            flight.moved = 0;
        }
    }

    /// Returns the operations in flight.
    pub(crate) fn flights(&self) -> impl Iterator<Item = &Flight> {
        self.flights.iter().flatten()
    }

    #[inline]
    pub(crate) fn release(&mut self, tag: Tag, now: Nanos) {
        let slot = tag.0 - self.base;
        self.flights[slot as usize] = None;
        self.freed[slot as usize] = now;
        self.free.push(slot);
    }
}
