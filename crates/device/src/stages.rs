//! Runs all workers, stage after stage, each on its own thread.
//!
//! Jobs run on threads, never in processes, as fio's do without `thread`: threads start in microseconds and share
//! memory, and the failure of one cannot lose the results of the others.
//!
//! Threads own their data and are never joined, because a thread that waits for a device that never answers would hold
//! up the results of others. The main thread makes no call that a target can block. It takes the results of such a
//! worker from its counters, and names the stuck operation by the call that the thread recorded (`engine::in_call`).

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use drive::{Ending, Stop};
use engine::{BlockedCall, MonotonicClock};
use job::{EngineKind, Job, Plan};
use runner::{EndedJobs, PendingOperation, StageStart, WorkerPlan, WorkerResult, policy};
use units::{CallKind, Nanos, Problem, ProblemCode};

use crate::shared_run::SharedRun;
use crate::stall::{DeviceActivity, Devices, StalledWorker};
use crate::stuck;
use crate::worker;

/// Stack size of a worker, in bytes: enough for the loop and the deepest call below it. The default of 2 MiB would only
/// matter with `ulimit -v`.
pub(crate) const STACK_BYTES: usize = 512 * 1024;
/// Interval of the supervisor.
const TICK: Duration = Duration::from_millis(50);
/// Interval at which the supervisor asks whether a stage may begin.
const START_TICK: Duration = Duration::from_millis(2);
/// Time limit for workers to send their results after an abort. They notice within a fifth of a second unless they hang
/// in a system call.
const HAND_IN: Duration = Duration::from_secs(1);
/// Interval at which threads that may hang in a system call are interrupted.
const WAKE_EVERY: Duration = Duration::from_millis(20);
/// Minimum time in flight of an operation to count as stuck if a second signal ended the run early.
const STUCK_AFTER: Nanos = Nanos::from_secs(1);

/// Whether a run continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Continuation {
    /// The run continues.
    Continue,
    /// No more operations are issued, but those in flight complete.
    Stop,
    /// The run ends without waiting for operations in flight.
    Abandon,
}

/// Supervises a run from the main thread.
pub(crate) trait Supervise {
    /// Called about twenty times a second, and after each worker has finished.
    fn tick(&mut self, finished: &[WorkerResult]) -> Continuation;

    /// Returns when a stage begins, all of whose workers are ready.
    fn stage_start(&mut self, stage: usize) -> StageStart;

    /// Returns workers that end because their rate is steady.
    fn steady_workers(&mut self) -> Vec<usize>;

    /// Called when a job has ended with which others end.
    fn end_jobs(&mut self, jobs: EndedJobs);

    /// Reports whether such a job elsewhere has ended these jobs.
    fn have_ended(&mut self, jobs: EndedJobs) -> bool;
}

/// State shared by the threads of all stages.
pub(crate) struct Workers {
    pub(crate) plan: Arc<Plan>,
    pub(crate) plans: Arc<[WorkerPlan]>,
    pub(crate) shared: SharedRun,
    /// Maximum wait for operations in flight after the runtime.
    pub(crate) grace: Duration,
    /// The devices below the targets. An `fsync` after the runtime may take minutes, during which only devices show
    /// progress.
    pub(crate) devices: Devices,
}

/// Runs all stages. Workers that did not start because the run was stopped are left out.
pub(crate) fn run(workers: &Arc<Workers>, supervisor: &mut dyn Supervise) -> Vec<WorkerResult> {
    let mut supervisor = GuardedSupervisor { supervisor, broken: false };
    let mut finished = Vec::with_capacity(workers.plans.len());
    let (mut first, mut is_over) = (0, false);
    for stage in workers.plans.chunk_by(|a, b| a.stage == b.stage) {
        let number = stage[0].stage;
        is_over |= supervisor.have_ended(EndedJobs::All);
        if is_over || supervisor.tick(&finished) != Continuation::Continue || stuck::is_stuck() {
            break;
        }
        let stage = Arc::new(RunStage {
            workers: Arc::clone(workers),
            number,
            first,
            count: stage.len(),
            stops: stage.iter().map(|_| Stop::new()).collect(),
            groups: stage.iter().map(|worker| worker.group).collect(),
            barrier: StartBarrier::default(),
            began: Instant::now(),
        });
        is_over = stage.run(&mut supervisor, &mut finished);
        first += stage.count;
    }
    finished.sort_by_key(|finished| finished.number);
    finished
}

/// A supervisor that may panic without losing results: a panic stops the run.
struct GuardedSupervisor<'a> {
    supervisor: &'a mut dyn Supervise,
    broken: bool,
}

impl GuardedSupervisor<'_> {
    fn tick(&mut self, finished: &[WorkerResult]) -> Continuation {
        if self.broken {
            return Continuation::Stop;
        }
        let ticked = catch_unwind(AssertUnwindSafe(|| self.supervisor.tick(finished)));
        self.broken = ticked.is_err();
        ticked.unwrap_or(Continuation::Stop)
    }

    fn stage_start(&mut self, stage: usize) -> StageStart {
        if self.broken {
            return StageStart::Never;
        }
        let asked = catch_unwind(AssertUnwindSafe(|| self.supervisor.stage_start(stage)));
        self.broken = asked.is_err();
        asked.unwrap_or(StageStart::Never)
    }

    fn steady_workers(&mut self) -> Vec<usize> {
        let asked = catch_unwind(AssertUnwindSafe(|| self.supervisor.steady_workers()));
        self.broken |= asked.is_err();
        asked.unwrap_or_default()
    }

    fn end_jobs(&mut self, jobs: EndedJobs) {
        self.broken |= catch_unwind(AssertUnwindSafe(|| self.supervisor.end_jobs(jobs))).is_err();
    }

    fn have_ended(&mut self, jobs: EndedJobs) -> bool {
        let asked = catch_unwind(AssertUnwindSafe(|| self.supervisor.have_ended(jobs)));
        self.broken |= asked.is_err();
        asked.unwrap_or(true)
    }
}

/// Messages of workers to the main thread.
enum Message {
    /// A worker is ready to begin.
    Ready,
    /// A worker has ended or could not begin.
    Finished(Box<WorkerResult>),
}

/// Time in which every worker runs at least once.
const ROUND: Duration = Duration::from_millis(100);
/// Time slice of the scheduler, which switches at its ticks. If a round takes well over [`ROUND`] that way, workers
/// yield by themselves.
const SCHEDULED_TURN: Duration = Duration::from_millis(4);

/// Returns the time after which workers yield to each other. The scheduler lets a busy thread run from tick to tick:
/// with a thousand workers on two CPUs, each would run every two seconds and notice the end of the runtime that
/// late.
pub(crate) fn yield_after(workers: &[WorkerPlan]) -> Option<Nanos> {
    let most = workers.chunk_by(|a, b| a.stage == b.stage).map(<[WorkerPlan]>::len).max().unwrap_or(0);
    yield_after_for(most, std::thread::available_parallelism().map_or(1, usize::from))
}

fn yield_after_for(workers: usize, cpus: usize) -> Option<Nanos> {
    let workers_per_cpu = (workers as f64 / cpus as f64).max(1.0);
    let yield_after = ROUND.div_f64(workers_per_cpu).max(Duration::from_micros(50));
    (SCHEDULED_TURN.mul_f64(workers_per_cpu) > 2 * ROUND).then(|| Nanos::new(yield_after.as_nanos() as u64))
}

/// Holds workers until their stage begins. Waiting takes no lock, because a thousand threads would have to queue for
/// it.
#[derive(Default)]
struct StartBarrier(OnceLock<Option<Instant>>);

impl StartBarrier {
    /// Lets the workers begin: at `instant`, or at once.
    fn open(&self, instant: Option<Instant>) {
        self.0.get_or_init(|| instant);
    }

    fn is_open(&self) -> bool {
        self.0.get().is_some()
    }

    /// Waits until the stage begins. Returns the delay from the agreed instant.
    fn wait(&self, clock: MonotonicClock) -> Option<Nanos> {
        let instant = (*self.0.wait())?;
        clock.sleep_until(clock.now() + nanos(instant.saturating_duration_since(Instant::now())));
        Some(nanos(Instant::now().saturating_duration_since(instant)))
    }
}

/// Workers that run together.
struct RunStage {
    workers: Arc<Workers>,
    /// Number of the stage, from zero.
    number: usize,
    /// Index of the first worker.
    first: usize,
    count: usize,
    /// Stop of each worker.
    stops: Vec<Stop>,
    /// Reporting groups of the workers.
    groups: BTreeSet<u32>,
    barrier: StartBarrier,
    began: Instant,
}

impl RunStage {
    fn workers(&self) -> &[WorkerPlan] {
        &self.workers.plans[self.first..][..self.count]
    }

    /// Runs the workers. Returns whether the run ends with this stage (`exit_what=all`).
    fn run(self: &Arc<Self>, supervisor: &mut GuardedSupervisor<'_>, finished: &mut Vec<WorkerResult>) -> bool {
        let (sender, receiver) = mpsc::channel();
        let mut stage = StageProgress {
            running: Vec::with_capacity(self.count),
            waiting: (0..self.count).collect(),
            sender,
            ends_run: false,
        };
        self.start_released(&mut stage, finished);
        self.supervise(&mut stage, &receiver, supervisor, finished);
        stage.ends_run
    }

    /// Starts the threads of the workers that wait for no other job, or for one that has ended.
    fn start_released(self: &Arc<Self>, stage: &mut StageProgress, finished: &mut Vec<WorkerResult>) {
        let is_over = |stage: &StageProgress, job: usize| {
            let is_left = |index: &usize| self.workers()[*index].job == job;
            !stage.waiting.iter().any(is_left) && !stage.running.iter().any(|one| is_left(&one.index))
        };
        let released = |index: &usize| self.workers()[*index].after.is_none_or(|job| is_over(stage, job));
        let released: Vec<usize> = stage.waiting.iter().copied().filter(released).collect();
        stage.waiting.retain(|index| !released.contains(index));
        for index in released {
            let (stage_of_thread, sender) = (Arc::clone(self), stage.sender.clone());
            let worker = &self.workers()[index];
            let name = self.job(worker).name.clone().replace('\0', "");
            let thread = std::thread::Builder::new().stack_size(STACK_BYTES).name(name);
            match thread.spawn(move || stage_of_thread.work(index, &sender)) {
                Ok(_) => stage.running.push(RunningWorker::new(self, index)),
                Err(error) => {
                    let problem = Problem::error(ProblemCode::Host, format!("cannot start a thread: {error}"))
                        .help("use a smaller numjobs, or raise the process and memory limits (ulimit -u, -v)");
                    finished.push(WorkerResult::not_started(worker.number, problem.into()));
                }
            }
        }
    }

    fn job(&self, worker: &WorkerPlan) -> &Job {
        &self.workers.plan.jobs[worker.job]
    }

    /// Runs a worker on its thread.
    fn work(&self, index: usize, sender: &Sender<Message>) {
        let worker = &self.workers()[index];
        let shared = &self.workers.shared;
        let start = || {
            // The receiver is dropped only after the run, when the message no longer matters; the same holds below.
            let _ = sender.send(Message::Ready);
            self.barrier.wait(shared.clock)
        };
        let run = || worker::run(worker, self.job(worker), shared, &self.stops[index], &start);
        let finished = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
            shared.counters.worker(worker.number).set_running(false);
            // The published part of its results remains valid.
            WorkerResult {
                summary: shared.counters.summary(worker.number).unwrap_or_default(),
                ..WorkerResult::not_started(
                    worker.number,
                    Problem::error(ProblemCode::Operation, crate::BUG_REPORT).into(),
                )
            }
        });
        let _ = sender.send(Message::Finished(Box::new(finished)));
    }

    /// Supervises the workers on the main thread until all have ended or the run is abandoned.
    fn supervise(
        self: &Arc<Self>,
        stage: &mut StageProgress,
        receiver: &Receiver<Message>,
        supervisor: &mut GuardedSupervisor<'_>,
        finished: &mut Vec<WorkerResult>,
    ) {
        let (mut awaited, mut activity) = (stage.running.len(), None);
        // Waiting for other ranks is no sign of a stuck target.
        let mut began = self.began;
        while !stage.running.is_empty() {
            let tick = if awaited == 0 && !self.barrier.is_open() { START_TICK } else { TICK };
            match receiver.recv_timeout(tick) {
                Ok(Message::Ready) => awaited = awaited.saturating_sub(1),
                Ok(Message::Finished(one)) => {
                    // A worker that could not begin was never ready.
                    awaited -= usize::from(one.ending.is_none() && awaited > 0);
                    self.take_finished(*one, stage, supervisor, finished);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            let is_refused = awaited == 0 && !self.barrier.is_open() && !self.begin(supervisor);
            let continuation = supervisor.tick(finished);
            if is_refused || continuation != Continuation::Continue {
                self.stop_all(stage);
                self.barrier.open(None);
            }
            self.follow_ends_elsewhere(stage, supervisor);
            for number in supervisor.steady_workers() {
                self.stop_where(|index| self.workers()[index].number == number);
            }
            let now = Instant::now();
            if self.awaits_peer(&stage.running) || awaited == 0 && !self.barrier.is_open() {
                began = now;
                stage.running.iter_mut().for_each(|one| one.progressed = now);
            }
            // Updates every worker, even after one that is not past its end, because this tracks their progress.
            let past_end =
                stage.running.iter_mut().filter_map(|one| one.is_past_end(self, began, now).then_some(())).count();
            let past = past_end == stage.running.len();
            let is_over = past && self.is_silent(&stage.running, &mut activity, now);
            if !stage.running.is_empty() && (continuation == Continuation::Abandon || is_over) {
                stage.waiting.clear();
                return self.abandon(std::mem::take(&mut stage.running), receiver, finished);
            }
        }
    }

    /// Takes the result of a worker. Ends those that end with it, and starts those that waited for it.
    fn take_finished(
        self: &Arc<Self>,
        one: WorkerResult,
        stage: &mut StageProgress,
        supervisor: &mut GuardedSupervisor<'_>,
        finished: &mut Vec<WorkerResult>,
    ) {
        stage.running.retain(|running| running.number != one.number);
        if let Some(worker) = self.workers().iter().find(|worker| worker.number == one.number) {
            let job = self.job(worker);
            let has_failed = one.ending.is_none() || one.fails_as_in_fio(job);
            if let Some(jobs) = policy::ended_jobs(worker, job, has_failed) {
                self.end(jobs, stage);
                supervisor.end_jobs(jobs);
            }
        }
        finished.push(one);
        if !stage.waiting.is_empty() {
            self.start_released(stage, finished);
        }
        self.end_loads(stage);
    }

    /// Ends the workers of `exit_on_io_done` once only loads of the CPU are left.
    fn end_loads(&self, stage: &mut StageProgress) {
        let load = |index: usize| {
            let engine = &self.job(&self.workers()[index]).engine;
            (engine.kind == EngineKind::Cpuio).then_some(&engine.processor)
        };
        let mut left = stage.waiting.iter().copied().chain(stage.running.iter().map(|one| one.index));
        if left.all(|index| load(index).is_some()) {
            let ends = |index: usize| load(index).is_some_and(|load| load.ends_with_others);
            self.stop_where(ends);
            stage.waiting.retain(|index| !ends(*index));
        }
    }

    /// Ends the jobs that end with one of another process.
    fn follow_ends_elsewhere(&self, stage: &mut StageProgress, supervisor: &mut GuardedSupervisor<'_>) {
        let groups = self.groups.iter().copied().map(EndedJobs::Group);
        let parts = groups.chain([EndedJobs::Stage(self.number), EndedJobs::All]);
        for part in parts {
            if supervisor.have_ended(part) {
                self.end(part, stage);
            }
        }
    }

    fn end(&self, jobs: EndedJobs, stage: &mut StageProgress) {
        match jobs {
            EndedJobs::Group(group) => {
                let is_in_group = |index: usize| self.workers()[index].group == group;
                stage.waiting.retain(|index| !is_in_group(*index));
                self.stop_where(is_in_group);
            }
            EndedJobs::Stage(_) => self.stop_all(stage),
            EndedJobs::All => {
                stage.ends_run = true;
                self.stop_all(stage);
            }
        }
    }

    /// Ends all workers, including those that have not begun.
    fn stop_all(&self, stage: &mut StageProgress) {
        stage.waiting.clear();
        self.stop_where(|_| true);
    }

    /// Ends these workers, by their index, and what they wait for.
    fn stop_where(&self, ends: impl Fn(usize) -> bool) {
        for index in (0..self.count).filter(|index| ends(*index)) {
            self.stops[index].set();
            self.workers.shared.calls[self.workers()[index].number].cancel();
        }
    }

    /// Lets the workers begin if it is time. Reports whether they ever may.
    fn begin(&self, supervisor: &mut GuardedSupervisor<'_>) -> bool {
        match supervisor.stage_start(self.number) {
            StageStart::Now => self.barrier.open(None),
            StageStart::At(instant) => self.barrier.open(Some(instant)),
            StageStart::Wait => {}
            StageStart::Never => return false,
        }
        true
    }

    fn waiting(&self, one: &RunningWorker) -> StalledWorker {
        let call = self.workers.shared.calls[one.number].current();
        let syncs = call.is_some_and(|call| matches!(call.kind, CallKind::Operation(kind) if !kind.moves_data()));
        StalledWorker { number: one.number, progressed: one.progressed, syncs }
    }

    /// Reports whether a worker may wait for a peer outside of the run, and all others for it.
    fn awaits_peer(&self, running: &[RunningWorker]) -> bool {
        let now = self.workers.shared.clock.now();
        let awaits = |one: &RunningWorker| {
            let call = self.workers.shared.calls[one.number].current();
            let most = policy::longest_wait(self.job(&self.workers()[one.index])).unwrap_or(Nanos::MAX);
            call.is_some_and(|call| call.kind == CallKind::Await && now.since(call.since) <= most)
                && !self.stops[one.index].is_set()
        };
        !self.barrier.is_open() && running.iter().any(awaits)
    }

    /// Reports whether to stop waiting for the workers, all of which are past their ends.
    fn is_silent(&self, running: &[RunningWorker], activity: &mut Option<DeviceActivity>, now: Instant) -> bool {
        let Workers { devices, grace, .. } = &*self.workers;
        let completed = devices.completed();
        let activity = activity.get_or_insert_with(|| DeviceActivity::new(&completed, now));
        activity.update(&completed, now);
        running.iter().all(|one| activity.is_over(devices, &self.waiting(one), *grace, now))
    }

    /// Ends without waiting for operations in flight. Workers send their results if they can; for those that hang in a
    /// system call the last published results are used.
    fn abandon(&self, mut running: Vec<RunningWorker>, receiver: &Receiver<Message>, finished: &mut Vec<WorkerResult>) {
        // Recorded before the threads are interrupted.
        let since = Instant::now();
        let stuck_calls: Vec<_> = running.iter().map(|one| (one.number, self.stuck_call(one))).collect();
        self.stops.iter().for_each(Stop::abandon);
        self.barrier.open(None);
        engine::thread::abandon();
        let until = Instant::now() + HAND_IN;
        while !running.is_empty() && Instant::now() < until {
            let threads = running.iter().map(|one| self.workers.shared.counters.worker(one.number).thread());
            threads.filter(|thread| *thread != 0).for_each(engine::thread::interrupt);
            if let Ok(Message::Finished(one)) = receiver.recv_timeout(WAKE_EVERY) {
                running.retain(|running| running.number != one.number);
                finished.push(*one);
            }
        }
        let least = STUCK_AFTER.min(nanos(self.workers.grace));
        finished.iter_mut().for_each(|one| one.pending.retain(|pending| pending.waited >= least));
        // Threads that were interrupted and have not answered are stuck, no matter how short the time before.
        for one in &running {
            let call = stuck_calls.iter().find(|(number, _)| *number == one.number).and_then(|(_, call)| call.clone());
            let call = call.map(|call| PendingOperation { waited: call.waited + nanos(since.elapsed()), ..call });
            finished.push(self.stuck_result(one, call));
        }
        if finished.iter().any(|one| !one.pending.is_empty()) {
            stuck::set_stuck();
        }
    }

    fn stuck_call(&self, one: &RunningWorker) -> Option<PendingOperation> {
        let shared = &self.workers.shared;
        let BlockedCall { kind, file, offset, length, since } = shared.calls[one.number].current()?;
        Some(PendingOperation { kind, file, offset, length, waited: shared.clock.now().since(since) })
    }

    /// Returns the results of a worker whose thread hangs.
    fn stuck_result(&self, one: &RunningWorker, call: Option<PendingOperation>) -> WorkerResult {
        let counters = &self.workers.shared.counters;
        let worker = counters.worker(one.number);
        worker.set_running(false);
        // If the call is unknown, the thread has been silent since its last progress.
        let silent = PendingOperation { waited: nanos(one.progressed.elapsed()), ..PendingOperation::default() };
        WorkerResult {
            number: one.number,
            summary: counters.summary(one.number).unwrap_or_default(),
            ending: Some(Ending::Stopped),
            started_unix_ms: worker.started_unix_ms(),
            thread: worker.thread(),
            pending: vec![call.unwrap_or(silent)],
            ..WorkerResult::default()
        }
    }
}

/// Workers of a stage that have not ended.
struct StageProgress {
    running: Vec<RunningWorker>,
    /// Indices of those that have not begun, because they wait for another job.
    waiting: Vec<usize>,
    /// Sends messages to the main thread; each thread has a copy.
    sender: Sender<Message>,
    ends_run: bool,
}

/// A worker that has not ended.
struct RunningWorker {
    number: usize,
    /// Index in the stage.
    index: usize,
    /// Maximum run time from its start; `None` if only its amount of data ends it.
    most: Option<Duration>,
    /// When the worker was first seen running.
    started: Option<Instant>,
    /// Number of its completed operations.
    done: u64,
    progressed: Instant,
    /// When it was first seen to be stopped.
    stopped: Option<Instant>,
}

impl RunningWorker {
    fn new(stage: &RunStage, index: usize) -> Self {
        let worker = &stage.workers()[index];
        let job = stage.job(worker);
        let grace = if job.engine.kind == EngineKind::Exec { job.engine.program.grace } else { Nanos::ZERO };
        let most = policy::longest(job).map(|most| Duration::from_nanos((most + grace).get()));
        Self { number: worker.number, index, most, started: None, done: 0, progressed: stage.began, stopped: None }
    }

    /// Updates the worker's progress, including the read-back after the runtime, and reports whether its run time is
    /// over or it was stopped.
    fn is_past_end(&mut self, stage: &RunStage, began: Instant, now: Instant) -> bool {
        self.stopped = self.stopped.or_else(|| stage.stops[self.index].is_set().then_some(now));
        let worker = stage.workers.shared.counters.worker(self.number);
        if self.started.is_none() && worker.is_running() {
            self.started = Some(now);
        }
        let done = worker.operations();
        if std::mem::replace(&mut self.done, done) != done {
            self.progressed = now;
        }
        let end = self.most.and_then(|most| self.started.unwrap_or(began).checked_add(most));
        end.into_iter().chain(self.stopped).min().is_some_and(|end| now >= end)
    }
}

/// Converts a duration; one that is too long becomes the longest.
pub(crate) fn nanos(duration: Duration) -> Nanos {
    Nanos::new(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_workers_on_two_processors_noticed_the_end_seconds_late() {
        assert_eq!(yield_after_for(1000, 2), Some(Nanos::from_micros(200)));
        assert_eq!(yield_after_for(1_000_000, 2), Some(Nanos::from_micros(50)));
        assert_eq!(
            (yield_after_for(64, 2), yield_after_for(0, 1)),
            (None, None),
            "the scheduler switches often enough"
        );
    }
}
