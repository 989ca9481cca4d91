//! The state of a run, as the screen and the metrics endpoint read it.
//!
//! They run on threads of their own, read published counters and never block a worker.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use job::Plan;
use meter::MeterSnapshot;
use runner::{Observer, RunCounters, RunProgress, WorkerPlan};
use units::Nanos;
use volume::ServiceStage;

/// Facts about a job, known before it begins. Jobs of one name and reporting group count as one.
#[derive(Clone, Debug, Default)]
pub struct JobFacts {
    /// Name of the job.
    pub name: String,
    /// Reporting group.
    pub group: u32,
    /// Access pattern and block size, such as `randread 4 KiB`.
    pub load: String,
    /// fio's name of the engine.
    pub engine: &'static str,
    /// Files, export or volume.
    pub target: String,
    /// Queue depth of all workers together.
    pub depth: u32,
    /// Whether arrivals follow a schedule.
    pub scheduled: bool,
    /// Ramp time, before results count.
    pub ramp: Nanos,
    /// Numbers of the workers.
    pub workers: Vec<usize>,
}

/// Running or finished jobs, with the counters that their workers publish.
#[derive(Debug)]
pub struct WatchedRun {
    pub jobs: Vec<JobFacts>,
    counters: Arc<RunCounters>,
}

impl WatchedRun {
    fn new(plan: &Plan, workers: &[WorkerPlan], counters: &Arc<RunCounters>) -> Self {
        let mut jobs: Vec<JobFacts> = Vec::new();
        for worker in workers {
            let job = &plan.jobs[worker.job];
            let known = jobs.iter().rposition(|known| known.name == job.name && known.group == worker.group);
            let index = known.unwrap_or_else(|| {
                jobs.push(JobFacts {
                    name: job.name.clone(),
                    group: worker.group,
                    load: record::Declared::load_of(job),
                    engine: job.engine.kind.name(),
                    target: job.target(),
                    scheduled: job.is_scheduled(),
                    ramp: job.extent.ramp_time,
                    ..JobFacts::default()
                });
                jobs.len() - 1
            });
            jobs[index].depth += job.depth();
            jobs[index].workers.push(worker.number);
        }
        Self { jobs, counters: Arc::clone(counters) }
    }

    /// Returns the published counters of a worker.
    pub fn glance(&self, worker: usize) -> MutexGuard<'_, MeterSnapshot> {
        self.counters.worker(worker).glance()
    }

    /// Returns the sum of the counters of a job's workers.
    #[must_use]
    pub fn sum(&self, job: &JobFacts) -> MeterSnapshot {
        let mut sum = MeterSnapshot::default();
        job.workers.iter().for_each(|&worker| sum.merge(&self.glance(worker)));
        sum
    }

    /// Returns the number of a job's running workers.
    #[must_use]
    pub fn running(&self, job: &JobFacts) -> usize {
        job.workers.iter().filter(|&&worker| self.is_running(worker)).count()
    }

    /// Reports whether a worker is running.
    #[must_use]
    pub fn is_running(&self, worker: usize) -> bool {
        self.counters.worker(worker).is_running()
    }

    /// Returns the counters of the limits of modelled volumes and their instant; none on devices.
    #[must_use]
    pub fn stages(&self) -> (Nanos, Vec<ServiceStage>) {
        self.counters.stages()
    }
}

/// Progress of writing a file before a run.
#[derive(Clone, Debug, PartialEq)]
pub struct FileProgress {
    /// Path of the file.
    pub path: String,
    /// Written fraction, from 0 to 1.
    pub fraction: f64,
}

/// The visible state of a run.
#[derive(Clone, Debug, Default)]
pub struct ViewState {
    /// The current run, or the last one.
    pub subject: Option<Arc<WatchedRun>>,
    /// Progress of the run; `None` before it begins.
    pub progress: Option<RunProgress>,
    /// The file that is being written before the run begins.
    pub making: Option<FileProgress>,
    /// Label of the run among several.
    pub lead: String,
    /// Problems so far.
    pub notes: Vec<String>,
}

/// Maximum number of notes; more do not fit on a screen.
const NOTES_MAX: usize = 64;

/// Observes a run for readers in other threads.
#[derive(Clone, Debug, Default)]
pub struct RunView(Arc<Mutex<ViewState>>);

impl RunView {
    /// Returns a copy of the current state.
    #[must_use]
    pub fn look(&self) -> ViewState {
        self.state().clone()
    }

    /// Sets the label of the run among several.
    pub fn set_lead(&self, lead: &str) {
        lead.clone_into(&mut self.state().lead);
    }

    fn state(&self) -> MutexGuard<'_, ViewState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for RunView {
    fn begin(&mut self, plan: &Plan, workers: &[WorkerPlan], counters: &Arc<RunCounters>) {
        counters.watch();
        let subject = Arc::new(WatchedRun::new(plan, workers, counters));
        let mut state = self.state();
        (state.subject, state.making, state.progress) = (Some(subject), None, None);
    }

    fn note(&mut self, text: &str) {
        let mut state = self.state();
        if state.notes.len() < NOTES_MAX {
            state.notes.push(text.to_owned());
        }
    }

    fn layout(&mut self, path: &Path, written: u64, total: u64) {
        let fraction = written as f64 / total.max(1) as f64;
        self.state().making = Some(FileProgress { path: path.display().to_string(), fraction });
    }

    fn progress(&mut self, progress: &RunProgress) {
        self.state().progress = Some(progress.clone());
    }
}
