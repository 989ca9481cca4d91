//! Checks what an earlier run had written, by the state that it saved.

use super::{Parts, Pattern, Phase};
use crate::decision::Next;
use crate::verify::VerifyState;

/// What an earlier job had written, and the number of checked reads so far.
#[derive(Clone, Debug)]
pub(in crate::issuer) struct WrittenBefore {
    state: VerifyState,
    reads: u64,
}

impl Pattern {
    /// Ends the job at the first checked read of what `state` does not show as written.
    pub(in crate::issuer) fn check_only_written(&mut self, state: VerifyState) {
        let parts = self.parts.get_or_insert_with(|| Box::new(Parts::default()));
        parts.written = Some(WrittenBefore { state, reads: 0 });
    }

    /// Reports whether this read is of a block that the earlier job may not have written, which ends the job.
    pub(in crate::issuer) fn is_beyond_written(&mut self, next: &Next) -> bool {
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
