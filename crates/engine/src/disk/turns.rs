//! Serializes overlapping changes.
//!
//! A change that covers parts of sectors first reads them. Data that another change writes there between the read and
//! the write would be lost, so such a change has exclusive access to its sectors.

use std::collections::VecDeque;

/// Whole sectors that a change touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TurnSpan {
    pub(super) start: u64,
    pub(super) end: u64,
    /// Whether no other change may touch the sectors meanwhile.
    pub(super) alone: bool,
}

impl TurnSpan {
    fn disturbs(&self, other: &Self) -> bool {
        (self.alone || other.alone) && self.start < other.end && other.start < self.end
    }
}

/// Changes in progress and waiting, by slot.
#[derive(Debug, Default)]
pub(super) struct Turns {
    under_way: Vec<Option<TurnSpan>>,
    waiting: VecDeque<(u32, TurnSpan)>,
    /// Number of exclusive changes, in progress and waiting. It is mostly zero, and then nothing needs to be compared.
    alone: u32,
}

impl Turns {
    /// Reports whether a change may start. Otherwise it waits until [`Turns::next`] returns it.
    pub(super) fn ask(&mut self, slot: u32, span: TurnSpan) -> bool {
        let free = (self.alone == 0 && !span.alone) || self.is_free(&span, self.waiting.len());
        self.alone += u32::from(span.alone);
        if free {
            self.enter(slot, span);
        } else {
            self.waiting.push_back((slot, span));
        }
        free
    }

    /// Ends the change of a slot.
    pub(super) fn leave(&mut self, slot: u32) {
        let span = self.under_way.get_mut(slot as usize).and_then(Option::take);
        self.alone -= u32::from(span.is_some_and(|span| span.alone));
    }

    /// Returns a waiting change that may start now.
    pub(super) fn next(&mut self) -> Option<u32> {
        let at = (0..self.waiting.len()).find(|&at| self.is_free(&self.waiting[at].1, at))?;
        let (slot, span) = self.waiting.remove(at)?;
        self.enter(slot, span);
        Some(slot)
    }

    /// Reports whether a change conflicts with nothing in progress and none of the first `before` waiting changes.
    fn is_free(&self, span: &TurnSpan, before: usize) -> bool {
        let earlier = self.waiting.iter().take(before).map(|(_, waiting)| waiting);
        !self.under_way.iter().flatten().chain(earlier).any(|other| other.disturbs(span))
    }

    fn enter(&mut self, slot: u32, span: TurnSpan) {
        let slot = slot as usize;
        if self.under_way.len() <= slot {
            self.under_way.resize(slot + 1, None);
        }
        self.under_way[slot] = Some(span);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u64, end: u64, alone: bool) -> TurnSpan {
        TurnSpan { start, end, alone }
    }

    #[test]
    fn only_exclusive_changes_make_others_wait() {
        let mut turns = Turns::default();
        assert!(turns.ask(0, span(0, 1024, false)) && turns.ask(1, span(512, 2048, false)));
        assert!(!turns.ask(2, span(0, 512, true)), "slot 0 writes there");
        assert!(turns.ask(3, span(2048, 2560, true)));
        assert!(!turns.ask(4, span(2048, 4096, false)), "slot 3 reads before it writes");
        assert!(turns.ask(5, span(4096, 8192, false)));
        turns.leave(1);
        assert_eq!(turns.next(), None);
        turns.leave(0);
        assert_eq!((turns.next(), turns.next()), (Some(2), None));
        turns.leave(3);
        assert_eq!(turns.next(), Some(4));
        [2, 4, 5].iter().for_each(|&slot| turns.leave(slot));
        assert_eq!((turns.alone, turns.next()), (0, None));
    }

    #[test]
    fn waiting_changes_are_not_overtaken() {
        let mut turns = Turns::default();
        assert!(turns.ask(0, span(0, 512, false)));
        assert!(!turns.ask(1, span(0, 512, true)));
        assert!(!turns.ask(2, span(0, 512, false)), "slot 1 waits for the same sector and came first");
        turns.leave(0);
        assert_eq!((turns.next(), turns.next()), (Some(1), None));
    }
}
