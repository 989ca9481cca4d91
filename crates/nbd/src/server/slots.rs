//! Requests in flight.

use units::Nanos;

use nbd_wire::{Errno, Extent, NbdRequest};

/// Identifies one of the successive connections with the same index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConnectionTicket {
    /// Index in the list of clients.
    pub client: u32,
    /// Number of earlier connections with this index.
    pub generation: u32,
}

/// A request that has not been answered.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    /// Connection that sent it.
    pub ticket: ConnectionTicket,
    /// Index of the export.
    pub export: u32,
    pub request: NbdRequest,
    pub arrived: Nanos,
    /// When the model wanted it answered.
    pub due: Option<Nanos>,
    /// Number of outstanding completions: the store's, the model's, a stall's.
    pub waits: u8,
    /// Result so far.
    pub result: Result<(), SlotError>,
    /// Extents found by a block status request.
    pub extents: Vec<Extent>,
}

impl Pending {
    /// Records a completion; returns whether it was the last.
    #[inline]
    pub(super) fn one_less(&mut self) -> bool {
        self.waits -= 1;
        self.waits == 0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SlotError {
    /// Error number for the client.
    pub errno: Errno,
    /// Explanation for the user.
    pub why: &'static str,
}

impl From<Errno> for SlotError {
    fn from(errno: Errno) -> Self {
        Self { errno, why: "" }
    }
}

/// Slots of requests, reused as soon as they are free.
#[derive(Debug)]
pub(super) struct ServerSlots {
    all: Vec<Option<Pending>>,
    free: Vec<u32>,
    most: u32,
}

impl ServerSlots {
    pub(super) fn new(most: u32) -> Self {
        Self { all: Vec::new(), free: Vec::new(), most }
    }

    /// Stores a request; `None` if all slots are in use.
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

    #[inline]
    pub(super) fn get(&mut self, slot: u32) -> &mut Pending {
        self.all[slot as usize].as_mut().expect("a slot in use")
    }

    /// Removes a request. Its slot is reused only after [`ServerSlots::free`].
    #[inline]
    pub(super) fn remove(&mut self, slot: u32) -> Pending {
        self.all[slot as usize].take().expect("a slot in use")
    }

    #[inline]
    pub(super) fn free(&mut self, slot: u32) {
        debug_assert!(self.all[slot as usize].is_none(), "a slot in use was freed");
        self.free.push(slot);
    }

    pub(super) fn in_use(&self) -> usize {
        self.all.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nbd_wire::{CommandFlags, NbdCommand};

    #[test]
    fn slots_are_reused_and_limited() {
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
        assert_eq!((take(&mut slots), slots.in_use()), (None, 3), "in use until the data is sent");
        slots.free(1);
        assert_eq!((take(&mut slots), take(&mut slots)), (Some(1), None));
    }
}
