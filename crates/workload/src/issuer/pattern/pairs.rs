//! Pairs of a trim and the write that follows it.

use std::collections::VecDeque;

use units::{Nanos, OpKind};

use super::Pattern;
use crate::decision::{Decision, Next};

/// Trims whose writes are still to be issued, in order, with whether they have completed.
#[derive(Clone, Debug, Default)]
pub(in crate::issuer) struct PendingTrims {
    pub(in crate::issuer) waiting: VecDeque<(Decision, bool)>,
}

impl PendingTrims {
    /// Returns the oldest trim if it has completed, so that its write can follow.
    fn ready(&mut self) -> Option<Decision> {
        self.waiting.front().filter(|(_, completed)| *completed)?;
        self.waiting.pop_front().map(|(trim, _)| trim)
    }

    pub(in crate::issuer) fn completed(&mut self, op: &Decision) {
        if op.kind == OpKind::Trim
            && let Ok(place) = self.waiting.binary_search_by_key(&op.sequence, |(trim, _)| trim.sequence)
        {
            self.waiting[place].1 = true;
        }
    }
}

impl Pattern {
    /// Returns the next write of a pair whose trim has completed.
    pub(in crate::issuer) fn due_write(&mut self, now: Nanos) -> Option<Next> {
        let parts = self.parts.as_mut()?;
        let trim = parts.pairs.as_mut()?.ready()?;
        let op = Decision { kind: OpKind::Write, sequence: self.sequence, intended: now, ..trim };
        self.sequence += 1;
        self.writes += 1;
        if let Some(trims) = &mut parts.trims {
            trims.written(&op);
        }
        self.retire_if_done(op.file);
        Some(Next::Issue(op))
    }
}
