//! Progress of a run, and the estimate of its end.

use job::{Job, Plan, ReplayOptions};
use units::Nanos;

use crate::{RunCounters, Totals, WorkerPlan, WorkerResult, policy};

#[derive(Clone, Debug, Default)]
pub struct RunProgress {
    /// Completed fraction, from 0 to 1; `None` if the end is unknown.
    pub fraction: Option<f64>,
    /// Time since the start of the first stage, on the clock of the run.
    pub elapsed: Nanos,
    /// Time left; `None` if unknown.
    pub eta: Option<Nanos>,
    /// Whether the runtime has elapsed and writes are read back, which takes an unknown time.
    pub reads_back: bool,
    /// Totals so far.
    pub totals: Totals,
    /// Operations per second since the last update: reads, writes, trims.
    pub iops: [f64; 3],
    /// Bytes per second since the last update: reads, writes, trims.
    pub bytes_per_second: [f64; 3],
    /// Number of failed operations and of workers that could not begin.
    pub errors: u64,
}

/// Computes progress from the counters of a run, in real or virtual time.
#[derive(Debug)]
pub struct ProgressTracker {
    stages: Vec<StageEstimate>,
    current: usize,
    /// Start of the current stage.
    stage_began: Nanos,
    last: (Nanos, Totals),
}

impl ProgressTracker {
    /// Creates a tracker at time zero of the run.
    #[must_use]
    pub fn new(plan: &Plan, workers: &[WorkerPlan]) -> Self {
        let stages = workers.chunk_by(|a, b| a.stage == b.stage).map(|stage| StageEstimate::new(plan, stage));
        let last = (Nanos::ZERO, Totals::default());
        Self { stages: stages.collect(), current: 0, stage_began: Nanos::ZERO, last }
    }

    /// Returns the time of the last update.
    #[must_use]
    pub fn updated_at(&self) -> Nanos {
        self.last.0
    }

    /// Computes progress at `now`; `finished` are the workers that have ended.
    pub fn update(&mut self, now: Nanos, counters: &RunCounters, finished: &[WorkerResult]) -> RunProgress {
        let totals = counters.totals();
        let (then, before) = std::mem::replace(&mut self.last, (now, totals));
        let seconds = now.since(then).secs_f64().max(1e-9);
        let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
        let eta = self.eta(counters, finished.len(), now);
        let end = eta.map(|eta| (now + eta).secs_f64());
        let errors = |one: &WorkerResult| one.summary.errors + u64::from(one.error.is_some());
        RunProgress {
            fraction: end.map(|end| if end > 0.0 { now.secs_f64() / end } else { 1.0 }),
            elapsed: now,
            eta,
            reads_back: self.reads_back(now),
            totals,
            iops: std::array::from_fn(|kind| rate(totals.ios[kind], before.ios[kind])),
            bytes_per_second: std::array::from_fn(|kind| rate(totals.bytes[kind], before.bytes[kind])),
            errors: finished.iter().map(errors).sum(),
        }
    }

    fn eta(&mut self, counters: &RunCounters, finished: usize, now: Nanos) -> Option<Nanos> {
        while self.current + 1 < self.stages.len() && finished >= self.stages[self.current].workers_until {
            self.current += 1;
            self.stage_began = now;
        }
        let stage = self.stages.get(self.current)?;
        if self.reads_back(now) {
            return None;
        }
        let eta = stage.eta(counters, now.since(self.stage_began))?;
        self.stages[self.current + 1..].iter().try_fold(eta, |eta, later| Some(eta + later.longest?))
    }

    /// Returns whether the runtime of the current stage has elapsed and its writes are read back.
    fn reads_back(&self, now: Nanos) -> bool {
        let is_over = |stage: &StageEstimate| stage.longest.is_some_and(|most| now.since(self.stage_began) > most);
        self.stages.get(self.current).is_some_and(|stage| stage.reads_back && is_over(stage))
    }
}

/// Bounds on the end of a stage, as far as its jobs determine it.
#[derive(Debug, Default)]
struct StageEstimate {
    first: usize,
    /// Number of workers up to the end of this stage.
    workers_until: usize,
    /// Longest time that it takes.
    longest: Option<Nanos>,
    /// Whether its writes may be read back after that.
    reads_back: bool,
    /// Maximum number of bytes that it transfers.
    bytes: Option<u64>,
}

impl StageEstimate {
    fn new(plan: &Plan, workers: &[WorkerPlan]) -> Self {
        let job = |worker: &WorkerPlan| &plan.jobs[worker.job];
        let times: Option<Vec<Nanos>> = workers.iter().map(|worker| expected(job(worker))).collect();
        let mut bytes = workers.iter().map(|worker| bytes_max(job(worker), worker));
        Self {
            first: workers.first().map_or(0, |worker| worker.number),
            workers_until: workers.last().map_or(0, |worker| worker.number) + 1,
            longest: times.and_then(|times| times.into_iter().max()),
            reads_back: workers.iter().any(|worker| reads_back(job(worker))),
            bytes: bytes.try_fold(0, |sum: u64, bytes| Some(sum.saturating_add(bytes?))),
        }
    }

    fn eta(&self, counters: &RunCounters, elapsed: Nanos) -> Option<Nanos> {
        let by_time = self.longest.map(|longest| longest.since(elapsed));
        let done: u64 = (self.first..self.workers_until).map(|number| counters.worker(number).bytes()).sum();
        let by_bytes = self.bytes.filter(|_| done > 0).map(|bytes| {
            let per_byte = elapsed.secs_f64() / done as f64;
            Nanos::from_secs_f64((bytes.saturating_sub(done) as f64 * per_byte).min(1e9))
        });
        by_time.into_iter().chain(by_bytes).min()
    }
}

/// Returns the time that a worker runs, as far as its job determines it: a replay takes as long as its trace, unless
/// the target is too slow for it.
fn expected(job: &Job) -> Option<Nanos> {
    let replayed = job.replay.as_ref().and_then(ReplayOptions::duration);
    policy::longest(job).into_iter().chain(replayed).min()
}

/// Returns whether a job reads back its writes.
fn reads_back(job: &Job) -> bool {
    job.verify.method.is_some() && job.verify.do_verify && job.pattern.direction.writes()
}

fn bytes_max(job: &Job, worker: &WorkerPlan) -> Option<u64> {
    if let Some(replay) = &job.replay {
        return replay.facts.as_ref().map(|facts| facts.bytes);
    }
    let once = worker.files.transfer_bytes().saturating_mul(u64::from(job.extent.loops.max(1)));
    let again = job.pattern.preconditioning.map_or(0.0, |options| options.overprovisioning);
    let once = once.saturating_add((once as f64 * again) as u64);
    (!job.extent.time_based).then(|| once.saturating_mul(1 + u64::from(reads_back(job))))
}
