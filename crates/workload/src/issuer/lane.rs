//! Fast path for repeated operations.
//!
//! A job that reads or writes blocks of one size in one file, with no rate, pause or sync, needs no more than the
//! next offset. How many operations such a stretch has is known beforehand: they are accounted for together when
//! it ends, and the operation that ends a pass or a loop always goes the long way.

use units::Nanos;

use super::Issuer;
use crate::decision::Decision;
use crate::mix::Mix;
use crate::offsets::OffsetRules;
use crate::pace::Pace;
use units::OpKind;

/// A stretch of operations of one kind and length in the first file.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    /// Operations left in the stretch.
    left: u64,
    /// Operations that the stretch had.
    granted: u64,
    /// What all decisions of the stretch have in common. Copied whole: a decision put together field by field and
    /// then moved costs more than everything else here, since the move has to wait for the small stores.
    like: Decision,
    /// The job is of the sort that has such stretches.
    possible: bool,
}

impl Lane {
    /// `simple`: nothing is issued between data operations, and there is one file.
    pub(super) fn new(mix: Mix, pace: &Pace, rules: &OffsetRules, simple: bool) -> Self {
        let (kind, length) = match mix {
            Mix::Only(kind) => (kind, rules.plain_length(kind)),
            Mix::Reads(_) => (OpKind::Read, None),
        };
        let possible = simple && length.is_some() && matches!(pace, Pace::Closed);
        let like = Decision {
            intended: Nanos::ZERO,
            offset: 0,
            sequence: 0,
            length: length.unwrap_or(0),
            file: 0,
            pass: 0,
            kind,
            checked: false,
            closing: false,
        };
        Self { left: 0, granted: 0, like, possible }
    }

    const fn issued(&self) -> u64 {
        self.granted - self.left
    }

    /// Writes that have been issued and not been accounted for.
    pub(super) fn writes(&self) -> u64 {
        if self.like.kind == OpKind::Write { self.issued() } else { 0 }
    }

    #[inline]
    pub(super) const fn is_open(&self) -> bool {
        self.left > 0
    }
}

impl Issuer {
    #[inline(always)]
    pub(super) fn next_in_lane(&mut self, now: Nanos) -> Decision {
        self.lane.left -= 1;
        let mut op = self.lane.like;
        op.offset = self.files[0].next_plain(&self.rules, op.kind, op.length, &mut self.streams.places);
        op.intended = now;
        op.sequence = self.sequence;
        self.sequence += 1;
        op
    }

    /// Begins a stretch if one is possible from here on.
    #[inline]
    pub(super) fn open_lane(&mut self) {
        if self.lane.possible && !self.attention {
            self.begin_stretch();
        }
    }

    #[cold]
    fn begin_stretch(&mut self) {
        let Decision { length, kind, .. } = self.lane.like;
        let most = self.files[0].plain_left(kind, length).min(self.limits.operations_of(length));
        self.lane.granted = most.saturating_sub(1);
        self.lane.left = self.lane.granted;
        self.lane.like.pass = self.files[0].pass;
        self.lane.like.checked = self.checks_reads;
    }

    /// Accounts for what was issued of the current stretch, and ends it.
    #[inline]
    pub(super) fn close_lane(&mut self) {
        if self.lane.granted > 0 {
            self.end_stretch();
        }
    }

    #[cold]
    fn end_stretch(&mut self) {
        let issued = self.lane.issued();
        self.writes += self.lane.writes();
        self.files[0].account(issued, self.lane.like.length);
        self.limits.account(issued, self.lane.like.length);
        (self.lane.granted, self.lane.left) = (0, 0);
    }
}
