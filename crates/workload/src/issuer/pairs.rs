//! Pairs of a trim and the write that follows it.

use std::collections::VecDeque;

use units::OpKind;

use crate::decision::Decision;

/// Trims whose writes are still to be issued, in order, with whether they have completed.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingTrims {
    pub(super) waiting: VecDeque<(Decision, bool)>,
}

impl PendingTrims {
    /// Returns the oldest trim if it has completed, so that its write can follow.
    pub(super) fn ready(&mut self) -> Option<Decision> {
        self.waiting.front().filter(|(_, completed)| *completed)?;
        self.waiting.pop_front().map(|(trim, _)| trim)
    }

    pub(super) fn completed(&mut self, op: &Decision) {
        if op.kind == OpKind::Trim
            && let Ok(place) = self.waiting.binary_search_by_key(&op.sequence, |(trim, _)| trim.sequence)
        {
            self.waiting[place].1 = true;
        }
    }
}
