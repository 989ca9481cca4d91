//! Serializes overlapping changes.
//!
//! A change that covers parts of sectors first reads them. Data that another change writes there between the read and
//! the write would be lost, so such a change has exclusive access to its sectors.

use std::collections::VecDeque;

/// Whole sectors that a change touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LockRange {
    pub(super) start: u64,
    pub(super) end: u64,
    /// Whether no other change may touch the sectors meanwhile.
    pub(super) exclusive: bool,
}

impl LockRange {
    fn conflicts_with(&self, other: &Self) -> bool {
        (self.exclusive || other.exclusive) && self.start < other.end && other.start < self.end
    }
}

/// Changes in progress and waiting, by slot.
#[derive(Debug, Default)]
pub(super) struct RangeLocks {
    held: Vec<Option<LockRange>>,
    waiting: VecDeque<(u32, LockRange)>,
    /// Number of exclusive changes, in progress and waiting. It is mostly zero, and then nothing needs to be compared.
    exclusive: u32,
}

impl RangeLocks {
    /// Reports whether a change may start. Otherwise it waits until [`RangeLocks::next_granted`] returns it.
    pub(super) fn try_lock(&mut self, slot: u32, span: LockRange) -> bool {
        let free = (self.exclusive == 0 && !span.exclusive) || self.is_free(&span, self.waiting.len());
        self.exclusive += u32::from(span.exclusive);
        if free {
            self.hold(slot, span);
        } else {
            self.waiting.push_back((slot, span));
        }
        free
    }

    /// Ends the change of a slot.
    pub(super) fn unlock(&mut self, slot: u32) {
        let span = self.held.get_mut(slot as usize).and_then(Option::take);
        self.exclusive -= u32::from(span.is_some_and(|span| span.exclusive));
    }

    /// Returns a waiting change that may start now.
    pub(super) fn next_granted(&mut self) -> Option<u32> {
        let at = (0..self.waiting.len()).find(|&at| self.is_free(&self.waiting[at].1, at))?;
        let (slot, span) = self.waiting.remove(at)?;
        self.hold(slot, span);
        Some(slot)
    }

    /// Reports whether a change conflicts with nothing in progress and none of the first `before` waiting changes.
    fn is_free(&self, span: &LockRange, before: usize) -> bool {
        let earlier = self.waiting.iter().take(before).map(|(_, waiting)| waiting);
        !self.held.iter().flatten().chain(earlier).any(|other| other.conflicts_with(span))
    }

    fn hold(&mut self, slot: u32, span: LockRange) {
        let slot = slot as usize;
        if self.held.len() <= slot {
            self.held.resize(slot + 1, None);
        }
        self.held[slot] = Some(span);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u64, end: u64, exclusive: bool) -> LockRange {
        LockRange { start, end, exclusive }
    }

    #[test]
    fn only_exclusive_changes_make_others_wait() {
        let mut range_locks = RangeLocks::default();
        assert!(range_locks.try_lock(0, span(0, 1024, false)) && range_locks.try_lock(1, span(512, 2048, false)));
        assert!(!range_locks.try_lock(2, span(0, 512, true)), "slot 0 writes there");
        assert!(range_locks.try_lock(3, span(2048, 2560, true)));
        assert!(!range_locks.try_lock(4, span(2048, 4096, false)), "slot 3 reads before it writes");
        assert!(range_locks.try_lock(5, span(4096, 8192, false)));
        range_locks.unlock(1);
        assert_eq!(range_locks.next_granted(), None);
        range_locks.unlock(0);
        assert_eq!((range_locks.next_granted(), range_locks.next_granted()), (Some(2), None));
        range_locks.unlock(3);
        assert_eq!(range_locks.next_granted(), Some(4));
        [2, 4, 5].iter().for_each(|&slot| range_locks.unlock(slot));
        assert_eq!((range_locks.exclusive, range_locks.next_granted()), (0, None));
    }

    #[test]
    fn waiting_changes_are_not_overtaken() {
        let mut range_locks = RangeLocks::default();
        assert!(range_locks.try_lock(0, span(0, 512, false)));
        assert!(!range_locks.try_lock(1, span(0, 512, true)));
        assert!(!range_locks.try_lock(2, span(0, 512, false)), "slot 1 waits for the same sector and came first");
        range_locks.unlock(0);
        assert_eq!((range_locks.next_granted(), range_locks.next_granted()), (Some(1), None));
    }
}
