//! The `io_uring` of a store.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use io_uring::squeue::{Entry, Flags};
use io_uring::{IoUring, opcode, types};

use super::slot::DiskCall;
use crate::ring::{ENTER_GETEVENTS, build_plain};

/// Maximum number of calls submitted together. More may be in flight.
const ENTRIES: u32 = 256;

/// A ring over one file.
pub(super) struct Ring {
    ring: IoUring,
    /// An eventfd that counts results. (The ring itself can be polled too, but a pending poll is not woken if results
    /// are delivered only to a thread that asks for them: Linux 6.18.)
    results: OwnedFd,
    /// Whether the file is registered with the kernel.
    registered: bool,
    in_flight: u32,
}

impl Ring {
    pub(super) fn new(fd: RawFd) -> io::Result<Self> {
        let ring = build_plain(ENTRIES)?;
        if !ring.params().is_feature_nodrop() {
            // Results would be lost if the completion queue overflowed.
            return Err(io::Error::from_raw_os_error(libc::ENOSYS));
        }
        let results = eventfd()?;
        ring.submitter().register_eventfd(results.as_raw_fd())?;
        let registered = ring.submitter().register_files(&[fd]).is_ok();
        Ok(Self { ring, results, registered, in_flight: 0 })
    }

    /// Returns a descriptor that is readable when there may be results.
    pub(super) fn signal(&self) -> BorrowedFd<'_> {
        self.results.as_fd()
    }

    /// Queues a call.
    ///
    /// # Safety
    /// For a read or write, the memory at `start` must be valid for it and not used elsewhere until its result is
    /// collected.
    pub(super) unsafe fn push(&mut self, slot: u32, call: DiskCall, fd: RawFd, start: *mut u8) {
        // The registered file is the one for reads and writes.
        let registered = self.registered && !matches!(call, DiskCall::Allocate { .. });
        let (fd, flags) = if registered { (0, Flags::FIXED_FILE) } else { (fd, Flags::empty()) };
        let entry = entry(types::Fd(fd), call, start).flags(flags).user_data(u64::from(slot));
        // SAFETY: the caller guarantees the memory.
        while unsafe { self.ring.submission().push(&entry) }.is_err() {
            self.enter(0);
        }
        self.in_flight += 1;
    }

    /// Submits the queued calls.
    pub(super) fn submit(&mut self) {
        for _ in 0..TRIES_MAX {
            if self.ring.submission().is_empty() {
                return;
            }
            self.enter(0);
        }
    }

    /// Appends the results that the kernel has reported, with their slots.
    pub(super) fn collect(&mut self, results: &mut Vec<(u32, i32)>) {
        self.clear_signal();
        for _ in 0..TRIES_MAX {
            let queue = self.ring.submission();
            if !queue.taskrun() && !queue.cq_overflow() {
                break;
            }
            drop(queue);
            self.enter(0);
        }
        for entry in self.ring.completion() {
            self.in_flight -= 1;
            results.push((entry.user_data() as u32, entry.result()));
        }
    }

    pub(super) fn settle(&mut self) {
        let mut results = Vec::new();
        while self.in_flight > 0 {
            self.enter(1);
            self.collect(&mut results);
        }
    }

    /// Resets the eventfd. This precedes reading the results, so that no result goes unnoticed.
    fn clear_signal(&self) {
        let mut count = 0u64;
        // SAFETY: at most eight bytes are written to `count`, which outlives the call.
        unsafe { libc::read(self.results.as_raw_fd(), (&raw mut count).cast(), size_of::<u64>()) };
    }

    /// Makes one system call, which submits and waits for `want` results. What the kernel does not take stays queued.
    fn enter(&mut self, want: u32) {
        let queued = self.ring.submission().len() as u32;
        // SAFETY: the call takes no memory except the ring's own.
        let _ = unsafe { self.ring.submitter().enter::<libc::sigset_t>(queued, want, ENTER_GETEVENTS, None) };
    }
}

/// Maximum attempts at submitting calls or reading results.
const TRIES_MAX: u32 = 100;

fn eventfd() -> io::Result<OwnedFd> {
    // SAFETY: the call takes no memory.
    let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn entry(fd: types::Fd, call: DiskCall, start: *mut u8) -> Entry {
    match call {
        DiskCall::Read { at, length, .. } => opcode::Read::new(fd, start, length).offset(at).build(),
        DiskCall::Write { at, length, durable, .. } => {
            let flags = if durable { libc::RWF_DSYNC } else { 0 };
            opcode::Write::new(fd, start, length).offset(at).rw_flags(flags).build()
        }
        DiskCall::Allocate { mode, at, length } => opcode::Fallocate::new(fd, length).offset(at).mode(mode).build(),
        DiskCall::DataSync => opcode::Fsync::new(fd).flags(types::FsyncFlags::DATASYNC).build(),
        DiskCall::Advise { at, length } => {
            opcode::Fadvise::new(fd, i64::from(length), libc::POSIX_FADV_WILLNEED).offset(at).build()
        }
        // Unreachable: `issue::issue` makes this call directly.
        DiskCall::Discard { .. } => opcode::Nop::new().build(),
    }
}
