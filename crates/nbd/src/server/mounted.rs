//! The kernel as a client: an export as the single file of a mount.

use std::io::IoSlice;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};

use units::Nanos;

use super::budget::{Account, MemoryBudget, REQUEST_BYTES};
use super::dispatcher::{DispatchResult, Dispatcher, ReplyMode};
use super::poll::Interest;
use super::slots::ConnectionTicket;
use super::socket::ClientEnded;
use crate::fuse::{self, Ask, BUFFER_BYTES, Channel, FuseReply, MOST_BYTES, Node, Received, SeekFilesystem};
use crate::store::{Operation, Pieces};
use nbd_wire::{CommandFlags, NbdCommand, NbdRequest, ReplyStyle};

/// Requests read before other clients are served.
const MAX_REQUESTS_AT_ONCE: usize = 64;
/// Maximum slices per reply; the kernel accepts 1024.
const MAX_SLICES: usize = 512;

/// Upper bound on the memory of a kernel request, including what stores add.
const MAX_KERNEL_REQUEST_BYTES: u64 = REQUEST_BYTES + MOST_BYTES as u64 + (256 << 10);

pub(super) struct Mounted {
    channel: Channel,
    node: Node,
    ticket: ConnectionTicket,
    mode: ReplyMode,
    buffer: Vec<u8>,
    /// Reply builders of requests in flight, by cookie.
    replies: Vec<Option<fuse::ReplyTicket>>,
    free: Vec<u32>,
    in_flight: u32,
    pending_bytes: u64,
    account: Account,
}

impl Mounted {
    pub(super) fn new(channel: Channel, node: Node, ticket: ConnectionTicket, export: u32) -> Self {
        let mode = ReplyMode { export, style: ReplyStyle::Simple, context: None };
        Self {
            channel,
            node,
            ticket,
            mode,
            buffer: vec![0; BUFFER_BYTES],
            replies: Vec::new(),
            free: Vec::new(),
            in_flight: 0,
            pending_bytes: 0,
            account: Account::of_mount(),
        }
    }

    pub(super) fn file(&self) -> BorrowedFd<'_> {
        self.channel.as_fd()
    }

    pub(super) fn export(&self) -> u32 {
        self.mode.export
    }

    pub(super) fn handle_input(&mut self, now: Nanos, dispatcher: &mut Dispatcher) -> Result<(), ClientEnded> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let result = (0..MAX_REQUESTS_AT_ONCE).try_for_each(|_| match self.receive(&mut buffer, dispatcher) {
            Ok(Received::Request(length)) => self.process(now, &buffer[..length], dispatcher).map_err(Some),
            Ok(Received::Nothing) => Err(None),
            Ok(Received::Unmounted) | Err(_) => Err(Some(ClientEnded)),
        });
        self.buffer = buffer;
        match result {
            Err(Some(ended)) => Err(ended),
            _ => Ok(()),
        }
    }

    /// Receives the next request if there is memory for it.
    fn receive(&self, buffer: &mut [u8], dispatcher: &Dispatcher) -> std::io::Result<Received> {
        if self.accepts_input(&dispatcher.budget) { self.channel.receive(buffer) } else { Ok(Received::Nothing) }
    }

    fn process(&mut self, now: Nanos, bytes: &[u8], dispatcher: &mut Dispatcher) -> Result<(), ClientEnded> {
        match self.node.request(bytes).ok_or(ClientEnded)?.ask {
            Ask::Do(reply, operation) => self.begin(now, reply, operation, dispatcher),
            Ask::Seek(seek) => self.send_reply(&self.seek(seek, dispatcher), &[]),
            Ask::Answer(reply) => self.send_reply(&reply, &[]),
            Ask::Nothing => Ok(()),
        }
    }

    /// Passes an operation to the dispatcher as an NBD request.
    fn begin(
        &mut self,
        now: Nanos,
        reply: fuse::ReplyTicket,
        operation: Operation<&[u8]>,
        dispatcher: &mut Dispatcher,
    ) -> Result<(), ClientEnded> {
        let cookie = self.free.pop().unwrap_or_else(|| {
            self.replies.push(None);
            (self.replies.len() - 1) as u32
        });
        if self.in_flight == 0 {
            dispatcher.active.enter();
        }
        self.in_flight += 1;
        self.replies[cookie as usize] = Some(reply);
        let (request, payload) = request(u64::from(cookie), operation);
        let cost = dispatcher.cost(self.mode.export, &request);
        self.pending_bytes += cost;
        dispatcher.accept(now, self.ticket, self.mode, request, payload).inspect_err(|_| self.pending_bytes -= cost)
    }

    fn seek(&self, seek: SeekFilesystem, dispatcher: &mut Dispatcher) -> FuseReply {
        let store = &mut dispatcher.stores[dispatcher.offered[self.mode.export as usize].store as usize];
        seek.answer(|offset, length| store.extents(offset, length, MAX_SLICES))
    }

    pub(super) fn answer(&mut self, answer: &DispatchResult, dispatcher: &mut Dispatcher) {
        let cookie = answer.request.cookie as u32;
        let Some(reply) = self.replies[cookie as usize].take() else { return };
        self.free.push(cookie);
        self.in_flight -= 1;
        self.pending_bytes -= dispatcher.cost(self.mode.export, &answer.request);
        if self.in_flight == 0 {
            dispatcher.active.leave();
        }
        let reply = reply.reply(answer.result.map(|_| ()).map_err(|refused| refused.errno));
        let mut slices = [IoSlice::new(&[]); MAX_SLICES];
        let mut pieces = Pieces::new(&mut slices);
        if let Ok(Some(loan)) = answer.result {
            dispatcher.stores[loan.store as usize].lend(loan.slot, loan.offset, loan.length, 0, &mut pieces);
        }
        // A dead mount is detected by the next read.
        let _ = self.send_reply(&reply, pieces.slices());
        if let Ok(Some(loan)) = answer.result {
            dispatcher.release(loan);
        }
    }

    fn send_reply(&self, reply: &FuseReply, data: &[IoSlice<'_>]) -> Result<(), ClientEnded> {
        let mut slices = [IoSlice::new(&[]); MAX_SLICES + 1];
        slices[0] = IoSlice::new(reply.bytes());
        slices[1..=data.len()].copy_from_slice(data);
        self.channel.send(&slices[..=data.len()]).map_err(|_| ClientEnded)
    }

    pub(super) fn settle(&mut self, dispatcher: &mut Dispatcher) -> Result<(), ClientEnded> {
        dispatcher.budget.settle(&mut self.account, self.pending_bytes);
        Ok(())
    }

    pub(super) fn interest(&self, budget: &MemoryBudget) -> Interest {
        if self.accepts_input(budget) { Interest::READ } else { Interest::NONE }
    }

    /// Reports whether to read one more request, which may be of the largest size.
    fn accepts_input(&self, budget: &MemoryBudget) -> bool {
        self.in_flight == 0 || self.pending_bytes + MAX_KERNEL_REQUEST_BYTES <= budget.window(&self.account)
    }

    /// Releases the memory of an unmounted client.
    pub(super) fn close(&mut self, dispatcher: &mut Dispatcher) {
        if self.in_flight > 0 {
            dispatcher.active.leave();
        }
        dispatcher.budget.end(&mut self.account, self.pending_bytes);
    }
}

/// Converts an operation to an NBD request and its payload.
fn request(cookie: u64, operation: Operation<&[u8]>) -> (NbdRequest, &[u8]) {
    let command = match operation {
        Operation::Read { .. } => NbdCommand::Read,
        Operation::Write { .. } => NbdCommand::Write,
        Operation::Zero { .. } => NbdCommand::WriteZeroes,
        Operation::Trim { .. } => NbdCommand::Trim,
        Operation::Flush => NbdCommand::Flush,
        Operation::Cache { .. } => NbdCommand::Cache,
    };
    let fua = if operation.is_durable() { CommandFlags::FUA } else { CommandFlags(0) };
    let is_allocated = matches!(operation, Operation::Zero { allocated: true, .. });
    let flags = if is_allocated { fua.and(CommandFlags::NO_HOLE) } else { fua };
    let Range { start, end } = operation.range();
    let payload: &[u8] = if let Operation::Write { data, .. } = operation { data } else { &[] };
    (NbdRequest { cookie, command, flags, offset: start, length: end - start }, payload)
}
