//! The result of one worker.

use drive::{Abandoned, Ending, OperationFailure, Verification};
use job::Job;
use meter::Summary;
use record::StuckKind;
use units::Nanos;
use units::OpKind;

/// A worker at its end.
#[derive(Debug, Default)]
pub struct WorkerResult {
    /// Index among all workers of the plan.
    pub number: usize,
    /// What it measured; empty if it could not begin.
    pub summary: Summary,
    /// Why it ended; `None` if it could not begin.
    pub ending: Option<Ending>,
    /// What it wrote and verified.
    pub verification: Verification,
    /// Its first failed operations.
    pub failures: Vec<OperationFailure>,
    /// Why it could not begin, or what went wrong beside its operations.
    pub error: Option<WorkerError>,
    /// When it began, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// Its thread ID.
    pub thread: u32,
    /// Operations and system calls that had not returned when the run ended without them.
    pub pending: Vec<PendingOperation>,
}

/// An operation or system call that a target had not answered when the run ended without it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PendingOperation {
    /// What it is.
    pub kind: StuckKind,
    /// Index among the worker's files.
    pub file: u32,
    /// Offset in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub length: u32,
    /// How long it had been pending.
    pub waited: Nanos,
}

impl From<&Abandoned> for PendingOperation {
    fn from(Abandoned { decision, waited }: &Abandoned) -> Self {
        let kind = match decision.kind {
            OpKind::Read => StuckKind::Read,
            OpKind::Write => StuckKind::Write,
            OpKind::Trim => StuckKind::Trim,
            OpKind::Sync => StuckKind::Fsync,
            OpKind::DataSync => StuckKind::Fdatasync,
        };
        let (file, offset, length) = (decision.file, decision.offset, decision.length);
        Self { kind, file, offset, length, waited: *waited }
    }
}

/// Kinds of worker failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkerFailure {
    /// A block was not what had been written.
    Verification,
    /// An operation failed, a target did not answer, or the worker could not begin.
    Environment,
}

impl WorkerResult {
    /// Returns the result of a worker that could not begin.
    #[must_use]
    pub fn not_started(number: usize, error: WorkerError) -> Self {
        Self { number, error: Some(error), ..Self::default() }
    }

    /// Returns the error number of its result, zero for none.
    #[must_use]
    pub fn errno(&self) -> i32 {
        match &self.error {
            Some(error) => error.errno,
            None if self.summary.first_error == 0 && !self.pending.is_empty() => ETIMEDOUT,
            None => self.summary.first_error,
        }
    }

    /// Returns how it failed; `None` where all went well or errors were to be ignored (`continue_on_error`). A block that
    /// is not what was written is a failed verification however the run went on.
    #[must_use]
    pub fn failure(&self, job: &Job) -> Option<WorkerFailure> {
        if self.error.is_some() || !self.pending.is_empty() {
            return Some(WorkerFailure::Environment);
        }
        let is_damaged = job.verify.method.is_some() && self.verification.mismatches > 0;
        match self.ending {
            _ if is_damaged => Some(WorkerFailure::Verification),
            Some(Ending::Failed) => Some(WorkerFailure::Environment),
            _ => None,
        }
    }

    /// Returns whether fio counts its job among those that failed.
    #[must_use]
    pub fn fails_as_in_fio(&self, job: &Job) -> bool {
        let ended = self.ending != Some(Ending::Failed);
        let failure = self.failure(job);
        let ignored = failure == Some(WorkerFailure::Verification) && ended && job.on_error.continue_on_verify;
        failure.is_some() && !ignored
    }
}

/// Error of a worker beside failed operations.
#[derive(Clone, Debug)]
pub struct WorkerError {
    /// The problem and its remedy.
    pub text: String,
    /// The system's error number; `EINVAL` where the system was not asked.
    pub errno: i32,
}

const EINVAL: i32 = 22;
/// Stands in results for an operation that was never answered.
const ETIMEDOUT: i32 = 110;

impl WorkerError {
    /// Creates an error that the system did not report.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self::with_errno(text, None)
    }

    /// Creates an error that the system reported with a number, if it did.
    #[must_use]
    pub fn with_errno(text: impl Into<String>, errno: Option<i32>) -> Self {
        Self { text: text.into(), errno: errno.unwrap_or(EINVAL) }
    }
}
