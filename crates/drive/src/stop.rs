//! Stops a run from outside.

use std::sync::atomic::{AtomicU8, Ordering};

const RUNNING: u8 = 0;
const STOPPING: u8 = 1;
const ABANDONED: u8 = 2;

/// Seen by every worker between batches. It only ever becomes more urgent.
#[derive(Debug, Default)]
pub struct Stop(AtomicU8);

impl Stop {
    /// Not set.
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicU8::new(RUNNING))
    }

    /// Asks all workers to end: nothing more is issued, and operations in flight are waited for.
    pub fn set(&self) {
        self.0.fetch_max(STOPPING, Ordering::Relaxed);
    }

    /// Asks all workers to end without waiting for operations in flight, which [`crate::DriveWorker::abandoned`] then lists.
    pub fn abandon(&self) {
        self.0.fetch_max(ABANDONED, Ordering::Relaxed);
    }

    /// Whether workers are to end.
    #[inline]
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed) != RUNNING
    }

    /// Whether operations in flight are no longer waited for.
    #[inline]
    #[must_use]
    pub fn is_abandoned(&self) -> bool {
        self.0.load(Ordering::Relaxed) == ABANDONED
    }
}
