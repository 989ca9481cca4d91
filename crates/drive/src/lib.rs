//! The one loop.
//!
//! [`drive`] asks each worker's issuer what is next, submits it to the target, waits no longer than the next
//! instant at which anything is due, hands completions to the worker's meter and frees their tags. It is generic
//! over the target and compiled once for each. On a real device one thread drives one worker; in virtual time
//! one call drives all workers of all jobs.
//!
//! Between batches it looks at the stop conditions and, a few times a second of the target's clock, shows the
//! meters to a [`DriveObserver`]: screens and exporters see what a watch has copied and can neither slow nor fail a run.
//!
//! What is *not* here: a clock, a thread, a device, a decision about what to issue, or a statistic.

mod group;
mod outcome;
mod policy;
mod slots;
mod stop;
mod watch;
mod worker;

pub use outcome::{Abandoned, Damaged, Ending, FailureCause, OperationFailure, Verification};
pub use policy::{OnError, Policy};
pub use stop::Stop;
pub use watch::{DriveObserver, Unwatched};
pub use worker::DriveWorker;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use target::{Completion, Target};
use units::Nanos;

use crate::worker::Wake;

/// Runs all workers to their ends.
///
/// `stop` ends them early: nothing more is issued, what is in flight is waited for, and the results so far stand. So
/// does the end of a worker whose [`Policy::ends_others`] says so, at its instant. Once `stop` is abandoned, the call
/// returns at the next look with operations still in flight in the target.
/// Each worker's tags follow those of the worker before it: worker 0 has `0..depth`, and so on.
pub fn drive<T: Target, W: DriveObserver>(workers: &mut [DriveWorker], target: &mut T, stop: &Stop, watch: &mut W) {
    let mut owners = Vec::new();
    for (index, worker) in workers.iter_mut().enumerate() {
        worker.place(owners.len() as u32);
        owners.resize(owners.len() + worker.depth() as usize, index as u32);
    }
    let mut world = WorkerSchedule::new(owners, workers.len());
    let mut done = Vec::with_capacity(world.owners.len());
    let mut now = target.now();
    let mut look_at = watch.next_look(now);
    let mut turn_ends = watch.next_turn(now);
    let (mut running, mut turns) = (workers.len(), 0_u32);
    for worker in workers.iter_mut() {
        worker.arrive(now);
        if stop.is_set() {
            worker.stop();
        }
    }
    while running > 0 {
        running -= world.step_ready(workers, target, now);
        if running == 0 {
            break;
        }
        if std::mem::take(&mut world.one_ends_all) {
            world.stop_all(workers);
            continue;
        }
        let until = world.next_timer().min(look_at);
        target.wait(world.min, until, &mut done);
        now = match done.last() {
            Some(last) => last.completed,
            None => target.now(),
        };
        world.route(workers, target, &mut done);
        world.wake_due(now);
        turns = turns.wrapping_add(1);
        let is_due = now >= look_at;
        if is_due || turns.is_multiple_of(TURNS) && watch.is_overdue() {
            if is_due {
                target.note();
            }
            for (index, worker) in workers.iter_mut().enumerate() {
                watch.look(index, worker.meter_mut(), now);
            }
            if stop.is_abandoned() {
                return workers.iter_mut().for_each(|worker| worker.abandon(target, now));
            }
            if stop.is_set() {
                world.stop_all(workers);
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

/// Turns of the loop between two checks of whether a look is overdue.
const TURNS: u32 = 256;

/// When each worker is stepped next.
struct WorkerSchedule {
    /// Which worker a tag belongs to.
    owners: Vec<u32>,
    /// Workers to ask before waiting again, each once: one that is asked twice issues two batches as one.
    ready: Vec<usize>,
    /// Which workers are in `ready`.
    is_ready: Vec<bool>,
    /// Those that are being asked: the same memory, used in turn.
    asked: Vec<usize>,
    /// When a worker that waits for an instant is to be asked.
    timers: BinaryHeap<Reverse<(Nanos, usize)>>,
    /// How many completions the next wait is for.
    min: u32,
    /// A worker has ended whose end is that of all.
    one_ends_all: bool,
}

impl WorkerSchedule {
    /// A world in which all workers are ready.
    fn new(owners: Vec<u32>, workers: usize) -> Self {
        Self {
            owners,
            ready: (0..workers).collect(),
            is_ready: vec![true; workers],
            asked: Vec::new(),
            timers: BinaryHeap::new(),
            min: 1,
            one_ends_all: false,
        }
    }

    /// Has a worker asked before the next wait.
    #[inline]
    fn wake(&mut self, index: usize) {
        // A worker that is alone needs no list.
        if !std::mem::replace(&mut self.is_ready[index], true) && self.is_ready.len() > 1 {
            self.ready.push(index);
        }
    }

    /// Asks each ready worker for operations. Returns how many workers ended.
    fn step_ready<T: Target>(&mut self, workers: &mut [DriveWorker], target: &mut T, now: Nanos) -> usize {
        self.min = 1;
        if let [only] = workers {
            return if self.is_ready[0] { self.step(0, only, target, now) } else { 0 };
        }
        let mut ended = 0;
        let mut asked = std::mem::take(&mut self.asked);
        std::mem::swap(&mut self.ready, &mut asked);
        for index in asked.drain(..) {
            ended += self.step(index, &mut workers[index], target, now);
        }
        self.asked = asked;
        ended
    }

    /// Asks a worker that is ready, and takes note of what it waits for. Returns whether it ended, as a count.
    #[inline(always)]
    fn step<T: Target>(&mut self, index: usize, worker: &mut DriveWorker, target: &mut T, now: Nanos) -> usize {
        self.is_ready[index] = false;
        match worker.step(target, now) {
            Wake::Completions(min) if self.is_ready.len() == 1 => self.min = min,
            Wake::Completions(_) | Wake::AlreadyEnded => {}
            Wake::Look => {
                self.min = 0;
                self.wake(index);
            }
            Wake::At(instant) => self.timers.push(Reverse((instant, index))),
            Wake::Ended => {
                self.one_ends_all |= worker.ends_others();
                return 1;
            }
        }
        0
    }

    /// Has all workers issue nothing more, and asks them what they still wait for.
    fn stop_all(&mut self, workers: &mut [DriveWorker]) {
        for (index, worker) in workers.iter_mut().enumerate() {
            worker.stop();
            self.wake(index);
        }
    }

    fn next_timer(&self) -> Nanos {
        self.timers.peek().map_or(Nanos::MAX, |Reverse((instant, _))| *instant)
    }

    /// Hands completions to the workers that wait for them.
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
        while let Some(Reverse((instant, index))) = self.timers.peek() {
            if *instant > now {
                break;
            }
            let index = *index;
            self.timers.pop();
            self.wake(index);
        }
    }
}
