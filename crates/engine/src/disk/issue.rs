//! Makes system calls on the file of a store, through a ring or directly.

use std::os::fd::RawFd;

use target::Tag;

use super::ring::Ring;
use super::slot::DiskCall;
use super::slot::DiskSlot;
use crate::blocking::{Call as Transfer, Preadv, Preadv2};
use crate::inline;

/// Makes a call. Returns its result (bytes or a negated error number), or `None` if the ring reports it later.
pub(super) fn issue(ring: Option<&mut Ring>, slot: u32, call: DiskCall, fd: RawFd, state: &DiskSlot) -> Option<i32> {
    let start = match call {
        DiskCall::Read { skip, length, .. } | DiskCall::Write { skip, length, .. } => {
            let start = state.buffer().and_then(|buffer| buffer.span(Tag(0), skip, length));
            let Some(start) = start else { return Some(-libc::EFAULT) };
            start
        }
        _ => std::ptr::null_mut(),
    };
    match ring {
        Some(ring) if !matches!(call, DiskCall::Discard { .. }) => {
            // SAFETY: `start` and the bytes after it lie in the buffer of the slot, which is neither touched nor freed
            // before the result of this call is collected (`DiskSlot::take`, `DiskSlot::read`, `Disk::drop`).
            unsafe { ring.push(slot, call, fd, start) };
            None
        }
        // SAFETY: as above, and the call is over when it returns.
        _ => Some(unsafe { call_directly(fd, call, start) }),
    }
}

/// Makes a call directly.
///
/// # Safety
/// For a read or write, the memory at `start` must be valid for it and not used elsewhere.
unsafe fn call_directly(fd: RawFd, call: DiskCall, start: *mut u8) -> i32 {
    match call {
        // SAFETY: the caller guarantees the memory.
        DiskCall::Read { at, length, .. } => unsafe { transfer(&Preadv, fd, false, start, length, at) },
        // SAFETY: the caller guarantees the memory.
        DiskCall::Write { at, length, durable: false, .. } => unsafe { transfer(&Preadv, fd, true, start, length, at) },
        // SAFETY: the caller guarantees the memory.
        DiskCall::Write { at, length, .. } => unsafe { transfer(&Preadv2::durable(), fd, true, start, length, at) },
        DiskCall::Allocate { mode, at, length } => {
            // SAFETY: the call takes no memory.
            inline::retried(0, || unsafe { libc::fallocate64(fd, mode, at as i64, length as i64) })
        }
        DiskCall::Discard { at, length } => inline::retried(0, || inline::discard(fd, at, length)),
        // SAFETY: the call takes no memory.
        DiskCall::DataSync => inline::retried(0, || unsafe { libc::fdatasync(fd) }),
        // SAFETY: the call takes no memory. It returns a positive error number.
        DiskCall::Advise { at, length } => unsafe {
            -libc::posix_fadvise64(fd, at as i64, i64::from(length), libc::POSIX_FADV_WILLNEED)
        },
    }
}

/// # Safety
/// `length` bytes from `start` on must be valid for reads and writes and not used elsewhere.
unsafe fn transfer(call: &impl Transfer, fd: RawFd, write: bool, start: *mut u8, length: u32, at: u64) -> i32 {
    // SAFETY: the caller guarantees the memory.
    inline::repeated(|| unsafe { call.transfer(fd, write, start, length as usize, at as i64) })
}
