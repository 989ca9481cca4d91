//! The socket of a connected export.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use nbd::wire::{CommandFlags, NbdCommand, NbdRequest};
use rustix::net::sockopt::{self, Timeout};
use units::Nanos;

use crate::clock::timespec;

/// A connection to a server. Calls block unless they specify otherwise.
pub(crate) struct ExportSocket(pub(super) OwnedFd);

/// Whether a call waits for the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SocketWait {
    /// Waits until something has happened or the socket's time limit has passed.
    Yes,
    /// Does not wait.
    No,
}

impl SocketWait {
    const fn flags(self) -> i32 {
        match self {
            Self::Yes => libc::MSG_NOSIGNAL,
            Self::No => libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT,
        }
    }
}

impl ExportSocket {
    /// Sends `parts`, at most 1024. Returns how many bytes the kernel took.
    ///
    /// # Safety
    /// The parts must refer to memory that is valid for reads.
    #[inline]
    pub(crate) unsafe fn send(&self, parts: &[libc::iovec], wait: SocketWait) -> io::Result<usize> {
        let message = message(parts);
        // SAFETY: `message` outlives the call; the caller guarantees the memory it refers to, which is only read.
        let sent = unsafe { libc::sendmsg(self.0.as_raw_fd(), &raw const message, wait.flags()) };
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    }

    /// Receives into `parts`. Returns how many bytes were received, zero at the end of the connection.
    ///
    /// # Safety
    /// The parts must refer to memory that is valid for writes and not used elsewhere.
    #[inline]
    pub(crate) unsafe fn receive(&self, parts: &[libc::iovec], wait: SocketWait) -> io::Result<usize> {
        let mut message = message(parts);
        // SAFETY: `message` outlives the call; the caller guarantees the memory it refers to.
        let received = unsafe { libc::recvmsg(self.0.as_raw_fd(), &raw mut message, wait.flags()) };
        usize::try_from(received).map_err(|_| io::Error::last_os_error())
    }

    /// Sleeps until data can be received or, with `room`, sent, or until `limit` has passed.
    pub(crate) fn sleep(&self, room: bool, limit: Option<Nanos>) -> io::Result<()> {
        let events = libc::POLLIN | if room { libc::POLLOUT } else { 0 };
        let mut entry = libc::pollfd { fd: self.0.as_raw_fd(), events, revents: 0 };
        let time = limit.map(timespec);
        let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: `entry` outlives the call, `time` is null or outlives it too, and there is no signal mask.
        let status = unsafe { libc::ppoll(&raw mut entry, 1, time, std::ptr::null()) };
        if status < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Sets the time limit of blocking calls; zero means none.
    pub(crate) fn limit(&self, limit: Duration) -> io::Result<()> {
        let limit = Some(limit).filter(|limit| !limit.is_zero());
        sockopt::set_socket_timeout(&self.0, Timeout::Recv, limit)?;
        Ok(sockopt::set_socket_timeout(&self.0, Timeout::Send, limit)?)
    }

    /// Sends a disconnect request. Errors are ignored: the server also notices the closed connection.
    pub(crate) fn disconnect(&self) {
        let (command, flags) = (NbdCommand::Disconnect, CommandFlags::default());
        let mut bytes = Vec::with_capacity(NbdRequest::header_bytes(false));
        NbdRequest { cookie: 0, command, flags, offset: 0, length: 0 }.encode(false, &mut bytes);
        let part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        // SAFETY: the only part refers to `bytes`, which outlives the call.
        let _ = unsafe { self.send(&[part], SocketWait::No) };
    }
}

/// Returns the error number of a broken connection.
pub(crate) fn lost(error: &io::Error) -> i32 {
    match error.raw_os_error() {
        Some(libc::ECONNRESET | libc::EPIPE) | None => libc::ENOTCONN,
        Some(errno) => errno,
    }
}

fn message(parts: &[libc::iovec]) -> libc::msghdr {
    // SAFETY: all zeroes is a message without address, parts and control data.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = parts.as_ptr().cast_mut();
    message.msg_iovlen = parts.len() as _;
    message
}
