//! All workers of a run, stage after stage, each on its own thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};

use std::time::Duration;

use drive::Stop;
use job::{Job, Plan};
use units::Nanos;

use crate::members::Member;
use crate::worker::{self, Finished, Shared, Trouble};

/// Enough for the loop and the deepest call below it; the default of 2 MiB would do no harm but to `ulimit -v`.
const STACK_BYTES: usize = 512 * 1024;
/// How often somebody who watches is called.
const TICK: Duration = Duration::from_millis(50);

/// Looks at the run while it goes on.
pub(crate) trait Overseer {
    /// Called about twenty times a second, and after each worker has finished. Returns whether all are to stop.
    fn tick(&mut self, finished: &[Finished]) -> bool;
}

/// Runs all stages. Members that had no chance to begin, because the run was stopped, are left out.
pub(crate) fn run(plan: &Plan, members: &[Member], shared: &Shared<'_>, overseer: &mut dyn Overseer) -> Vec<Finished> {
    let mut finished = Vec::with_capacity(members.len());
    for stage in members.chunk_by(|a, b| a.stage == b.stage) {
        if overseer.tick(&finished) {
            break;
        }
        let stage = Stage { plan, members: stage, shared, stop: Stop::new(), gate: Gate::default() };
        stage.run(overseer, &mut finished);
    }
    finished.sort_by_key(|finished| finished.number);
    finished
}

/// What workers tell the main thread.
enum Message {
    /// One is ready to begin.
    Ready,
    /// One has ended, or could not begin.
    Finished(Box<Finished>),
}

/// How long it is to take until every worker has had its turn.
const ROUND: Duration = Duration::from_millis(100);
/// The scheduler takes turns at its ticks; what is well after [`ROUND`] then is not left to it.
const SCHEDULED_TURN: Duration = Duration::from_millis(4);

/// After how long workers give way to one another. The scheduler lets who always has work run from tick to tick: of a
/// thousand workers on two processors each would run every two seconds, and see that late that its time is over.
pub(crate) fn turn(members: &[Member]) -> Option<Nanos> {
    let most = members.chunk_by(|a, b| a.stage == b.stage).map(<[Member]>::len).max().unwrap_or(0);
    turn_of(most, std::thread::available_parallelism().map_or(1, usize::from))
}

fn turn_of(workers: usize, cpus: usize) -> Option<Nanos> {
    let workers_per_cpu = (workers as f64 / cpus as f64).max(1.0);
    let turn = ROUND.div_f64(workers_per_cpu).max(Duration::from_micros(50));
    (SCHEDULED_TURN.mul_f64(workers_per_cpu) > 2 * ROUND).then(|| Nanos::new(turn.as_nanos() as u64))
}

/// Closed until everybody is ready. Who waits takes no lock, for which a thousand would have to queue as it opens.
#[derive(Default)]
struct Gate(OnceLock<()>);

impl Gate {
    fn open(&self) {
        self.0.get_or_init(|| ());
    }

    fn wait(&self) {
        self.0.wait();
    }
}

/// Members that run together.
struct Stage<'a> {
    plan: &'a Plan,
    members: &'a [Member],
    shared: &'a Shared<'a>,
    stop: Stop,
    gate: Gate,
}

impl Stage<'_> {
    fn run(&self, overseer: &mut dyn Overseer, finished: &mut Vec<Finished>) {
        let (sender, receiver) = mpsc::channel();
        std::thread::scope(|scope| {
            let mut started = 0;
            for member in self.members {
                let sender = sender.clone();
                let name = self.job(member).name.clone().replace('\0', "");
                let thread = std::thread::Builder::new().stack_size(STACK_BYTES).name(name);
                match thread.spawn_scoped(scope, move || self.work(member, &sender)) {
                    Ok(_) => started += 1,
                    Err(error) => finished.push(cannot_begin(member, format!("cannot start a thread: {error}; use a smaller numjobs, or raise the limits of processes and memory (ulimit -u, -v)"))),
                }
            }
            self.oversee(started, &receiver, overseer, finished);
        });
    }

    fn job(&self, member: &Member) -> &Job {
        &self.plan.jobs[member.job]
    }

    /// On the worker's thread.
    fn work(&self, member: &Member, sender: &Sender<Message>) {
        let start = || {
            // Nobody listens only when the run is over anyway; the same holds below.
            let _ = sender.send(Message::Ready);
            self.gate.wait();
        };
        let run = || worker::run(member, self.job(member), self.shared, &self.stop, &start);
        let finished = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
            self.shared.board.seat(member.number).set_running(false);
            cannot_begin(member, "the worker broke down: please report this with the message above".to_owned())
        });
        let _ = sender.send(Message::Finished(Box::new(finished)));
    }

    /// On the main thread, until all have ended.
    fn oversee(
        &self,
        started: usize,
        receiver: &Receiver<Message>,
        overseer: &mut dyn Overseer,
        finished: &mut Vec<Finished>,
    ) {
        let (mut running, mut awaited) = (started, started);
        while running > 0 {
            match receiver.recv_timeout(TICK) {
                Ok(Message::Ready) => awaited -= 1,
                Ok(Message::Finished(one)) => {
                    running -= 1;
                    // Who could not begin was never ready.
                    awaited -= usize::from(one.ending.is_none() && awaited > 0);
                    self.end_others(&one);
                    finished.push(*one);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if awaited == 0 {
                self.gate.open();
            }
            if overseer.tick(finished) {
                self.stop.set();
                self.gate.open();
            }
        }
    }

    /// `exitall`: when one ends, all end.
    fn end_others(&self, one: &Finished) {
        let member = self.members.iter().find(|member| member.number == one.number);
        if member.is_some_and(|member| self.job(member).grouping.exitall) {
            self.stop.set();
        }
    }
}

fn cannot_begin(member: &Member, text: String) -> Finished {
    Finished { number: member.number, trouble: Some(Trouble::new(text)), ..Finished::default() }
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
