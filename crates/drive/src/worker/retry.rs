//! Failed operations, and operations that are repeated.

use target::{Completion, Target};
use units::Nanos;
use units::OpKind;
use workload::{Checked, Decision};

use super::{DriveWorker, direction, op};
use crate::outcome::{Damaged, EIO, Ending, FailureCause, OperationFailure};
use crate::slots::Flight;

/// `EAGAIN`: the device asks to be asked again.
const EAGAIN: i32 = 11;
/// `EINTR`: likewise.
pub(super) const EINTR: i32 = 4;
/// A read that another worker's write may have torn is repeated for so long: a worker that is not running may leave half a
/// block in a cache. What still does not hold is damaged.
const TORN_MAX: Nanos = Nanos::from_millis(500);
/// After so many damaged blocks, reads are not repeated.
const NOT_TORN_MAX: u32 = 8;
/// At most this many failures are kept in full; the others are counted.
const FAILURES_MAX: usize = 16;

impl DriveWorker {
    /// Checks what was read. Returns whether it was torn by a write of another worker and is read again.
    pub(super) fn is_to_be_read_again<T: Target>(
        &mut self,
        target: &mut T,
        completion: &Completion,
        flight: &Flight,
    ) -> bool {
        let (tag, decision) = (completion.tag, &flight.decision);
        let Some(buffer) = target.buffer(tag) else { return false };
        let Some(block) = buffer.get(..decision.length as usize) else { return false };
        let mismatch = match self.issuer.check(decision, block) {
            Ok(sound) => {
                self.checked += u64::from(sound == Checked::Good);
                self.overwritten += u64::from(sound == Checked::Overwritten);
                return false;
            }
            Err(mismatch) => mismatch,
        };
        let may_be_torn = mismatch.may_be_torn() && self.issuer.is_shared(decision.file) && !self.is_halted();
        if may_be_torn && self.not_torn < NOT_TORN_MAX {
            if completion.completed.since(flight.started) < TORN_MAX {
                self.slots.begin_again(tag);
                self.again.push(tag);
                return true;
            }
            self.not_torn += 1;
        }
        self.checked += 1;
        self.mismatches += 1;
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

    /// A short transfer, an error, or a request to try again.
    #[cold]
    pub(super) fn finish_oddly(&mut self, completion: &Completion) {
        let Some(flight) = self.slots.get_mut(completion.tag) else { return };
        flight.submitted = flight.submitted.min(completion.submitted);
        let decision = flight.decision;
        let cause = match completion.result {
            result if result > 0 => {
                if flight.moved == 0 {
                    self.meter.record_short(direction(decision.kind));
                }
                flight.moved += (result as u32).min(decision.length - flight.moved);
                self.again.push(completion.tag);
                return;
            }
            0 => FailureCause::EndOfFile,
            result if result == -EAGAIN || result == -EINTR => {
                self.again.push(completion.tag);
                return;
            }
            result => FailureCause::Errno(result.saturating_neg()),
        };
        self.fail(decision, cause, None);
        self.issuer.complete(&decision, completion.completed);
        self.slots.release(completion.tag, completion.completed);
    }

    pub(super) fn fail(&mut self, decision: Decision, cause: FailureCause, damaged: Option<Damaged>) {
        let on_error = &self.policy.on_error;
        let goes_on = match (&cause, decision.kind) {
            (FailureCause::Mismatch(_), _) => on_error.continue_on_verify || !self.policy.verify_fatal,
            // As in fio, only the medium's own errors can be gone past: a full filesystem or a wrong request stays so.
            _ if cause.errno() != EIO => false,
            (_, OpKind::Read) => on_error.continue_on_read,
            _ => on_error.continue_on_write,
        };
        self.meter.record_error(cause.errno());
        self.failed_writes += u64::from(decision.kind == OpKind::Write);
        if !goes_on {
            self.ending = Some(Ending::Failed);
        }
        if self.failures.len() < FAILURES_MAX {
            self.failures.push(OperationFailure { decision, cause, damaged });
        }
    }

    #[inline]
    pub(super) fn submit_again<T: Target>(&mut self, target: &mut T) {
        if !self.again.is_empty() {
            self.submit_all_again(target);
        }
    }

    #[cold]
    fn submit_all_again<T: Target>(&mut self, target: &mut T) {
        while let Some(tag) = self.again.pop() {
            if let Some(flight) = self.slots.get_mut(tag) {
                target.submit(op(tag, &flight.decision, flight.moved));
            }
        }
    }

    /// Counts as failed what would have to be submitted again: the worker is ending.
    pub(super) fn give_up_again(&mut self, now: Nanos) {
        while let Some(tag) = self.again.pop() {
            if let Some(flight) = self.slots.get_mut(tag) {
                let decision = flight.decision;
                self.fail(decision, FailureCause::Errno(EAGAIN), None);
                self.slots.release(tag, now);
            }
        }
    }
}
