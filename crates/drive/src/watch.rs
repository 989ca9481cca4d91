//! Observation of meters during a run.

use meter::Meter;
use target::Completion;
use units::{Nanos, Problem};
use workload::Decision;

/// Reads the meters of workers during a run.
pub trait DriveObserver {
    /// Returns the time of the next observation, and therefore of the next check for a stop if nothing completes.
    fn next_look(&mut self, now: Nanos) -> Nanos;

    /// Reports whether to observe before the time of the next observation. In virtual time, any amount of work fits
    /// into an instant. Called once per some hundred iterations of the loop.
    fn is_overdue(&mut self) -> bool {
        false
    }

    /// Returns the time at which to yield next. Unlike for an observation, the loop does not wake up for it, because a
    /// waiting thread has yielded already.
    fn next_turn(&mut self, now: Nanos) -> Nanos {
        let _ = now;
        Nanos::MAX
    }

    /// Yields to other threads, if there are too many for the scheduler to run each in time.
    fn give_way(&mut self) {}

    /// Returns the indices of workers that end now. Called after each observation of all workers.
    fn ended(&mut self, now: Nanos) -> Vec<usize> {
        let _ = now;
        Vec::new()
    }

    /// Observes the meter of worker `index`. It may copy counters and hand over log entries; while it runs, nothing is
    /// issued.
    fn look(&mut self, index: usize, meter: &mut Meter, now: Nanos);
}

/// Observes nothing; a stop is noticed within 250 ms.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl DriveObserver for NoObserver {
    fn next_look(&mut self, now: Nanos) -> Nanos {
        now + Nanos::from_millis(250)
    }

    fn look(&mut self, _: usize, _: &mut Meter, _: Nanos) {}
}

/// Receives the operations of a worker, in order.
pub trait OperationRecorder {
    /// Receives an operation that is issued.
    fn issued(&mut self, decision: &Decision, now: Nanos);

    /// Reports whether completions are to be received too. Called once, before the first operation.
    fn sees_completions(&self) -> bool {
        false
    }

    /// Receives the completion of an operation or of a part of it, which was started at `started`.
    fn completed(&mut self, decision: &Decision, started: Nanos, completion: &Completion) {
        let _ = (decision, started, completion);
    }

    /// Ends the record.
    ///
    /// # Errors
    ///
    /// Returns the first failure.
    fn finish(self: Box<Self>) -> Result<(), Problem>;
}
