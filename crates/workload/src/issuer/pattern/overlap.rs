//! Serializes writes to the same block, so that the last one is known: of two in flight, the device decides which is
//! last.

use std::collections::BTreeMap;

use units::OpKind;

use super::Pattern;
use crate::decision::{Decision, Next};

/// Numbered writes in flight that may overlap, and the one that waits for another.
#[derive(Clone, Debug, Default)]
pub(in crate::issuer) struct OverlappingWrites {
    /// End and number of each write in flight, by file and start. None overlaps another.
    in_flight: BTreeMap<(u32, u64), (u64, u32)>,
    waiting: Option<Next>,
    /// Operations so far, modulo 2^32: writes that could be confused are never that far apart.
    number: u32,
}

impl OverlappingWrites {
    /// Returns the number of the next operation.
    pub(in crate::issuer) fn next_number(&mut self) -> u32 {
        self.number = self.number.wrapping_add(1);
        self.number
    }

    /// Reports whether a write overlaps one in flight. If not, adds it to those in flight.
    fn must_wait(&mut self, op: &Decision) -> bool {
        let end = op.offset + u64::from(op.length);
        let before = self.in_flight.range((op.file, 0)..(op.file, end)).next_back();
        if before.is_some_and(|(_, (before, _))| *before > op.offset) {
            return true;
        }
        self.in_flight.insert((op.file, op.offset), (end, op.pass));
        false
    }

    pub(in crate::issuer) fn completed(&mut self, op: &Decision) {
        let place = (op.file, op.offset);
        if self.in_flight.get(&place).is_some_and(|(_, number)| *number == op.pass) {
            self.in_flight.remove(&place);
        }
    }
}

impl Pattern {
    /// Returns the operation, or [`Next::Blocked`] if it is a write that must wait for one in flight.
    pub(in crate::issuer) fn hold_overlapping(&mut self, next: Next) -> Next {
        let Some(op) = next.operation().filter(|op| matches!(op.kind, OpKind::Write | OpKind::Trim)) else {
            return next;
        };
        let Some(order) = self.parts.as_mut().and_then(|parts| parts.order.as_mut()) else { return next };
        if order.must_wait(op) {
            order.waiting = Some(next);
            return Next::Blocked;
        }
        next
    }

    /// Returns the write that waits, if there is one, or [`Next::Blocked`] if it must wait on.
    pub(in crate::issuer) fn held(&mut self) -> Option<Next> {
        let waiting = self.parts.as_mut()?.order.as_mut()?.waiting.take()?;
        Some(self.hold_overlapping(waiting))
    }
}
