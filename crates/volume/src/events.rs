//! Event kinds, and how drives schedule theirs.

use units::Nanos;

use crate::agenda::Agenda;

/// Event kinds: request done, request admitted to its drive, drive moved.
pub(crate) const DONE: u32 = 0;
pub(crate) const ADMITTED: u32 = 1;
pub(crate) const MOVED: u32 = 2;

/// Bits of an event below its kind.
pub(crate) const ID_BITS: u32 = 22;

/// Schedules events of a drive.
pub(crate) struct EventQueue<'a> {
    pub(crate) agenda: &'a mut Agenda,
    pub(crate) volume: u32,
}

impl EventQueue<'_> {
    /// A request is done.
    #[inline]
    pub(crate) fn done(&mut self, at: Nanos, id: u32) {
        self.agenda.push(at, DONE << ID_BITS | id);
    }

    /// The drive wants to be asked again.
    #[inline]
    pub(crate) fn wake(&mut self, at: Nanos) {
        self.agenda.push(at, MOVED << ID_BITS | self.volume);
    }
}
