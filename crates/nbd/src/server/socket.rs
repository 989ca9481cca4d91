//! A non-blocking socket, plain or encrypted.

mod tls;

use std::io::IoSlice;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, sockopt};

use tls::TlsSession;
pub use tls::{IdentityError, Pem, TlsIdentity};

/// Receive buffer of the other end of a TCP connection (`tcp_rmem`, its second value).
const RECEIVE_BUFFER_BYTES: u64 = 128 << 10;

/// A non-blocking stream, plain or encrypted.
#[derive(Debug)]
pub(super) struct ClientSocket {
    file: OwnedFd,
    session: Option<TlsSession>,
}

impl ClientSocket {
    /// Wraps a connected non-blocking socket. The kernel may buffer `send_buffer_bytes` that the client has not read.
    pub(super) fn new(file: OwnedFd, send_buffer_bytes: usize) -> Self {
        // Failures cost only speed, and Nagle's algorithm exists only in TCP.
        let _ = sockopt::set_socket_send_buffer_size(&file, send_buffer_bytes);
        let _ = sockopt::set_tcp_nodelay(&file, true);
        Self { file, session: None }
    }

    pub(super) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Starts TLS; `sent` is the part of its handshake that has arrived already.
    pub(super) fn encrypt(&mut self, identity: &TlsIdentity, sent: &[u8]) -> Result<(), SocketError> {
        self.session = Some(TlsSession::begin(identity, sent)?);
        Ok(())
    }

    /// Returns how many bytes the kernel buffers at both ends if the client reads none.
    pub(super) fn buffered_most(&self) -> u64 {
        sockopt::socket_send_buffer_size(&self.file).unwrap_or_default() as u64 + RECEIVE_BUFFER_BYTES
    }

    #[inline]
    pub(super) fn is_encrypted(&self) -> bool {
        self.session.is_some()
    }

    /// Returns the buffer size that [`ClientSocket::receive`] needs for `bytes`: no decrypted data may stay in the
    /// session.
    #[inline]
    pub(super) fn at_once(&self, bytes: usize) -> usize {
        if self.is_encrypted() { bytes.max(tls::MIN_BUFFER_BYTES) } else { bytes }
    }

    /// Receives into `buffer`; returns the number of bytes.
    #[inline]
    pub(super) fn receive(&mut self, buffer: &mut [u8]) -> Result<usize, SocketError> {
        if let Some(session) = &mut self.session {
            return session.receive(&self.file, buffer);
        }
        match rustix::net::recv(&self.file, buffer, RecvFlags::DONTWAIT)?.0 {
            0 => Err(SocketError::Closed),
            bytes => Ok(bytes),
        }
    }

    /// Appends to `input` up to its capacity. For plain sockets only.
    pub(super) fn receive_clear(&mut self, input: &mut Vec<u8>) -> Result<(), SocketError> {
        match rustix::net::recv(&self.file, spare_capacity(input), RecvFlags::DONTWAIT)?.1 {
            0 => Err(SocketError::Closed),
            _ => Ok(()),
        }
    }

    /// Sends slices in order; returns the number of bytes accepted.
    #[inline]
    pub(super) fn send(&mut self, slices: &[IoSlice<'_>]) -> Result<usize, SocketError> {
        if let Some(session) = &mut self.session {
            return session.send(&self.file, slices);
        }
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        Ok(rustix::net::sendmsg(&self.file, slices, &mut SendAncillaryBuffer::default(), flags)?)
    }

    /// Sends encrypted data that was accepted but not sent.
    #[inline]
    pub(super) fn drain(&mut self) -> Result<(), SocketError> {
        match &mut self.session {
            Some(session) => session.drain(&self.file),
            None => Ok(()),
        }
    }

    /// Tells the client that no data follows.
    pub(super) fn end(&mut self) {
        if let Some(session) = &mut self.session {
            session.end(&self.file);
        }
    }

    /// Reports whether accepted bytes are still unsent.
    #[inline]
    pub(super) fn has_unsent(&self) -> bool {
        self.session.as_ref().is_some_and(TlsSession::has_unsent)
    }
}

/// Outcome of a socket call that transferred nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SocketError {
    /// The call would block; [`super::poll::Poll`] reports when to retry.
    WouldBlock,
    Closed,
}

impl From<Errno> for SocketError {
    fn from(errno: Errno) -> Self {
        // Any other error means that the socket cannot be used any longer.
        if errno == Errno::AGAIN || errno == Errno::INTR { Self::WouldBlock } else { Self::Closed }
    }
}

/// The client has disconnected or violates the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClientEnded;
