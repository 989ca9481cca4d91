//! The outcome of a worker: why it ended, failures, verification.

use units::Nanos;
use workload::{Decision, Mismatch};

/// `EIO`: what a transfer that moves nothing is taken for.
pub(crate) const EIO: i32 = 5;
/// `EILSEQ`: fio's error number for a block that is not what was written.
const EILSEQ: i32 = 84;

/// Reason for the end of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It did all it was asked to do.
    Complete,
    /// Its runtime was over.
    Runtime,
    /// It was stopped from outside.
    Stopped,
    /// An operation failed.
    Failed,
}

/// An operation that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationFailure {
    /// What was decided.
    pub decision: Decision,
    /// What went wrong.
    pub cause: FailureCause,
    /// The bytes of a damaged block, where [`crate::Policy::keep_damaged`] asks for it.
    pub damaged: Option<Damaged>,
}

/// An operation that was still in flight when its worker was told not to wait any longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abandoned {
    /// What was decided.
    pub decision: Decision,
    /// How long it had been in flight.
    pub waited: Nanos,
}

/// A block that is not what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// What was read.
    pub found: Vec<u8>,
    /// What this job would have written there.
    pub expected: Vec<u8>,
}

/// Cause of a failed operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailureCause {
    /// The device answered with this error number.
    Errno(i32),
    /// The transfer ended before the operation did: the end of the file or device was reached.
    EndOfFile,
    /// What was read is not what was written.
    Mismatch(Mismatch),
}

impl FailureCause {
    /// The error number that stands for it in results.
    #[must_use]
    pub const fn errno(&self) -> i32 {
        match self {
            Self::Errno(errno) => *errno,
            Self::EndOfFile => EIO,
            Self::Mismatch(_) => EILSEQ,
        }
    }
}

/// Verification results of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// Blocks written: one for each write that did not fail. Of writes to the same block before it was read back one, once
    /// it is read back.
    pub written: u64,
    /// Blocks read back and compared.
    pub checked: u64,
    /// Blocks read back of which it is not known whether this worker wrote them last: others write there as well.
    pub overwritten: u64,
    /// Blocks that were not what was written.
    pub mismatches: u64,
    /// Some may have been read back from a cache that could not be emptied.
    pub cached: bool,
    /// The nonce in their headers, if they have any.
    pub nonce: Option<u32>,
}
