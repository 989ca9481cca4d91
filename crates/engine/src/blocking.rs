//! Engines with blocking calls: `psync`, `sync`, `vsync`, `pvsync`, `pvsync2`.

use std::cell::Cell;
use std::os::fd::RawFd;

use target::Op;
use units::OpKind;

use crate::buffers::Buffers;
use crate::files::File;
use crate::inline;
use crate::opening::{Opening, PerTransfer};
use crate::sync_target::Perform;

/// A pair of system calls that read and write.
pub(crate) trait Call {
    /// Reads from or writes to `fd` at `offset` and returns the result of the system call.
    ///
    /// # Safety
    /// `length` bytes from `start` on must be valid for reads and writes and not used elsewhere.
    unsafe fn transfer(&self, fd: RawFd, write: bool, start: *mut u8, length: usize, offset: i64) -> isize;
}

/// `pread` and `pwrite`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pread;

/// `lseek`, then `read` or `write`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeekIo;

/// `lseek`, then `readv` or `writev`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeekVector;

/// `preadv` and `pwritev`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Preadv;

/// `preadv2` and `pwritev2`.
#[derive(Clone, Debug)]
pub(crate) struct Preadv2 {
    flags: PerTransfer,
    /// Percentage of calls with `RWF_HIPRI`.
    polled_percentage: u32,
    /// State of the draw of these calls.
    random: Cell<u64>,
}

impl Preadv2 {
    /// Returns the calls with the flags of a setup.
    #[must_use]
    pub(crate) const fn new(setup: &Opening) -> Self {
        let PerTransfer { read, write } = PerTransfer::new(&setup.spec);
        let (polled, drawn) = match (setup.spec.hipri, setup.spec.hipri_percentage) {
            (false, _) => (0, 0),
            (true, 100..) => (libc::RWF_HIPRI, 0),
            (true, percentage) => (0, percentage),
        };
        let flags = PerTransfer { read: read | polled, write: write | polled };
        Self { flags, polled_percentage: drawn, random: Cell::new(0) }
    }

    /// Returns the calls whose writes return once their data would survive a power loss.
    #[must_use]
    pub(crate) const fn durable() -> Self {
        let flags = PerTransfer { read: libc::RWF_DSYNC, write: libc::RWF_DSYNC };
        Self { flags, polled_percentage: 0, random: Cell::new(0) }
    }

    #[inline]
    fn flags(&self, write: bool) -> i32 {
        let flags = self.flags.of(write);
        if self.polled_percentage == 0 { flags } else { flags | self.draw() }
    }

    #[cold]
    fn draw(&self) -> i32 {
        let drawn = self.random.get().wrapping_add(1);
        self.random.set(drawn);
        if units::random::mix(drawn, 0) % 100 < u64::from(self.polled_percentage) { libc::RWF_HIPRI } else { 0 }
    }
}

impl Call for Pread {
    #[inline]
    unsafe fn transfer(&self, fd: RawFd, write: bool, start: *mut u8, length: usize, offset: i64) -> isize {
        // SAFETY: the caller guarantees the memory.
        unsafe {
            if write {
                libc::pwrite64(fd, start.cast(), length, offset)
            } else {
                libc::pread64(fd, start.cast(), length, offset)
            }
        }
    }
}

impl Call for SeekIo {
    #[inline]
    unsafe fn transfer(&self, fd: RawFd, write: bool, start: *mut u8, length: usize, offset: i64) -> isize {
        // SAFETY: the caller guarantees the memory; moving the position of the descriptor is harmless.
        unsafe {
            if libc::lseek64(fd, offset, libc::SEEK_SET) < 0 {
                return -1;
            }
            if write { libc::write(fd, start.cast(), length) } else { libc::read(fd, start.cast(), length) }
        }
    }
}

impl Call for SeekVector {
    #[inline]
    unsafe fn transfer(&self, fd: RawFd, write: bool, start: *mut u8, length: usize, offset: i64) -> isize {
        let vector = libc::iovec { iov_base: start.cast(), iov_len: length };
        // SAFETY: the caller guarantees the memory, and `vector` outlives the calls.
        unsafe {
            if libc::lseek64(fd, offset, libc::SEEK_SET) < 0 {
                return -1;
            }
            if write { libc::writev(fd, &raw const vector, 1) } else { libc::readv(fd, &raw const vector, 1) }
        }
    }
}

impl Call for Preadv {
    #[inline]
    unsafe fn transfer(&self, fd: RawFd, write: bool, start: *mut u8, length: usize, offset: i64) -> isize {
        let vector = libc::iovec { iov_base: start.cast(), iov_len: length };
        // SAFETY: the caller guarantees the memory, and `vector` outlives the calls.
        unsafe {
            if write {
                libc::pwritev64(fd, &raw const vector, 1, offset)
            } else {
                libc::preadv64(fd, &raw const vector, 1, offset)
            }
        }
    }
}

impl Call for Preadv2 {
    #[inline]
    unsafe fn transfer(&self, fd: RawFd, write: bool, start: *mut u8, length: usize, offset: i64) -> isize {
        let vector = libc::iovec { iov_base: start.cast(), iov_len: length };
        // SAFETY: the caller guarantees the memory, and `vector` outlives the calls.
        unsafe {
            if write {
                libc::pwritev2(fd, &raw const vector, 1, offset, self.flags(true))
            } else {
                libc::preadv2(fd, &raw const vector, 1, offset, self.flags(false))
            }
        }
    }
}

/// A pair of system calls and the files to use it on.
pub(crate) struct Blocking<C> {
    pub(crate) call: C,
    pub(crate) files: Vec<File>,
}

impl<C: Call> Perform for Blocking<C> {
    fn files(&self) -> &[File] {
        &self.files
    }

    fn perform(&mut self, op: &Op, buffers: &Buffers) -> i32 {
        let Some(file) = self.files.get(op.file as usize) else {
            return -libc::EBADF;
        };
        if !matches!(op.kind, OpKind::Read | OpKind::Write) {
            return inline::perform(file, op);
        }
        let Some(start) = buffers.span(op.tag, op.skip, op.length) else {
            return -libc::EFAULT;
        };
        let fd = match file.live_fd() {
            Ok(fd) => fd,
            Err(errno) => return errno,
        };
        let write = op.kind == OpKind::Write;
        // SAFETY: the span lies within the tag's buffer, which is not used elsewhere while `buffers` is borrowed.
        inline::repeated(|| unsafe { self.call.transfer(fd, write, start, op.length as usize, op.offset as i64) })
    }
}
