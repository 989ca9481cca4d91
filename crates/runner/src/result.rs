//! The result of one worker.

use drive::{Abandoned, Ending, FoundDepth, OperationFailure, Verification, WriteProgress};
use job::Job;
use meter::Summary;
use record::SteadyRecord;
use units::{CallKind, Nanos, Problem, ProblemCode};
use workload::ReplayOutcome;

#[derive(Debug, Default)]
pub struct WorkerResult {
    /// Index among all workers of the plan.
    pub number: usize,
    /// Measurements; empty if it could not begin.
    pub summary: Summary,
    /// How it ended; `None` if it could not begin.
    pub ending: Option<Ending>,
    /// Counts of written and verified blocks.
    pub verification: Verification,
    /// How far its writes had come; `None` unless it saves its state.
    pub write_progress: Option<WriteProgress>,
    /// How the replay of a trace went; `None` if the job replays none.
    pub replay: Option<ReplayOutcome>,
    /// Steady state of the workers whose results merge with this one's, if this is the first.
    pub steady: Option<SteadyRecord>,
    /// Queue depth to which a latency target has led; `None` if the job has none.
    pub found_depth: Option<FoundDepth>,
    /// Number of zones that it has reset (`zonemode=zbd`).
    pub zone_resets: u64,
    /// The first failed operations.
    pub failures: Vec<OperationFailure>,
    /// The reason why it could not begin, or an error other than a failed operation.
    pub error: Option<WorkerError>,
    /// Start time in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// The same instant on the clock of `job_start_clock_id`, in milliseconds; `None` without this option.
    pub started_clock_ms: Option<u64>,
    /// Time from the agreed start of its stage to its own; `None` if its stage began without an agreement.
    pub start_delay: Option<Nanos>,
    /// Thread ID.
    pub thread: u32,
    /// Operations and system calls that were pending when the run ended without them.
    pub pending: Vec<PendingOperation>,
}

/// An operation or system call that was pending when the run ended without it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PendingOperation {
    /// Kind of operation.
    pub kind: CallKind,
    /// Index among the worker's files.
    pub file: u32,
    /// Offset in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub length: u32,
    /// Time since it was issued.
    pub waited: Nanos,
}

impl From<&Abandoned> for PendingOperation {
    fn from(Abandoned { decision, waited }: &Abandoned) -> Self {
        let (file, offset, length) = (decision.file, decision.offset, decision.length);
        Self { kind: CallKind::Operation(decision.kind), file, offset, length, waited: *waited }
    }
}

/// Kinds of worker failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkerFailure {
    /// A block did not hold what was written.
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

    /// Returns the worker's error number; zero for none.
    #[must_use]
    pub fn errno(&self) -> i32 {
        match &self.error {
            Some(error) => error.errno,
            None if self.summary.first_error == 0 && !self.pending.is_empty() => ETIMEDOUT,
            None => self.summary.first_error,
        }
    }

    /// Returns the kind of failure; `None` if there was none or errors were to be ignored (`continue_on_error`). A bad
    /// block is a failed verification even if the run continued.
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

    /// Returns whether fio counts the job as failed.
    #[must_use]
    pub fn fails_as_in_fio(&self, job: &Job) -> bool {
        let ended = self.ending != Some(Ending::Failed);
        let failure = self.failure(job);
        let ignored = failure == Some(WorkerFailure::Verification) && ended && job.on_error.continue_on_verify;
        failure.is_some() && !ignored
    }
}

/// An error of a worker other than failed operations.
#[derive(Clone, Debug)]
pub struct WorkerError {
    pub problem: Problem,
    /// Error number of the system; `EINVAL` for errors that the system did not report.
    pub errno: i32,
}

const EINVAL: i32 = 22;
/// Error number of an operation that was never answered.
const ETIMEDOUT: i32 = 110;

/// An error that the system did not report.
impl From<Problem> for WorkerError {
    fn from(problem: Problem) -> Self {
        Self::new(problem, None)
    }
}

impl WorkerError {
    /// Creates an error with the system's error number, if it reported one.
    #[must_use]
    pub fn new(problem: Problem, errno: Option<i32>) -> Self {
        Self { problem, errno: errno.unwrap_or(EINVAL) }
    }

    /// Returns the error that ended a replay early, if there was one.
    #[must_use]
    pub fn of_replay(replay: Option<&ReplayOutcome>) -> Option<Self> {
        replay?.error.clone().map(Self::from)
    }

    /// Creates the error of a worker that could write in no zone of a zoned device.
    #[must_use]
    pub fn of_zones() -> Self {
        let what =
            "no zone could be opened for 5 s: zones outside the job's region use up the device's open zone limit";
        Problem::error(ProblemCode::Operation, what)
            .help("reset or finish them (`blkzone finish`), or give the job a region that includes them")
            .into()
    }
}
