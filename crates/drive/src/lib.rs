//! The loop that keeps operations in flight.
//!
//! [`drive`] asks each worker's issuer for operations, submits them to the target, waits until the next instant at
//! which anything is due, reports completions to the worker's meter and frees their tags. It is generic over the target
//! and compiled once for each. On a real device one thread drives one worker; in virtual time one call drives all
//! workers of all jobs.
//!
//! Between batches it checks the stop conditions and, a few times per second of the target's clock, passes the meters
//! to a [`DriveObserver`]. Screens and exporters read copies made there, so that they can neither slow nor fail a run.
//!
//! What is *not* here: a clock, a thread, a device, decisions about what to issue, and statistics.

mod group;
mod locks;
mod outcome;
mod policy;
mod recent;
mod rules;
mod slots;
mod stop;
mod watch;
mod worker;

pub use locks::{FileLock, FileLocks};
pub use outcome::{Abandoned, Damaged, Ending, FailureCause, OperationFailure, Verification};
pub use policy::{EndOthers, EndScope, OnError, Policy};
pub use recent::WriteProgress;
pub use rules::{Flow, FlowMember, FoundDepth, LatencyTarget, RampBytes, RateFloor, WorkerRules};
pub use stop::Stop;
pub use watch::{DriveObserver, NoObserver, OperationRecorder};
pub use worker::DriveWorker;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use target::{Completion, Target};
use units::Nanos;

use crate::worker::Wake;

/// Runs all workers to their ends.
///
/// `stop` ends them early: nothing more is issued, operations in flight are waited for, and the results up to then are
/// valid. The end of a worker with [`Policy::ends_others`] has the same effect on those others. Once `stop` is abandoned, the call
/// returns at the next observation, with operations still in flight in the target. The tags of each worker follow those
/// of the previous one: worker 0 has `0..depth`, and so on.
pub fn drive<T: Target, W: DriveObserver>(workers: &mut [DriveWorker], target: &mut T, stop: &Stop, watch: &mut W) {
    let mut owners = Vec::new();
    for (index, worker) in workers.iter_mut().enumerate() {
        worker.place(owners.len() as u32);
        owners.resize(owners.len() + worker.depth() as usize, index as u32);
    }
    let mut schedule = WorkerSchedule::new(owners, workers.len());
    let mut done = Vec::with_capacity(schedule.owners.len());
    let mut now = target.now();
    let mut look_at = watch.next_look(now);
    let mut turn_ends = watch.next_turn(now);
    let (mut running, mut iterations) = (workers.len(), 0_u32);
    for worker in workers.iter_mut() {
        if worker.policy().after.is_none() {
            worker.arrive(now);
        }
        if stop.is_set() {
            worker.stop();
        }
    }
    while running > 0 {
        running -= schedule.step_ready(workers, target, now);
        if running == 0 {
            break;
        }
        if !schedule.ended.is_empty() {
            schedule.follow_ends(workers, now);
            continue;
        }
        let until = schedule.next_timer().min(look_at);
        target.wait(schedule.min, until, &mut done);
        // A slot is refilled from the instant at which its operation was seen to complete. So the loop's own work is
        // part of `slat` and `lat`, never hidden between two operations of a closed loop.
        now = match done.last() {
            Some(last) => last.completed,
            None => target.now(),
        };
        schedule.route(workers, target, &mut done);
        schedule.wake_due(now);
        iterations = iterations.wrapping_add(1);
        let is_due = now >= look_at;
        if is_due || iterations.is_multiple_of(CHECK_INTERVAL) && watch.is_overdue() {
            if is_due {
                target.note();
            }
            for (index, worker) in workers.iter_mut().enumerate() {
                watch.look(index, worker.meter_mut(), now);
            }
            for index in watch.ended(now) {
                workers[index].stop();
                schedule.wake(index);
            }
            if stop.is_abandoned() {
                return workers.iter_mut().for_each(|worker| worker.abandon(target, now));
            }
            if stop.is_set() {
                schedule.stop_all(workers);
            }
            look_at = watch.next_look(now);
        }
        if now >= turn_ends {
            watch.give_way();
            now = target.now();
            turn_ends = watch.next_turn(now);
        }
    }
}

/// Iterations of the loop between two checks of whether an observation is overdue.
const CHECK_INTERVAL: u32 = 256;

/// Decides which worker is stepped when.
struct WorkerSchedule {
    /// Worker of each tag.
    owners: Vec<u32>,
    /// Workers to step before the next wait, without duplicates: a second step would merge two batches.
    ready: Vec<usize>,
    /// Whether each worker is in `ready`.
    is_ready: Vec<bool>,
    /// Workers being stepped; swapped with `ready` to reuse the memory.
    stepping: Vec<usize>,
    /// Instants at which waiting workers are to be stepped.
    timers: BinaryHeap<Reverse<(Nanos, usize)>>,
    /// Minimum number of completions of the next wait.
    min: u32,
    /// Workers that have ended, on which others depend.
    ended: Vec<usize>,
}

impl WorkerSchedule {
    /// Returns a schedule in which all workers are ready.
    fn new(owners: Vec<u32>, workers: usize) -> Self {
        Self {
            owners,
            ready: (0..workers).collect(),
            is_ready: vec![true; workers],
            stepping: Vec::new(),
            timers: BinaryHeap::new(),
            min: 1,
            ended: Vec::new(),
        }
    }

    /// Schedules a worker for a step before the next wait.
    #[inline]
    fn wake(&mut self, index: usize) {
        // A single worker needs no list.
        if !std::mem::replace(&mut self.is_ready[index], true) && self.is_ready.len() > 1 {
            self.ready.push(index);
        }
    }

    /// Steps each ready worker. Returns the number of workers that ended.
    fn step_ready<T: Target>(&mut self, workers: &mut [DriveWorker], target: &mut T, now: Nanos) -> usize {
        self.min = 1;
        if let [only] = workers {
            return if self.is_ready[0] { self.step(0, only, target, now) } else { 0 };
        }
        let mut ended = 0;
        let mut stepping = std::mem::take(&mut self.stepping);
        std::mem::swap(&mut self.ready, &mut stepping);
        for index in stepping.drain(..) {
            ended += self.step(index, &mut workers[index], target, now);
        }
        self.stepping = stepping;
        ended
    }

    /// Steps a ready worker, and records what it waits for. Returns 1 if it ended, otherwise 0.
    #[inline(always)]
    fn step<T: Target>(&mut self, index: usize, worker: &mut DriveWorker, target: &mut T, now: Nanos) -> usize {
        self.is_ready[index] = false;
        match worker.step(target, now) {
            Wake::Completions(min) if self.is_ready.len() == 1 => self.min = min,
            Wake::Completions(_) | Wake::AlreadyEnded => {}
            Wake::Poll => {
                self.min = 0;
                self.wake(index);
            }
            Wake::At(instant) => self.timers.push(Reverse((instant, index))),
            Wake::Ended => {
                // A single worker has none that depend on it.
                if self.is_ready.len() > 1 {
                    self.ended.push(index);
                }
                return 1;
            }
        }
        0
    }

    /// Ends the workers that end with those that have ended, and starts those that waited for them.
    #[cold]
    fn follow_ends(&mut self, workers: &mut [DriveWorker], now: Nanos) {
        for ended in std::mem::take(&mut self.ended) {
            let scope = workers[ended].ends_others();
            let (job, group) = (workers[ended].policy().job, workers[ended].policy().group);
            let is_job_over = workers.iter().all(|worker| worker.policy().job != job || worker.ending().is_some());
            for (index, worker) in workers.iter_mut().enumerate() {
                if is_job_over && worker.policy().after == Some(job) && worker.ending().is_none() {
                    worker.arrive(now);
                    self.wake(index);
                }
                let ends = match scope {
                    None => false,
                    Some(EndScope::Group) => worker.policy().group == group,
                    Some(EndScope::All) => true,
                };
                if ends {
                    worker.stop();
                    self.wake(index);
                }
            }
        }
    }

    /// Stops all workers and schedules each for a step.
    fn stop_all(&mut self, workers: &mut [DriveWorker]) {
        for (index, worker) in workers.iter_mut().enumerate() {
            worker.stop();
            self.wake(index);
        }
    }

    fn next_timer(&self) -> Nanos {
        self.timers.peek().map_or(Nanos::MAX, |Reverse((instant, _))| *instant)
    }

    /// Reports completions to their workers.
    fn route<T: Target>(&mut self, workers: &mut [DriveWorker], target: &mut T, done: &mut Vec<Completion>) {
        if let [only] = workers {
            only.finish(target, done);
            self.wake(0);
        } else {
            for completion in done.iter() {
                let index = self.owners[completion.tag.index()] as usize;
                workers[index].finish(target, std::slice::from_ref(completion));
                self.wake(index);
            }
        }
        done.clear();
    }

    #[inline]
    fn wake_due(&mut self, now: Nanos) {
        if !self.timers.is_empty() {
            self.wake_timers(now);
        }
    }

    fn wake_timers(&mut self, now: Nanos) {
        while let Some(&Reverse((instant, index))) = self.timers.peek()
            && instant <= now
        {
            self.timers.pop();
            self.wake(index);
        }
    }
}
