//! The outcome of a worker: reason for its end, failures and verification.

use units::{Nanos, Problem};
use workload::{Decision, Mismatch};

/// `EIO`, also used for a transfer of no bytes.
pub(crate) const EIO: i32 = 5;
/// `EILSEQ`, fio's error number for a block that differs from what was written.
pub(crate) const EILSEQ: i32 = 84;
/// `ETIMEDOUT`, fio's error number for an operation that took too long.
const ETIMEDOUT: i32 = 110;

/// Reason for the end of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It completed all its work.
    Complete,
    /// Its runtime was over.
    Runtime,
    /// It was stopped from outside.
    Stopped,
    /// An operation failed.
    Failed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationFailure {
    /// What the target says about it, with a remedy, if it says more than the cause.
    pub detail: Option<Problem>,
    /// The issuer's decision.
    pub decision: Decision,
    pub cause: FailureCause,
    /// Content of a damaged block, if [`crate::Policy::keep_damaged`] is set.
    pub damaged: Option<Damaged>,
}

/// An operation that was still in flight when its worker was abandoned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abandoned {
    /// The issuer's decision.
    pub decision: Decision,
    /// Time for which it had been in flight.
    pub waited: Nanos,
}

/// A block that differs from what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// Bytes that were read.
    pub found: Vec<u8>,
    /// Bytes that this job would have written.
    pub expected: Vec<u8>,
}

/// Cause of a failed operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailureCause {
    /// The device reported this error number.
    Errno(i32),
    /// The transfer reached the end of the file or device.
    EndOfFile,
    /// The data differ from what was written.
    Mismatch(Mismatch),
    /// It took longer than the job permits.
    TooSlow {
        latency: Nanos,
        /// Maximum latency.
        most: Nanos,
    },
    /// The worker's rate fell below its floor. The decision is not that of an operation.
    BelowRate {
        /// The floor, per second.
        floor: u64,
        /// The rate, per second.
        measured: u64,
        /// Whether these are bytes or operations.
        is_bytes: bool,
    },
}

impl FailureCause {
    /// Returns the error number that represents the cause in results.
    #[must_use]
    pub const fn errno(&self) -> i32 {
        match self {
            Self::Errno(errno) => *errno,
            Self::EndOfFile | Self::BelowRate { .. } => EIO,
            Self::TooSlow { .. } => ETIMEDOUT,
            Self::Mismatch(_) => EILSEQ,
        }
    }
}

/// Verification results of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// Blocks written: one per successful write, but one for all writes to the same block before it was read back.
    pub written: u64,
    /// Blocks read back and compared.
    pub checked: u64,
    /// Checked blocks of which only the headers were compared.
    pub headers_only: u64,
    /// Blocks read back that another worker may have overwritten.
    pub overwritten: u64,
    /// Blocks that differed from what was written.
    pub mismatches: u64,
    /// Whether some blocks may have been read from a cache that could not be emptied.
    pub cached: bool,
    /// Nonce in the block headers, if there is one.
    pub nonce: Option<u32>,
}
