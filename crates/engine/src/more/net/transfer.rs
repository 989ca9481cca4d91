//! Sends and receives blocks.

use std::os::fd::{AsRawFd, RawFd};

use target::{Completion, Op};
use units::OpKind;

use super::connect::Connection;
use super::{CLOSE_MARK, is_close_mark};
use crate::buffers::Buffers;
use crate::error::{Error, ErrorKind, last_errno};
use crate::files::File;
use crate::opening::Opening;
use crate::splice::Splice;
use crate::sync_target::Perform;
use target::spec::NetworkProtocol;

/// What ends a datagram of fio that is not verified: a word, the number of the datagram, and the block size.
const NUMBER_BYTES: usize = 24;
const NUMBER_WORD: [u8; 8] = *b"ceUnuqse";

/// Blocks over a connection.
pub(crate) struct Network {
    connection: Connection,
    splice: Option<Splice>,
    is_stream: bool,
    is_unix: bool,
    answers: bool,
    numbers: bool,
    /// Flags of sends on a stream.
    send_flags: i32,
    /// Datagrams sent so far.
    sent: u64,
    /// Progress of the current operation, which goes on when a call has timed out.
    moved: usize,
    /// Whether the first half of an exchange is done.
    half_done: bool,
    /// Whether the peer has closed.
    ended: bool,
}

impl Network {
    /// Waits for a peer or connects to one.
    ///
    /// # Errors
    /// Fails if there is no connection, or the pipe of `netsplice` cannot be created.
    pub(crate) fn new(setup: &Opening) -> Result<Self, Error> {
        let Some(network) = &setup.network else {
            return Err(Error::found(ErrorKind::Engine, "set up", "engine net", "no connection is open"));
        };
        let (protocol, answers) = (network.options.protocol, network.options.pingpong);
        let is_stream = !protocol.is_of_datagrams();
        let splice = (network.splices && is_stream).then(Splice::new).transpose()?;
        Ok(Self {
            connection: Connection::open(network, setup)?,
            splice,
            is_stream,
            is_unix: protocol == NetworkProtocol::Unix,
            answers,
            numbers: network.numbers && !is_stream,
            // As fio does: the end of the stream pushes what is left.
            send_flags: libc::MSG_NOSIGNAL | if answers { 0 } else { libc::MSG_MORE },
            sent: 0,
            moved: 0,
            half_done: false,
            ended: false,
        })
    }

    /// Sends or receives the rest of a block. Returns zero, or a negated error number.
    fn half(&mut self, write: bool, start: *mut u8, length: usize) -> i32 {
        while self.moved < length {
            let left = length - self.moved;
            // SAFETY: `moved` is less than the length of the block.
            let rest = unsafe { start.add(self.moved) };
            // SAFETY: the block has `left` bytes from `rest` on, which are not used elsewhere meanwhile.
            let moved = unsafe { self.transfer(write, rest, left) };
            match moved {
                1.. => {
                    self.moved += moved as usize;
                    // SAFETY: the first `moved` bytes of the block were initialized with its buffer.
                    let block = unsafe { std::slice::from_raw_parts(start, self.moved) };
                    if !write && is_close_mark(block) {
                        self.ended = true;
                        return Completion::ENDED;
                    }
                }
                0 if !write && self.is_stream => return self.closed(),
                // An empty datagram.
                0 => {}
                _ => match last_errno() {
                    libc::EAGAIN | libc::EINTR => return Completion::IDLE,
                    // The previous datagram was refused, and is lost like any other.
                    libc::ECONNREFUSED if !self.is_stream => {}
                    errno => return -errno,
                },
            }
        }
        self.moved = 0;
        0
    }

    /// Returns the result of a read after the peer has closed. fio does not mark the end on Unix sockets. The mark may
    /// follow a part of a block; that part is not counted.
    #[cold]
    fn closed(&mut self) -> i32 {
        if self.is_unix || self.moved >= CLOSE_MARK.len() {
            self.ended = true;
            return Completion::ENDED;
        }
        -libc::ECONNRESET
    }

    /// # Safety
    /// `length` bytes from `start` on must be valid for reads and writes and not used elsewhere.
    unsafe fn transfer(&mut self, write: bool, start: *mut u8, length: usize) -> isize {
        let fd = self.fd();
        // SAFETY: the caller guarantees the memory.
        unsafe {
            match (&self.splice, self.connection.peer.as_mut(), write) {
                (Some(splice), ..) if write => splice.write(fd, start, length, None),
                (Some(splice), ..) => splice.read(fd, start, length, None),
                (None, Some(peer), true) => peer.send(fd, start, length),
                (None, Some(peer), false) => peer.receive(fd, start, length),
                (None, None, true) => libc::send(fd, start.cast(), length, self.send_flags),
                (None, None, false) => libc::recv(fd, start.cast(), length, 0),
            }
        }
    }

    fn fd(&self) -> RawFd {
        self.connection.socket.as_raw_fd()
    }

    /// Puts the number of a datagram at its end, as fio does.
    fn number(&mut self, start: *mut u8, length: usize) {
        if !self.numbers || length < NUMBER_BYTES || self.moved > 0 {
            return;
        }
        // SAFETY: the block has `length` bytes, and the number lies at their end.
        let end = unsafe { std::slice::from_raw_parts_mut(start.add(length - NUMBER_BYTES), NUMBER_BYTES) };
        end[..8].copy_from_slice(&NUMBER_WORD);
        end[8..16].copy_from_slice(&self.sent.to_le_bytes());
        end[16..].copy_from_slice(&(length as u64).to_le_bytes());
        self.sent += 1;
    }

    /// Executes an operation, or continues one that has timed out.
    fn exchange(&mut self, write: bool, start: *mut u8, length: usize) -> i32 {
        if self.ended {
            return Completion::ENDED;
        }
        if !self.half_done {
            if write {
                self.number(start, length);
            }
            match self.half(write, start, length) {
                0 => self.half_done = self.answers,
                result => return result,
            }
        }
        if self.half_done {
            match self.half(!write, start, length) {
                0 => self.half_done = false,
                result => return result,
            }
        }
        length as i32
    }
}

impl Perform for Network {
    fn files(&self) -> &[File] {
        &[]
    }

    fn perform(&mut self, op: &Op, buffers: &Buffers) -> i32 {
        let write = match op.kind {
            OpKind::Read => false,
            OpKind::Write => true,
            OpKind::Sync | OpKind::DataSync | OpKind::SyncRange | OpKind::SyncFilesystem => return 0,
            OpKind::Trim => return -libc::EOPNOTSUPP,
        };
        match buffers.span(op.tag, op.skip, op.length) {
            Some(start) => self.exchange(write, start, op.length as usize),
            None => -libc::EFAULT,
        }
    }
}

/// Tells the peer that no more follows.
impl Drop for Network {
    fn drop(&mut self) {
        let fd = self.fd();
        let (start, length) = (CLOSE_MARK.as_ptr(), CLOSE_MARK.len());
        // A peer that is gone needs no mark.
        // SAFETY: the mark is a constant.
        let _ = unsafe {
            match &self.connection.peer {
                Some(peer) => peer.send(fd, start, length),
                None => libc::send(fd, start.cast(), length, libc::MSG_NOSIGNAL),
            }
        };
    }
}
