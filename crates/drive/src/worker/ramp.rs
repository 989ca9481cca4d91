//! The end of a ramp.

use target::Completion;
use units::Nanos;

use super::DriveWorker;

impl DriveWorker {
    /// Postpones the end of the ramp, and with it that of the runtime, until the bytes of the ramp were transferred.
    pub(super) fn await_ramp_bytes(&mut self) {
        if self.policy.ramp_bytes.as_ref().is_some_and(|bytes| !bytes.is_over()) {
            (self.ramp_end, self.end) = (Nanos::MAX, Nanos::MAX);
        }
    }

    /// Begins to measure if the ramp was over before this completion, which is not yet recorded.
    #[cold]
    pub(super) fn check_ramp(&mut self, completion: &Completion) {
        if self.ramp_end == Nanos::MAX {
            self.count_ramp_bytes(completion);
        }
        if completion.completed < self.ramp_end || self.ramp_end == Nanos::MAX {
            return;
        }
        self.ramping = false;
        self.meter.begin(self.ramp_end);
    }

    /// Counts the bytes of a completion. Those of the last operation of the ramp are part of it.
    fn count_ramp_bytes(&mut self, completion: &Completion) {
        let Some(bytes) = &self.policy.ramp_bytes else { return };
        let moves_data = self.slots.get(completion.tag).is_some_and(|flight| flight.decision.kind.moves_data());
        let moved = if moves_data { u64::try_from(completion.result).unwrap_or(0) } else { 0 };
        let end = if bytes.is_over() {
            completion.completed
        } else if bytes.add(moved) {
            completion.completed + Nanos::new(1)
        } else {
            return;
        };
        self.ramp_end = end.max(self.start + self.policy.ramp);
        self.end = self.ramp_end + self.policy.runtime;
        if let Some(restraint) = &mut self.restraint {
            restraint.begin(self.ramp_end);
        }
    }
}
