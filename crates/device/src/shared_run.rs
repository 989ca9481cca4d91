//! What the workers of a run share.

use std::path::PathBuf;
use std::sync::Arc;

use engine::gate::WriteGate;
use engine::{InCall, MonotonicClock};
use job::Dialect;
use meter::IntervalWidths;
use runner::SizedRamps;
use runner::policy::Flows;
use runner::{LogSink, RunCounters, Seeds, WorkerError};
use units::Nanos;

use crate::control_groups::ControlGroups;
use crate::debug::DebugLines;
use crate::file_locks::SharedLocks;
use crate::journals::RequestJournals;
use crate::layout::FailedFiles;
use crate::zones::SharedZones;

/// State shared by all workers.
pub(crate) struct SharedRun {
    pub(crate) clock: MonotonicClock,
    pub(crate) seeds: Seeds,
    /// Trims of regular files punch holes in the strict dialect and fail in fio's.
    pub(crate) dialect: Dialect,
    /// The nonce of blocks of jobs without `verify_nonce`; zero for none, as in fio's dialect.
    pub(crate) nonce: u32,
    pub(crate) counters: Arc<RunCounters>,
    /// Flows that workers share.
    pub(crate) flows: Flows,
    /// Locks of files.
    pub(crate) locks: SharedLocks,
    pub(crate) ramps: SizedRamps,
    /// What the requests to object stores report.
    pub(crate) journals: RequestJournals,
    /// The current system call of each worker.
    pub(crate) calls: Vec<Arc<InCall>>,
    /// Time after which workers yield, see [`crate::stages::yield_after`].
    pub(crate) yield_after: Option<Nanos>,
    /// Widths of the intervals of the series.
    pub(crate) intervals: IntervalWidths,
    /// Files that could not be created.
    pub(crate) failed_files: FailedFiles,
    /// Zones of the files of jobs with `zonemode=zbd`.
    pub(crate) zones: SharedZones,
    /// The gate that admits writes.
    pub(crate) gate: Arc<WriteGate>,
    pub(crate) logs: Arc<dyn LogSink + Send>,
    pub(crate) checkpoint: fn(&str),
    /// Directory of the states that jobs with `verify_state_load` read.
    pub(crate) aux_path: PathBuf,
    /// Prints what happens.
    pub(crate) debug: DebugLines,
    /// Control groups that jobs have created.
    pub(crate) control_groups: ControlGroups,
}

/// Returns the error of a worker whose target could not be used.
pub(crate) fn worker_error(error: &engine::Error) -> WorkerError {
    WorkerError::new((*error.problem).clone(), error.errno)
}
