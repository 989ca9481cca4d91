//! Fast path for uniform operations.
//!
//! A job that reads or writes blocks of one size in one file, without rate, think time or syncs, only needs the next
//! offset. The length of such a run is known in advance: its operations are accounted for together when it ends. The
//! operation that ends a pass or a loop always takes the slow path.

use units::{Nanos, OpKind};

use super::Issuer;
use crate::decision::Decision;
use crate::mix::Mix;
use crate::offsets::OffsetRules;
use crate::pace::Pace;

/// A run of operations of one kind and length in the first file.
#[derive(Clone, Debug)]
pub(super) struct FastPath {
    /// Operations left in the run.
    left: u64,
    /// Operations at the start of the run.
    granted: u64,
    /// Common fields of all decisions of the run. Copied whole: a decision that is assembled field by field and then
    /// moved costs more than everything else here, since the move has to wait for the small stores.
    template: Decision,
    /// Whether the job has such runs.
    eligible: bool,
}

impl FastPath {
    /// `simple` means that nothing is issued between data operations and there is one file.
    pub(super) fn new(mix: Mix, pace: &Pace, rules: &OffsetRules, simple: bool) -> Self {
        let (kind, length) = match mix {
            Mix::Only(kind) => (kind, rules.plain_length(kind)),
            Mix::Reads(_) => (OpKind::Read, None),
        };
        let eligible = simple && length.is_some() && matches!(pace, Pace::Closed);
        Self { left: 0, granted: 0, template: Decision::of(kind, length.unwrap_or(0)), eligible }
    }

    const fn issued(&self) -> u64 {
        self.granted - self.left
    }

    /// Returns the number of writes that were issued and are not yet accounted for.
    pub(super) fn writes(&self) -> u64 {
        if self.template.kind == OpKind::Write { self.issued() } else { 0 }
    }

    #[inline]
    pub(super) const fn is_open(&self) -> bool {
        self.left > 0
    }
}

impl Issuer {
    #[inline(always)]
    pub(super) fn next_on_fast_path(&mut self, now: Nanos) -> Decision {
        self.fast_path.left -= 1;
        let mut op = self.fast_path.template;
        op.offset = self.files[0].next_plain(&self.rules, op.kind, op.length, &mut self.streams.places);
        op.intended = now;
        op.sequence = self.sequence;
        self.sequence += 1;
        op
    }

    /// Begins a run if possible.
    #[inline]
    pub(super) fn open_fast_path(&mut self) {
        if self.fast_path.eligible && !self.slow_path {
            self.begin_run();
        }
    }

    #[cold]
    fn begin_run(&mut self) {
        let Decision { length, kind, .. } = self.fast_path.template;
        let most = self.files[0].plain_left(kind, length).min(self.limits.operations_of(length));
        let most =
            if kind == OpKind::Write { most.min(self.backlog_full_at.saturating_sub(self.writes)) } else { most };
        self.fast_path.granted = most.saturating_sub(1);
        self.fast_path.left = self.fast_path.granted;
        self.fast_path.template.pass = self.files[0].pass;
        self.fast_path.template.checked = self.checks_reads;
    }

    /// Ends the run and accounts for its operations.
    #[inline]
    pub(super) fn close_fast_path(&mut self) {
        if self.fast_path.granted > 0 {
            self.end_run();
        }
    }

    #[cold]
    fn end_run(&mut self) {
        let issued = self.fast_path.issued();
        self.writes += self.fast_path.writes();
        self.files[0].account(issued, self.fast_path.template.length);
        self.limits.account(issued, self.fast_path.template.length);
        (self.fast_path.granted, self.fast_path.left) = (0, 0);
    }
}
