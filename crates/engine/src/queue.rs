//! Waits for completions, for the engines whose operations complete asynchronously.

use target::Completion;
use units::Nanos;

use crate::clock::{MonotonicClock, sleep_before};

/// A queue whose operations the kernel or a server executes while the thread continues.
pub(crate) trait SubmissionQueue {
    /// Returns the number of submitted operations whose completions have not been collected.
    fn in_flight(&self) -> u32;

    /// Appends the known completions to `done`, without a system call.
    fn collect(&mut self, done: &mut Vec<Completion>);

    /// Submits all queued operations and lets the kernel report completions, without waiting.
    fn poll(&mut self);

    /// Submits all queued operations.
    fn flush(&mut self);

    /// Submits all queued operations, then sleeps until `want` operations have completed or `limit` has passed. Returns
    /// whether a signal interrupted the sleep.
    fn block(&mut self, want: u32, limit: Option<Nanos>) -> bool;
}

/// Implements [`target::Target::wait`] for a queue.
#[inline]
pub(crate) fn wait<Q: SubmissionQueue>(
    queue: &mut Q,
    clock: &MonotonicClock,
    min: u32,
    until: Nanos,
    done: &mut Vec<Completion>,
) {
    let enough = done.len() + min as usize;
    if min == 0 {
        queue.poll();
    }
    let mut interrupted = false;
    loop {
        queue.collect(done);
        if interrupted || done.len() >= enough {
            return queue.flush();
        }
        if queue.in_flight() == 0 {
            return clock.sleep_until(until);
        }
        let want = (enough - done.len()).min(queue.in_flight() as usize) as u32;
        interrupted = wait_once(queue, clock, want, until);
    }
}

/// Waits once: sleeps if the deadline is far, polls the queue otherwise. Returns whether to stop waiting because the
/// deadline has passed or a signal has arrived.
#[inline]
fn wait_once<Q: SubmissionQueue>(queue: &mut Q, clock: &MonotonicClock, want: u32, until: Nanos) -> bool {
    if until == Nanos::MAX {
        return queue.block(want, None);
    }
    let left = until - clock.now();
    match sleep_before(left) {
        Some(length) => queue.block(want, Some(length)),
        None => {
            queue.poll();
            left == Nanos::ZERO
        }
    }
}
