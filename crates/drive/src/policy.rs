//! Settings of a worker: how it fills its queue, and when it ends.

use units::Nanos;

use crate::rules::{RampBytes, WorkerRules};

/// Behaviour after `EIO` or the end of a file. Other errors are final, unless they are to be ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OnError {
    /// Whether to continue after failed reads.
    pub continue_on_read: bool,
    /// Whether to continue after failed writes, trims and syncs.
    pub continue_on_write: bool,
    /// Whether to continue after verification errors.
    pub continue_on_verify: bool,
    /// Error numbers that are final for no read, write (also trim and sync), or verification.
    pub ignored: [Vec<i32>; 3],
}

/// When the end of a worker ends others, and which.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndOthers {
    /// Whether any end does.
    pub at_end: bool,
    /// Whether a failure does.
    pub at_error: bool,
    /// The workers that it ends.
    pub scope: EndScope,
}

impl EndOthers {
    /// Returns the workers that an end ends, if it ends any.
    #[must_use]
    pub fn scope_of(self, has_failed: bool) -> Option<EndScope> {
        (self.at_end || (self.at_error && has_failed)).then_some(self.scope)
    }
}

/// Workers that end with one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EndScope {
    /// Those of its group.
    #[default]
    Group,
    /// All that run.
    All,
}

/// How a worker fills its queue, and when it ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Queue depth, at least 1.
    pub depth: u32,
    /// Whether operations wait in a queue, or for a helper thread; otherwise each begins with its call, as in fio, and takes no
    /// time to submit.
    pub queues: bool,
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
    /// Bytes to transfer until results count, not before [`Policy::ramp`].
    pub ramp_bytes: Option<RampBytes>,
    /// Runtime after the ramp; [`Nanos::MAX`] for no limit.
    pub runtime: Nanos,
    /// Behaviour after errors.
    pub on_error: OnError,
    /// I/O priorities by index in decisions, as the kernel encodes them; empty if operations have none.
    pub priorities: Vec<u16>,
    /// Whether the device compares what is verified, instead of returning it.
    pub compares: bool,
    /// Whether operations that would block fail (`EAGAIN`) instead of being submitted again.
    pub fails_when_blocked: bool,
    /// Whether to read back written data after the runtime, which ends writing but not verification, however long that
    /// takes. Without it, as in fio, data that were not read back by then stay unverified.
    pub verify_after_runtime: bool,
    /// Whether to write back caches before reading back, so that stored rather than cached data are verified. fio does
    /// not.
    pub settle_before_verify: bool,
    /// Whether to stop at the first verification error, without reading the rest.
    pub verify_fatal: bool,
    /// Whether to keep the found and expected content of damaged blocks.
    pub keep_damaged: bool,
    /// Whether to record the last writes that completed ([`crate::DriveWorker::write_progress`]).
    pub keep_progress: bool,
    /// Job of the worker, for [`Policy::after`].
    pub job: usize,
    /// Job whose workers must all have ended before this one starts.
    pub after: Option<usize>,
    /// Group of the worker, for [`EndScope::Group`].
    pub group: u32,
    /// Whether the end of this worker ends other workers of the call.
    pub ends_others: EndOthers,
    /// Whether a full device or filesystem ends the load instead of failing it.
    pub ends_when_full: bool,
    /// Further rules.
    pub rules: WorkerRules,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            depth: 1,
            queues: true,
            batch: None,
            complete_min: 1,
            complete_max: None,
            low: None,
            scheduled: false,
            delay: Nanos::ZERO,
            ramp: Nanos::ZERO,
            ramp_bytes: None,
            runtime: Nanos::MAX,
            on_error: OnError::default(),
            priorities: Vec::new(),
            compares: false,
            fails_when_blocked: false,
            verify_after_runtime: false,
            settle_before_verify: false,
            verify_fatal: false,
            keep_damaged: false,
            keep_progress: false,
            job: 0,
            after: None,
            group: 0,
            ends_others: EndOthers::default(),
            ends_when_full: false,
            rules: WorkerRules::default(),
        }
    }
}
