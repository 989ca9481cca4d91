//! Requests in flight.

use units::Nanos;

use nbd_wire::Extent;
use nbd_wire::{Errno, NbdRequest};

/// One connection of the many that have had the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConnectionTicket {
    /// Its place in the list of clients.
    pub client: u32,
    /// How many were there before it.
    pub generation: u32,
}

/// A request that has not been answered.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    /// Who asked.
    pub ticket: ConnectionTicket,
    /// Of which export.
    pub export: u32,
    /// What.
    pub request: NbdRequest,
    /// When it was read.
    pub arrived: Nanos,
    /// When its reply was due by the model.
    pub due: Option<Nanos>,
    /// How many ends it waits for: the store's, the model's.
    pub waits: u8,
    /// How it went so far.
    pub result: Result<(), SlotError>,
    /// What a question for the state of blocks found.
    pub extents: Vec<Extent>,
}

impl Pending {
    /// One end less to wait for; whether that was the last.
    #[inline]
    pub(super) fn one_less(&mut self) -> bool {
        self.waits -= 1;
        self.waits == 0
    }
}

/// Failure of a request without a free slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SlotError {
    /// For programs.
    pub errno: Errno,
    /// For people.
    pub why: &'static str,
}

impl From<Errno> for SlotError {
    fn from(errno: Errno) -> Self {
        Self { errno, why: "" }
    }
}

/// Numbers for requests, given out again as soon as they are free.
#[derive(Debug)]
pub(super) struct ServerSlots {
    all: Vec<Option<Pending>>,
    free: Vec<u32>,
    most: u32,
}

impl ServerSlots {
    /// Numbers below `most`.
    pub(super) fn new(most: u32) -> Self {
        Self { all: Vec::new(), free: Vec::new(), most }
    }

    /// Keeps a request under a number; `None` when all are given out.
    #[inline]
    pub(super) fn take(&mut self, pending: Pending) -> Option<u32> {
        if let Some(slot) = self.free.pop() {
            self.all[slot as usize] = Some(pending);
            return Some(slot);
        }
        let slot = u32::try_from(self.all.len()).ok().filter(|&slot| slot < self.most)?;
        self.all.push(Some(pending));
        Some(slot)
    }

    /// The request under a number that was given out.
    #[inline]
    pub(super) fn get(&mut self, slot: u32) -> &mut Pending {
        self.all[slot as usize].as_mut().expect("a slot in use")
    }

    /// Takes a request out; its number may be given out again only after [`ServerSlots::free`].
    #[inline]
    pub(super) fn remove(&mut self, slot: u32) -> Pending {
        self.all[slot as usize].take().expect("a slot in use")
    }

    /// Nothing needs the number any longer.
    #[inline]
    pub(super) fn free(&mut self, slot: u32) {
        debug_assert!(self.all[slot as usize].is_none(), "a slot in use was freed");
        self.free.push(slot);
    }

    /// How many numbers are given out.
    pub(super) fn in_use(&self) -> usize {
        self.all.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nbd_wire::{CommandFlags, NbdCommand};

    #[test]
    fn numbers_are_used_again_and_never_beyond_the_last() {
        let request =
            NbdRequest { cookie: 0, command: NbdCommand::Flush, flags: CommandFlags::default(), offset: 0, length: 0 };
        let ticket = ConnectionTicket { client: 0, generation: 0 };
        let pending = Pending {
            ticket,
            export: 0,
            request,
            arrived: Nanos::ZERO,
            due: None,
            waits: 0,
            result: Ok(()),
            extents: Vec::new(),
        };
        let mut slots = ServerSlots::new(3);
        let take = |slots: &mut ServerSlots| slots.take(pending.clone());
        assert_eq!([(); 4].map(|()| take(&mut slots)), [Some(0), Some(1), Some(2), None]);
        slots.remove(1);
        assert_eq!((take(&mut slots), slots.in_use()), (None, 3), "not free before the bytes are sent");
        slots.free(1);
        assert_eq!((take(&mut slots), take(&mut slots)), (Some(1), None));
    }
}
