//! Runs of uniform operations.
//!
//! A job that reads or writes blocks of one size in one file, without rate, think time or syncs, only needs the next
//! offset. The length of such a run is known in advance: its operations are accounted for together when it ends. The
//! operation that ends a pass or a loop is the pattern's.

use units::{Nanos, OpKind};

use super::pattern::{Pattern, Phase};
use crate::decision::{Decision, Next};

/// A pattern of uniform operations, most of which are issued in runs.
#[derive(Debug)]
pub struct Fast {
    /// Operations left in the run.
    left: u64,
    /// Operations at the start of the run.
    granted: u64,
    /// Common fields of all decisions of the run. Copied whole: a decision that is assembled field by field and then
    /// moved costs more than everything else here, since the move has to wait for the small stores.
    template: Decision,
    pub(super) pattern: Pattern,
}

impl Fast {
    pub(super) const fn new(pattern: Pattern, template: Decision) -> Self {
        Self { left: 0, granted: 0, template, pattern }
    }

    #[inline(always)]
    pub(super) const fn is_running(&self) -> bool {
        self.left > 0
    }

    #[inline(always)]
    pub(super) fn next_in_run(&mut self, now: Nanos) -> Decision {
        self.left -= 1;
        let Pattern { files, rules, streams, sequence, .. } = &mut self.pattern;
        let Decision { kind, length, .. } = self.template;
        let offset = files[0].next_plain(rules, kind, length, &mut streams.places);
        // If fields of this copy had been used above, all would be copied one by one.
        let mut op = self.template;
        op.offset = offset;
        op.intended = now;
        op.sequence = *sequence;
        *sequence += 1;
        op
    }

    /// Returns the pattern's decision after a run, and begins the next run if possible.
    pub(super) fn next(&mut self, now: Nanos) -> Next {
        self.end_run();
        let next = self.pattern.next(now);
        if matches!(self.pattern.phase, Phase::Load) {
            self.begin_run();
        }
        next
    }

    fn begin_run(&mut self) {
        let Decision { length, kind, .. } = self.template;
        let Pattern { files, limits, unverified, writes, .. } = &self.pattern;
        let full_at = unverified.as_ref().filter(|_| kind == OpKind::Write).map_or(u64::MAX, |it| it.full_at);
        let most = files[0].plain_left(kind, length).min(limits.operations_of(length));
        self.granted = most.min(full_at.saturating_sub(*writes)).saturating_sub(1);
        self.left = self.granted;
        self.template.pass = files[0].pass;
    }

    pub(super) fn finish(&mut self) {
        self.end_run();
        self.pattern.finish();
    }

    /// Ends the run and accounts for its operations.
    fn end_run(&mut self) {
        let issued = self.granted - self.left;
        self.pattern.writes += self.run_writes();
        self.pattern.files[0].account(issued, self.template.length);
        self.pattern.limits.account(issued, self.template.length);
        (self.granted, self.left) = (0, 0);
    }

    /// Returns the number of writes of the run that were issued.
    pub(super) const fn run_writes(&self) -> u64 {
        if matches!(self.template.kind, OpKind::Write) { self.granted - self.left } else { 0 }
    }
}
