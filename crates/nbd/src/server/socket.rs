//! One end of a connection.

use std::io::IoSlice;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, sockopt};

use super::tls::{Identity, Session};

/// How much the kernel may keep of what a client has not taken yet.
const SEND_BUFFER_BYTES: usize = 4 << 20;

/// How a call on a socket ended that took or brought nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Halt {
    /// Nothing now; [`super::poll::Poll`] tells when.
    Later,
    /// The other side is gone.
    Gone,
}

impl From<Errno> for Halt {
    fn from(errno: Errno) -> Self {
        // What else can happen to a socket in use means that it cannot be used any longer.
        if errno == Errno::AGAIN || errno == Errno::INTR { Self::Later } else { Self::Gone }
    }
}

/// A stream that never blocks, in clear or encrypted.
#[derive(Debug)]
pub(super) struct Socket {
    file: OwnedFd,
    session: Option<Session>,
}

impl Socket {
    /// Takes a connection that is non-blocking already.
    pub(super) fn new(file: OwnedFd) -> Self {
        // Both only make it faster, and Nagle's delay is of TCP alone.
        let _ = sockopt::set_socket_send_buffer_size(&file, SEND_BUFFER_BYTES);
        let _ = sockopt::set_tcp_nodelay(&file, true);
        Self { file, session: None }
    }

    pub(super) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Everything is encrypted from now on, `sent` already.
    pub(super) fn encrypt(&mut self, identity: &Identity, sent: &[u8]) -> Result<(), Halt> {
        self.session = Some(Session::begin(identity, sent)?);
        Ok(())
    }

    /// Appends what is there to `input`, as much as it has room for.
    #[inline]
    pub(super) fn receive(&mut self, input: &mut Vec<u8>) -> Result<(), Halt> {
        if let Some(session) = &mut self.session {
            return session.receive(&self.file, input);
        }
        match rustix::net::recv(&self.file, spare_capacity(input), RecvFlags::DONTWAIT)?.1 {
            0 => Err(Halt::Gone),
            _ => Ok(()),
        }
    }

    /// Sends slices one after the other; says how many bytes it took.
    #[inline]
    pub(super) fn send(&mut self, slices: &[IoSlice<'_>]) -> Result<usize, Halt> {
        if let Some(session) = &mut self.session {
            return session.send(&self.file, slices);
        }
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        Ok(rustix::net::sendmsg(&self.file, slices, &mut SendAncillaryBuffer::default(), flags)?)
    }

    /// Sends what it took and could not send.
    #[inline]
    pub(super) fn drain(&mut self) -> Result<(), Halt> {
        match &mut self.session {
            Some(session) => session.drain(&self.file),
            None => Ok(()),
        }
    }

    /// Tells the other side that nothing follows.
    pub(super) fn end(&mut self) {
        if let Some(session) = &mut self.session {
            session.end(&self.file);
        }
    }

    /// Whether it has taken bytes that it could not send yet.
    #[inline]
    pub(super) fn holds_back(&self) -> bool {
        self.session.as_ref().is_some_and(Session::holds_back)
    }
}
