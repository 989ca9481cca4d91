//! Locks of files between workers (`lockfile`).

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Debug, Default)]
pub struct FileLock {
    /// Number of workers that share it, or [`EXCLUSIVE`].
    holders: AtomicU32,
    /// Number of workers that wait for it. Holders take on nothing more while there are some.
    waiting: AtomicU32,
}

/// State of a lock with one holder that shares it with no other.
const EXCLUSIVE: u32 = u32::MAX;

impl FileLock {
    fn try_take(&self, exclusive: bool) -> bool {
        let taken = |holders| match (holders, exclusive) {
            (0, true) => Some(EXCLUSIVE),
            (EXCLUSIVE, _) | (_, true) => None,
            // Workers are fewer than the number that stands for an exclusive holder.
            (holders, false) => Some(holders + 1),
        };
        self.holders.fetch_update(Ordering::Acquire, Ordering::Relaxed, taken).is_ok()
    }

    fn give_back(&self, exclusive: bool) {
        if exclusive {
            self.holders.store(0, Ordering::Release);
        } else {
            self.holders.fetch_sub(1, Ordering::Release);
        }
    }
}

/// The locks of a worker's files.
#[derive(Clone, Debug)]
pub struct FileLocks {
    /// The lock of each file, shared by the workers that use it.
    pub files: Vec<Arc<FileLock>>,
    /// Whether reads share a lock with reads of other workers (`lockfile=readwrite`).
    pub shares_reads: bool,
}

/// Equal if they are of the same files.
impl PartialEq for FileLocks {
    fn eq(&self, other: &Self) -> bool {
        let same = |(one, other): (&Arc<FileLock>, &Arc<FileLock>)| Arc::ptr_eq(one, other);
        self.shares_reads == other.shares_reads
            && self.files.len() == other.files.len()
            && self.files.iter().zip(&other.files).all(same)
    }
}

/// What a worker does with the lock of one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LockUse {
    #[default]
    None,
    Waits,
    Shares,
    Excludes,
}

/// Whether an operation on a file may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockAnswer {
    /// The worker has the lock.
    Held,
    /// The worker's own operations on the file have to complete first.
    AfterOwn,
    /// Other workers hold the lock.
    Elsewhere,
}

/// A worker's uses of its locks.
#[derive(Debug)]
pub(crate) struct LockHolder {
    locks: FileLocks,
    uses: Vec<LockUse>,
    /// Operations that may still begin while others wait, for each file.
    turns: Vec<u32>,
    /// Operations of one turn: those that a queue holds.
    depth: u32,
}

impl LockHolder {
    /// `depth` operations may begin in a turn of the worker.
    pub(crate) fn new(locks: FileLocks, depth: u32) -> Self {
        let files = locks.files.len();
        Self { locks, uses: vec![LockUse::None; files], turns: vec![0; files], depth }
    }

    /// Asks for the lock of a file, for one more operation.
    pub(crate) fn ask(&mut self, file: u32, is_read: bool) -> LockAnswer {
        let index = file as usize;
        let (Some(lock), Some(usage), Some(left)) =
            (self.locks.files.get(index), self.uses.get_mut(index), self.turns.get_mut(index))
        else {
            return LockAnswer::Held;
        };
        let exclusive = !(is_read && self.locks.shares_reads);
        match *usage {
            LockUse::Shares if exclusive => LockAnswer::AfterOwn,
            // A full queue that is always refilled would keep the others out forever.
            LockUse::Shares | LockUse::Excludes if *left == 0 && lock.waiting.load(Ordering::Relaxed) > 0 => {
                LockAnswer::AfterOwn
            }
            LockUse::Shares | LockUse::Excludes => {
                *left = left.saturating_sub(1);
                LockAnswer::Held
            }
            LockUse::None | LockUse::Waits => {
                // A reader that comes while a writer waits lets it pass.
                let waits = *usage == LockUse::Waits;
                let yields = !waits && lock.waiting.load(Ordering::Relaxed) > 0;
                if !yields && lock.try_take(exclusive) {
                    if waits {
                        lock.waiting.fetch_sub(1, Ordering::Relaxed);
                    }
                    *usage = if exclusive { LockUse::Excludes } else { LockUse::Shares };
                    *left = self.depth.saturating_sub(1);
                    return LockAnswer::Held;
                }
                if !waits {
                    lock.waiting.fetch_add(1, Ordering::Relaxed);
                    *usage = LockUse::Waits;
                }
                LockAnswer::Elsewhere
            }
        }
    }

    /// Gives back the locks of files on which nothing is in flight.
    pub(crate) fn release_idle(&mut self, is_used: impl Fn(u32) -> bool) {
        for (file, (lock, usage)) in (0..).zip(self.locks.files.iter().zip(&mut self.uses)) {
            if matches!(usage, LockUse::Shares | LockUse::Excludes) && !is_used(file) {
                lock.give_back(*usage == LockUse::Excludes);
                *usage = LockUse::None;
            }
        }
    }

    /// Gives back all locks, and waits for none.
    pub(crate) fn end(&mut self) {
        self.release_idle(|_| false);
        for (lock, usage) in self.locks.files.iter().zip(&mut self.uses) {
            if std::mem::take(usage) == LockUse::Waits {
                lock.waiting.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holders(shares_reads: bool) -> [LockHolder; 3] {
        let files = vec![Arc::default()];
        [(); 3].map(|()| LockHolder::new(FileLocks { files: files.clone(), shares_reads }, 2))
    }

    #[test]
    fn one_worker_at_a_time_has_an_exclusive_lock() {
        let [mut a, mut b, mut c] = holders(false);
        assert_eq!(a.ask(0, true), LockAnswer::Held);
        assert_eq!(a.ask(0, false), LockAnswer::Held, "a queue of two operations");
        assert_eq!(b.ask(0, true), LockAnswer::Elsewhere);
        assert_eq!(a.ask(0, false), LockAnswer::AfterOwn, "another worker waits");
        a.release_idle(|_| true);
        assert_eq!(b.ask(0, true), LockAnswer::Elsewhere);
        a.release_idle(|_| false);
        assert_eq!(c.ask(0, true), LockAnswer::Elsewhere, "it came later");
        assert_eq!(b.ask(0, true), LockAnswer::Held);
        b.end();
        c.end();
        assert_eq!((a.ask(0, true), a.ask(0, true)), (LockAnswer::Held, LockAnswer::Held), "nothing waits any more");
    }

    #[test]
    fn reads_share_a_lock_until_a_write_waits() {
        let [mut a, mut b, mut c] = holders(true);
        assert_eq!((a.ask(0, true), b.ask(0, true)), (LockAnswer::Held, LockAnswer::Held));
        assert_eq!(a.ask(0, false), LockAnswer::AfterOwn);
        a.release_idle(|_| false);
        assert_eq!(a.ask(0, false), LockAnswer::Elsewhere);
        assert_eq!((b.ask(0, true), b.ask(0, true)), (LockAnswer::Held, LockAnswer::AfterOwn));
        assert_eq!(c.ask(0, true), LockAnswer::Elsewhere, "a write waits");
        b.release_idle(|_| false);
        assert_eq!(a.ask(0, false), LockAnswer::Held);
        assert_eq!(c.ask(0, true), LockAnswer::Elsewhere);
        a.end();
        assert_eq!(c.ask(0, true), LockAnswer::Held);
    }
}
