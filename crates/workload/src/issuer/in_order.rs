//! Serializes writes to the same block, so that the last one is known.

use std::collections::BTreeMap;

use super::Issuer;
use crate::decision::{Decision, Next};
use units::OpKind;

/// Writes in flight in a job whose writes may overlap and are numbered, and the one that waits for another.
#[derive(Clone, Debug, Default)]
pub(super) struct OverlappingWrites {
    /// End and number of each, by file and start; none overlaps another.
    in_flight: BTreeMap<(u32, u64), (u64, u32)>,
    waiting: Option<Next>,
    /// Operations so far; modulo 2^32, which is far from any two writes that could be confused.
    number: u32,
}

impl OverlappingWrites {
    /// The number of the next operation.
    pub(super) fn next_number(&mut self) -> u32 {
        self.number = self.number.wrapping_add(1);
        self.number
    }

    /// Whether a write overlaps one in flight; otherwise it is in flight from now on.
    fn must_wait(&mut self, op: &Decision) -> bool {
        let end = op.offset + u64::from(op.length);
        let before = self.in_flight.range((op.file, 0)..(op.file, end)).next_back();
        if before.is_some_and(|(_, (before, _))| *before > op.offset) {
            return true;
        }
        self.in_flight.insert((op.file, op.offset), (end, op.pass));
        false
    }

    fn completed(&mut self, op: &Decision) {
        let place = (op.file, op.offset);
        if self.in_flight.get(&place).is_some_and(|(_, number)| *number == op.pass) {
            self.in_flight.remove(&place);
        }
    }
}

impl Issuer {
    /// The operation, unless it is a write that has to wait for one in flight.
    pub(super) fn in_order(&mut self, next: Next) -> Next {
        let (Next::Issue(op) | Next::IssueAnew(op)) = next else { return next };
        let Some(order) = self.order.as_mut().filter(|_| matches!(op.kind, OpKind::Write | OpKind::Trim)) else {
            return next;
        };
        if order.must_wait(&op) {
            order.waiting = Some(next);
            return Next::Blocked;
        }
        next
    }

    /// The write that had to wait, if there is one.
    pub(super) fn waiting_write(&mut self) -> Option<Next> {
        let waiting = self.order.as_mut()?.waiting.take()?;
        Some(self.in_order(waiting))
    }

    /// Has writes follow that wait for this operation. The trim of a pair is followed by its write to the same place.
    pub(super) fn ends_in_order(&mut self, op: &Decision) {
        let is_last = op.kind == OpKind::Write || (op.kind == OpKind::Trim && self.pairs.is_none());
        if let Some(order) = self.order.as_mut().filter(|_| is_last) {
            order.completed(op);
        }
    }
}
