//! A run as those see it who look on while it goes on: the screen, and programs that scrape.
//!
//! They look from threads of their own at what workers have left on the board, and neither ask nor keep anybody.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use job::Plan;
use meter::Glance;
use runner::{RunCounters, RunProgress, WorkerPlan, policy};
use units::Nanos;
use volume::Stage;

use crate::preview;

/// What is known of one job before it begins; jobs of one name and one reporting group are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobFacts {
    pub(crate) name: String,
    /// Its reporting group.
    pub(crate) group: u32,
    /// Such as `randread 4 KiB`.
    pub(crate) load: String,
    pub(crate) engine: &'static str,
    /// What it works on.
    pub(crate) target: String,
    /// Operations that all of its workers can have in flight.
    pub(crate) depth: u32,
    /// Whether arrivals follow a schedule.
    pub(crate) scheduled: bool,
    /// How long each worker runs before results count.
    pub(crate) ramp: Nanos,
    /// The numbers of its workers.
    pub(crate) workers: Vec<usize>,
}

/// Jobs that run, or have run, with the board on which they leave what they do.
#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) jobs: Vec<JobFacts>,
    counters: Arc<RunCounters>,
}

impl Subject {
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
                        load: preview::load(job),
                        engine: job.engine.engine.name(),
                        target: preview::target(job),
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

    /// What one worker has counted.
    pub(crate) fn glance(&self, worker: usize) -> MutexGuard<'_, Glance> {
        self.counters.worker(worker).glance()
    }

    /// What the workers of a job have counted, all together.
    pub(crate) fn sum(&self, job: &JobFacts) -> Glance {
        let mut sum = Glance::default();
        job.workers.iter().for_each(|&worker| sum.merge(&self.glance(worker)));
        sum
    }

    /// How many workers of a job are at work.
    pub(crate) fn running(&self, job: &JobFacts) -> usize {
        job.workers.iter().filter(|&&worker| self.is_running(worker)).count()
    }

    /// Whether a worker is at work.
    pub(crate) fn is_running(&self, worker: usize) -> bool {
        self.counters.worker(worker).is_running()
    }

    /// What the limits of modelled volumes have done, and until when; nothing on devices.
    pub(crate) fn stages(&self) -> (Nanos, Vec<Stage>) {
        self.counters.stages()
    }
}

/// A file that is made before a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Making {
    pub(crate) path: String,
    /// How much of it is there, from 0 to 1.
    pub(crate) share: f64,
}

/// All there is to see at a moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// What runs, or has run last.
    pub(crate) subject: Option<Arc<Subject>>,
    pub(crate) moment: Option<RunProgress>,
    /// What is made before it runs.
    pub(crate) making: Option<Making>,
    /// Which of many runs it is.
    pub(crate) lead: String,
    /// What has gone wrong.
    pub(crate) notes: Vec<String>,
}

/// Notes that are kept; more are not read by anybody.
const NOTES_MOST: usize = 64;

/// Where those who look on see a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope(Arc<Mutex<Seen>>);

impl Scope {
    /// What there is to see.
    pub(crate) fn look(&self) -> Seen {
        self.seen().clone()
    }

    /// Workers begin.
    pub(crate) fn begin(&self, plan: &Plan, workers: &[WorkerPlan], counters: &Arc<RunCounters>) {
        counters.watch();
        let subject = Arc::new(Subject::new(plan, workers, counters));
        let mut seen = self.seen();
        (seen.subject, seen.making, seen.moment) = (Some(subject), None, None);
    }

    pub(crate) fn layout(&self, path: &Path, written: u64, total: u64) {
        let share = written as f64 / total.max(1) as f64;
        self.seen().making = Some(Making { path: path.display().to_string(), share });
    }

    pub(crate) fn progress(&self, moment: &RunProgress) {
        self.seen().moment = Some(moment.clone());
    }

    pub(crate) fn lead(&self, lead: &str) {
        lead.clone_into(&mut self.seen().lead);
    }

    pub(crate) fn note(&self, text: &str) {
        let mut seen = self.seen();
        if seen.notes.len() < NOTES_MOST {
            seen.notes.push(text.to_owned());
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
