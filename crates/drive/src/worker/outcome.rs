//! What is known of a worker after its end.

use workload::{Issuer, ReplayOutcome};

use super::{Checks, DriveWorker};
use crate::outcome::{Abandoned, Ending, OperationFailure, Verification};
use crate::recent::WriteProgress;
use crate::rules::FoundDepth;

impl DriveWorker {
    /// Returns the first failures in chronological order.
    #[must_use]
    pub fn failures(&self) -> &[OperationFailure] {
        &self.failures
    }

    /// Returns the operations that had not completed at [`crate::Stop::abandon`]; the target still has them.
    #[must_use]
    pub fn abandoned(&self) -> &[Abandoned] {
        &self.abandoned
    }

    /// Returns why the worker ended; `None` while it runs.
    #[must_use]
    pub fn ending(&self) -> Option<Ending> {
        if self.ended { Some(self.ending.unwrap_or(Ending::Complete)) } else { None }
    }

    /// Returns how the replay of a trace has gone so far; `None` if the worker replays none.
    #[must_use]
    pub fn replay_outcome(&self) -> Option<ReplayOutcome> {
        self.issuer.replay_outcome()
    }

    /// Returns the verification results up to now.
    #[must_use]
    pub fn verification(&self) -> Verification {
        let Checks { results, replayed, failed_writes, .. } = &*self.checks;
        let written = self.writer().writes().saturating_sub(*replayed) + results.written;
        Verification { written: written.saturating_sub(*failed_writes), nonce: self.writer().nonce(), ..*results }
    }

    /// Returns the issuer of writes, also while they are read back.
    fn writer(&self) -> &Issuer {
        self.checks.writer.as_ref().unwrap_or(&self.issuer)
    }

    /// Reports whether the worker ended early, because no zone that it may write became free.
    #[must_use]
    pub fn waited_in_vain(&self) -> bool {
        self.writer().waited_in_vain()
    }

    /// Returns the number of zones that the worker has reset.
    #[must_use]
    pub fn zone_resets(&self) -> u64 {
        self.writer().zone_resets()
    }

    /// Returns how far the writes have come; `None` without [`crate::Policy::keep_progress`].
    #[must_use]
    pub fn write_progress(&self) -> Option<WriteProgress> {
        let recent = self.checks.recent.as_ref()?;
        let (completed, synced) = (recent.all(), recent.synced());
        let writer = self.writer();
        Some(WriteProgress { origin: writer.write_origin(), issued: writer.writes(), completed, synced })
    }

    /// Returns the depth to which a latency target has led; `None` if the job has none.
    #[must_use]
    pub fn found_depth(&self) -> Option<FoundDepth> {
        self.restraint.as_ref()?.found_depth()
    }
}
