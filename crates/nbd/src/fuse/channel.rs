//! The `/dev/fuse` end of a mount.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{Errno, read, writev};

use super::abi::MOST_BYTES;

/// Buffer size for one request: the kernel refuses to read into less than its longest write.
pub const BUFFER_BYTES: usize = MOST_BYTES as usize + 4096;

/// An open `/dev/fuse` of a mount. Readable when a request is pending; in error once the mount is gone.
#[derive(Debug)]
pub struct Channel(OwnedFd);

/// Result of [`Channel::receive`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// A request of this length in bytes.
    Request(usize),
    /// No request is pending.
    Nothing,
    /// The mount is gone or its connection was aborted.
    Unmounted,
}

impl Channel {
    /// Wraps a descriptor and makes it non-blocking.
    ///
    /// # Errors
    /// When it is not an open file.
    pub fn new(fuse: OwnedFd) -> io::Result<Self> {
        fcntl_setfl(&fuse, fcntl_getfl(&fuse)? | OFlags::NONBLOCK)?;
        Ok(Self(fuse))
    }

    /// Reads the next request into `buffer` of [`BUFFER_BYTES`].
    ///
    /// # Errors
    /// When the buffer is too short or the kernel fails.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Received> {
        loop {
            return match read(&self.0, &mut *buffer) {
                Ok(length) => Ok(Received::Request(length)),
                // The client gave up before its request was read.
                Err(Errno::NOENT | Errno::INTR) => continue,
                Err(Errno::AGAIN) => Ok(Received::Nothing),
                Err(Errno::NODEV | Errno::CONNABORTED) => Ok(Received::Unmounted),
                Err(errno) => Err(errno.into()),
            };
        }
    }

    /// Writes a reply with its data, of at most 1024 slices. The kernel never accepts a part of it.
    ///
    /// # Errors
    /// When the kernel rejects it: its length contradicts its header, or it has too many slices.
    pub fn send(&self, slices: &[IoSlice<'_>]) -> io::Result<()> {
        loop {
            return match writev(&self.0, slices) {
                // The request was aborted.
                Ok(_) | Err(Errno::NOENT | Errno::NODEV | Errno::CONNABORTED) => Ok(()),
                Err(Errno::INTR) => continue,
                Err(errno) => Err(errno.into()),
            };
        }
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
