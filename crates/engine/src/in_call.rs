//! The system call in which a thread blocks, visible to other threads.
//!
//! A thread that is blocked in a system call cannot report anything. It therefore records each call that may block before
//! it makes it, in a few relaxed stores: about a nanosecond beside a system call.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

use target::Op;
use units::Nanos;
use units::OpKind;

/// Kinds of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// Opens a file.
    Open,
    /// Closes files.
    Close,
    /// Transfers, trims or syncs.
    Operation(OpKind),
}

/// A call that has not returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockedCall {
    /// What it does.
    pub kind: CallKind,
    /// Which of the worker's files, by its place in the list.
    pub file: u32,
    /// Where it begins, in bytes.
    pub offset: u64,
    /// How many bytes it transfers.
    pub length: u32,
    /// When it was made, on the clock of the run.
    pub since: Nanos,
}

/// The call that one thread is in.
#[derive(Debug, Default)]
pub struct InCall {
    /// Zero between calls.
    kind: AtomicU8,
    file: AtomicU32,
    offset: AtomicU64,
    length: AtomicU32,
    since: AtomicU64,
}

const KINDS: [CallKind; 7] = [
    CallKind::Open,
    CallKind::Close,
    CallKind::Operation(OpKind::Read),
    CallKind::Operation(OpKind::Write),
    CallKind::Operation(OpKind::Trim),
    CallKind::Operation(OpKind::Sync),
    CallKind::Operation(OpKind::DataSync),
];

const fn code(kind: CallKind) -> u8 {
    match kind {
        CallKind::Open => 1,
        CallKind::Close => 2,
        CallKind::Operation(OpKind::Read) => 3,
        CallKind::Operation(OpKind::Write) => 4,
        CallKind::Operation(OpKind::Trim) => 5,
        CallKind::Operation(OpKind::Sync) => 6,
        CallKind::Operation(OpKind::DataSync) => 7,
    }
}

impl InCall {
    /// Records a call that is about to be made. Only the thread that makes it may call this.
    #[inline]
    pub fn enter(&self, call: BlockedCall) {
        self.file.store(call.file, Ordering::Relaxed);
        self.offset.store(call.offset, Ordering::Relaxed);
        self.length.store(call.length, Ordering::Relaxed);
        self.since.store(call.since.get(), Ordering::Relaxed);
        self.kind.store(code(call.kind), Ordering::Release);
    }

    /// Records an operation that is about to be carried out.
    #[inline]
    pub(crate) fn operate(&self, op: &Op, since: Nanos) {
        let (file, offset, length) = (op.file, op.offset, op.length);
        self.enter(BlockedCall { kind: CallKind::Operation(op.kind), file, offset, length, since });
    }

    /// Carries out what writes a file back before it is read, recorded as an `fdatasync`.
    pub(crate) fn settle<R>(&self, file: u32, offset: u64, since: Nanos, settle: impl FnOnce() -> R) -> R {
        self.enter(BlockedCall { kind: CallKind::Operation(OpKind::DataSync), file, offset, length: 0, since });
        let result = settle();
        self.leave();
        result
    }

    /// Records that the call has returned.
    #[inline]
    pub fn leave(&self) {
        self.kind.store(0, Ordering::Release);
    }

    /// The call that the thread is in. Of a thread that goes on working meanwhile the fields may be of two calls; the
    /// caller is interested in threads that do not.
    #[must_use]
    pub fn current(&self) -> Option<BlockedCall> {
        let kind = *KINDS.get(usize::from(self.kind.load(Ordering::Acquire)).checked_sub(1)?)?;
        Some(BlockedCall {
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

    /// A hang in it was reported as an unknown call.
    #[test]
    fn writing_back_before_verification_was_not_recorded() {
        let seen = InCall::default();
        let since = Nanos::from_secs(1);
        let call = seen.settle(2, 4096, since, || seen.current());
        let kind = CallKind::Operation(OpKind::DataSync);
        assert_eq!(call, Some(BlockedCall { kind, file: 2, offset: 4096, length: 0, since }));
        assert_eq!(seen.current(), None);
    }

    #[test]
    fn every_kind_is_read_back_as_it_was_recorded() {
        let seen = InCall::default();
        assert_eq!(seen.current(), None);
        for kind in KINDS {
            let call = BlockedCall { kind, file: 3, offset: 1 << 40, length: 4096, since: Nanos::from_secs(2) };
            seen.enter(call);
            assert_eq!(seen.current(), Some(call));
            seen.leave();
            assert_eq!(seen.current(), None);
        }
    }
}
