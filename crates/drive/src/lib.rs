//! The one loop.
//!
//! [`drive`] asks each worker's issuer what is next, submits it to the target, waits no longer than the next
//! instant at which anything is due, hands completions to the worker's meter and frees their tags. It is generic
//! over the target and compiled once for each. On a real device one thread drives one worker; in virtual time
//! one call drives all workers of all jobs.
//!
//! Between batches it looks at the stop conditions and, a few times a second of the target's clock, shows the
//! meters to a [`Watch`]: screens and exporters see what a watch has copied and can neither slow nor fail a run.
//!
//! What is *not* here: a clock, a thread, a device, a decision about what to issue, or a statistic.

mod policy;
mod slots;
mod stop;
mod watch;
mod worker;

pub use policy::{OnError, Policy};
pub use stop::Stop;
pub use watch::{Unwatched, Watch};
pub use worker::{Damaged, Ending, Failure, FailureCause, Worker};

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use target::{Completion, Target};
use units::Nanos;

use crate::worker::Wake;

/// Runs all workers to their ends.
///
/// `stop` ends them early: nothing more is issued, what is in flight is waited for, and the results so far stand.
/// Each worker's tags follow those of the worker before it: worker 0 has `0..depth`, and so on.
pub fn drive<T: Target, W: Watch>(workers: &mut [Worker], target: &mut T, stop: &Stop, watch: &mut W) {
    let mut owners = Vec::new();
    for (index, worker) in workers.iter_mut().enumerate() {
        worker.place(owners.len() as u32);
        owners.resize(owners.len() + worker.depth() as usize, index as u32);
    }
    let mut world =
        World { owners, ready: (0..workers.len()).collect(), asked: Vec::new(), timers: BinaryHeap::new(), min: 1 };
    let mut done = Vec::with_capacity(world.owners.len());
    let mut now = target.now();
    let mut look_at = watch.next_look(now);
    let mut running = workers.len();
    for worker in workers.iter_mut() {
        worker.arrive(now);
    }
    while running > 0 {
        running -= world.step_ready(workers, target, now);
        if running == 0 {
            break;
        }
        let until = world.next_timer().min(look_at);
        target.wait(world.min, until, &mut done);
        now = match done.last() {
            Some(last) => last.completed,
            None => target.now(),
        };
        world.route(workers, target, &mut done);
        world.wake_due(now);
        if now >= look_at {
            let stopping = stop.is_set();
            for (index, worker) in workers.iter_mut().enumerate() {
                if stopping {
                    worker.stop();
                    world.ready.push(index);
                }
                watch.look(index, worker.meter_mut(), now);
            }
            look_at = watch.next_look(now);
        }
    }
}

/// Who is to be asked next, and when.
struct World {
    /// Which worker a tag belongs to.
    owners: Vec<u32>,
    /// Workers to ask before waiting again; a worker may be in here twice, which does no harm.
    ready: Vec<usize>,
    /// Those that are being asked: the same memory, used in turn.
    asked: Vec<usize>,
    /// When a worker that waits for an instant is to be asked.
    timers: BinaryHeap<Reverse<(Nanos, usize)>>,
    /// How many completions the next wait is for.
    min: u32,
}

impl World {
    /// Asks each ready worker for operations. Returns how many workers ended.
    fn step_ready<T: Target>(&mut self, workers: &mut [Worker], target: &mut T, now: Nanos) -> usize {
        let (mut ended, alone) = (0, workers.len() == 1);
        self.min = 1;
        std::mem::swap(&mut self.ready, &mut self.asked);
        for &index in &self.asked {
            match workers[index].step(target, now) {
                Wake::Completions(min) if alone => self.min = min,
                Wake::Completions(_) | Wake::AlreadyEnded => {}
                Wake::Look => {
                    self.min = 0;
                    self.ready.push(index);
                }
                Wake::At(instant) => self.timers.push(Reverse((instant, index))),
                Wake::Ended => ended += 1,
            }
        }
        self.asked.clear();
        ended
    }

    fn next_timer(&self) -> Nanos {
        self.timers.peek().map_or(Nanos::MAX, |Reverse((instant, _))| *instant)
    }

    /// Hands completions to the workers that wait for them.
    fn route<T: Target>(&mut self, workers: &mut [Worker], target: &mut T, done: &mut Vec<Completion>) {
        if let [only] = workers {
            only.finish(target, done);
            self.ready.push(0);
        } else {
            for completion in done.iter() {
                let index = self.owners[completion.tag.index()] as usize;
                workers[index].finish(target, std::slice::from_ref(completion));
                if self.ready.last() != Some(&index) {
                    self.ready.push(index);
                }
            }
        }
        done.clear();
    }

    fn wake_due(&mut self, now: Nanos) {
        while let Some(Reverse((instant, index))) = self.timers.peek() {
            if *instant > now {
                break;
            }
            self.ready.push(*index);
            self.timers.pop();
        }
    }
}
