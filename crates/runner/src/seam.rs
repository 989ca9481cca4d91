//! The run seam: the traits through which commands run plans on devices and on models.
//!
//! Preparing and running are two steps, because commands check everything (all jobs of a sweep, all steps of a suite,
//! all files of a series) before the first operation.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use job::Plan;
use meter::IntervalWidths;
use record::Run;
use units::{Bytes, Problem};

use crate::policy::EndedJobs;
use crate::{RunCounters, RunProgress, Seeds, WorkerFailure, WorkerPlan, WorkerResult};

/// Runs plans on devices or on modelled volumes.
pub trait Runner: Sync {
    /// Checks a plan and resolves everything that it names, without writing.
    ///
    /// # Errors
    ///
    /// Returns all problems of its jobs.
    fn prepare(&self, plan: &Plan, seeds: Seeds) -> Result<Box<dyn PreparedRun + '_>, Vec<Problem>>;

    /// Checks a plan that reads what other plans write before it runs, without the checks that depend on existing
    /// files.
    ///
    /// # Errors
    ///
    /// Returns all problems of its jobs.
    fn prepare_later(&self, plan: &Plan, seeds: Seeds) -> Result<Box<dyn PreparedRun + '_>, Vec<Problem>> {
        self.prepare(plan, seeds)
    }
}

/// A checked plan that is ready to run.
pub trait PreparedRun {
    /// Returns the plan, with everything resolved.
    fn plan(&self) -> &Plan;

    fn workers(&self) -> &[WorkerPlan];

    /// Returns the reasons why the run must not begin.
    fn refusals(&self) -> &[Problem] {
        &[]
    }

    /// Returns the files or volumes that the run would create or use.
    fn preview(&self) -> Preview<'_>;

    /// Runs the plan to its end and returns its record.
    ///
    /// # Errors
    ///
    /// Fails if the run could not begin; nothing has been measured then.
    fn run(
        &self,
        options: &RunOptions,
        control: &dyn RunControl,
        observer: &mut dyn Observer,
    ) -> Result<CompletedRun, Problem>;
}

/// Options of a run that are not part of its plan.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The command line, as the record repeats it.
    pub command_line: Vec<String>,
    /// Interval of status reports; `None` for reports on request only.
    pub status_every: Option<Duration>,
    /// Widths of the intervals whose series the record holds.
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
    /// No credits, to measure sustained performance.
    Spent,
    /// Billionths of the maximum, by name of the limit; others as the volumes define them.
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
        /// Volumes and their paths.
        volumes: Vec<AttachedVolume>,
        /// Index of each job that runs, with its use of a page cache.
        page_caches: Vec<(usize, PageCacheUse)>,
    },
}

/// How a job on modelled volumes uses the page cache of its machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageCacheUse {
    /// It bypasses the cache.
    Bypassed,
    /// Its operations go through the cache.
    Buffered {
        machine: String,
        /// Memory of the machine.
        memory: Bytes,
    },
}

/// A modelled volume attached to a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachedVolume {
    /// Path of the device, or of the files on it.
    pub path: String,
    /// Name in the catalogue.
    pub name: String,
    /// Human-readable title.
    pub title: String,
    pub size: Bytes,
    /// Whether it has burst credits at the start.
    pub has_credits: bool,
}

/// A file that a run would create or extend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileGrowth {
    /// Path of the file.
    pub path: PathBuf,
    /// Current size in bytes; `None` if it does not exist.
    pub from: Option<u64>,
    /// Required size in bytes.
    pub to: u64,
    /// Whether the run writes to it, rather than only its preparation.
    pub written: bool,
}

/// The results of a run.
#[derive(Debug)]
pub struct CompletedRun {
    /// Record of the run.
    pub run: Run,
    /// Results of the workers, in order.
    pub workers: Vec<WorkerResult>,
    /// Signal that ended the run, if any.
    pub signal: Option<i32>,
    /// What went wrong in other ranks of a run on many hosts.
    pub elsewhere: Vec<RemoteFailure>,
}

/// What went wrong in another rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteFailure {
    /// Kind of failure; `None` if its results are complete nevertheless.
    pub failure: Option<WorkerFailure>,
    /// Descriptions with rank and host.
    pub problems: Vec<Problem>,
}

/// Signals and deadlines that end a run.
pub trait RunControl: Sync {
    /// Returns the signal received, if any.
    fn end(&self) -> Option<i32>;

    /// Returns whether to stop waiting for operations in flight.
    fn gives_up(&self) -> bool {
        false
    }

    /// Returns whether a second signal was received.
    fn is_urgent(&self) -> bool {
        false
    }

    /// Returns how long to wait for operations in flight after the runtime or a signal.
    fn grace(&self) -> Duration;

    /// Returns whether intermediate results were requested since the last call.
    fn take_status_request(&self) -> bool {
        false
    }

    /// Returns whether a target does not respond, so that no other run can begin.
    fn is_stuck(&self) -> bool {
        false
    }

    /// Returns the time since a fixed instant, for pacing progress in real time.
    fn elapsed(&self) -> Duration;

    /// Returns [`StageStart::Wait`] until all ranks have laid out their files, except those that others were laying out,
    /// and [`StageStart::Never`] if the run ends before it begins. Called on the main thread when this rank has laid out
    /// its files, and again while the answer is [`StageStart::Wait`].
    fn layout_end(&self) -> StageStart {
        StageStart::Now
    }

    /// Called on the main thread when a job has ended with which others end (`exitall`, `exitall_on_error`).
    fn end_jobs(&self, _jobs: EndedJobs) {}

    /// Returns whether such a job of another process has ended these jobs.
    fn have_ended(&self, _jobs: EndedJobs) -> bool {
        false
    }

    /// Returns when a stage begins on devices. Called on the main thread when all workers of the stage are ready, and
    /// again while the answer is [`StageStart::Wait`].
    fn stage_start(&self, _stage: usize) -> StageStart {
        StageStart::Now
    }
}

/// A control that never ends a run, for runs without signals in virtual time. Its own clock stands still.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uninterrupted;

impl RunControl for Uninterrupted {
    fn end(&self) -> Option<i32> {
        None
    }

    fn grace(&self) -> Duration {
        Duration::ZERO
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}

/// When a stage begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StageStart {
    /// At once.
    Now,
    /// Not yet: other ranks are not ready.
    Wait,
    /// At this instant, on which all ranks agreed.
    At(Instant),
    /// Never: the run ends.
    Never,
}

/// Receives layout, progress, status and notes of a run; the only way to observe one.
pub trait Observer {
    /// Called when workers begin. Their counters can be read from any thread, also after the run.
    fn begin(&mut self, _plan: &Plan, _workers: &[WorkerPlan], _counters: &Arc<RunCounters>) {}

    /// Called when a worker fails or something else needs attention.
    fn note(&mut self, _text: &str) {}

    /// Called with a line about a request to an object store, for jobs that ask for it (`http_verbose`).
    fn request(&mut self, _line: &str) {}

    /// Called while a file is written before the run, with bytes so far and in total.
    fn layout(&mut self, _path: &Path, _written: u64, _total: u64) {}

    /// Called a few times per second.
    fn progress(&mut self, _progress: &RunProgress) {}

    /// Called with intermediate results on request.
    fn status(&mut self, _run: &Run) {}
}

/// An observer that ignores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullObserver;

impl Observer for NullObserver {}

impl FileGrowth {
    /// Describes how the file would change.
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
