//! The `/dev/fuse` end of a mount.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{Errno, read, writev};

use super::abi::MOST_BYTES;

/// A buffer for one request needs this much: the kernel refuses to read into less than its longest write.
pub const BUFFER_BYTES: usize = MOST_BYTES as usize + 4096;

/// An open `/dev/fuse` that belongs to a mount. Readable when there is a request, and in error when there is none any
/// more.
#[derive(Debug)]
pub struct Channel(OwnedFd);

/// Result of [`Channel::receive`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// A request of so many bytes.
    Request(usize),
    /// Nothing, for now.
    Nothing,
    /// The mount is gone, or its connection was aborted: nothing will come again.
    Unmounted,
}

impl Channel {
    /// From here on neither reads nor writes wait.
    ///
    /// # Errors
    /// When it is no open file.
    pub fn new(fuse: OwnedFd) -> io::Result<Self> {
        fcntl_setfl(&fuse, fcntl_getfl(&fuse)? | OFlags::NONBLOCK)?;
        Ok(Self(fuse))
    }

    /// The next request. `buffer` has [`BUFFER_BYTES`].
    ///
    /// # Errors
    /// When the buffer is too short, or the kernel fails for a reason of its own.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Received> {
        loop {
            return match read(&self.0, &mut *buffer) {
                Ok(length) => Ok(Received::Request(length)),
                // The client has given up before its request was read.
                Err(Errno::NOENT | Errno::INTR) => continue,
                Err(Errno::AGAIN) => Ok(Received::Nothing),
                Err(Errno::NODEV | Errno::CONNABORTED) => Ok(Received::Unmounted),
                Err(errno) => Err(errno.into()),
            };
        }
    }

    /// Writes a reply and the bytes that it announces, which is never done in part. At most 1024 slices.
    ///
    /// # Errors
    /// When the kernel does not take it: its length is not what its header says, or there are too many slices.
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
