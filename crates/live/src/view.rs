//! The state of a run, as the screen and the metrics endpoint read it.
//!
//! They read what workers have published, from threads of their own, and never block a worker.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use job::Plan;
use meter::Glance;
use runner::{Observer, RunCounters, RunProgress, WorkerPlan, policy};
use units::Nanos;
use volume::ServiceStage;

/// Facts about a job before it begins; jobs of one name and one reporting group are one.
#[derive(Clone, Debug, Default)]
pub struct JobFacts {
    /// Its name.
    pub name: String,
    /// Its reporting group.
    pub group: u32,
    /// Such as `randread 4 KiB`.
    pub load: String,
    /// Its engine, by fio's name.
    pub engine: &'static str,
    /// Its files, export or volume.
    pub target: String,
    /// Operations that all of its workers can have in flight.
    pub depth: u32,
    /// Whether arrivals follow a schedule.
    pub scheduled: bool,
    /// How long each worker runs before results count.
    pub ramp: Nanos,
    /// The numbers of its workers.
    pub workers: Vec<usize>,
}

/// Jobs that run, or have run, with the counters that they publish.
#[derive(Debug)]
pub struct WatchedRun {
    /// The jobs.
    pub jobs: Vec<JobFacts>,
    counters: Arc<RunCounters>,
}

impl WatchedRun {
    fn new(plan: &Plan, workers: &[WorkerPlan], counters: &Arc<RunCounters>) -> Self {
        let mut jobs: Vec<JobFacts> = Vec::new();
        for worker in workers {
            let job = &plan.jobs[worker.job];
            let same = |known: &&mut JobFacts| known.name == job.name && known.group == worker.group;
            let facts = match jobs.iter_mut().rev().find(same) {
                Some(facts) => facts,
                None => {
                    jobs.push(JobFacts {
                        name: job.name.clone(),
                        group: worker.group,
                        load: record::Declared::load_of(job),
                        engine: job.engine.engine.name(),
                        target: job.target(),
                        scheduled: policy::is_scheduled(job),
                        ramp: job.extent.ramp_time,
                        ..JobFacts::default()
                    });
                    let last = jobs.len() - 1;
                    &mut jobs[last]
                }
            };
            facts.depth += policy::depth(job);
            facts.workers.push(worker.number);
        }
        Self { jobs, counters: Arc::clone(counters) }
    }

    /// Returns what one worker has counted.
    pub fn glance(&self, worker: usize) -> MutexGuard<'_, Glance> {
        self.counters.worker(worker).glance()
    }

    /// Returns what the workers of a job have counted together.
    #[must_use]
    pub fn sum(&self, job: &JobFacts) -> Glance {
        let mut sum = Glance::default();
        job.workers.iter().for_each(|&worker| sum.merge(&self.glance(worker)));
        sum
    }

    /// Returns how many workers of a job are running.
    #[must_use]
    pub fn running(&self, job: &JobFacts) -> usize {
        job.workers.iter().filter(|&&worker| self.is_running(worker)).count()
    }

    /// Returns whether a worker is running.
    #[must_use]
    pub fn is_running(&self, worker: usize) -> bool {
        self.counters.worker(worker).is_running()
    }

    /// Returns what the limits of modelled volumes have done, and until when; nothing on devices.
    #[must_use]
    pub fn stages(&self) -> (Nanos, Vec<ServiceStage>) {
        self.counters.stages()
    }
}

/// A file that is written before a run.
#[derive(Clone, Debug, PartialEq)]
pub struct FileProgress {
    /// The file.
    pub path: String,
    /// How much of it is written, from 0 to 1.
    pub fraction: f64,
}

/// The visible state of a run.
#[derive(Clone, Debug, Default)]
pub struct ViewState {
    /// The run, or the last one.
    pub subject: Option<Arc<WatchedRun>>,
    /// How far it is; `None` before it begins.
    pub progress: Option<RunProgress>,
    /// The file that is written before it begins.
    pub making: Option<FileProgress>,
    /// Which of several runs it is.
    pub lead: String,
    /// What has gone wrong.
    pub notes: Vec<String>,
}

/// Notes that are kept; more do not fit a screen.
const NOTES_MOST: usize = 64;

/// Observes a run for readers in other threads.
#[derive(Clone, Debug, Default)]
pub struct RunView(Arc<Mutex<ViewState>>);

impl RunView {
    /// Returns what is visible now.
    #[must_use]
    pub fn look(&self) -> ViewState {
        self.state().clone()
    }

    /// Sets which of several runs is shown.
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
        if state.notes.len() < NOTES_MOST {
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
