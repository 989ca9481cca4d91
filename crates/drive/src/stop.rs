//! A flag that stops a run.

use std::sync::atomic::{AtomicU8, Ordering};

const RUNNING: u8 = 0;
const STOPPING: u8 = 1;
const ABANDONED: u8 = 2;

/// A stop request, read by every worker between batches. It can only become more urgent.
#[derive(Debug, Default)]
pub struct Stop(AtomicU8);

impl Stop {
    /// Returns a flag that is not set.
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicU8::new(RUNNING))
    }

    /// Requests all workers to end: nothing more is issued, and operations in flight are waited for.
    pub fn set(&self) {
        self.0.fetch_max(STOPPING, Ordering::Relaxed);
    }

    /// Requests all workers to end without waiting for operations in flight, which [`crate::DriveWorker::abandoned`]
    /// lists.
    pub fn abandon(&self) {
        self.0.fetch_max(ABANDONED, Ordering::Relaxed);
    }

    /// Reports whether workers must end.
    #[inline]
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed) != RUNNING
    }

    /// Reports whether operations in flight are no longer waited for.
    #[inline]
    #[must_use]
    pub fn is_abandoned(&self) -> bool {
        self.0.load(Ordering::Relaxed) == ABANDONED
    }
}
