//! The engine `splice`: data pass through a pipe, without a copy between the page cache and the pipe.

use std::cell::{Cell, RefCell};
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsRawFd, RawFd};
use std::ptr;

use crate::blocking::Call;
use crate::error::{Error, ErrorKind, last_errno};

/// `splice` between file and pipe, and `vmsplice` between pipe and buffer.
pub(crate) struct Splice {
    pipe: RefCell<(PipeReader, PipeWriter)>,
    /// Bytes that the pipe holds now.
    held: Cell<usize>,
}

impl Splice {
    /// Creates the pipe.
    ///
    /// # Errors
    /// Fails if there are too many open files.
    pub(crate) fn new() -> Result<Self, Error> {
        let pipe = io::pipe().map_err(|error| {
            let refused = Error::system(ErrorKind::Engine, "set up", "the splice pipe", &error);
            refused.with_remedy("raise the open-file limit (ulimit -n)")
        })?;
        Ok(Self { pipe: RefCell::new(pipe), held: Cell::new(0) })
    }

    /// Moves up to `length` bytes from the file through the pipe to `start`. A socket has no offset.
    ///
    /// # Safety
    /// As for [`Call::transfer`].
    pub(crate) unsafe fn read(&self, fd: RawFd, start: *mut u8, length: usize, mut offset: Option<i64>) -> isize {
        let pipe = self.pipe.borrow();
        let (from, to) = (pipe.0.as_raw_fd(), pipe.1.as_raw_fd());
        // SAFETY: `offset` outlives the call, which takes no other memory.
        let taken = unsafe { libc::splice(fd, pointer(&mut offset), to, ptr::null_mut(), length, 0) };
        let mut left = usize::try_from(taken).unwrap_or(0);
        self.held.set(left);
        while left > 0 {
            let done = taken as usize - left;
            // SAFETY: the caller guarantees the memory, and `done + left` is at most its length.
            let vector = unsafe { libc::iovec { iov_base: start.add(done).cast(), iov_len: left } };
            // SAFETY: `vector` outlives the call, and the caller guarantees the memory.
            let copied = unsafe { libc::vmsplice(from, &raw const vector, 1, 0) };
            if copied <= 0 {
                return -1;
            }
            left -= copied as usize;
            self.held.set(left);
        }
        taken
    }

    /// Moves up to `length` bytes from `start` through the pipe to the file.
    ///
    /// # Safety
    /// As for [`Call::transfer`].
    pub(crate) unsafe fn write(&self, fd: RawFd, start: *mut u8, length: usize, mut offset: Option<i64>) -> isize {
        let pipe = self.pipe.borrow();
        let (from, to) = (pipe.0.as_raw_fd(), pipe.1.as_raw_fd());
        let vector = libc::iovec { iov_base: start.cast(), iov_len: length };
        // A pipe that is full takes no more, so that the call must not wait for a reader.
        // SAFETY: `vector` outlives the call, and the caller guarantees the memory.
        let taken = unsafe { libc::vmsplice(to, &raw const vector, 1, libc::SPLICE_F_NONBLOCK) };
        let mut left = usize::try_from(taken).unwrap_or(0);
        self.held.set(left);
        while left > 0 {
            // SAFETY: `offset` outlives the call, which takes no other memory.
            let moved = unsafe { libc::splice(from, ptr::null_mut(), fd, pointer(&mut offset), left, 0) };
            if moved <= 0 {
                return -1;
            }
            left -= moved as usize;
            self.held.set(left);
        }
        taken
    }

    /// Replaces a pipe that still holds data of a failed transfer, without changing the error number.
    #[cold]
    fn renew(&self) {
        let errno = last_errno();
        if let Ok(pipe) = io::pipe() {
            self.pipe.replace(pipe);
            self.held.set(0);
        }
        // SAFETY: the address is that of this thread's error number.
        unsafe { *libc::__errno_location() = errno };
    }
}

/// Returns the offset as the kernel takes it.
fn pointer(offset: &mut Option<i64>) -> *mut i64 {
    offset.as_mut().map_or(ptr::null_mut(), ptr::from_mut)
}

impl Call for Splice {
    /// Transfers at most what the pipe holds at a time; the rest of a block follows.
    unsafe fn transfer(&self, fd: RawFd, write: bool, start: *mut u8, length: usize, offset: i64) -> isize {
        let mut done = 0;
        while done < length {
            let at = offset + done as i64;
            // SAFETY: the caller guarantees the memory, of which `done` bytes were used.
            let moved = unsafe {
                let start = start.add(done);
                if write {
                    self.write(fd, start, length - done, Some(at))
                } else {
                    self.read(fd, start, length - done, Some(at))
                }
            };
            if moved <= 0 {
                if self.held.get() > 0 {
                    self.renew();
                }
                // What was transferred before is a short transfer.
                return if done > 0 { done as isize } else { moved };
            }
            done += moved as usize;
        }
        done as isize
    }
}
