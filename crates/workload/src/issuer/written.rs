//! Checks what an earlier run had written, by the state that it saved.

use std::collections::VecDeque;

use job::Direction;

use super::pattern::{Parts, Pattern, Phase};
use super::read_back::ReadBack;
use crate::decision::{Decision, Next};
use crate::verify::{LatestWrites, VerifyState, WriteOrigin};

/// Maximum number of writes of an earlier run whose last one per block is determined, for its memory.
const EXACT_WRITES_MAX: u64 = 1 << 24;

/// What an earlier job had written, and the number of checked reads so far.
#[derive(Clone, Debug)]
pub(super) struct WrittenBefore {
    state: VerifyState,
    reads: u64,
}

impl Pattern {
    /// Ends the job at the first checked read of what `state` does not show as written.
    pub(super) fn check_only_written(&mut self, state: VerifyState) {
        let parts = self.parts.get_or_insert_with(|| Box::new(Parts::default()));
        parts.written = Some(WrittenBefore { state, reads: 0 });
    }

    /// Reports whether this read is of a block that the earlier job may not have written, which ends the job.
    pub(super) fn is_beyond_written(&mut self, next: &Next) -> bool {
        let written = self.parts.as_mut().and_then(|parts| parts.written.as_mut());
        let (Some(op), Some(written)) = (next.operation(), written) else { return false };
        if !op.checked || written.state.had_written(written.reads, op) {
            written.reads += u64::from(op.checked);
            return false;
        }
        self.completed += 1;
        self.limits.stop();
        self.phase = Phase::Done;
        true
    }
}

impl ReadBack {
    /// Returns what reads back the writes of an earlier run of this job, by the state that it saved: each block must be
    /// of the last write to it. Writes that may have been in flight are not required. Returns `None` if the writes are
    /// not those of this job.
    pub(super) fn of_earlier_run(&self, state: &VerifyState, origin: WriteOrigin) -> Option<Self> {
        let data = &self.pattern.data;
        let is_paired = data.inputs.job.pattern.direction == Direction::TrimWrite;
        let is_large = state.issued > EXACT_WRITES_MAX;
        if is_paired || is_large || origin.seed != data.write_origin().seed {
            return None;
        }
        let mut pattern = self.pattern.clone();
        let may_overlap = pattern.rules.may_overlap();
        let verifier = pattern.data.verifier.as_mut()?;
        verifier.set_nonce(origin.nonce);
        verifier.numbered = may_overlap && verifier.shows_writes();
        let order = verifier.numbered.then(Default::default);
        pattern.parts = Parts { order, ..pattern.parts.map_or_else(Parts::default, |parts| *parts) }.boxed();
        let mut reader = Self::new(pattern, state.issued);
        let verifier = reader.pattern.data.verifier.as_ref()?;
        let (mut latest, mut issued) = (LatestWrites::default(), 0);
        let (mut recent, depth) = (VecDeque::new(), state.depth.max(1) as usize);
        reader.for_each_read(|op| {
            match &state.synced {
                // A later write that no sync covers may have replaced the block or not.
                synced if state.synced_only && !synced.as_ref().is_some_and(|it| it.covers(issued, op)) => {
                    verifier.doubt(&mut latest, op);
                }
                _ => drop(verifier.record(&mut latest, op)),
            }
            issued += 1;
            if recent.len() == depth {
                recent.pop_front();
            }
            recent.push_back(*op);
        });
        if issued < state.issued {
            return None;
        }
        let is_pending = |op: &&Decision| !state.completed.contains(&(u64::from(op.file), op.offset));
        for op in recent.iter().filter(|_| !state.synced_only).filter(is_pending) {
            verifier.doubt(&mut latest, op);
        }
        reader.pattern.data.verifier.as_mut()?.expect_exactly(latest);
        Some(reader)
    }
}
