//! Operations that no queue supports, carried out synchronously.

use std::os::fd::RawFd;

use target::Op;
use units::OpKind;

use crate::error::last_errno;
use crate::files::{self, File, FileKind};
use crate::thread;

/// `BLKDISCARD` of `linux/fs.h`: `_IO(0x12, 119)`.
const BLKDISCARD: libc::Ioctl = 0x1277;
/// How a range of a regular file is given back.
pub(crate) const PUNCH: i32 = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;

/// Syncs or trims; returns bytes or a negated error number as completions carry it. Reads and writes are not
/// its business and get `EINVAL`.
pub(crate) fn perform(file: &File, op: &Op) -> i32 {
    let fd = match if op.kind == OpKind::Trim { file.range_fd() } else { file.live_fd() } {
        Ok(fd) => fd,
        Err(errno) => return errno,
    };
    match op.kind {
        // SAFETY: the call takes no memory.
        OpKind::Sync => retried(0, || unsafe { libc::fsync(fd) }),
        // SAFETY: the call takes no memory.
        OpKind::DataSync => retried(0, || unsafe { libc::fdatasync(fd) }),
        OpKind::Trim => trim(file, fd, op),
        OpKind::Read | OpKind::Write => -libc::EINVAL,
    }
}

/// Drops a part of a file from the page cache. Where that is refused the run goes on with a warm cache, as it does
/// when it is refused at the start.
pub(crate) fn invalidate(file: Option<&File>, offset: u64, length: u64) {
    let _ = file.map(|file| files::invalidate(file, offset, length));
}

fn trim(file: &File, fd: RawFd, op: &Op) -> i32 {
    let bytes = i32::try_from(op.length).unwrap_or(i32::MAX);
    match file.kind() {
        FileKind::Block => retried(bytes, || discard(fd, op.offset, u64::from(op.length))),
        _ if punches(file) => {
            // SAFETY: the call takes no memory.
            retried(bytes, || unsafe { libc::fallocate64(fd, PUNCH, op.offset as i64, i64::from(op.length)) })
        }
        // What the discard of a device would say here.
        FileKind::Regular | FileKind::Character => -libc::ENOTTY,
    }
}

/// Whether trims of this file give its space back as holes.
#[inline]
pub(crate) fn punches(file: &File) -> bool {
    file.kind() == FileKind::Regular && file.access().punch_holes
}

/// Gives a range of a device back; less than zero where that fails.
pub(crate) fn discard(fd: RawFd, offset: u64, length: u64) -> i32 {
    let range = [offset, length];
    // SAFETY: the kernel reads two 64-bit numbers from `range`, which outlives the call.
    unsafe { libc::ioctl(fd, BLKDISCARD, range.as_ptr()) }
}

/// Makes a call until no signal cuts it short; returns `success`, or an error number negated.
pub(crate) fn retried(success: i32, mut call: impl FnMut() -> i32) -> i32 {
    match repeated(|| call() as isize) {
        errno if errno < 0 => errno,
        _ => success,
    }
}

/// Makes a call until no signal cuts it short; returns what it returns, or an error number negated. Once the process has
/// given up waiting ([`thread::abandon`]) a signal ends it with `EINTR`.
pub(crate) fn repeated(mut call: impl FnMut() -> isize) -> i32 {
    loop {
        let result = call();
        if result >= 0 {
            return result as i32;
        }
        match last_errno() {
            libc::EINTR if !thread::is_abandoned() => {}
            errno => return -errno,
        }
    }
}
