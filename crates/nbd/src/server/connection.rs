//! The state of one connection.

use std::os::fd::BorrowedFd;

use units::Nanos;

use super::budget::{Account, MemoryBudget, REQUEST_BYTES};
use super::dispatcher::{DispatchResult, Dispatcher, INPUT_BYTES, ReplyMode};
use super::halt::Halt;
use super::outbox::ReplyOutbox;
use super::over::Over;
use super::poll::Interest;
use super::slots::ConnectionTicket;
use super::socket::ClientSocket;
use nbd_wire::handshake::{Handshake, HandshakeSettings, HandshakeStep};
use nbd_wire::{NbdCommand, NbdRequest, ReplyStyle};

/// Minimum bytes per read, also for a connection that has used up its memory.
const INPUT_LEAST_BYTES: usize = 4 << 10;
/// Bytes per read before an export is chosen.
const HANDSHAKE_INPUT_BYTES: usize = 16 << 10;
/// A connection whose input is understood keeps no larger buffer.
const INPUT_KEPT_BYTES: usize = 8 << 10;
/// A payload may be this long.
const PAYLOAD_MOST: u64 = 32 << 20;
/// A client that is owed more than this, without the bytes of reads, is not listened to until it takes some of it.
const HEADS_MOST_BYTES: usize = 1 << 20;
/// A client that has more requests under way than this is not listened to until some are answered.
const IN_FLIGHT_MOST: u32 = 16_384;

/// A client that came through a listener.
pub(super) struct Connection {
    socket: ClientSocket,
    ticket: ConnectionTicket,
    phase: ConnectionPhase,
    /// What has come and is not understood, from `taken` on.
    input: Vec<u8>,
    taken: usize,
    /// The length of the request with which that begins, where memory was set aside for it; else zero.
    wanted: usize,
    /// The memory that was set aside.
    reserved: u64,
    /// Bytes of a payload that are read over.
    skipped: u64,
    outbox: ReplyOutbox,
    in_flight: u32,
    /// Memory of requests that are in flight, or whose bytes are not sent.
    pending_bytes: u64,
    /// Memory of requests that were answered since everything was sent.
    answered_bytes: u64,
    account: Account,
    /// Input waits for memory, or until replies are sent.
    stuck: bool,
    /// It has said all it wanted to say.
    leaving: bool,
    /// When it came.
    pub since: Nanos,
    /// When a byte was last received or sent.
    moved: Nanos,
    /// Since when it has had a payload to send or a reply to read.
    turn: Nanos,
}

enum ConnectionPhase {
    Handshake(Box<Handshake>),
    Transmission(ReplyMode),
}

impl Connection {
    /// A client that has just come, with the first words to it.
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
            taken: 0,
            wanted: 0,
            reserved: 0,
            skipped: 0,
            outbox,
            in_flight: 0,
            pending_bytes: 0,
            answered_bytes: 0,
            account,
            stuck: false,
            leaving: false,
            since: now,
            moved: now,
            turn: now,
        }
    }

    pub(super) fn file(&self) -> BorrowedFd<'_> {
        self.socket.file()
    }

    /// Which export it has chosen; `None` before it has.
    pub(super) fn export(&self) -> Option<u32> {
        match &self.phase {
            ConnectionPhase::Handshake(_) => None,
            ConnectionPhase::Transmission(manner) => Some(manner.export),
        }
    }

    /// Reads what has come and carries it out.
    pub(super) fn hear(&mut self, now: Nanos, dispatcher: &mut Dispatcher) -> Result<(), Over> {
        if !self.listens(&dispatcher.budget) {
            return Ok(());
        }
        let mut room = std::mem::take(&mut dispatcher.room);
        let heard = if self.wanted > INPUT_BYTES && !self.socket.is_encrypted() {
            self.receive_payload(now, dispatcher)
        } else {
            self.receive(now, &mut room, dispatcher)
        };
        dispatcher.room = room;
        self.settle(dispatcher);
        heard
    }

    /// Reads into `room`, which all connections share; what is not understood is kept.
    fn receive(&mut self, now: Nanos, room: &mut [u8], dispatcher: &mut Dispatcher) -> Result<(), Over> {
        let long = self.wanted > INPUT_BYTES;
        let unread = if long { &[] } else { &self.input[self.taken..] };
        let begin = unread.len();
        room[..begin].copy_from_slice(unread);
        let more = dispatcher.budget.window(&self.account).saturating_sub(self.held()) as usize;
        let missing = self.wanted.saturating_sub(begin);
        let most = match self.phase {
            ConnectionPhase::Handshake(_) => HANDSHAKE_INPUT_BYTES,
            ConnectionPhase::Transmission(_) => more.max(missing).clamp(INPUT_LEAST_BYTES, INPUT_BYTES),
        };
        let most = self.socket.at_once(most);
        let end = match self.socket.receive(&mut room[begin..begin + most]) {
            Ok(bytes) => begin + bytes,
            Err(Halt::Later) => return Ok(()),
            Err(Halt::Gone) => return Err(Over),
        };
        self.moved = now;
        if long {
            self.input.extend_from_slice(&room[..end]);
            return self.resume_if_whole(now, dispatcher);
        }
        let used = self.understand(now, &room[..end], dispatcher)?;
        self.input.clear();
        self.taken = 0;
        self.keep(&room[used..end]);
        Ok(())
    }

    /// Reads the rest of a long payload to where it stays.
    fn receive_payload(&mut self, now: Nanos, dispatcher: &mut Dispatcher) -> Result<(), Over> {
        match self.socket.receive_clear(&mut self.input) {
            Ok(()) => self.moved = now,
            Err(Halt::Later) => return Ok(()),
            Err(Halt::Gone) => return Err(Over),
        }
        self.resume_if_whole(now, dispatcher)
    }

    fn resume_if_whole(&mut self, now: Nanos, dispatcher: &mut Dispatcher) -> Result<(), Over> {
        if self.input.len() - self.taken < self.wanted { Ok(()) } else { self.resume(now, dispatcher) }
    }

    /// Carries out what was read before.
    fn resume(&mut self, now: Nanos, dispatcher: &mut Dispatcher) -> Result<(), Over> {
        let mut input = std::mem::take(&mut self.input);
        let used = self.understand(now, &input[self.taken..], dispatcher)?;
        self.taken += used;
        if self.wanted <= INPUT_BYTES && self.taken < input.len() {
            self.input = input;
        } else {
            let unread = input.split_off(self.taken);
            self.taken = 0;
            drop(input);
            self.keep(&unread);
        }
        Ok(())
    }

    /// Keeps what is not understood, in a buffer that a long payload fits into.
    fn keep(&mut self, unread: &[u8]) {
        let needed = if self.wanted > INPUT_BYTES {
            // Under TLS what follows may come with it.
            self.wanted + if self.socket.is_encrypted() { INPUT_BYTES } else { 0 }
        } else {
            unread.len()
        };
        if !(needed..=INPUT_KEPT_BYTES.max(2 * needed)).contains(&self.input.capacity()) {
            self.input = Vec::with_capacity(needed);
        }
        self.input.extend_from_slice(unread);
    }

    /// Carries out what has come, as far as it is whole and there is room for more. Returns how many bytes are done with.
    fn understand(&mut self, now: Nanos, bytes: &[u8], dispatcher: &mut Dispatcher) -> Result<usize, Over> {
        let used =
            if let ConnectionPhase::Handshake(_) = self.phase { self.shake_hands(now, bytes, dispatcher)? } else { 0 };
        match self.phase {
            ConnectionPhase::Transmission(manner) => Ok(used + self.requests(now, manner, &bytes[used..], dispatcher)?),
            ConnectionPhase::Handshake(_) => Ok(used),
        }
    }

    fn shake_hands(&mut self, now: Nanos, bytes: &[u8], dispatcher: &mut Dispatcher) -> Result<usize, Over> {
        let ConnectionPhase::Handshake(handshake) = &mut self.phase else { return Ok(0) };
        let (mut used, mut step) = (0, HandshakeStep::More);
        self.outbox.head(|out| (used, step) = handshake.advance(bytes, &dispatcher.exports, out));
        self.stuck = step == HandshakeStep::Full;
        match step {
            HandshakeStep::More | HandshakeStep::Full => {}
            HandshakeStep::StartTls => {
                self.encrypt(now, &bytes[used..], dispatcher)?;
                used = bytes.len();
            }
            HandshakeStep::Close => self.leaving = true,
            HandshakeStep::Ready(agreed) => self.phase = ConnectionPhase::Transmission(ReplyMode::of(&agreed)),
        }
        Ok(used)
    }

    /// Sends what was said in clear, and nothing more.
    fn encrypt(&mut self, now: Nanos, sent: &[u8], dispatcher: &mut Dispatcher) -> Result<(), Over> {
        self.flush(now, dispatcher)?;
        let identity = dispatcher.identity.as_ref().filter(|_| self.outbox.is_empty()).ok_or(Over)?;
        self.socket.encrypt(identity, sent).map_err(|_| Over)
    }

    fn requests(
        &mut self,
        now: Nanos,
        manner: ReplyMode,
        bytes: &[u8],
        dispatcher: &mut Dispatcher,
    ) -> Result<usize, Over> {
        let extended = manner.style == ReplyStyle::Extended;
        let header = NbdRequest::header_bytes(extended);
        let mut used = self.skip(bytes.len());
        self.stuck = false;
        while self.takes_more() {
            let rest = &bytes[used..];
            let Some(request) = NbdRequest::decode(rest, extended).map_err(|_| Over)? else { break };
            let payload = request.payload(extended);
            if payload > PAYLOAD_MOST {
                return Err(Over);
            }
            let (whole, cost) = (header + payload as usize, dispatcher.cost(manner.export, &request));
            let is_whole = rest.len() >= whole || dispatcher.is_too_long(manner.export, payload);
            let needed = cost + if is_whole { 0 } else { whole as u64 };
            if self.wanted == 0 && !self.affords(needed, dispatcher) {
                self.stuck = true;
                break;
            }
            if !is_whole {
                self.turn = if self.wanted == 0 { now } else { self.turn };
                (self.wanted, self.reserved) = (whole, needed);
                break;
            }
            (self.wanted, self.reserved) = (0, 0);
            used += header;
            if request.command == NbdCommand::Disconnect {
                self.leaving = true;
                break;
            }
            let payload = rest.get(header..whole).unwrap_or_default();
            self.begin(now, manner, request, payload, cost, dispatcher)?;
            self.skipped = (whole - header) as u64;
            used += self.skip(bytes.len() - used);
        }
        Ok(used)
    }

    /// Gives a request to the dispatcher.
    #[inline]
    fn begin(
        &mut self,
        now: Nanos,
        manner: ReplyMode,
        request: NbdRequest,
        payload: &[u8],
        cost: u64,
        dispatcher: &mut Dispatcher,
    ) -> Result<(), Over> {
        if self.in_flight == 0 {
            dispatcher.connections.comes();
        }
        self.in_flight += 1;
        self.pending_bytes += cost;
        // A request that was not accepted is not in flight.
        dispatcher.accept(now, self.ticket, manner, request, payload).inspect_err(|_| self.pending_bytes -= cost)
    }

    /// Reads over what is left of a payload; returns how many of the next `bytes` belong to it.
    #[inline]
    fn skip(&mut self, bytes: usize) -> usize {
        let skipped = self.skipped.min(bytes as u64);
        self.skipped -= skipped;
        skipped as usize
    }

    /// Whether memory can be had for one more request.
    #[inline]
    fn affords(&mut self, bytes: u64, dispatcher: &mut Dispatcher) -> bool {
        let held = self.held() + bytes;
        let is_idle = self.in_flight == 0 && self.outbox.is_empty();
        dispatcher.budget.grants(&mut self.account, self.ticket, held, is_idle)
    }

    /// Memory that it takes.
    #[inline]
    fn held(&self) -> u64 {
        let input = if self.wanted > 0 { 0 } else { self.input.capacity() as u64 };
        self.pending_bytes + self.reserved + input + self.outbox.held_bytes()
    }

    /// Tells the budget what it takes.
    #[inline]
    fn settle(&mut self, dispatcher: &mut Dispatcher) {
        if self.in_flight == 0 && self.wanted == 0 && self.outbox.is_empty() {
            dispatcher.budget.return_advance(&mut self.account);
        }
        let held = self.held();
        dispatcher.budget.settle(&mut self.account, held);
    }

    /// Writes the reply to one of its requests.
    #[inline]
    pub(super) fn answer(&mut self, now: Nanos, answer: &DispatchResult, dispatcher: &mut Dispatcher) {
        let ConnectionPhase::Transmission(manner) = self.phase else { return };
        let DispatchResult { request, result, extents } = answer;
        self.in_flight -= 1;
        if self.in_flight == 0 {
            dispatcher.connections.goes();
        }
        if self.outbox.is_empty() {
            (self.turn, self.moved) = (now, now);
        }
        if !matches!(result, Ok(Some(_))) {
            let cost = dispatcher.cost(manner.export, request);
            self.pending_bytes -= cost;
            self.answered_bytes += cost;
        }
        let (style, asked) = (manner.style, manner.context.filter(|_| request.command == NbdCommand::BlockStatus));
        match (*result, asked) {
            (Err(refused), _) => self.outbox.head(|out| style.error(request, refused.errno, refused.why, out)),
            (Ok(Some(loan)), _) => {
                self.outbox.head(|out| style.data(request, out));
                self.outbox.data(loan);
            }
            (Ok(None), Some(context)) => self.outbox.head(|out| style.extents(request, context, extents, out)),
            (Ok(None), None) => self.outbox.head(|out| style.done(request, out)),
        }
    }

    /// Sends what the kernel takes, and takes up what had to wait for room.
    pub(super) fn send(&mut self, now: Nanos, dispatcher: &mut Dispatcher) -> Result<(), Over> {
        self.flush(now, dispatcher)?;
        if self.waits() {
            self.resume(now, dispatcher)?;
        }
        self.settle(dispatcher);
        Ok(())
    }

    /// Whether there is input that could be carried out now.
    #[inline]
    fn waits(&self) -> bool {
        match self.phase {
            ConnectionPhase::Handshake(_) => self.stuck && self.outbox.is_empty(),
            ConnectionPhase::Transmission(_) => {
                let unread = self.input.len() - self.taken;
                unread > 0 && unread >= self.wanted && self.takes_more()
            }
        }
    }

    fn flush(&mut self, now: Nanos, dispatcher: &mut Dispatcher) -> Result<(), Over> {
        while !self.outbox.is_empty() {
            let sent = match self.outbox.send(&dispatcher.stores, |slices| self.socket.send(slices)) {
                Ok(sent) => sent,
                Err(Halt::Later) => break,
                Err(Halt::Gone) => return Err(Over),
            };
            self.account.sent(sent as u64);
            let mut freed = 0;
            self.outbox.advance(sent, |loan| {
                freed += dispatcher.loan_cost(loan);
                dispatcher.give_back(loan);
            });
            self.pending_bytes -= freed;
            self.account.earn(freed);
            self.moved = now;
        }
        if self.outbox.is_empty() {
            self.account.earn(std::mem::take(&mut self.answered_bytes));
        }
        if self.socket.drain() == Err(Halt::Gone) {
            return Err(Over);
        }
        if self.leaving && self.in_flight == 0 && !self.is_owed() { Err(Over) } else { Ok(()) }
    }

    /// Whether something is still to be sent.
    pub(super) fn is_owed(&self) -> bool {
        !self.outbox.is_empty() || self.socket.holds_back()
    }

    /// For what it has to be watched now.
    pub(super) fn wants(&self, budget: &MemoryBudget) -> Interest {
        Interest { read: self.listens(budget), write: self.is_owed() }
    }

    /// Whether it has memory that others wait for, and its client does not move on.
    pub(super) fn is_overdue(&self, now: Nanos) -> bool {
        (self.is_owed() || self.wanted > 0) && self.account.is_overdue(now, self.moved, self.turn)
    }

    /// Parts, and gives back what was lent: the client will not read it.
    pub(super) fn abandon(&mut self, dispatcher: &mut Dispatcher) {
        self.socket.end();
        if self.in_flight > 0 {
            dispatcher.connections.goes();
        }
        let mut freed = 0;
        self.outbox.abandon(|loan| {
            freed += dispatcher.loan_cost(loan);
            dispatcher.give_back(loan);
        });
        dispatcher.budget.leave(&mut self.account, self.ticket.client, self.pending_bytes - freed);
    }

    /// Whether it is read from.
    #[inline]
    fn listens(&self, budget: &MemoryBudget) -> bool {
        if self.stuck || !self.takes_more() {
            return false;
        }
        let free = matches!(self.phase, ConnectionPhase::Handshake(_)) || self.wanted > 0 || self.skipped > 0;
        free || self.held() + REQUEST_BYTES <= budget.window(&self.account)
    }

    /// Whether one more request may begin, memory aside.
    #[inline]
    fn takes_more(&self) -> bool {
        !self.leaving && self.in_flight < IN_FLIGHT_MOST && self.outbox.heads_bytes() < HEADS_MOST_BYTES
    }
}
