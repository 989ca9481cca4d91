//! Waiting for completions: what `io_uring` and `libaio` have in common.

use target::Completion;
use units::Nanos;

use crate::clock::{MonotonicClock, nap};

/// A queue whose operations are carried out by the kernel while the thread goes on.
pub(crate) trait SubmissionQueue {
    /// Operations taken by `submit` whose completions have not been collected.
    fn in_flight(&self) -> u32;

    /// Appends what is known to be done, without a system call.
    fn collect(&mut self, done: &mut Vec<Completion>);

    /// Hands over what is held back, and lets the kernel report what is done, without waiting.
    fn poll(&mut self);

    /// Hands over what is held back.
    fn flush(&mut self);

    /// Hands over what is held back, then sleeps until `want` operations are done or `limit` has passed.
    /// Returns whether a signal cut it short.
    fn block(&mut self, want: u32, limit: Option<Nanos>) -> bool;
}

/// [`target::Target::wait`] for a queue.
#[inline]
pub(crate) fn wait<Q: SubmissionQueue>(
    queue: &mut Q,
    clock: &MonotonicClock,
    min: u32,
    until: Nanos,
    done: &mut Vec<Completion>,
) {
    if min == 0 {
        queue.poll();
        queue.collect(done);
        return;
    }
    let enough = done.len() + min as usize;
    queue.collect(done);
    while done.len() < enough {
        if queue.in_flight() == 0 {
            clock.sleep_until(until);
            return;
        }
        let want = (enough - done.len()).min(queue.in_flight() as usize) as u32;
        let interrupted = pass(queue, clock, want, until);
        queue.collect(done);
        if interrupted {
            return;
        }
    }
    queue.flush();
}

/// Waits once: asleep where the deadline is far, else with a look at the queue. Returns whether to give up,
/// because the deadline has come or a signal has arrived.
#[inline]
fn pass<Q: SubmissionQueue>(queue: &mut Q, clock: &MonotonicClock, want: u32, until: Nanos) -> bool {
    if until == Nanos::MAX {
        return queue.block(want, None);
    }
    let left = until - clock.now();
    match nap(left) {
        Some(length) => queue.block(want, Some(length)),
        None => {
            queue.poll();
            left == Nanos::ZERO
        }
    }
}
