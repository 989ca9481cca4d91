//! Ending a run from outside.

use std::sync::atomic::{AtomicBool, Ordering};

/// Set once, seen by every worker between batches.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// Not set.
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Asks all workers to end.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether workers are to end.
    #[inline]
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
