//! The run seam: what commands know of a run, wherever it happens.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use job::{Diagnostic, Plan, StatOptions};
use meter::{IntervalWidths, LogEntry};
use record::Run;
use units::Bytes;

use crate::{RunCounters, RunProgress, Seeds, WorkerPlan, WorkerResult};

/// Runs plans: on devices, or on modelled volumes.
pub trait Runner: Sync {
    /// Checks a plan, and resolves all that it names, without writing anything.
    ///
    /// # Errors
    ///
    /// All that is wrong with its jobs.
    fn prepare(&self, plan: &Plan, seeds: Seeds) -> Result<Box<dyn PreparedRun + '_>, Vec<Diagnostic>>;

    /// Checks a plan that runs after others have written what it reads: without what only the files of now decide.
    ///
    /// # Errors
    ///
    /// All that is wrong with its jobs.
    fn prepare_later(&self, plan: &Plan, seeds: Seeds) -> Result<Box<dyn PreparedRun + '_>, Vec<Diagnostic>> {
        self.prepare(plan, seeds)
    }
}

/// A plan that is checked and can begin.
pub trait PreparedRun {
    /// Returns the plan, with everything resolved.
    fn plan(&self) -> &Plan;

    /// Returns its workers.
    fn workers(&self) -> &[WorkerPlan];

    /// Returns why it must not begin, one line each.
    fn refusals(&self) -> &[String] {
        &[]
    }

    /// Returns what it would create or use.
    fn preview(&self) -> Preview<'_>;

    /// Runs the plan to its end and returns its record.
    ///
    /// # Errors
    ///
    /// When the run could not begin; nothing has been measured then.
    fn run(
        &self,
        options: &RunOptions,
        control: &dyn RunControl,
        observer: &mut dyn Observer,
    ) -> Result<CompletedRun, RunError>;
}

/// Options of a run beside its plan.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The command line, as the record repeats it.
    pub command_line: Vec<String>,
    /// Interval of status reports; `None` for reports on request alone.
    pub status_every: Option<Duration>,
    /// Widths of the intervals of which the record keeps a series.
    pub intervals: IntervalWidths,
    /// Burst credits of modelled volumes at the start.
    pub credits: CreditPolicy,
}

impl Default for RunOptions {
    fn default() -> Self {
        let (command_line, intervals) = (vec!["fathom".to_owned()], IntervalWidths::suited());
        Self { command_line, status_every: None, intervals, credits: CreditPolicy::default() }
    }
}

/// Burst credits of modelled volumes at the start of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CreditPolicy {
    /// As the volumes define them.
    #[default]
    AsDefined,
    /// None, so that the sustained performance is measured.
    Spent,
    /// Billionths of the maximum, by the name of the limit; others as the volumes define them.
    Left(std::collections::BTreeMap<String, u64>),
}

/// Files or volumes that a run would use.
#[derive(Clone, Debug)]
pub enum Preview<'a> {
    /// Files and devices of the host.
    Device {
        /// Files that would be created or extended.
        growths: &'a [FileGrowth],
    },
    /// Modelled volumes.
    Model {
        /// Volumes with what they are attached as.
        volumes: Vec<AttachedVolume>,
        /// For each job the machine and the memory of its page cache; `None` where it bypasses the cache.
        page_caches: Vec<Option<(String, Bytes)>>,
    },
}

/// A modelled volume as it is attached to a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachedVolume {
    /// The device, or the files on it.
    pub path: String,
    /// As the catalogue names it.
    pub name: String,
    /// For people.
    pub title: String,
    /// Its size.
    pub size: Bytes,
    /// Whether it has burst credits at the start.
    pub has_credits: bool,
}

/// A file that a run needs larger than it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileGrowth {
    /// The file.
    pub path: PathBuf,
    /// Size now, in bytes; `None` where it does not exist.
    pub from: Option<u64>,
    /// Size that the run needs, in bytes.
    pub to: u64,
    /// Whether the run writes it, not only its preparation.
    pub written: bool,
}

/// A run at its end.
#[derive(Debug)]
pub struct CompletedRun {
    /// Its record.
    pub run: Run,
    /// Its workers, in order.
    pub workers: Vec<WorkerResult>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
}

/// Reason why a run could not begin, with place and remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunError(pub String);

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RunError {}

/// Signals and deadlines from outside of a run.
pub trait RunControl: Sync {
    /// Returns the signal that asked for an end, if one has come.
    fn end(&self) -> Option<i32>;

    /// Returns whether operations in flight are no longer waited for.
    fn gives_up(&self) -> bool;

    /// Returns whether a second signal has come.
    fn is_urgent(&self) -> bool;

    /// Returns how long operations in flight are waited for after the runtime or a signal.
    fn grace(&self) -> Duration;

    /// Returns whether results so far were requested since the last call.
    fn take_status_request(&self) -> bool;

    /// Returns whether a target has not answered, so that no other run can begin.
    fn is_stuck(&self) -> bool {
        false
    }

    /// Returns the time since some fixed instant, for pacing progress in real time.
    fn elapsed(&self) -> Duration;
}

/// Receives layout, progress, status and notes of a run; the only way anything watches one.
pub trait Observer {
    /// Workers begin. Their counters can be read from any thread until the run ends and after.
    fn begin(&mut self, plan: &Plan, workers: &[WorkerPlan], counters: &Arc<RunCounters>) {
        let _ = (plan, workers, counters);
    }

    /// A worker has failed, or something else needs attention.
    fn note(&mut self, text: &str) {
        let _ = text;
    }

    /// A file is written before the run: bytes so far and in all.
    fn layout(&mut self, path: &Path, written: u64, total: u64) {
        let _ = (path, written, total);
    }

    /// Progress, a few times per second.
    fn progress(&mut self, progress: &RunProgress) {
        let _ = progress;
    }

    /// Results so far, on request.
    fn status(&mut self, run: &Run) {
        let _ = run;
    }
}

/// Observes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}

/// Creates the log files of workers (`write_lat_log` and the like).
pub trait LogSink: Sync {
    /// Creates the logs of a worker; `None` where its job asks for none. `number` counts workers from zero.
    ///
    /// # Errors
    ///
    /// The file that cannot be created, and why.
    fn create(&self, options: &StatOptions, number: usize) -> Result<Option<Box<dyn WorkerLog>>, String>;
}

/// The log files of one worker.
pub trait WorkerLog {
    /// Appends entries. A failure must not end the run: [`WorkerLog::finish`] reports it.
    fn write(&mut self, entries: &[LogEntry]);

    /// Ends the logs.
    ///
    /// # Errors
    ///
    /// The first failure.
    fn finish(self: Box<Self>) -> Result<(), String>;
}

impl FileGrowth {
    /// Describes what would be done to the file.
    #[must_use]
    pub fn description(&self) -> String {
        let (path, to) = (self.path.display(), Bytes::new(self.to));
        match self.from {
            None => format!("{path} would be created, with {to}"),
            Some(from) => format!("{path} would grow from {} to {to}", Bytes::new(from)),
        }
    }
}

/// Places where plans run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunPlace {
    /// On the files and devices of this host.
    Device,
    /// On modelled volumes, in virtual time.
    Virtual,
    /// On modelled volumes, in real time.
    Paced,
}
