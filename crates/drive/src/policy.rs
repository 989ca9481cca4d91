//! When a worker refills its queue, and when it ends.

use units::Nanos;

/// Behaviour after `EIO` or the end of a file. Other errors are final.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OnError {
    /// Goes on after failed reads.
    pub continue_on_read: bool,
    /// Goes on after failed writes, trims and syncs.
    pub continue_on_write: bool,
    /// Goes on after blocks that are not what was written.
    pub continue_on_verify: bool,
}

/// Settings of how a worker keeps its queue filled, and when it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Operations in flight at most, at least 1.
    pub depth: u32,
    /// Submit in groups of this many; `None` to let the loop choose by how soon operations are done.
    pub batch: Option<u32>,
    /// Wait for at least this many completions at a time when the queue is full; 0 is taken for 1, because a loop
    /// that asks again and again would stand still in virtual time.
    pub complete_min: u32,
    /// Take at most this many completions before slots are refilled; `None` for all there are.
    pub complete_max: Option<u32>,
    /// Refill only when no more than this many are in flight; `None` to refill at once.
    pub low: Option<u32>,
    /// Operations follow a schedule, so the loop's own lateness is counted.
    pub scheduled: bool,
    /// How long after the call the worker begins.
    pub delay: Nanos,
    /// How long it runs before results count.
    pub ramp: Nanos,
    /// How long it runs after that; [`Nanos::MAX`] for no limit.
    pub runtime: Nanos,
    /// What happens on an error.
    pub on_error: OnError,
    /// Read back what was written when the runtime is over, however long that takes. Without it, as in fio, what was
    /// not read back by then stays unverified.
    pub verify_after_runtime: bool,
    /// Have what was written written back before it is read back, so that not what is cached is verified. fio does not.
    pub settle_before_verify: bool,
    /// Stop at the first block that is not what was written, without reading the rest.
    pub verify_fatal: bool,
    /// Keep damaged blocks with their failures, and what they should have been.
    pub keep_damaged: bool,
    /// Its end ends the other workers of the call.
    pub ends_others: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            depth: 1,
            batch: None,
            complete_min: 1,
            complete_max: None,
            low: None,
            scheduled: false,
            delay: Nanos::ZERO,
            ramp: Nanos::ZERO,
            runtime: Nanos::MAX,
            on_error: OnError::default(),
            verify_after_runtime: false,
            settle_before_verify: false,
            verify_fatal: false,
            keep_damaged: false,
            ends_others: false,
        }
    }
}
