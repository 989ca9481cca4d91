//! The state of one connection.

use std::os::fd::BorrowedFd;

use units::Nanos;

use super::budget::{Account, MemoryBudget, REQUEST_BYTES};
use super::dispatcher::{DispatchResult, Dispatcher, INPUT_BYTES, ReplyMode};
use super::outbox::ReplyOutbox;
use super::poll::Interest;
use super::slots::ConnectionTicket;
use super::socket::{ClientEnded, ClientSocket, SocketError};
use nbd_wire::handshake::{Handshake, HandshakeSettings, HandshakeStep};
use nbd_wire::{NbdCommand, NbdRequest, ReplyStyle};

/// Minimum bytes per read, even for a connection that has used up its memory.
const MIN_INPUT_BYTES: usize = 4 << 10;
/// Bytes per read before an export is selected.
const HANDSHAKE_INPUT_BYTES: usize = 16 << 10;
/// Largest input buffer that a connection keeps between requests.
const INPUT_KEPT_BYTES: usize = 8 << 10;
const MAX_PAYLOAD: u64 = 32 << 20;
/// Unsent reply headers above which a client's input is not read.
const MAX_HEADS_BYTES: usize = 1 << 20;
/// Requests in flight above which a client's input is not read.
const MAX_IN_FLIGHT: u32 = 16_384;

pub(super) struct Connection {
    socket: ClientSocket,
    ticket: ConnectionTicket,
    phase: ConnectionPhase,
    /// Input that is received but not processed, from `consumed` on.
    input: Vec<u8>,
    consumed: usize,
    /// Length of the incomplete request at the start of the input, if memory is reserved for it; else zero.
    partial_bytes: usize,
    /// Bytes reserved for that request.
    reserved: u64,
    /// Bytes of a payload still to be discarded.
    skipped: u64,
    outbox: ReplyOutbox,
    in_flight: u32,
    /// Memory of requests that are in flight or whose data is unsent.
    pending_bytes: u64,
    /// Memory of requests answered since the outbox was last empty.
    answered_bytes: u64,
    account: Account,
    /// Input waits for memory or for replies to be sent.
    input_blocked: bool,
    /// The client has asked to disconnect.
    closing: bool,
    /// When the client connected.
    pub since: Nanos,
    /// When a byte was last received or sent.
    progressed: Nanos,
    /// When the client began to send the current payload or to have replies to read.
    transfer_since: Nanos,
}

enum ConnectionPhase {
    Handshake(Box<Handshake>),
    Transmission(ReplyMode),
}

impl Connection {
    /// Starts the handshake with a new client.
    pub(super) fn new(
        socket: ClientSocket,
        ticket: ConnectionTicket,
        settings: HandshakeSettings,
        budget: &MemoryBudget,
        now: Nanos,
    ) -> Self {
        let mut handshake = Box::new(Handshake::new(settings));
        let mut outbox = ReplyOutbox::default();
        outbox.head(|out| handshake.greet(out));
        let account = Account::new(budget, socket.buffered_most());
        Self {
            socket,
            ticket,
            phase: ConnectionPhase::Handshake(handshake),
            input: Vec::new(),
            consumed: 0,
            partial_bytes: 0,
            reserved: 0,
            skipped: 0,
            outbox,
            in_flight: 0,
            pending_bytes: 0,
            answered_bytes: 0,
            account,
            input_blocked: false,
            closing: false,
            since: now,
            progressed: now,
            transfer_since: now,
        }
    }

    pub(super) fn file(&self) -> BorrowedFd<'_> {
        self.socket.file()
    }

    pub(super) fn export(&self) -> Option<u32> {
        match &self.phase {
            ConnectionPhase::Handshake(_) => None,
            ConnectionPhase::Transmission(mode) => Some(mode.export),
        }
    }

    pub(super) fn handle_input(&mut self, now: Nanos, dispatcher: &mut Dispatcher) -> Result<(), ClientEnded> {
        if !self.accepts_input(&dispatcher.budget) {
            return Ok(());
        }
        let mut buffer = std::mem::take(&mut dispatcher.buffer);
        let result = if self.partial_bytes > INPUT_BYTES && !self.socket.is_encrypted() {
            self.receive_payload(now, dispatcher)
        } else {
            self.receive(now, &mut buffer, dispatcher)
        };
        dispatcher.buffer = buffer;
        self.settle(dispatcher);
        result
    }

    /// Receives into `buffer`, which all connections share; keeps what cannot be processed yet.
    fn receive(&mut self, now: Nanos, buffer: &mut [u8], dispatcher: &mut Dispatcher) -> Result<(), ClientEnded> {
        let long = self.partial_bytes > INPUT_BYTES;
        let unread = if long { &[] } else { &self.input[self.consumed..] };
        let begin = unread.len();
        buffer[..begin].copy_from_slice(unread);
        let more = dispatcher.budget.window(&self.account).saturating_sub(self.held()) as usize;
        let missing = self.partial_bytes.saturating_sub(begin);
        let most = match self.phase {
            ConnectionPhase::Handshake(_) => HANDSHAKE_INPUT_BYTES,
            ConnectionPhase::Transmission(_) => more.max(missing).clamp(MIN_INPUT_BYTES, INPUT_BYTES),
        };
        let most = self.socket.at_once(most);
        let end = match self.socket.receive(&mut buffer[begin..begin + most]) {
            Ok(bytes) => begin + bytes,
            Err(SocketError::WouldBlock) => return Ok(()),
            Err(SocketError::Closed) => return Err(ClientEnded),
        };
        self.progressed = now;
        if long {
            self.input.extend_from_slice(&buffer[..end]);
            return self.resume_if_complete(now, dispatcher);
        }
        let used = self.process(now, &buffer[..end], dispatcher)?;
        self.input.clear();
        self.consumed = 0;
        self.keep_unread(&buffer[used..end]);
        Ok(())
    }

    /// Receives the rest of a long payload in place.
    fn receive_payload(&mut self, now: Nanos, dispatcher: &mut Dispatcher) -> Result<(), ClientEnded> {
        match self.socket.receive_clear(&mut self.input) {
            Ok(()) => self.progressed = now,
            Err(SocketError::WouldBlock) => return Ok(()),
            Err(SocketError::Closed) => return Err(ClientEnded),
        }
        self.resume_if_complete(now, dispatcher)
    }

    fn resume_if_complete(&mut self, now: Nanos, dispatcher: &mut Dispatcher) -> Result<(), ClientEnded> {
        if self.input.len() - self.consumed < self.partial_bytes { Ok(()) } else { self.resume(now, dispatcher) }
    }

    fn resume(&mut self, now: Nanos, dispatcher: &mut Dispatcher) -> Result<(), ClientEnded> {
        let mut input = std::mem::take(&mut self.input);
        let used = self.process(now, &input[self.consumed..], dispatcher)?;
        self.consumed += used;
        if self.partial_bytes <= INPUT_BYTES && self.consumed < input.len() {
            self.input = input;
        } else {
            let unread = input.split_off(self.consumed);
            self.consumed = 0;
            drop(input);
            self.keep_unread(&unread);
        }
        Ok(())
    }

    /// Buffers unprocessed input, with capacity for the whole request if its payload is long.
    fn keep_unread(&mut self, unread: &[u8]) {
        let needed = if self.partial_bytes > INPUT_BYTES {
            // Under TLS, bytes of the next request may arrive with this one.
            self.partial_bytes + if self.socket.is_encrypted() { INPUT_BYTES } else { 0 }
        } else {
            unread.len()
        };
        if !(needed..=INPUT_KEPT_BYTES.max(2 * needed)).contains(&self.input.capacity()) {
            self.input = Vec::with_capacity(needed);
        }
        self.input.extend_from_slice(unread);
    }

    /// Processes input while requests are complete and memory is available. Returns the number of bytes consumed.
    fn process(&mut self, now: Nanos, bytes: &[u8], dispatcher: &mut Dispatcher) -> Result<usize, ClientEnded> {
        let used =
            if let ConnectionPhase::Handshake(_) = self.phase { self.handshake(now, bytes, dispatcher)? } else { 0 };
        match self.phase {
            ConnectionPhase::Transmission(mode) => Ok(used + self.requests(now, mode, &bytes[used..], dispatcher)?),
            ConnectionPhase::Handshake(_) => Ok(used),
        }
    }

    fn handshake(&mut self, now: Nanos, bytes: &[u8], dispatcher: &mut Dispatcher) -> Result<usize, ClientEnded> {
        let ConnectionPhase::Handshake(handshake) = &mut self.phase else { return Ok(0) };
        let (mut used, mut step) = (0, HandshakeStep::More);
        self.outbox.head(|out| (used, step) = handshake.advance(bytes, &dispatcher.exports, out));
        self.input_blocked = step == HandshakeStep::Full;
        match step {
            HandshakeStep::More | HandshakeStep::Full => {}
            HandshakeStep::StartTls => {
                self.encrypt(now, &bytes[used..], dispatcher)?;
                used = bytes.len();
            }
            HandshakeStep::Close => self.closing = true,
            HandshakeStep::Ready(agreed) => self.phase = ConnectionPhase::Transmission(ReplyMode::of(&agreed)),
        }
        Ok(used)
    }

    /// Sends all pending plaintext, then starts TLS.
    fn encrypt(&mut self, now: Nanos, sent: &[u8], dispatcher: &mut Dispatcher) -> Result<(), ClientEnded> {
        self.flush(now, dispatcher)?;
        let identity = dispatcher.identity.as_ref().filter(|_| self.outbox.is_empty()).ok_or(ClientEnded)?;
        self.socket.encrypt(identity, sent).map_err(|_| ClientEnded)
    }

    fn requests(
        &mut self,
        now: Nanos,
        mode: ReplyMode,
        bytes: &[u8],
        dispatcher: &mut Dispatcher,
    ) -> Result<usize, ClientEnded> {
        let extended = mode.style == ReplyStyle::Extended;
        let header = NbdRequest::header_bytes(extended);
        let mut used = self.skip(bytes.len());
        self.input_blocked = false;
        while self.accepts_request() {
            let rest = &bytes[used..];
            let Some(request) = NbdRequest::decode(rest, extended).map_err(|_| ClientEnded)? else { break };
            let payload = request.payload(extended);
            if payload > MAX_PAYLOAD {
                return Err(ClientEnded);
            }
            let (total, cost) = (header + payload as usize, dispatcher.cost(mode.export, &request));
            let is_complete = rest.len() >= total || dispatcher.is_too_long(mode.export, payload);
            let needed = cost + if is_complete { 0 } else { total as u64 };
            if self.partial_bytes == 0 && !self.is_granted(needed, dispatcher) {
                self.input_blocked = true;
                break;
            }
            if !is_complete {
                self.transfer_since = if self.partial_bytes == 0 { now } else { self.transfer_since };
                (self.partial_bytes, self.reserved) = (total, needed);
                break;
            }
            (self.partial_bytes, self.reserved) = (0, 0);
            used += header;
            if request.command == NbdCommand::Disconnect {
                self.closing = true;
                break;
            }
            let payload = rest.get(header..total).unwrap_or_default();
            self.begin(now, mode, request, payload, cost, dispatcher)?;
            self.skipped = (total - header) as u64;
            used += self.skip(bytes.len() - used);
        }
        Ok(used)
    }

    #[inline]
    fn begin(
        &mut self,
        now: Nanos,
        mode: ReplyMode,
        request: NbdRequest,
        payload: &[u8],
        cost: u64,
        dispatcher: &mut Dispatcher,
    ) -> Result<(), ClientEnded> {
        if self.in_flight == 0 {
            dispatcher.active.enter();
        }
        self.in_flight += 1;
        self.pending_bytes += cost;
        // A rejected request is not in flight.
        dispatcher.accept(now, self.ticket, mode, request, payload).inspect_err(|_| self.pending_bytes -= cost)
    }

    /// Discards the rest of a payload; returns how many of the next `bytes` belong to it.
    #[inline]
    fn skip(&mut self, bytes: usize) -> usize {
        let skipped = self.skipped.min(bytes as u64);
        self.skipped -= skipped;
        skipped as usize
    }

    /// Reports whether memory for one more request is granted.
    #[inline]
    fn is_granted(&mut self, bytes: u64, dispatcher: &mut Dispatcher) -> bool {
        let held = self.held() + bytes;
        let is_idle = self.in_flight == 0 && self.outbox.is_empty();
        dispatcher.budget.grants(&mut self.account, self.ticket, held, is_idle)
    }

    /// Returns the memory in use.
    #[inline]
    fn held(&self) -> u64 {
        let input = if self.partial_bytes > 0 { 0 } else { self.input.capacity() as u64 };
        self.pending_bytes + self.reserved + input + self.outbox.held_bytes()
    }

    #[inline]
    fn settle(&mut self, dispatcher: &mut Dispatcher) {
        if self.in_flight == 0 && self.partial_bytes == 0 && self.outbox.is_empty() {
            dispatcher.budget.return_advance(&mut self.account);
        }
        let held = self.held();
        dispatcher.budget.settle(&mut self.account, held);
    }

    #[inline]
    pub(super) fn answer(&mut self, now: Nanos, answer: &DispatchResult, dispatcher: &mut Dispatcher) {
        let ConnectionPhase::Transmission(mode) = self.phase else { return };
        let DispatchResult { request, result, extents } = answer;
        self.in_flight -= 1;
        if self.in_flight == 0 {
            dispatcher.active.leave();
        }
        if self.outbox.is_empty() {
            (self.transfer_since, self.progressed) = (now, now);
        }
        if !matches!(result, Ok(Some(_))) {
            let cost = dispatcher.cost(mode.export, request);
            self.pending_bytes -= cost;
            self.answered_bytes += cost;
        }
        let (style, context) = (mode.style, mode.context.filter(|_| request.command == NbdCommand::BlockStatus));
        match (*result, context) {
            (Err(refused), _) => self.outbox.head(|out| style.error(request, refused.errno, refused.why, out)),
            (Ok(Some(loan)), _) => {
                self.outbox.head(|out| style.data(request, out));
                self.outbox.data(loan);
            }
            (Ok(None), Some(context)) => self.outbox.head(|out| style.extents(request, context, extents, out)),
            (Ok(None), None) => self.outbox.head(|out| style.done(request, out)),
        }
    }

    /// Sends queued replies, then processes input that waited for memory.
    pub(super) fn send(&mut self, now: Nanos, dispatcher: &mut Dispatcher) -> Result<(), ClientEnded> {
        self.flush(now, dispatcher)?;
        if self.has_ready_input() {
            self.resume(now, dispatcher)?;
        }
        self.settle(dispatcher);
        Ok(())
    }

    /// Reports whether buffered input can be processed now.
    #[inline]
    fn has_ready_input(&self) -> bool {
        match self.phase {
            ConnectionPhase::Handshake(_) => self.input_blocked && self.outbox.is_empty(),
            ConnectionPhase::Transmission(_) => {
                let unread = self.input.len() - self.consumed;
                unread > 0 && unread >= self.partial_bytes && self.accepts_request()
            }
        }
    }

    fn flush(&mut self, now: Nanos, dispatcher: &mut Dispatcher) -> Result<(), ClientEnded> {
        while !self.outbox.is_empty() {
            let sent = match self.outbox.send(&dispatcher.stores, |slices| self.socket.send(slices)) {
                Ok(sent) => sent,
                Err(SocketError::WouldBlock) => break,
                Err(SocketError::Closed) => return Err(ClientEnded),
            };
            self.account.sent(sent as u64);
            let mut freed = 0;
            self.outbox.advance(sent, |loan| {
                freed += dispatcher.loan_cost(loan);
                dispatcher.release(loan);
            });
            self.pending_bytes -= freed;
            self.account.earn(freed);
            self.progressed = now;
        }
        if self.outbox.is_empty() {
            self.account.earn(std::mem::take(&mut self.answered_bytes));
        }
        if self.socket.drain() == Err(SocketError::Closed) {
            return Err(ClientEnded);
        }
        if self.closing && self.in_flight == 0 && !self.has_output() { Err(ClientEnded) } else { Ok(()) }
    }

    pub(super) fn has_output(&self) -> bool {
        !self.outbox.is_empty() || self.socket.has_unsent()
    }

    pub(super) fn interest(&self, budget: &MemoryBudget) -> Interest {
        Interest { read: self.accepts_input(budget), write: self.has_output() }
    }

    pub(super) fn is_overdue(&self, now: Nanos) -> bool {
        (self.has_output() || self.partial_bytes > 0)
            && self.account.is_overdue(now, self.progressed, self.transfer_since)
    }

    /// Closes the connection and returns loans: the client will not read them.
    pub(super) fn close(&mut self, dispatcher: &mut Dispatcher) {
        self.socket.end();
        if self.in_flight > 0 {
            dispatcher.active.leave();
        }
        let mut freed = 0;
        self.outbox.close(|loan| {
            freed += dispatcher.loan_cost(loan);
            dispatcher.release(loan);
        });
        dispatcher.budget.leave(&mut self.account, self.ticket.client, self.pending_bytes - freed);
    }

    #[inline]
    fn accepts_input(&self, budget: &MemoryBudget) -> bool {
        if self.input_blocked || !self.accepts_request() {
            return false;
        }
        let free = matches!(self.phase, ConnectionPhase::Handshake(_)) || self.partial_bytes > 0 || self.skipped > 0;
        free || self.held() + REQUEST_BYTES <= budget.window(&self.account)
    }

    /// Reports whether one more request may start, memory aside.
    #[inline]
    fn accepts_request(&self) -> bool {
        !self.closing && self.in_flight < MAX_IN_FLIGHT && self.outbox.heads_bytes() < MAX_HEADS_BYTES
    }
}
