//! Failed operations, and operations that are submitted again.

use target::{Completion, Target};
use units::{Nanos, OpKind};
use workload::{Checked, Decision};

use super::{DriveWorker, op};
use crate::outcome::{Damaged, EILSEQ, EIO, Ending, FailureCause, OperationFailure};
use crate::slots::Flight;

/// `EAGAIN`: the operation is submitted again.
const EAGAIN: i32 = 11;
/// `EINTR`: likewise.
pub(super) const EINTR: i32 = 4;
/// `ENOSPC` and `EDQUOT`: the filesystem is full, or the user's share of it.
const ENOSPC: i32 = 28;
const EDQUOT: i32 = 122;
/// Time for which a read that another worker's write may have torn is repeated. A worker that is not scheduled may
/// leave half a block in a cache. A block that still differs after this time is damaged.
const TORN_MAX: Nanos = Nanos::from_millis(500);
/// Number of damaged blocks after which reads are no longer repeated.
const NOT_TORN_MAX: u32 = 8;
/// Maximum number of failures kept in full; the others are only counted.
const FAILURES_MAX: usize = 16;

impl DriveWorker {
    /// Verifies the data of a read. Returns true if a write of another worker may have torn it, so that it is read
    /// again.
    pub(super) fn verify_or_retry<T: Target>(
        &mut self,
        target: &mut T,
        completion: &Completion,
        flight: &Flight,
    ) -> bool {
        let (tag, decision) = (completion.tag, &flight.decision);
        let Some(buffer) = target.buffer(tag) else { return false };
        let Some(block) = buffer.get(..decision.length as usize) else { return false };
        let checks = &mut *self.checks;
        let mismatch = match self.issuer.check(decision, block) {
            Ok(sound) => {
                checks.results.checked += u64::from(sound != Checked::Overwritten);
                checks.results.headers_only += u64::from(sound == Checked::HeaderOnly);
                checks.results.overwritten += u64::from(sound == Checked::Overwritten);
                return false;
            }
            Err(mismatch) => mismatch,
        };
        let may_be_torn = mismatch.may_be_torn() && self.issuer.is_shared(decision.file) && !self.is_halted();
        let checks = &mut *self.checks;
        if may_be_torn && checks.not_torn < NOT_TORN_MAX {
            if completion.completed.since(flight.started) < TORN_MAX {
                self.slots.begin_again(tag);
                self.retries.push(tag);
                return true;
            }
            checks.not_torn += 1;
        }
        checks.results.checked += 1;
        checks.results.mismatches += 1;
        let damaged = self.policy.keep_damaged.then(|| {
            let mut expected = vec![0; block.len()];
            self.issuer.fill(decision, &mut expected);
            let start = (mismatch.block - decision.offset) as usize;
            let span = start..start + mismatch.length as usize;
            Damaged { found: block[span.clone()].to_vec(), expected: expected[span].to_vec() }
        });
        self.fail(*decision, FailureCause::Mismatch(mismatch), damaged);
        false
    }

    /// Handles any transfer that is not complete.
    #[cold]
    pub(super) fn finish_or_repeat<T: Target>(&mut self, target: &mut T, completion: &Completion) {
        let Some(flight) = self.slots.get(completion.tag).copied() else { return };
        match completion.result {
            Completion::IDLE if self.ending.is_none() => {
                return target.submit(op(completion.tag, &flight.decision, flight.moved));
            }
            Completion::IDLE => {}
            Completion::ENDED => {
                if self.ending.is_none() {
                    self.ending = Some(Ending::Complete);
                    self.end_runtime();
                }
            }
            _ => return self.finish_incomplete(completion),
        }
        self.issuer.complete(&flight.decision, completion.completed);
        self.slots.release(completion.tag, completion.completed);
    }

    /// Handles a short transfer, an error, or a request to try again.
    #[cold]
    pub(super) fn finish_incomplete(&mut self, completion: &Completion) {
        let Some(flight) = self.slots.get_mut(completion.tag) else { return };
        flight.submitted = flight.submitted.min(completion.submitted);
        let decision = flight.decision;
        let cause = match completion.result {
            result if result > 0 => {
                if flight.moved == 0 {
                    self.meter.record_short(decision.kind.data_kind());
                }
                flight.moved += (result as u32).min(decision.length - flight.moved);
                self.retries.push(completion.tag);
                return;
            }
            0 => FailureCause::EndOfFile,
            result if result == -EINTR || (result == -EAGAIN && !self.policy.fails_when_blocked) => {
                self.retries.push(completion.tag);
                return;
            }
            result => FailureCause::Errno(result.saturating_neg()),
        };
        if decision.checked && self.policy.compares && cause.errno() == EILSEQ {
            self.checks.results.checked += 1;
            self.checks.results.mismatches += 1;
        }
        self.fail(decision, cause, None);
        self.issuer.note_failure(&decision);
        self.issuer.complete(&decision, completion.completed);
        self.slots.release(completion.tag, completion.completed);
    }

    pub(super) fn fail(&mut self, decision: Decision, cause: FailureCause, damaged: Option<Damaged>) {
        if self.policy.ends_when_full && decision.kind == OpKind::Write && matches!(cause.errno(), ENOSPC | EDQUOT) {
            self.checks.failed_writes += 1;
            if self.ending.is_none() {
                self.ending = Some(Ending::Complete);
                self.end_runtime();
            }
            return;
        }
        let is_of_blocks = match cause {
            // It was to be submitted again.
            FailureCause::Errno(EAGAIN) => false,
            FailureCause::Errno(_) | FailureCause::EndOfFile => decision.kind.moves_data(),
            _ => false,
        };
        if is_of_blocks {
            self.meter.record_blocks(decision.kind.data_kind(), decision.offset, decision.length, false);
        }
        let on_error = &self.policy.on_error;
        let ignored = match (&cause, decision.kind) {
            (FailureCause::Mismatch(_), _) => &on_error.ignored[2],
            (_, OpKind::Read) => &on_error.ignored[0],
            _ => &on_error.ignored[1],
        };
        let goes_on = match (&cause, decision.kind) {
            _ if ignored.contains(&cause.errno()) => true,
            // As fio's HOWTO says of `verify_fatal`; fio 3.33 stops at the first bad block without it too. Exit code,
            // error number and, with `continue_on_error=verify`, the count of errors are fio's.
            (FailureCause::Mismatch(_), _) => on_error.continue_on_verify || !self.policy.verify_fatal,
            (FailureCause::TooSlow { .. } | FailureCause::BelowRate { .. }, _) => false,
            // As in fio, only errors of the medium can be tolerated; a full file system or an invalid request is
            // permanent.
            _ if cause.errno() != EIO => false,
            (_, OpKind::Read) => on_error.continue_on_read,
            _ => on_error.continue_on_write,
        };
        self.meter.record_error(cause.errno());
        let is_unwritten = matches!(cause, FailureCause::Errno(_) | FailureCause::EndOfFile);
        self.checks.failed_writes += u64::from(decision.kind == OpKind::Write && is_unwritten);
        if !goes_on {
            self.ending = Some(Ending::Failed);
        }
        if self.failures.len() < FAILURES_MAX {
            self.failures.push(OperationFailure { detail: None, decision, cause, damaged });
        }
    }

    #[inline]
    pub(super) fn submit_retries<T: Target>(&mut self, target: &mut T) {
        if !self.retries.is_empty() {
            self.submit_all_retries(target);
        }
    }

    #[cold]
    fn submit_all_retries<T: Target>(&mut self, target: &mut T) {
        while let Some(tag) = self.retries.pop() {
            if let Some(flight) = self.slots.get(tag).copied() {
                self.prioritize(target, &flight.decision);
                if flight.decision.kind == OpKind::Read {
                    self.compare(target, tag, &flight.decision);
                }
                target.submit(op(tag, &flight.decision, flight.moved));
            }
        }
    }

    /// Counts all operations that would be submitted again as failed, because the worker is ending.
    pub(super) fn fail_retries(&mut self, now: Nanos) {
        while let Some(tag) = self.retries.pop() {
            if let Some(flight) = self.slots.get_mut(tag) {
                let decision = flight.decision;
                self.fail(decision, FailureCause::Errno(EAGAIN), None);
                self.slots.release(tag, now);
            }
        }
    }
}
