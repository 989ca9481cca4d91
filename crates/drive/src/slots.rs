//! The tags of operations in flight.

use target::Tag;
use units::Nanos;
use workload::Decision;

/// An operation in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    /// What was decided.
    pub decision: Decision,
    /// When the loop took it up.
    pub started: Nanos,
    /// When it was first handed to the device; [`Nanos::MAX`] until its first completion tells.
    pub submitted: Nanos,
    /// Bytes transferred so far: more than zero only after a short transfer.
    pub moved: u32,
}

/// A worker's tags: which are free, since when, and what is in flight in the others.
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
            // Taken from the end, so that the lowest tags, whose buffers are warm, are used first.
            free: (0..depth).rev().collect(),
            flights: vec![None; depth as usize],
            freed: vec![Nanos::ZERO; depth as usize],
            prepared: vec![false; depth as usize],
        }
    }

    /// Gives this worker the tags from `base` on.
    pub(crate) fn place(&mut self, base: u32) {
        self.base = base;
    }

    /// The lowest of its tags.
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

    /// Takes a free tag for `flight`: the tag, and since when it was free.
    #[inline]
    pub(crate) fn take(&mut self, flight: Flight) -> Option<(Tag, Nanos)> {
        let slot = self.free.pop()?;
        self.flights[slot as usize] = Some(flight);
        Some((Tag(self.base + slot), self.freed[slot as usize]))
    }

    /// The number of a tag's buffer the first time this is asked; `None` from then on.
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

    /// Forgets what was transferred of an operation.
    pub(crate) fn begin_again(&mut self, tag: Tag) {
        if let Some(flight) = self.get_mut(tag) {
            flight.moved = 0;
        }
    }

    /// What is in flight.
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
