//! Operations that no queue supports, executed synchronously.

use std::os::fd::RawFd;

use target::{Completion, Op};
use units::OpKind;

use crate::clock::MonotonicClock;
use crate::error::last_errno;
use crate::files::{self, File, FileKind, ZoneTrim};
use crate::in_call::InCall;
use crate::thread;
use crate::zones;

/// `BLKDISCARD` of `linux/fs.h`: `_IO(0x12, 119)`.
const BLKDISCARD: libc::Ioctl = 0x1277;
/// `fallocate` mode that deallocates a range of a regular file.
pub(crate) const PUNCH: i32 = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;

/// Syncs or trims. Returns bytes or a negated error number, as in completions; reads and writes return `EINVAL`.
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
        OpKind::SyncRange => {
            let (start, bytes, flags) =
                (op.offset as i64, i64::from(op.length), files::sync_range_bits(file.access().sync_range));
            // SAFETY: the call takes no memory.
            retried(0, || unsafe { libc::sync_file_range(fd, start, bytes, flags) })
        }
        OpKind::SyncFilesystem => sync_filesystem(file, fd),
        OpKind::Trim => trim(file, fd, op),
        OpKind::Read | OpKind::Write => -libc::EINVAL,
    }
}

/// Writes back the filesystem of a file. The filesystem of a device file is not that of its data, so that the device is
/// synced instead.
fn sync_filesystem(file: &File, fd: RawFd) -> i32 {
    match file.kind() {
        FileKind::Regular if file.access().shares_filesystem => 0,
        // SAFETY: the call takes no memory.
        FileKind::Regular => retried(0, || unsafe { libc::syncfs(fd) }),
        // SAFETY: the call takes no memory.
        FileKind::Block | FileKind::Character => retried(0, || unsafe { libc::fsync(fd) }),
    }
}

/// Executes an operation on one of `files` and returns its completion. Other threads see the call in `in_call`.
pub(crate) fn complete(files: &[File], op: &Op, in_call: &InCall, clock: &MonotonicClock) -> Completion {
    let submitted = clock.now();
    in_call.operate(op, submitted);
    let result = files.get(op.file as usize).map_or(-libc::EBADF, |file| perform(file, op));
    in_call.leave();
    Completion { tag: op.tag, submitted, completed: clock.now(), result }
}

/// Drops a part of a file from the page cache. If that is refused, the run continues with a warm cache, as at its
/// start.
pub(crate) fn invalidate(file: Option<&File>, offset: u64, length: u64) {
    let _ = file.map(|file| files::invalidate(file, offset, length));
}

fn trim(file: &File, fd: RawFd, op: &Op) -> i32 {
    let bytes = i32::try_from(op.length).unwrap_or(i32::MAX);
    match file.access().zone_trim {
        ZoneTrim::Reset => return retried(bytes, || zones::reset(fd, op.offset, u64::from(op.length))),
        ZoneTrim::Nothing => return bytes,
        ZoneTrim::Discard => {}
    }
    match file.kind() {
        FileKind::Block => retried(bytes, || discard(fd, op.offset, u64::from(op.length))),
        _ if punches(file) => {
            // SAFETY: the call takes no memory.
            retried(bytes, || unsafe { libc::fallocate64(fd, PUNCH, op.offset as i64, i64::from(op.length)) })
        }
        // The error of a device discard on other files.
        FileKind::Regular | FileKind::Character => -libc::ENOTTY,
    }
}

/// Reports whether trims of this file punch holes.
#[inline]
pub(crate) fn punches(file: &File) -> bool {
    let access = file.access();
    file.kind() == FileKind::Regular && access.punch_holes && access.zone_trim == ZoneTrim::Discard
}

/// Discards a range of a device. Returns a negative number on failure.
pub(crate) fn discard(fd: RawFd, offset: u64, length: u64) -> i32 {
    let range = [offset, length];
    // SAFETY: the kernel reads two 64-bit numbers from `range`, which outlives the call.
    unsafe { libc::ioctl(fd, BLKDISCARD, range.as_ptr()) }
}

/// Repeats a call while signals interrupt it. Returns `success` or a negated error number.
pub(crate) fn retried(success: i32, mut call: impl FnMut() -> i32) -> i32 {
    match repeated(|| call() as isize) {
        errno if errno < 0 => errno,
        _ => success,
    }
}

/// Repeats a call while signals interrupt it. Returns its result or a negated error number. After [`thread::abandon`] a
/// signal ends it with `EINTR`.
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
