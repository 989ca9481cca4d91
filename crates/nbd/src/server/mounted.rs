//! The kernel as a client: an export as the one file of a mount.

use std::io::IoSlice;
use std::os::fd::{AsFd, BorrowedFd};

use units::Nanos;

use super::budget::{Account, MemoryBudget, REQUEST_BYTES};
use super::dispatcher::{DispatchResult, Dispatcher, ReplyMode};
use super::over::Over;
use super::poll::Interest;
use super::slots::ConnectionTicket;
use crate::fuse::{self, Ask, BUFFER_BYTES, Channel, FuseReply, MOST_BYTES, Node, Received, SeekFilesystem};
use crate::store::{Operation, Pieces};
use nbd_wire::{CommandFlags, NbdCommand, NbdRequest, ReplyStyle};

/// As many requests are read before other clients have their turn.
const TURN: usize = 64;
/// One reply has as many slices at most: the kernel takes 1024.
const ROOM: usize = 512;

/// No request of the kernel takes more memory than this, with what stores add to it.
const REQUEST_MOST_BYTES: u64 = REQUEST_BYTES + MOST_BYTES as u64 + (256 << 10);

/// A mount.
pub(super) struct Mounted {
    channel: Channel,
    node: Node,
    ticket: ConnectionTicket,
    manner: ReplyMode,
    buffer: Vec<u8>,
    /// What makes the replies to requests under way, by their cookies.
    replies: Vec<Option<fuse::ReplyTicket>>,
    free: Vec<u32>,
    in_flight: u32,
    /// Memory of requests in flight.
    pending_bytes: u64,
    account: Account,
}

impl Mounted {
    pub(super) fn new(channel: Channel, node: Node, ticket: ConnectionTicket, export: u32) -> Self {
        let manner = ReplyMode { export, style: ReplyStyle::Simple, context: None };
        Self {
            channel,
            node,
            ticket,
            manner,
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
        self.manner.export
    }

    /// Reads requests and carries them out.
    pub(super) fn hear(&mut self, now: Nanos, dispatcher: &mut Dispatcher) -> Result<(), Over> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let heard = (0..TURN).try_for_each(|_| match self.next(&mut buffer, dispatcher) {
            Ok(Received::Request(length)) => self.take(now, &buffer[..length], dispatcher).map_err(Some),
            Ok(Received::Nothing) => Err(None),
            Ok(Received::Unmounted) | Err(_) => Err(Some(Over)),
        });
        self.buffer = buffer;
        match heard {
            Err(Some(over)) => Err(over),
            _ => Ok(()),
        }
    }

    /// The next request, where there is memory for it.
    fn next(&self, buffer: &mut [u8], dispatcher: &Dispatcher) -> std::io::Result<Received> {
        if self.listens(&dispatcher.budget) { self.channel.receive(buffer) } else { Ok(Received::Nothing) }
    }

    fn take(&mut self, now: Nanos, bytes: &[u8], dispatcher: &mut Dispatcher) -> Result<(), Over> {
        match self.node.request(bytes).ok_or(Over)?.ask {
            Ask::Do(reply, operation) => self.begin(now, reply, operation, dispatcher),
            Ask::Seek(seek) => self.say(&self.find(seek, dispatcher), &[]),
            Ask::Answer(reply) => self.say(&reply, &[]),
            Ask::Nothing => Ok(()),
        }
    }

    /// Gives an operation to the dispatcher, as a request like any other.
    fn begin(
        &mut self,
        now: Nanos,
        reply: fuse::ReplyTicket,
        operation: Operation<'_>,
        dispatcher: &mut Dispatcher,
    ) -> Result<(), Over> {
        let cookie = self.free.pop().unwrap_or_else(|| {
            self.replies.push(None);
            (self.replies.len() - 1) as u32
        });
        if self.in_flight == 0 {
            dispatcher.connections.comes();
        }
        self.in_flight += 1;
        self.replies[cookie as usize] = Some(reply);
        let (request, payload) = request(u64::from(cookie), operation);
        let cost = dispatcher.cost(self.manner.export, &request);
        self.pending_bytes += cost;
        dispatcher.accept(now, self.ticket, self.manner, request, payload).inspect_err(|_| self.pending_bytes -= cost)
    }

    fn find(&self, seek: SeekFilesystem, dispatcher: &mut Dispatcher) -> FuseReply {
        let store = &mut dispatcher.stores[dispatcher.offered[self.manner.export as usize].store as usize];
        seek.answer(|offset, length| store.extents(offset, length, ROOM))
    }

    /// Answers one of its requests.
    pub(super) fn answer(&mut self, answer: &DispatchResult, dispatcher: &mut Dispatcher) {
        let cookie = answer.request.cookie as u32;
        let Some(reply) = self.replies[cookie as usize].take() else { return };
        self.free.push(cookie);
        self.in_flight -= 1;
        self.pending_bytes -= dispatcher.cost(self.manner.export, &answer.request);
        if self.in_flight == 0 {
            dispatcher.connections.goes();
        }
        let reply = reply.reply(answer.result.map(|_| ()).map_err(|refused| refused.errno));
        let mut room = [IoSlice::new(&[]); ROOM];
        let mut pieces = Pieces::new(&mut room);
        if let Ok(Some(loan)) = answer.result {
            dispatcher.stores[loan.store as usize].lend(loan.slot, loan.offset, loan.length, 0, &mut pieces);
        }
        // A mount that takes no reply tells so when it is read next.
        let _ = self.say(&reply, pieces.slices());
        if let Ok(Some(loan)) = answer.result {
            dispatcher.give_back(loan);
        }
    }

    fn say(&self, reply: &FuseReply, data: &[IoSlice<'_>]) -> Result<(), Over> {
        let mut room = [IoSlice::new(&[]); ROOM + 1];
        room[0] = IoSlice::new(reply.bytes());
        room[1..=data.len()].copy_from_slice(data);
        self.channel.send(&room[..=data.len()]).map_err(|_| Over)
    }

    /// Tells the budget what it takes.
    pub(super) fn settle(&mut self, dispatcher: &mut Dispatcher) -> Result<(), Over> {
        dispatcher.budget.settle(&mut self.account, self.pending_bytes);
        Ok(())
    }

    /// For what it has to be watched now.
    pub(super) fn wants(&self, budget: &MemoryBudget) -> Interest {
        if self.listens(budget) { Interest::READ } else { Interest::NONE }
    }

    /// Whether one more request is read, whatever it is: there is no look at it before.
    fn listens(&self, budget: &MemoryBudget) -> bool {
        self.in_flight == 0 || self.pending_bytes + REQUEST_MOST_BYTES <= budget.window(&self.account)
    }

    /// It is unmounted.
    pub(super) fn abandon(&mut self, dispatcher: &mut Dispatcher) {
        if self.in_flight > 0 {
            dispatcher.connections.goes();
        }
        dispatcher.budget.end(&mut self.account, self.pending_bytes);
    }
}

/// An operation as clients of the network ask for it.
fn request(cookie: u64, operation: Operation<'_>) -> (NbdRequest, &[u8]) {
    let fua = |durable| if durable { CommandFlags::FUA } else { CommandFlags(0) };
    let (command, flags, offset, length) = match operation {
        Operation::Read { offset, length } => (NbdCommand::Read, fua(false), offset, u64::from(length)),
        Operation::Write { offset, data, durable } => (NbdCommand::Write, fua(durable), offset, data.len() as u64),
        Operation::Zero { offset, length, durable, allocated, .. } => {
            let hole = if allocated { CommandFlags::NO_HOLE } else { CommandFlags(0) };
            (NbdCommand::WriteZeroes, fua(durable).and(hole), offset, length)
        }
        Operation::Trim { offset, length, durable } => (NbdCommand::Trim, fua(durable), offset, length),
        Operation::Flush => (NbdCommand::Flush, fua(false), 0, 0),
        Operation::Cache { offset, length } => (NbdCommand::Cache, fua(false), offset, length),
    };
    let payload: &[u8] = if let Operation::Write { data, .. } = operation { data } else { &[] };
    (NbdRequest { cookie, command, flags, offset, length }, payload)
}
