//! A memory limit shared by several stores.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A limit in bytes and how much of it is in use. Clones share both.
///
/// The stores that share a pool belong to one thread. The counter is atomic only so that they can be created elsewhere.
#[derive(Clone, Debug)]
pub struct Pool {
    most: u64,
    used: Arc<AtomicU64>,
}

impl Pool {
    /// Creates a pool of `most` bytes.
    #[must_use]
    pub fn new(most: u64) -> Self {
        Self { most, used: Arc::default() }
    }

    /// Returns the bytes in use.
    #[inline]
    #[must_use]
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Reports whether `more` bytes fit.
    #[inline]
    #[must_use]
    pub fn has_room(&self, more: u64) -> bool {
        self.used().saturating_add(more) <= self.most
    }

    /// Replaces a use of `before` bytes by one of `after` bytes, whether or not they fit.
    #[inline]
    pub fn change(&self, before: u64, after: u64) {
        self.used.store(self.used() + after - before, Ordering::Relaxed);
    }
}

impl Default for Pool {
    /// Creates a pool without a limit.
    fn default() -> Self {
        Self::new(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_the_limit() {
        let pool = Pool::new(100);
        pool.clone().change(0, 60);
        assert!(pool.has_room(40) && !pool.has_room(41));
        pool.change(60, 20);
        assert_eq!(pool.used(), 20);
        assert!(!pool.has_room(u64::MAX));
    }
}
