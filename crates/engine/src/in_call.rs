//! Publishes the system call in which a thread blocks to other threads.
//!
//! A thread that is blocked in a system call cannot report anything. It therefore records each call that may block
//! before it makes the call, in a few relaxed stores that take about a nanosecond.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};

use target::Op;
use units::{CallKind, Nanos, OpKind};

/// A system call that has not returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockedCall {
    pub kind: CallKind,
    /// Index of the file in the worker's list.
    pub file: u32,
    /// Start of the range, in bytes.
    pub offset: u64,
    /// Length of the transfer, in bytes.
    pub length: u32,
    /// Start of the call, on the clock of the run.
    pub since: Nanos,
}

/// The current call of one thread.
#[derive(Debug, Default)]
pub struct InCall {
    /// Zero between calls.
    kind: AtomicU8,
    file: AtomicU32,
    offset: AtomicU64,
    length: AtomicU32,
    since: AtomicU64,
    cancelled: AtomicBool,
    /// When waits for a peer end, on the clock of the run.
    peer_deadline: OnceLock<Nanos>,
}

impl InCall {
    /// Records a call that is about to be made. Only the thread that makes the call may use this.
    #[inline]
    pub fn enter(&self, call: BlockedCall) {
        self.file.store(call.file, Ordering::Relaxed);
        self.offset.store(call.offset, Ordering::Relaxed);
        self.length.store(call.length, Ordering::Relaxed);
        self.since.store(call.since.get(), Ordering::Relaxed);
        self.kind.store(call.kind.code(), Ordering::Release);
    }

    /// Records an operation that is about to be executed.
    #[inline]
    pub(crate) fn operate(&self, op: &Op, since: Nanos) {
        let (file, offset, length) = (op.file, op.offset, op.length);
        self.enter(BlockedCall { kind: CallKind::Operation(op.kind), file, offset, length, since });
    }

    /// Calls `settle`, recorded as an `fdatasync`: it writes a file back before verification reads it.
    pub(crate) fn settle<R>(&self, file: u32, offset: u64, since: Nanos, settle: impl FnOnce() -> R) -> R {
        self.enter(BlockedCall { kind: CallKind::Operation(OpKind::DataSync), file, offset, length: 0, since });
        let result = settle();
        self.leave();
        result
    }

    /// Calls `command`, which resets, finishes or reports the zone at `offset`, recorded as a trim.
    pub(crate) fn command_zone<R>(
        &self,
        file: u32,
        (offset, length): (u64, u64),
        since: Nanos,
        command: impl FnOnce() -> R,
    ) -> R {
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        self.enter(BlockedCall { kind: CallKind::Operation(OpKind::Trim), file, offset, length, since });
        let result = command();
        self.leave();
        result
    }

    /// Records that the call has returned.
    #[inline]
    pub fn leave(&self) {
        self.kind.store(0, Ordering::Release);
    }

    /// Ends waits for a peer. Any thread may use this.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Sets when a wait for a peer fails. Must be called once, before the wait.
    pub fn await_peer_until(&self, deadline: Nanos) {
        let _ = self.peer_deadline.set(deadline);
    }

    /// Returns when a wait for a peer fails; [`Nanos::MAX`] if it may take any time.
    pub(crate) fn peer_deadline(&self) -> Nanos {
        self.peer_deadline.get().copied().unwrap_or(Nanos::MAX)
    }

    /// Reports whether waits for a peer end.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Returns the current call of the thread. If the thread makes another call meanwhile, the fields may be of
    /// different calls, which is harmless because callers only care about threads that are stuck.
    #[must_use]
    pub fn current(&self) -> Option<BlockedCall> {
        let kind = *CallKind::ALL.get(usize::from(self.kind.load(Ordering::Acquire)))?;
        (kind != CallKind::Unknown).then(|| BlockedCall {
            kind,
            file: self.file.load(Ordering::Relaxed),
            offset: self.offset.load(Ordering::Relaxed),
            length: self.length.load(Ordering::Relaxed),
            since: Nanos::new(self.since.load(Ordering::Relaxed)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hang while writing back was reported as an unknown call.
    #[test]
    fn write_back_before_verification_was_not_recorded() {
        let seen = InCall::default();
        let since = Nanos::from_secs(1);
        let call = seen.settle(2, 4096, since, || seen.current());
        let kind = CallKind::Operation(OpKind::DataSync);
        assert_eq!(call, Some(BlockedCall { kind, file: 2, offset: 4096, length: 0, since }));
        assert_eq!(seen.current(), None);
    }

    #[test]
    fn every_kind_is_read_back_as_recorded() {
        let seen = InCall::default();
        assert_eq!(seen.current(), None);
        for kind in CallKind::ALL.into_iter().skip(1) {
            let call = BlockedCall { kind, file: 3, offset: 1 << 40, length: 4096, since: Nanos::from_secs(2) };
            seen.enter(call);
            assert_eq!(seen.current(), Some(call));
            seen.leave();
            assert_eq!(seen.current(), None);
        }
    }
}
