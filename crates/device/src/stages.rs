//! Runs all workers, stage after stage, each on its own thread.
//!
//! Threads own what they use and are never joined: one that a target does not answer must not keep the others' results.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use drive::{Ending, Stop};
use engine::CallKind;
use job::{Job, Plan};
use record::StuckKind;
use runner::policy;
use runner::{PendingOperation, WorkerError, WorkerPlan, WorkerResult};
use units::Nanos;
use units::OpKind;

use crate::stall::{Devices, Silence, StalledWorker};
use crate::stuck;
use crate::worker::{self, SharedRun};

/// Enough for the loop and the deepest call below it; the default of 2 MiB would do no harm but to `ulimit -v`.
pub(crate) const STACK_BYTES: usize = 512 * 1024;
/// Interval of the supervisor.
const TICK: Duration = Duration::from_millis(50);
/// How long workers may take to hand in their results once nothing in flight is waited for. They notice within a fifth of
/// a second unless they hang in a system call.
const HAND_IN: Duration = Duration::from_secs(1);
/// Interval at which threads that may hang in a system call are woken.
const WAKE_EVERY: Duration = Duration::from_millis(20);
/// Minimum time in flight to be called stuck, where a second signal ended the run early.
const STUCK_AFTER: Nanos = Nanos::from_secs(1);

/// Whether a run continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Continuation {
    /// It continues.
    Continue,
    /// Nothing more is issued; what is in flight is waited for.
    Stop,
    /// Nothing is waited for.
    Abandon,
}

/// Supervises a run from the main thread.
pub(crate) trait Supervise {
    /// Called about twenty times a second, and after each worker has finished.
    fn tick(&mut self, finished: &[WorkerResult]) -> Continuation;
}

/// State shared by the threads of all stages.
pub(crate) struct Workers {
    pub(crate) plan: Plan,
    pub(crate) plans: Vec<WorkerPlan>,
    pub(crate) shared: SharedRun,
    /// How long operations in flight are waited for after the runtime.
    pub(crate) grace: Duration,
    /// What is below the targets. An `fsync` after the runtime may take minutes, in which only devices show progress.
    pub(crate) devices: Devices,
}

/// Runs all stages. Members that had no chance to begin, because the run was stopped, are left out.
pub(crate) fn run(workers: &Arc<Workers>, supervisor: &mut dyn Supervise) -> Vec<WorkerResult> {
    let mut supervisor = GuardedWorker { supervisor, broken: false };
    let mut finished = Vec::with_capacity(workers.plans.len());
    let mut first = 0;
    for stage in workers.plans.chunk_by(|a, b| a.stage == b.stage) {
        if supervisor.tick(&finished) != Continuation::Continue || stuck::is_stuck() {
            break;
        }
        let stage = Arc::new(RunStage {
            workers: Arc::clone(workers),
            first,
            count: stage.len(),
            stop: Stop::new(),
            barrier: StartBarrier::default(),
            began: Instant::now(),
        });
        stage.run(&mut supervisor, &mut finished);
        first += stage.count;
    }
    finished.sort_by_key(|finished| finished.number);
    finished
}

/// A supervisor that may panic without losing results: the run is then stopped.
struct GuardedWorker<'a> {
    supervisor: &'a mut dyn Supervise,
    broken: bool,
}

impl GuardedWorker<'_> {
    fn tick(&mut self, finished: &[WorkerResult]) -> Continuation {
        if self.broken {
            return Continuation::Stop;
        }
        let ticked = catch_unwind(AssertUnwindSafe(|| self.supervisor.tick(finished)));
        self.broken = ticked.is_err();
        ticked.unwrap_or(Continuation::Stop)
    }
}

/// Messages of workers to the main thread.
enum Message {
    /// One is ready to begin.
    Ready,
    /// One has ended, or could not begin.
    Finished(Box<WorkerResult>),
}

/// Time until every worker has had its turn.
const ROUND: Duration = Duration::from_millis(100);
/// The scheduler takes turns at its ticks; what is well after [`ROUND`] then is not left to it.
const SCHEDULED_TURN: Duration = Duration::from_millis(4);

/// After how long workers give way to one another. The scheduler lets who always has work run from tick to tick: of a
/// thousand workers on two processors each would run every two seconds, and see that late that its time is over.
pub(crate) fn turn(workers: &[WorkerPlan]) -> Option<Nanos> {
    let most = workers.chunk_by(|a, b| a.stage == b.stage).map(<[WorkerPlan]>::len).max().unwrap_or(0);
    turn_of(most, std::thread::available_parallelism().map_or(1, usize::from))
}

fn turn_of(workers: usize, cpus: usize) -> Option<Nanos> {
    let workers_per_cpu = (workers as f64 / cpus as f64).max(1.0);
    let turn = ROUND.div_f64(workers_per_cpu).max(Duration::from_micros(50));
    (SCHEDULED_TURN.mul_f64(workers_per_cpu) > 2 * ROUND).then(|| Nanos::new(turn.as_nanos() as u64))
}

/// Holds workers until all of them are ready. Waiting takes no lock, for which a thousand threads would have to queue as it
/// opens.
#[derive(Default)]
struct StartBarrier(OnceLock<()>);

impl StartBarrier {
    fn open(&self) {
        self.0.get_or_init(|| ());
    }

    fn wait(&self) {
        self.0.wait();
    }
}

/// Members that run together.
struct RunStage {
    workers: Arc<Workers>,
    /// The first of its workers, and how many they are.
    first: usize,
    count: usize,
    stop: Stop,
    barrier: StartBarrier,
    began: Instant,
}

impl RunStage {
    fn workers(&self) -> &[WorkerPlan] {
        &self.workers.plans[self.first..][..self.count]
    }

    fn run(self: &Arc<Self>, supervisor: &mut GuardedWorker<'_>, finished: &mut Vec<WorkerResult>) {
        let (sender, receiver) = mpsc::channel();
        let mut running = Vec::with_capacity(self.count);
        for (index, worker) in self.workers().iter().enumerate() {
            let (stage, sender) = (Arc::clone(self), sender.clone());
            let name = self.job(worker).name.clone().replace('\0', "");
            let thread = std::thread::Builder::new().stack_size(STACK_BYTES).name(name);
            match thread.spawn(move || stage.work(&stage.workers()[index], &sender)) {
                Ok(_) => running.push(RunningStage::new(self, worker)),
                Err(error) => finished.push(cannot_begin(worker, format!("cannot start a thread: {error}\nhelp: use a smaller numjobs, or raise the limits of processes and memory (ulimit -u, -v)"))),
            }
        }
        self.oversee(running, &receiver, supervisor, finished);
    }

    fn job(&self, worker: &WorkerPlan) -> &Job {
        &self.workers.plan.jobs[worker.job]
    }

    /// On the worker's thread.
    fn work(&self, worker: &WorkerPlan, sender: &Sender<Message>) {
        let start = || {
            // The receiver is gone only when the run is over; the same holds below.
            let _ = sender.send(Message::Ready);
            self.barrier.wait();
        };
        let shared = &self.workers.shared;
        let run = || worker::run(worker, self.job(worker), shared, &self.stop, &start);
        let finished = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
            shared.counters.worker(worker.number).set_running(false);
            // What it had shown of its results stands.
            WorkerResult {
                summary: shared.counters.summary(worker.number).unwrap_or_default(),
                ..cannot_begin(worker, crate::BUG_REPORT.to_owned())
            }
        });
        let _ = sender.send(Message::Finished(Box::new(finished)));
    }

    /// On the main thread, until all have ended or are no longer waited for.
    fn oversee(
        &self,
        mut running: Vec<RunningStage>,
        receiver: &Receiver<Message>,
        supervisor: &mut GuardedWorker<'_>,
        finished: &mut Vec<WorkerResult>,
    ) {
        let (mut awaited, mut stopped, mut silence) = (running.len(), None, None);
        while !running.is_empty() {
            match receiver.recv_timeout(TICK) {
                Ok(Message::Ready) => awaited -= 1,
                Ok(Message::Finished(one)) => {
                    running.retain(|running| running.number != one.number);
                    // Who could not begin was never ready.
                    awaited -= usize::from(one.ending.is_none() && awaited > 0);
                    self.end_others(&one);
                    finished.push(*one);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if awaited == 0 {
                self.barrier.open();
            }
            let continuation = supervisor.tick(finished);
            if continuation != Continuation::Continue {
                self.stop.set();
                self.barrier.open();
            }
            let now = Instant::now();
            stopped = stopped.or_else(|| self.stop.is_set().then_some(now));
            // Of each, also where the first is not: it takes note of their progress.
            let past_end =
                running.iter_mut().filter_map(|one| one.is_past_end(self, now, stopped).then_some(())).count();
            let past = past_end == running.len();
            let is_over = past && self.is_silent(&running, &mut silence, now);
            if !running.is_empty() && (continuation == Continuation::Abandon || is_over) {
                return self.abandon(running, receiver, finished);
            }
        }
    }

    fn waiting(&self, one: &RunningStage) -> StalledWorker {
        let call = self.workers.shared.calls[one.number].current();
        let syncs = call.is_some_and(|call| matches!(call.kind, CallKind::Operation(OpKind::Sync | OpKind::DataSync)));
        StalledWorker { number: one.number, progressed: one.progressed, syncs }
    }

    /// Whether no worker is waited for any longer, all of them being past their ends.
    fn is_silent(&self, running: &[RunningStage], silence: &mut Option<Silence>, now: Instant) -> bool {
        let Workers { devices, grace, .. } = &*self.workers;
        let completed = devices.completed();
        let silence = silence.get_or_insert_with(|| Silence::new(&completed, now));
        silence.see(&completed, now);
        running.iter().all(|one| silence.is_over(devices, &self.waiting(one), *grace, now))
    }

    /// Ends without waiting for what is in flight. Workers hand in their results as far as they can; of those that hang in
    /// a system call the results are what they had shown last.
    fn abandon(&self, mut running: Vec<RunningStage>, receiver: &Receiver<Message>, finished: &mut Vec<WorkerResult>) {
        // Before they are woken.
        let since = Instant::now();
        let hanging: Vec<_> = running.iter().map(|one| (one.number, self.stuck_call(one))).collect();
        self.stop.abandon();
        self.barrier.open();
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
        // Threads that were woken and have not answered are stuck, however short the time before.
        for one in &running {
            let call = hanging.iter().find(|(number, _)| *number == one.number).and_then(|(_, call)| call.clone());
            let call = call.map(|call| PendingOperation { waited: call.waited + nanos(since.elapsed()), ..call });
            finished.push(self.without_answer(one, call));
        }
        if finished.iter().any(|one| !one.pending.is_empty()) {
            stuck::set_stuck();
        }
    }

    fn stuck_call(&self, one: &RunningStage) -> Option<PendingOperation> {
        let shared = &self.workers.shared;
        let call = shared.calls[one.number].current()?;
        Some(worker::pending_call(&call, shared.clock.now()))
    }

    /// What there is of a worker whose thread hangs.
    fn without_answer(&self, one: &RunningStage, call: Option<PendingOperation>) -> WorkerResult {
        let counters = &self.workers.shared.counters;
        let worker = counters.worker(one.number);
        worker.set_running(false);
        // Where the call is not known the thread has been silent since its progress was seen last.
        let silent = PendingOperation {
            kind: StuckKind::Unknown,
            waited: nanos(one.progressed.elapsed()),
            ..PendingOperation::default()
        };
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

    /// `exitall`: when one ends, all end.
    fn end_others(&self, one: &WorkerResult) {
        let worker = self.workers().iter().find(|worker| worker.number == one.number);
        if worker.is_some_and(|worker| self.job(worker).grouping.exitall) {
            self.stop.set();
        }
    }
}

/// A worker that has not ended.
struct RunningStage {
    number: usize,
    /// How long it may run from its start; `None` where only its data ends it.
    most: Option<Duration>,
    /// When it was first seen at work.
    started: Option<Instant>,
    /// How much it had done, and when that was seen to change.
    done: u64,
    progressed: Instant,
}

impl RunningStage {
    fn new(stage: &RunStage, worker: &WorkerPlan) -> Self {
        let most = policy::longest(stage.job(worker)).map(|most| Duration::from_nanos(most.get()));
        Self { number: worker.number, most, started: None, done: 0, progressed: stage.began }
    }

    /// Whether its time is over, or it was `stopped`. Takes note of its progress: what is read back after the runtime is
    /// progress too.
    fn is_past_end(&mut self, stage: &RunStage, now: Instant, stopped: Option<Instant>) -> bool {
        let worker = stage.workers.shared.counters.worker(self.number);
        if self.started.is_none() && worker.is_running() {
            self.started = Some(now);
        }
        let done = worker.operations();
        if std::mem::replace(&mut self.done, done) != done {
            self.progressed = now;
        }
        let end = self.most.and_then(|most| self.started.unwrap_or(stage.began).checked_add(most));
        end.into_iter().chain(stopped).min().is_some_and(|end| now >= end)
    }
}

fn nanos(duration: Duration) -> Nanos {
    Nanos::new(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

fn cannot_begin(worker: &WorkerPlan, text: String) -> WorkerResult {
    WorkerResult { number: worker.number, error: Some(WorkerError::new(text)), ..WorkerResult::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_workers_on_two_processors_saw_the_end_seconds_late() {
        assert_eq!(turn_of(1000, 2), Some(Nanos::from_micros(200)));
        assert_eq!(turn_of(1_000_000, 2), Some(Nanos::from_micros(50)));
        assert_eq!((turn_of(64, 2), turn_of(0, 1)), (None, None), "the scheduler does it well enough");
    }
}
