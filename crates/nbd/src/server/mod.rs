//! The server: one thread, one loop, no locks.
//!
//! All clients, stores and the model belong to one thread that waits for whichever comes first: bytes from a client, a
//! store that has done something, or the instant at which the model says that a reply is due. What has come is read in one
//! piece and understood request by request; replies that are due together leave in one system call, their bytes straight
//! from the store.
//!
//! Clients share nothing but the model: one that stops reading, sends half a request or goes away does not affect others.

mod advance_queue;
mod budget;
mod client;
mod connection;
mod connections;
mod controller;
mod dispatcher;
mod halt;
mod idle_poll;
mod listener;
mod mounted;
mod outbox;
mod over;
mod poll;
mod round_trip;
mod slots;
mod socket;
mod stop;
mod tallies;
mod timeline;
mod tls;
mod turnaround;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex};

use rustix::io::Errno;
use units::Nanos;
use volume::System;

use crate::fuse::{Channel, Node};
use crate::store::faults::FaultRates;
use crate::store::{Faults, Pool, Store};
use nbd_wire::Export;
use nbd_wire::handshake::HandshakeSettings;

use budget::MemoryBudget;
use client::Client;
use connection::Connection;
pub use controller::{ControlChange, Controller};
use controller::{ControlOrder, Orders};
use dispatcher::Dispatcher;
use idle_poll::IdlePoll;
pub use listener::Listener;
use mounted::Mounted;
use over::Over;
use poll::{Interest, Poll, PollEvents, Token, now};
pub use round_trip::measure_round_trip;
use slots::ConnectionTicket;
use socket::ClientSocket;
pub use stop::Stopper;
pub use tallies::{Done, ExportTally, Snapshot, TallyKind, TurnedAway};
pub use timeline::Punctuality;
use timeline::Timeline;
pub use tls::{IdentityError, Pem, TlsIdentity};
pub use turnaround::RoundTripDeduction;

/// Settings of a server.
pub struct ServerConfig {
    /// What clients may choose from; the first one is what they get who name none.
    pub exports: Vec<Offer>,
    /// Where the bytes are.
    pub stores: Vec<Box<dyn Store>>,
    /// What says when replies are due.
    pub system: System,
    /// Where clients come from.
    pub listeners: Vec<Listener>,
    /// Exports that are files of mounts.
    pub mounts: Vec<ExportMount>,
    /// Clients that are connected already.
    pub connected: Vec<OwnedFd>,
    /// What goes wrong on purpose, and the seed by which it does; `None` where nothing ever will. Stores have their own
    /// faults.
    pub faults: Option<(FaultRates, u64)>,
    /// How clients are let in; whether they are encrypted, their listener says.
    pub settings: HandshakeSettings,
    /// What proves to clients who the server is, where connections can be encrypted.
    pub identity: Option<TlsIdentity>,
    /// What is subtracted for the round trip between a client and the server.
    pub round_trip: RoundTripDeduction,
    /// Whether to keep a processor busy shortly before replies are due.
    pub spin: bool,
    /// At most so many clients at once.
    pub clients_most: usize,
    /// Memory that all clients together may take, besides the limits of the stores.
    pub memory_bytes: u64,
}

/// One export.
#[derive(Clone, Debug)]
pub struct Offer {
    /// What clients are told of it.
    pub export: Export,
    /// Which of the stores holds its bytes.
    pub store: usize,
    /// Which attachment of the model it is; `None` to answer as fast as the store does.
    pub route: Option<usize>,
}

/// An export as the one file of a mount.
#[derive(Debug)]
pub struct ExportMount {
    /// The kernel's end of it.
    pub channel: Channel,
    /// What the kernel is told of the file.
    pub node: Node,
    /// Which of the exports.
    pub export: usize,
}

/// A server at work.
pub struct Server {
    poll: Poll,
    listeners: Vec<Listener>,
    /// Listeners that are not listened to for a while.
    resting: Vec<u32>,
    clients: Vec<ClientConnection>,
    free: Vec<u32>,
    dispatcher: Dispatcher,
    settings: HandshakeSettings,
    clients_most: usize,
    began: Nanos,
    stopper: Stopper,
    controller: Controller,
    orders: Orders,
    /// When it ends at the latest, once it has been stopped.
    stop_at: Option<Nanos>,
    shown: Arc<Mutex<Snapshot>>,
    /// When the next snapshot is due.
    show_at: Nanos,
    /// Whether anything has happened since the last one.
    changed: bool,
    idle_poll: IdlePoll,
    ready: Vec<PollEvents>,
    batch: Vec<u32>,
    /// Clients that have something to be sent.
    dirty: Vec<u32>,
    turned_away: TurnedAway,
}

/// A place for a client.
#[derive(Default)]
struct ClientConnection {
    generation: u32,
    client: Option<Client>,
    /// For what it is watched.
    interest: Interest,
}

/// As many are let in before those who are in have their turn.
const WELCOMED_MOST: usize = 64;
/// Interval at which counters are published.
const SHOW_EVERY: Nanos = Nanos::from_millis(500);
/// Maximum time of a handshake.
const HANDSHAKE_MOST: Nanos = Nanos::from_secs(30);
/// For how long a client in its handshake is not disconnected in favour of a new one.
const HANDSHAKE_LEAST: Nanos = Nanos::from_secs(1);
/// Maximum wait for requests in flight when the server stops.
const GRACE: Nanos = Nanos::from_secs(5);

impl Server {
    /// A server that listens from now on; clients are heard once it [runs](Server::run).
    ///
    /// # Errors
    /// Where the kernel gives no descriptor.
    pub fn new(mut config: ServerConfig) -> io::Result<Self> {
        let poll = Poll::new()?;
        let (stopper, began) = (Stopper::new()?, now());
        let (controller, orders) = Controller::new()?;
        poll.watch(stopper.file(), Token::Stop, Interest::READ)?;
        poll.watch(orders.file(), Token::Order, Interest::READ)?;
        for (index, listener) in config.listeners.iter().enumerate() {
            poll.watch(listener.file(), Token::Listener(index as u32), Interest::READ)?;
        }
        for (index, store) in config.stores.iter().enumerate() {
            if let Some(signal) = store.signal() {
                poll.watch(signal, Token::Store(index as u32), Interest::READ)?;
            }
        }
        let timeline = Timeline::new(config.system, began, config.round_trip, config.spin);
        let budget = MemoryBudget::new(config.memory_bytes, config.mounts.len() as u64, config.identity.is_some());
        let kept = Pool::new(MemoryBudget::kept_bytes(config.memory_bytes));
        config.stores.iter_mut().for_each(|store| store.keep_within(&kept));
        for Offer { export, .. } in &mut config.exports {
            export.block.maximum = export.block.maximum.min(budget.request_most());
        }
        let mut dispatcher = Dispatcher::new(config.exports, config.stores, timeline, config.identity, budget);
        dispatcher.faults = config.faults.map(|(rates, seed)| Faults::new(rates.in_server(), seed));
        let mut server = Self {
            poll,
            listeners: config.listeners,
            resting: Vec::new(),
            clients: Vec::new(),
            free: Vec::new(),
            dispatcher,
            settings: config.settings,
            clients_most: config.clients_most,
            began,
            stopper,
            controller,
            orders,
            stop_at: None,
            shown: Arc::default(),
            show_at: began,
            changed: true,
            idle_poll: IdlePoll::new(std::thread::available_parallelism().is_ok_and(|processors| processors.get() > 1)),
            ready: Vec::new(),
            batch: Vec::new(),
            dirty: Vec::new(),
            turned_away: TurnedAway::default(),
        };
        config.connected.into_iter().for_each(|file| server.admit(file, config.settings));
        config.mounts.into_iter().for_each(|mount| server.mount(mount));
        // Who asks before anybody has come is told that nothing was done.
        server.show(now());
        Ok(server)
    }

    /// What stops it, from any thread or signal handler.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// What changes it while it is at work, from any thread.
    #[must_use]
    pub fn controller(&self) -> Controller {
        self.controller.clone()
    }

    /// How many connections there is memory for.
    #[must_use]
    pub fn connections_most(&self) -> u64 {
        self.dispatcher.budget.connections_most()
    }

    /// Where it shows twice a second what it has done.
    #[must_use]
    pub fn shown(&self) -> Arc<Mutex<Snapshot>> {
        Arc::clone(&self.shown)
    }

    /// Serves until it is stopped and what was asked before is answered. Returns all it has done.
    ///
    /// # Errors
    /// Where the kernel can no longer be waited for.
    pub fn run(mut self) -> io::Result<Snapshot> {
        while self.stop_at.is_none_or(|at| now() < at && self.is_awaited()) {
            self.turn()?;
            if self.stop_at.is_none() && self.stopper.is_stopped() {
                self.close();
            }
        }
        Ok(self.snapshot(now()))
    }

    /// Waits for something to happen and sees to all of it.
    fn turn(&mut self) -> io::Result<()> {
        let sleep = self.sleep(now());
        self.poll.wait(sleep, &mut self.ready)?;
        if sleep == Some(Nanos::ZERO) && self.ready.is_empty() {
            // A client that the kernel has put on this processor does not wait for the end of this thread's time slice.
            std::thread::yield_now();
        }
        let woken = now();
        self.dispatcher.timeline.woke(woken, !self.ready.is_empty());
        if !self.ready.is_empty() {
            self.idle_poll.arrived(woken);
        }
        self.changed |= !self.ready.is_empty() || !self.dispatcher.is_idle();
        let ready = std::mem::take(&mut self.ready);
        for &PollEvents { token, hung_up } in &ready {
            match token {
                Token::Listener(index) => self.welcome(index),
                Token::Client(index) if hung_up && self.is_deaf_to(index) => self.part(index),
                Token::Client(index) => self.hear(index),
                Token::Order => self.change(woken),
                Token::Store(_) | Token::Stop => {}
            }
        }
        self.ready = ready;
        self.answer();
        if woken >= self.show_at {
            self.show(woken);
        }
        Ok(())
    }

    /// Makes the changes that were ordered.
    fn change(&mut self, now: Nanos) {
        for ControlOrder { change, done } in self.orders.take() {
            match change {
                Some(ControlChange::Faults(rates)) => self.dispatcher.set_faults(rates),
                Some(ControlChange::Model(attachments)) => self.dispatcher.timeline.change(now, &attachments),
                None => {}
            }
            // The thread that ordered it waits, unless it is gone.
            let _ = done.send(self.snapshot(now));
        }
    }

    fn sleep(&mut self, now: Nanos) -> Option<Nanos> {
        let due = self.dispatcher.timeline.sleep(now);
        if due.is_none() && self.dispatcher.is_idle() && self.idle_poll.polls(now, self.dispatcher.taken) {
            return Some(Nanos::ZERO);
        }
        // A server to whom nothing happens sleeps for good: what it could show is shown.
        let show = (self.changed || self.is_anybody_new() || self.dispatcher.budget.is_contended())
            .then(|| self.show_at.since(now));
        let stop = self.stop_at.map(|at| at.since(now));
        [due, show, stop].into_iter().flatten().min()
    }

    /// Whether anybody waits for a reply, or for the rest of one.
    fn is_awaited(&self) -> bool {
        !self.dispatcher.is_idle() || self.seated().any(Client::is_owed)
    }

    fn is_anybody_new(&self) -> bool {
        self.seated().any(|client| client.export().is_none())
    }

    /// Whether a client is not read from, so that nothing else tells that it is gone.
    fn is_deaf_to(&self, index: u32) -> bool {
        !self.clients[index as usize].interest.read
    }

    fn seated(&self) -> impl Iterator<Item = &Client> {
        self.clients.iter().filter_map(|seat| seat.client.as_ref())
    }

    /// Lets clients in.
    fn welcome(&mut self, listener: u32) {
        let settings = HandshakeSettings { tls: self.listeners[listener as usize].tls(), ..self.settings };
        for _ in 0..WELCOMED_MOST {
            match self.listeners[listener as usize].accept() {
                Ok(file) => self.admit(file, settings),
                Err(Errno::AGAIN) => return,
                // The table of descriptors is full, say, which is no reason to stop serving the others.
                Err(_) => return self.rest(listener),
            }
        }
    }

    /// Does not listen until the next snapshot: a client that is not accepted stays ready all the time.
    fn rest(&mut self, listener: u32) {
        let file = self.listeners[listener as usize].file();
        if self.poll.change(file, Token::Listener(listener), Interest::NONE).is_ok() {
            self.resting.push(listener);
            self.changed = true;
        }
    }

    fn listen_again(&mut self) {
        let Self { poll, listeners, resting, .. } = self;
        // One that cannot be watched now is tried again.
        resting.retain(|&index| {
            poll.change(listeners[index as usize].file(), Token::Listener(index), Interest::READ).is_err()
        });
        self.changed |= !self.resting.is_empty();
    }

    /// Admits a client if there is a place and memory for it; otherwise its connection is closed at once.
    fn admit(&mut self, file: OwnedFd, settings: HandshakeSettings) {
        let full = self.clients.len() - self.free.len() >= self.clients_most;
        if full && !self.make_place() {
            self.turned_away.no_place += 1;
            return;
        }
        let admitted = self.dispatcher.budget.admit() || (self.make_place() && self.dispatcher.budget.admit());
        if !admitted {
            self.turned_away.no_memory += 1;
            return;
        }
        let socket = ClientSocket::new(file, self.dispatcher.budget.send_buffer_bytes());
        self.seat(|ticket, budget| {
            Client::Connection(Box::new(Connection::new(socket, ticket, settings, budget, now())))
        });
    }

    /// Disconnects the client that has been longest without choosing an export, so that idle connections cannot keep new
    /// clients out. Returns whether there was one.
    fn make_place(&mut self) -> bool {
        let then = Nanos::new(now().get().saturating_sub(HANDSHAKE_LEAST.get()));
        let waiting = (0u32..).zip(&self.clients).filter_map(|(index, seat)| {
            let since = seat.client.as_ref()?.hesitates_since()?;
            (since < then).then_some((since, index))
        });
        let Some((_, index)) = waiting.min() else { return false };
        self.part(index);
        self.turned_away.hesitant += 1;
        true
    }

    fn mount(&mut self, ExportMount { channel, node, export }: ExportMount) {
        self.dispatcher.offered[export].tally.connect();
        self.seat(|ticket, _| Client::Mounted(Box::new(Mounted::new(channel, node, ticket, export as u32))));
    }

    /// Gives a client a place.
    fn seat(&mut self, client: impl FnOnce(ConnectionTicket, &MemoryBudget) -> Client) {
        let index = self.free.pop().unwrap_or_else(|| {
            self.clients.push(ClientConnection::default());
            (self.clients.len() - 1) as u32
        });
        let seat = &mut self.clients[index as usize];
        let client = client(ConnectionTicket { client: index, generation: seat.generation }, &self.dispatcher.budget);
        seat.interest = client.wants(&self.dispatcher.budget);
        let watched = self.poll.watch(client.file(), Token::Client(index), seat.interest);
        seat.client = Some(client);
        match watched {
            Ok(()) => self.dirty.push(index),
            Err(_) => self.part(index),
        }
    }

    /// Takes what a client has sent.
    fn hear(&mut self, index: u32) {
        let Some(client) = &mut self.clients[index as usize].client else { return };
        let before = client.export();
        let heard = client.hear(now(), &mut self.dispatcher);
        if let (None, Some(export)) = (before, client.export()) {
            self.dispatcher.offered[export as usize].tally.connect();
        }
        match heard {
            Ok(()) => self.dirty.push(index),
            Err(Over) => self.part(index),
        }
    }

    /// Answers what can be answered, until nothing more can.
    fn answer(&mut self) {
        loop {
            let now = now();
            self.dispatcher.settle(now);
            self.write(now);
            self.wake_waiting();
            if self.dirty.is_empty() {
                return;
            }
            self.send(now);
        }
    }

    /// Writes replies to those who asked.
    fn write(&mut self, now: Nanos) {
        self.dispatcher.finished(&mut self.batch);
        for slot in self.batch.drain(..) {
            let ticket = self.dispatcher.asker(slot);
            let seat = &mut self.clients[ticket.client as usize];
            match &mut seat.client {
                Some(client) if seat.generation == ticket.generation => {
                    client.answer(now, slot, &mut self.dispatcher);
                    self.dirty.push(ticket.client);
                }
                _ => self.dispatcher.drop_answer(now, slot),
            }
        }
    }

    /// Sends replies, and takes up what had to wait for room.
    fn send(&mut self, now: Nanos) {
        let mut dirty = std::mem::take(&mut self.dirty);
        for index in dirty.drain(..) {
            let Some(client) = &mut self.clients[index as usize].client else { continue };
            match client.send(now, &mut self.dispatcher) {
                Ok(()) => self.watch(index),
                Err(Over) => self.part(index),
            }
        }
        self.dirty = dirty;
    }

    /// Sees to it that the next connection that waits for memory tries again.
    fn wake_waiting(&mut self) {
        let Some(ticket) = self.dispatcher.budget.next_waiting() else { return };
        if self.clients[ticket.client as usize].generation == ticket.generation {
            self.dirty.push(ticket.client);
        }
    }

    /// Watches a client for what it now waits for.
    fn watch(&mut self, index: u32) {
        let seat = &mut self.clients[index as usize];
        let Some(client) = &seat.client else { return };
        let wants = client.wants(&self.dispatcher.budget);
        if wants != seat.interest {
            seat.interest = wants;
            if self.poll.change(client.file(), Token::Client(index), wants).is_err() {
                self.part(index);
            }
        }
    }

    /// A client is gone, or has to go. What it asked for is still done, but not answered.
    fn part(&mut self, index: u32) {
        let seat = &mut self.clients[index as usize];
        let Some(mut client) = seat.client.take() else { return };
        seat.generation = seat.generation.wrapping_add(1);
        self.free.push(index);
        self.poll.forget(client.file());
        client.abandon(&mut self.dispatcher);
        self.dispatcher.timeline.forget(index);
        if let Some(export) = client.export() {
            self.dispatcher.offered[export as usize].tally.connected -= 1;
        }
    }

    /// No client is accepted from now on, nothing new is done.
    fn close(&mut self) {
        self.resting.clear();
        for listener in self.listeners.drain(..) {
            self.poll.forget(listener.file().as_fd());
        }
        // It stays readable: it has said all it has to say.
        self.poll.forget(self.stopper.file());
        self.stop_at = Some(now() + GRACE);
        self.dispatcher.closing = true;
    }

    /// Shows what was done, and parts with those who never choose an export.
    fn show(&mut self, now: Nanos) {
        self.show_at = now + SHOW_EVERY;
        self.changed = !self.dispatcher.is_idle();
        self.listen_again();
        let snapshot = self.snapshot(now);
        match self.shown.try_lock() {
            Ok(mut shown) => *shown = snapshot,
            // A reader holds it: the server does not wait, and must not sleep before the snapshot is there.
            Err(_) => self.changed = true,
        }
        self.part_with_idle(now);
    }

    /// Disconnects clients that never choose an export, and those that hold memory that others wait for and are stalled.
    fn part_with_idle(&mut self, now: Nanos) {
        let then = Nanos::new(now.get().saturating_sub(HANDSHAKE_MOST.get()));
        let contended = self.dispatcher.budget.is_contended();
        for index in 0..self.clients.len() {
            let Some(client) = &self.clients[index].client else { continue };
            let hesitates = client.hesitates_since().is_some_and(|since| since < then);
            let overdue = contended && client.is_overdue(now);
            if hesitates || overdue {
                self.part(index as u32);
                self.turned_away.hesitant += u64::from(hesitates);
                self.turned_away.stalled += u64::from(overdue);
            }
        }
    }

    fn snapshot(&self, now: Nanos) -> Snapshot {
        let names = self.dispatcher.exports.iter().map(|export| export.name.clone());
        let tallies = self.dispatcher.offered.iter().map(|offered| {
            let injected = offered.tally.injected + self.dispatcher.stores[offered.store as usize].injected();
            ExportTally { injected, ..offered.tally.clone() }
        });
        Snapshot {
            age: now.since(self.began),
            exports: names.zip(tallies).collect(),
            stages: self.dispatcher.timeline.stages(now),
            punctuality: self.dispatcher.timeline.punctuality().clone(),
            round_trip: self.dispatcher.timeline.round_trip(),
            turned_away: self.turned_away,
        }
    }
}
