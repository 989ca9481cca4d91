//! Event kinds, and how drives schedule theirs.

use units::Nanos;

use crate::event_heap::EventHeap;

/// Event kinds: request completed, request admitted to its drive, drive moved.
pub(crate) const DONE: u32 = 0;
pub(crate) const ADMITTED: u32 = 1;
pub(crate) const MOVED: u32 = 2;

/// Bits of an event below its kind.
pub(crate) const ID_BITS: u32 = 22;

pub(crate) struct DriveEvents<'a> {
    pub(crate) events: &'a mut EventHeap,
    pub(crate) volume: u32,
}

impl DriveEvents<'_> {
    /// Schedules the completion of a request.
    #[inline]
    pub(crate) fn done(&mut self, at: Nanos, id: u32) {
        self.events.push(at, DONE << ID_BITS | id);
    }

    /// Schedules the next event of the drive.
    #[inline]
    pub(crate) fn wake(&mut self, at: Nanos) {
        self.events.push(at, MOVED << ID_BITS | self.volume);
    }
}
