//! A non-blocking socket, plain or encrypted.

use std::io::IoSlice;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, sockopt};

use super::halt::Halt;
use super::tls::{self, TlsIdentity, TlsSession};

/// Receive buffer of the other end of a TCP connection (`tcp_rmem`, its second value).
const RECEIVE_BUFFER_BYTES: u64 = 128 << 10;

/// A stream that never blocks, in clear or encrypted.
#[derive(Debug)]
pub(super) struct ClientSocket {
    file: OwnedFd,
    session: Option<TlsSession>,
}

impl ClientSocket {
    /// Takes a connection that is non-blocking already. The kernel may keep `send_buffer_bytes` of what a client has not
    /// taken yet.
    pub(super) fn new(file: OwnedFd, send_buffer_bytes: usize) -> Self {
        // Both only make it faster, and Nagle's delay is of TCP alone.
        let _ = sockopt::set_socket_send_buffer_size(&file, send_buffer_bytes);
        let _ = sockopt::set_tcp_nodelay(&file, true);
        Self { file, session: None }
    }

    pub(super) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Everything is encrypted from now on, `sent` already.
    pub(super) fn encrypt(&mut self, identity: &TlsIdentity, sent: &[u8]) -> Result<(), Halt> {
        self.session = Some(TlsSession::begin(identity, sent)?);
        Ok(())
    }

    /// How many bytes the kernel buffers at both ends of a connection whose client reads none.
    pub(super) fn buffered_most(&self) -> u64 {
        sockopt::socket_send_buffer_size(&self.file).unwrap_or_default() as u64 + RECEIVE_BUFFER_BYTES
    }

    /// Whether it is encrypted.
    #[inline]
    pub(super) fn is_encrypted(&self) -> bool {
        self.session.is_some()
    }

    /// How much room [`ClientSocket::receive`] needs for `bytes`: what was decrypted must not stay in the session.
    #[inline]
    pub(super) fn at_once(&self, bytes: usize) -> usize {
        if self.is_encrypted() { bytes.max(tls::ROOM_LEAST_BYTES) } else { bytes }
    }

    /// Puts what is there into `room`; says how many bytes.
    #[inline]
    pub(super) fn receive(&mut self, room: &mut [u8]) -> Result<usize, Halt> {
        if let Some(session) = &mut self.session {
            return session.receive(&self.file, room);
        }
        match rustix::net::recv(&self.file, room, RecvFlags::DONTWAIT)?.0 {
            0 => Err(Halt::Gone),
            bytes => Ok(bytes),
        }
    }

    /// Appends what is there to `input`, as much as it has room for, where nothing is encrypted.
    pub(super) fn receive_clear(&mut self, input: &mut Vec<u8>) -> Result<(), Halt> {
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
        self.session.as_ref().is_some_and(TlsSession::holds_back)
    }
}
