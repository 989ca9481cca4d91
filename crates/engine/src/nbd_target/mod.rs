//! The target on one connection to an NBD export.
//!
//! Submitted operations are queued until the next wait, which sends all of them in one call and receives all available
//! replies in another. Bytes of short reads go through the receive buffer; the rest of a long read is received straight
//! into its buffer. If nothing is left to send and no deadline is near, the receive call itself waits.

mod pending;
mod receive_buffer;
mod send_queue;

use std::io;
use std::time::Duration;

use nbd::wire::client::ServerReply;
use nbd::wire::{CommandFlags, NbdCommand, NbdRequest};
use target::{Completion, Op, Tag};
use units::{Nanos, OpKind};

use crate::error::Error;
use crate::exports::{ExportSocket, HANDSHAKE_TIMEOUT, RemoteExport, SocketWait, dial, lost, parse, refused};
use crate::opening::Opening;
use crate::queue::{Backend, QueueState, QueueTarget, Submission};
use pending::{PendingContent, PendingRequests};
use receive_buffer::ReceiveBuffer;
use send_queue::SendQueue;

/// Timeout of a receive call. The kernel rounds it up to its own ticks, 10 ms at most.
const RECEIVE_TIMEOUT: Duration = Duration::from_millis(20);
/// Distance to a deadline above which a receive call may wait: its timeout then ends before the deadline.
const BLOCKING_DISTANCE: Nanos = Nanos::from_millis(40);

/// A read's bytes that are still to be received.
#[derive(Clone, Copy)]
struct ExportPayload {
    tag: Tag,
    /// Buffer offset of the next byte.
    at: u32,
    left: u32,
    last: bool,
}

/// The backend on one export.
pub(crate) struct Nbd {
    socket: ExportSocket,
    export: RemoteExport,
    structured: bool,
    /// Whether operations may write or trim.
    writes: bool,
    /// Flags of write requests.
    write_flags: CommandFlags,
    send_queue: SendQueue,
    receive_buffer: ReceiveBuffer,
    payload: Option<ExportPayload>,
    pending: PendingRequests,
    /// Error number of the broken connection.
    broken: Option<i32>,
}

impl Nbd {
    /// Connects to the export that the setup names.
    ///
    /// # Errors
    /// Fails if the export is unavailable or does not accept blocks of this size, or memory for the buffers cannot be
    /// allocated.
    pub(crate) fn target(setup: &Opening) -> Result<QueueTarget<Self>, Error> {
        let name = setup.spec.uri.as_deref().unwrap_or_default();
        let connection = dial::open(&parse(name)?, true, HANDSHAKE_TIMEOUT)?;
        let export = RemoteExport::of(&connection.served);
        export.check(setup, name)?;
        connection.socket.limit(RECEIVE_TIMEOUT).map_err(|error| refused(name, error.to_string()))?;
        let (depth, structured) = (setup.depth, connection.served.structured);
        let backend = Self {
            socket: connection.socket,
            export,
            structured,
            writes: setup.writes,
            write_flags: if setup.durable { CommandFlags::FUA } else { CommandFlags::default() },
            send_queue: SendQueue::new(depth),
            receive_buffer: ReceiveBuffer::new(),
            payload: None,
            pending: PendingRequests::new(depth, structured),
            broken: None,
        };
        Ok(QueueTarget::new(backend, QueueState::new(setup, Vec::new())?))
    }

    /// Returns the request for an operation and the address of its bytes, or the result of an operation that is not
    /// sent.
    #[inline]
    fn request(&self, state: &QueueState, op: &Op) -> Result<(NbdRequest, Option<*mut u8>), i32> {
        if op.file != 0 {
            return Err(-libc::EBADF);
        }
        if let Some(errno) = self.broken {
            return Err(-errno);
        }
        let command = self.command(op.kind)?;
        let length = self.length_within(op)?;
        let start = match command {
            NbdCommand::Read | NbdCommand::Write => {
                Some(state.buffers.span(op.tag, op.skip, length).ok_or(-libc::EFAULT)?)
            }
            _ => None,
        };
        let flags = if command == NbdCommand::Write { self.write_flags } else { CommandFlags::default() };
        // A flush applies to the whole export, but the loop sets an offset; servers refuse a flush with an offset.
        let offset = if command == NbdCommand::Flush { 0 } else { op.offset };
        Ok((NbdRequest { cookie: 0, command, flags, offset, length: u64::from(length) }, start))
    }

    /// Returns the command for an operation if the server supports it.
    #[inline]
    fn command(&self, kind: OpKind) -> Result<NbdCommand, i32> {
        let export = &self.export;
        match kind {
            OpKind::Read => Ok(NbdCommand::Read),
            OpKind::Write | OpKind::Trim if export.read_only || !self.writes => Err(-libc::EPERM),
            OpKind::Write => Ok(NbdCommand::Write),
            OpKind::Trim if export.trims => Ok(NbdCommand::Trim),
            OpKind::Trim => Err(-libc::EOPNOTSUPP),
            _ if export.flushes => Ok(NbdCommand::Flush),
            OpKind::Sync | OpKind::DataSync | OpKind::SyncRange | OpKind::SyncFilesystem => Err(-libc::EOPNOTSUPP),
        }
    }

    /// Returns how much of an operation lies within the export. As on a block device, reads beyond the end return
    /// nothing.
    #[inline]
    fn length_within(&self, op: &Op) -> Result<u32, i32> {
        let left = self.export.bytes.saturating_sub(op.offset);
        match op.kind {
            OpKind::Sync | OpKind::DataSync | OpKind::SyncRange | OpKind::SyncFilesystem => Ok(0),
            OpKind::Read if left == 0 => Err(0),
            _ if left == 0 => Err(-libc::ENOSPC),
            _ => Ok(u64::from(op.length).min(left) as u32),
        }
    }

    /// Receives and processes what is available. Returns whether a signal interrupted it.
    #[inline]
    fn receive(&mut self, state: &mut QueueState, wait: SocketWait) -> bool {
        let first = state.ready.len();
        let interrupted = match self.fill(state, wait).and_then(|()| self.process_replies(state)) {
            Ok(()) => false,
            Err(errno @ (libc::EAGAIN | libc::EINTR)) => errno == libc::EINTR,
            Err(errno) => {
                self.fail_all(state, errno);
                return false;
            }
        };
        if state.ready.len() > first {
            let completed = state.clock.now();
            state.ready[first..].iter_mut().for_each(|done| done.completed = completed);
        }
        interrupted
    }

    /// Receives once: the rest of a payload goes into its buffer, everything else into the receive buffer.
    #[inline]
    fn fill(&mut self, state: &mut QueueState, wait: SocketWait) -> Result<(), i32> {
        let free_space = self.receive_buffer.free_space();
        let free_space = libc::iovec { iov_base: free_space.as_mut_ptr().cast(), iov_len: free_space.len() };
        let (left, place) = match &self.payload {
            None => (0, std::ptr::null_mut()),
            Some(payload) => {
                let place = state.buffers.span(payload.tag, payload.at, payload.left).ok_or(libc::EPROTO)?;
                (payload.left as usize, place)
            }
        };
        let parts = [libc::iovec { iov_base: place.cast(), iov_len: left }, free_space];
        let parts = if left == 0 { &parts[1..] } else { &parts[..] };
        // SAFETY: the receive buffer owns the free space; the place lies within the buffer of a tag in flight, which
        // nothing else uses until the tag is completed.
        let received = unsafe { self.socket.receive(parts, wait) };
        let received = match received {
            Ok(0) => return Err(libc::ENOTCONN),
            Ok(received) => received,
            Err(error) => return Err(lost(&error)),
        };
        let straight = received.min(left);
        if straight > 0 {
            self.payload_received(state, straight as u32);
        }
        self.receive_buffer.add_received(received - straight);
        Ok(())
    }

    /// Processes the replies in the receive buffer.
    #[inline]
    fn process_replies(&mut self, state: &mut QueueState) -> Result<(), i32> {
        loop {
            if !self.copy_payload(state) {
                return Ok(());
            }
            let Some((bytes, reply)) =
                ServerReply::decode(self.receive_buffer.unread(), self.structured).map_err(|_| libc::EPROTO)?
            else {
                return Ok(());
            };
            let reply_part = self.pending.on_reply(&reply).map_err(|_| libc::EPROTO)?;
            self.receive_buffer.consume(bytes);
            let (tag, last) = (reply_part.tag, reply_part.last);
            match reply_part.content {
                PendingContent::Bytes { at, length } => {
                    self.payload = Some(ExportPayload { tag, at, left: length, last });
                }
                PendingContent::Zeroes { at, length } => {
                    state.buffers.slice(tag).ok_or(libc::EPROTO)?[at as usize..][..length as usize].fill(0);
                    self.finish_if_last(state, tag, last);
                }
                PendingContent::Nothing => self.finish_if_last(state, tag, last),
            }
        }
    }

    /// Moves the payload's bytes from the receive buffer into their buffer. Returns whether the payload is complete.
    #[inline]
    fn copy_payload(&mut self, state: &mut QueueState) -> bool {
        let Some(payload) = self.payload else { return true };
        let unread = self.receive_buffer.unread();
        let some = unread.len().min(payload.left as usize);
        if let Some(buffer) = state.buffers.slice(payload.tag) {
            buffer[payload.at as usize..][..some].copy_from_slice(&unread[..some]);
        }
        self.receive_buffer.consume(some);
        self.payload_received(state, some as u32);
        self.payload.is_none()
    }

    /// Records that `bytes` bytes of the payload are in their buffer.
    #[inline]
    fn payload_received(&mut self, state: &mut QueueState, bytes: u32) {
        let Some(mut payload) = self.payload.take() else { return };
        payload.at += bytes;
        payload.left -= bytes;
        match payload.left {
            0 => self.finish_if_last(state, payload.tag, payload.last),
            _ => self.payload = Some(payload),
        }
    }

    /// Completes a request if this was the last part of its answer.
    #[inline]
    fn finish_if_last(&mut self, state: &mut QueueState, tag: Tag, last: bool) {
        if last {
            let result = self.pending.finish(tag);
            let submitted = state.slots.release(tag);
            state.ready.push(Completion { tag, submitted, completed: submitted, result });
        }
    }

    /// Fails everything in flight and everything submitted later, because the connection is broken.
    #[cold]
    fn fail_all(&mut self, state: &mut QueueState, errno: i32) {
        self.broken = Some(errno);
        self.send_queue.clear();
        self.payload = None;
        let completed = state.clock.now();
        stamp(state, completed);
        for tag in (0..state.slots.count()).map(Tag) {
            if state.slots.is_taken(tag) {
                let submitted = state.slots.release(tag);
                state.ready.push(Completion { tag, submitted, completed, result: -errno });
            }
        }
    }
}

#[inline]
fn stamp(state: &mut QueueState, now: Nanos) {
    for tag in state.queued.drain(..) {
        state.slots.stamp(tag, now);
    }
}

impl Backend for Nbd {
    #[inline]
    fn submit(&mut self, state: &mut QueueState, op: &Op) -> Submission {
        let (mut request, start) = match self.request(state, op) {
            Ok(request) => request,
            Err(result) => return Submission::Done(result),
        };
        self.pending.add(op.tag, &mut request, op.skip);
        let payload = start.filter(|_| request.command == NbdCommand::Write);
        // SAFETY: the payload is in the buffer of a tag that is in flight from now on.
        unsafe { self.send_queue.push(op.tag, &request, payload.map(|start| (start, request.length as u32))) };
        state.queue(op.tag);
        Submission::Taken
    }

    #[inline]
    fn collect(&mut self, _: &mut QueueState, _: &mut Vec<Completion>) {}

    #[inline]
    fn poll(&mut self, state: &mut QueueState) {
        self.flush(state);
        if state.slots.in_flight() > 0 {
            self.receive(state, SocketWait::No);
        }
    }

    #[inline]
    fn flush(&mut self, state: &mut QueueState) {
        if self.send_queue.is_empty() {
            return;
        }
        let now = state.clock.now();
        stamp(state, now);
        if let Err(error) = self.send_queue.send(&self.socket) {
            self.fail_all(state, lost(&error));
        }
    }

    #[inline]
    fn block(&mut self, state: &mut QueueState, _: u32, limit: Option<Nanos>) -> bool {
        self.flush(state);
        if !state.ready.is_empty() {
            return false;
        }
        if self.send_queue.is_empty() && limit.is_none_or(|limit| limit > BLOCKING_DISTANCE) {
            return self.receive(state, SocketWait::Yes);
        }
        match self.socket.sleep(!self.send_queue.is_empty(), limit) {
            Ok(()) => self.receive(state, SocketWait::No),
            Err(error) => error.kind() == io::ErrorKind::Interrupted,
        }
    }
}

impl Drop for Nbd {
    /// Disconnects as the protocol requires, unless a request was sent only in part.
    fn drop(&mut self) {
        if self.broken.is_none() && self.send_queue.is_empty() {
            self.socket.disconnect();
        }
    }
}
