//! Settings of a worker: how it fills its queue, and when it ends.

use units::Nanos;

/// Behaviour after `EIO` or the end of a file. Other errors are final.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OnError {
    /// Whether to continue after failed reads.
    pub continue_on_read: bool,
    /// Whether to continue after failed writes, trims and syncs.
    pub continue_on_write: bool,
    /// Whether to continue after verification errors.
    pub continue_on_verify: bool,
}

/// How a worker fills its queue, and when it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Queue depth, at least 1.
    pub depth: u32,
    /// Operations per submission; `None` to adapt to how soon operations complete.
    pub batch: Option<u32>,
    /// Minimum number of completions to wait for when the queue is full. 0 counts as 1, because a loop that only polls
    /// would never advance a virtual clock.
    pub complete_min: u32,
    /// Maximum number of completions to process before slots are refilled; `None` for all.
    pub complete_max: Option<u32>,
    /// Maximum number in flight at which the queue is refilled; `None` to refill at once.
    pub low: Option<u32>,
    /// Whether operations follow a schedule, so that the loop's lateness is measured.
    pub scheduled: bool,
    /// Delay of the worker's start after the call.
    pub delay: Nanos,
    /// Time from the start until results count.
    pub ramp: Nanos,
    /// Runtime after the ramp; [`Nanos::MAX`] for no limit.
    pub runtime: Nanos,
    /// Behaviour after errors.
    pub on_error: OnError,
    /// Whether to read back written data after the runtime, however long that takes. Without it, as in fio, data that
    /// were not read back by then stay unverified.
    pub verify_after_runtime: bool,
    /// Whether to write back caches before reading back, so that stored rather than cached data are verified. fio does
    /// not.
    pub settle_before_verify: bool,
    /// Whether to stop at the first verification error, without reading the rest.
    pub verify_fatal: bool,
    /// Whether to keep the found and expected content of damaged blocks.
    pub keep_damaged: bool,
    /// Whether the end of this worker ends the other workers of the call.
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
