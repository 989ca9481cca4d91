//! Checks what an earlier run had written, by the state that it saved.

use std::collections::VecDeque;

use job::Direction;
use units::Nanos;

use super::replay::Replay;
use super::{Issuer, IssuerPhase};
use crate::decision::{Decision, Next};
use crate::verify::{LatestWrites, Verifier, VerifyState, WriteOrigin};

/// Maximum number of writes of an earlier run whose last one per block is determined, for its memory.
const EXACT_WRITES_MAX: u64 = 1 << 24;

/// What an earlier job had written, and the number of checked reads so far.
#[derive(Clone, Debug)]
pub(super) struct WrittenBefore {
    state: VerifyState,
    reads: u64,
}

impl Issuer {
    /// Ends the reads of a job that only checks where `state` shows that no write had completed.
    ///
    /// Where `state` is of this job, by Fathom and with the same seed, `verify_only` also requires that each block is of
    /// the last write to it.
    pub fn check_only_written(&mut self, state: VerifyState) {
        if state.origin.is_some_and(|origin| self.expect_last_writes(&state, origin)) {
            return;
        }
        if self.replay.is_some() || self.checks_reads {
            (self.written, self.slow_path) = (Some(Box::new(WrittenBefore { state, reads: 0 })), true);
        }
    }

    /// Returns what the decisions and blocks of this issuer depend on beside its job.
    #[must_use]
    pub fn write_origin(&self) -> WriteOrigin {
        WriteOrigin { seed: self.effective_seed(), nonce: self.verifier.as_ref().map_or(0, Verifier::nonce_or_none) }
    }

    fn effective_seed(&self) -> u64 {
        self.origin.job.pattern.randseed.unwrap_or(self.origin.seed)
    }

    /// Reports whether this read is of a block that the earlier job may not have written, which ends the job.
    pub(super) fn is_beyond_written(&mut self, next: &Next) -> bool {
        let (Next::Issue(op) | Next::IssueAnew(op), Some(written)) = (next, &mut self.written) else { return false };
        if !op.checked || written.state.had_written(written.reads, op) {
            written.reads += u64::from(op.checked);
            return false;
        }
        self.completed += 1;
        self.limits.stop();
        (self.phase, self.replay) =
            (IssuerPhase::Done, self.replay.map(|replay| Replay { left: 0, reads: 0, ..replay }));
        true
    }

    /// Reads back the writes of an earlier run of this job, by the state that it saved: each block must be of the last
    /// write to it. Writes that may have been in flight are not required. Returns false if the writes are not those of
    /// this job.
    fn expect_last_writes(&mut self, state: &VerifyState, origin: WriteOrigin) -> bool {
        let is_paired = self.origin.job.pattern.direction == Direction::TrimWrite;
        let is_large = state.issued > EXACT_WRITES_MAX;
        if self.replay.is_none() || is_paired || is_large || origin.seed != self.effective_seed() {
            return false;
        }
        let mut reader = self.clone();
        let Some(verifier) = &mut reader.verifier else { return false };
        verifier.set_nonce(origin.nonce);
        verifier.numbered = self.rules.may_overlap() && verifier.shows_writes();
        reader.order = verifier.numbered.then(Box::default);
        reader.replay(state.issued);
        let (mut latest, mut issued, mut recent) = (LatestWrites::default(), 0, VecDeque::new());
        let (mut writer, depth) = (reader.clone(), state.depth.max(1) as usize);
        let Some(verifier) = &mut reader.verifier else { return false };
        loop {
            match writer.replayed(Nanos::ZERO) {
                Next::Issue(op) | Next::IssueAnew(op) => {
                    match &state.synced {
                        // A later write that no sync covers may have replaced the block or not.
                        synced if state.synced_only && !synced.as_ref().is_some_and(|it| it.covers(issued, &op)) => {
                            verifier.doubt(&mut latest, &op);
                        }
                        _ => drop(verifier.record(&mut latest, &op)),
                    }
                    issued += 1;
                    if recent.len() == depth {
                        recent.pop_front();
                    }
                    recent.push_back(op);
                }
                Next::Close(_) | Next::Renew(_) | Next::Spin(_) | Next::Command(_) => {}
                Next::Until(_) | Next::Blocked | Next::Done => break,
            }
        }
        if issued < state.issued {
            return false;
        }
        let is_pending = |op: &&Decision| !state.completed.contains(&(u64::from(op.file), op.offset));
        for op in recent.iter().filter(|_| !state.synced_only).filter(is_pending) {
            verifier.doubt(&mut latest, op);
        }
        verifier.expect_exactly(latest);
        *self = reader;
        true
    }
}
