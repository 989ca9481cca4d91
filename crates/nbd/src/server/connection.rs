//! A client: what it has said, what it is to be told.

use std::os::fd::BorrowedFd;

use units::Nanos;

use super::client::Over;
use super::desk::{Answer, Desk, Manner};
use super::outbox::Outbox;
use super::poll::Interest;
use super::slots::Ticket;
use super::socket::{Halt, Socket};
use crate::wire::handshake::{Handshake, Settings, Step};
use crate::wire::{Command, Request, Style};

/// How much is read at a time.
const INPUT_BYTES: usize = 256 << 10;
/// A payload may be this long.
const PAYLOAD_MOST: u64 = 32 << 20;
/// A client that is owed more than this is not listened to until it takes some of it.
const OWED_MOST_BYTES: u64 = 256 << 20;
/// The same of replies without the bytes of reads, which take memory of their own.
const HEADS_MOST_BYTES: usize = 1 << 20;
/// A client that has more requests under way than this is not listened to until some are answered.
const IN_FLIGHT_MOST: u32 = 16_384;

/// A client that came through a listener.
pub(super) struct Connection {
    socket: Socket,
    ticket: Ticket,
    phase: Phase,
    /// What has come and is not understood yet.
    input: Vec<u8>,
    /// How many bytes of input the next thing needs that will be understood.
    wanted: usize,
    outbox: Outbox,
    in_flight: u32,
    /// What replies will have that are not written yet.
    owed_bytes: u64,
    /// It has said all it wanted to say.
    leaving: bool,
    /// When it came.
    pub since: Nanos,
}

enum Phase {
    Handshake(Box<Handshake>),
    Transmission(Manner),
}

impl Connection {
    /// A client that has just come, with the first words to it.
    pub(super) fn new(socket: Socket, ticket: Ticket, settings: Settings, now: Nanos) -> Self {
        let mut handshake = Box::new(Handshake::new(settings));
        let mut outbox = Outbox::default();
        outbox.head(|out| handshake.greet(out));
        Self {
            socket,
            ticket,
            phase: Phase::Handshake(handshake),
            input: Vec::new(),
            wanted: 0,
            outbox,
            in_flight: 0,
            owed_bytes: 0,
            leaving: false,
            since: now,
        }
    }

    pub(super) fn file(&self) -> BorrowedFd<'_> {
        self.socket.file()
    }

    /// Which export it has chosen; `None` before it has.
    pub(super) fn export(&self) -> Option<u32> {
        match &self.phase {
            Phase::Handshake(_) => None,
            Phase::Transmission(manner) => Some(manner.export),
        }
    }

    /// Reads what has come and carries it out.
    pub(super) fn hear(&mut self, now: Nanos, desk: &mut Desk) -> Result<(), Over> {
        if self.listens() {
            self.receive()?;
        }
        self.understand(now, desk)
    }

    fn receive(&mut self) -> Result<(), Over> {
        let missing = self.wanted.saturating_sub(self.input.len());
        self.input.reserve(missing.max(INPUT_BYTES));
        match self.socket.receive(&mut self.input) {
            Ok(()) | Err(Halt::Later) => Ok(()),
            Err(Halt::Gone) => Err(Over),
        }
    }

    /// Carries out what has come, as far as it is whole and there is room for more.
    fn understand(&mut self, now: Nanos, desk: &mut Desk) -> Result<(), Over> {
        if let Phase::Handshake(_) = self.phase {
            self.shake_hands(desk)?;
        }
        match self.phase {
            Phase::Transmission(manner) => self.requests(now, manner, desk),
            Phase::Handshake(_) => Ok(()),
        }
    }

    fn shake_hands(&mut self, desk: &mut Desk) -> Result<(), Over> {
        let Phase::Handshake(handshake) = &mut self.phase else { return Ok(()) };
        let (mut used, mut step) = (0, Step::More);
        self.outbox.head(|out| (used, step) = handshake.advance(&self.input, &desk.exports, out));
        self.input.drain(..used);
        match step {
            Step::More => {}
            Step::StartTls => self.encrypt(desk)?,
            Step::Close => self.leaving = true,
            Step::Ready(agreed) => self.phase = Phase::Transmission(Manner::of(&agreed)),
        }
        Ok(())
    }

    /// Sends what was said in clear, and nothing more.
    fn encrypt(&mut self, desk: &mut Desk) -> Result<(), Over> {
        self.flush(desk)?;
        let identity = desk.identity.as_ref().filter(|_| self.outbox.is_empty()).ok_or(Over)?;
        self.socket.encrypt(identity, &std::mem::take(&mut self.input)).map_err(|_| Over)
    }

    fn requests(&mut self, now: Nanos, manner: Manner, desk: &mut Desk) -> Result<(), Over> {
        let extended = manner.style == Style::Extended;
        let header = Request::header_bytes(extended);
        let mut used = 0;
        self.wanted = 0;
        while self.listens() {
            let rest = &self.input[used..];
            let Some(request) = Request::decode(rest, extended).map_err(|_| Over)? else { break };
            let payload = request.payload(extended);
            if payload > PAYLOAD_MOST {
                return Err(Over);
            }
            let whole = header + payload as usize;
            if rest.len() < whole {
                self.wanted = whole;
                break;
            }
            used += whole;
            if request.command == Command::Disconnect {
                self.leaving = true;
                break;
            }
            if self.in_flight == 0 {
                desk.crowd.comes();
            }
            self.in_flight += 1;
            self.owed_bytes += owed(&request);
            desk.accept(now, self.ticket, manner, request, &rest[header..whole])?;
        }
        self.input.drain(..used);
        if self.input.is_empty() {
            self.input.shrink_to(INPUT_BYTES);
        }
        Ok(())
    }

    /// Writes the reply to one of its requests.
    #[inline]
    pub(super) fn answer(&mut self, answer: &Answer, desk: &mut Desk) {
        let Phase::Transmission(manner) = self.phase else { return };
        let Answer { request, result, extents } = answer;
        self.in_flight -= 1;
        self.owed_bytes -= owed(request);
        if self.in_flight == 0 {
            desk.crowd.goes();
        }
        let (style, asked) = (manner.style, manner.context.filter(|_| request.command == Command::BlockStatus));
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
    pub(super) fn send(&mut self, now: Nanos, desk: &mut Desk) -> Result<(), Over> {
        self.flush(desk)?;
        let waits = self.input.len() >= self.wanted.max(1) && self.listens();
        if waits { self.understand(now, desk) } else { Ok(()) }
    }

    fn flush(&mut self, desk: &mut Desk) -> Result<(), Over> {
        while !self.outbox.is_empty() {
            match self.outbox.send(&desk.stores, |slices| self.socket.send(slices)) {
                Ok(sent) => self.outbox.advance(sent, |loan| desk.give_back(loan)),
                Err(Halt::Later) => return Ok(()),
                Err(Halt::Gone) => return Err(Over),
            }
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
    pub(super) fn wants(&self) -> Interest {
        Interest { read: self.listens(), write: self.is_owed() }
    }

    /// Parts, and gives back what was lent: nobody will read it.
    pub(super) fn abandon(&mut self, desk: &mut Desk) {
        self.socket.end();
        if self.in_flight > 0 {
            desk.crowd.goes();
        }
        self.outbox.abandon(|loan| desk.give_back(loan));
    }

    fn listens(&self) -> bool {
        let owed = self.owed_bytes + self.outbox.lent_bytes();
        let takes = owed < OWED_MOST_BYTES && self.outbox.heads_bytes() < HEADS_MOST_BYTES;
        takes && !self.leaving && self.in_flight < IN_FLIGHT_MOST
    }
}

/// Bytes that the reply to a request will have; what asks for more than any payload is refused.
#[inline]
fn owed(request: &Request) -> u64 {
    if request.command == Command::Read { request.length.min(PAYLOAD_MOST) } else { 0 }
}
