//! The server: one thread, one loop, no locks.
//!
//! One thread owns all clients, stores and the model. It waits for input of a client, a completion in a store, or the
//! due time of a reply. Each read may hold several requests; replies that are due together leave in one system call,
//! with their data straight from the store.
//!
//! Requests that arrive together cost three system calls (wait, receive, send; `xtask/bench/serve.json`), and another
//! client costs no thread. More than a CPU's worth of requests needs two servers.
//!
//! Clients share nothing but the model: one that stops reading, sends half a request or disconnects does not affect
//! others.

mod active_clients;
mod advance_queue;
mod budget;
mod client;
mod connection;

mod controller;
mod dispatcher;
mod idle_poll;
mod listener;
mod mounted;
mod outbox;
mod poll;
mod round_trip;
mod slots;
mod socket;
mod stop;
mod tallies;
mod timeline;
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
use controller::{ControlQueue, ControlRequest};
use dispatcher::Dispatcher;
use idle_poll::IdlePoll;
pub use listener::Listener;
use mounted::Mounted;
use poll::{Interest, Poll, PollEvents, Token, now};
pub use round_trip::measure_round_trip;
use slots::ConnectionTicket;
use socket::ClientEnded;
use socket::ClientSocket;
pub use socket::{IdentityError, Pem, TlsIdentity};
pub use stop::Stopper;
pub use tallies::{Done, ExportCounters, RejectedClients, Snapshot};
pub use timeline::Punctuality;
use timeline::Timeline;
pub use turnaround::RoundTripDeduction;

/// Settings of a server.
pub struct ServerConfig {
    /// Available exports; clients that name none get the first.
    pub exports: Vec<Offer>,
    /// Stores with the data of the exports.
    pub stores: Vec<Box<dyn Store>>,
    /// Model that decides when replies are due.
    pub system: System,
    /// Sockets to accept clients from.
    pub listeners: Vec<Listener>,
    /// Exports that are files of mounts.
    pub mounts: Vec<ExportMount>,
    /// Sockets of clients that are already connected.
    pub connected: Vec<OwnedFd>,
    /// Faults to inject and their seed; `None` if faults are never injected. Stores have their own faults.
    pub faults: Option<(FaultRates, u64)>,
    /// Handshake settings. The listener decides on encryption.
    pub settings: HandshakeSettings,
    /// Certificates of the server, for encrypted connections.
    pub identity: Option<TlsIdentity>,
    /// Round trip to subtract from modelled latencies.
    pub round_trip: RoundTripDeduction,
    /// Whether to keep a CPU busy shortly before replies are due.
    pub spin: bool,
    /// Maximum number of clients.
    pub clients_most: usize,
    /// Memory limit of all clients, excluding the limits of the stores, in bytes.
    pub memory_bytes: u64,
}

/// An export with its store and attachment.
#[derive(Clone, Debug)]
pub struct Offer {
    /// Export as clients see it.
    pub export: Export,
    /// Index of its store.
    pub store: usize,
    /// Index of its attachment to the model; `None` to answer as fast as the store.
    pub route: Option<usize>,
}

/// An export as the single file of a mount.
#[derive(Debug)]
pub struct ExportMount {
    /// `/dev/fuse` of the mount.
    pub channel: Channel,
    /// Attributes of the file.
    pub node: Node,
    /// Index of the export.
    pub export: usize,
}

pub struct Server {
    poll: Poll,
    listeners: Vec<Listener>,
    /// Listeners that are not watched for now.
    paused: Vec<u32>,
    clients: Vec<ClientSlot>,
    free: Vec<u32>,
    dispatcher: Dispatcher,
    settings: HandshakeSettings,
    clients_most: usize,
    began: Nanos,
    stopper: Stopper,
    controller: Controller,
    control: ControlQueue,
    /// Latest end of a server that is stopping.
    stop_at: Option<Nanos>,
    shown: Arc<Mutex<Snapshot>>,
    publish_at: Nanos,
    /// Whether anything has happened since the last snapshot.
    changed: bool,
    idle_poll: IdlePoll,
    ready: Vec<PollEvents>,
    batch: Vec<u32>,
    /// Clients with output to send or input to process.
    dirty: Vec<u32>,
    turned_away: RejectedClients,
}

/// An entry in the list of clients, reused for later clients.
#[derive(Default)]
struct ClientSlot {
    generation: u32,
    client: Option<Client>,
    /// Events that the client's descriptor is watched for.
    interest: Interest,
}

/// Clients accepted at once before the connected ones are served.
const MAX_ACCEPTS_AT_ONCE: usize = 64;
const PUBLISH_INTERVAL: Nanos = Nanos::from_millis(500);
/// Time after which a client that has not selected an export is disconnected.
const HANDSHAKE_TIMEOUT: Nanos = Nanos::from_secs(30);
/// Time for which a client in its handshake is not disconnected in favour of a new one.
const HANDSHAKE_MIN: Nanos = Nanos::from_secs(1);
/// Maximum wait for requests in flight when the server stops.
const GRACE: Nanos = Nanos::from_secs(5);

impl Server {
    /// Creates a server. It listens at once and answers once it [runs](Server::run).
    ///
    /// # Errors
    /// When the kernel has no descriptor left.
    pub fn new(mut config: ServerConfig) -> io::Result<Self> {
        let poll = Poll::new()?;
        let (stopper, began) = (Stopper::new()?, now());
        let (controller, control) = Controller::new()?;
        poll.watch(stopper.file(), Token::Stop, Interest::READ)?;
        poll.watch(control.file(), Token::Control, Interest::READ)?;
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
        let buffers = Pool::new(MemoryBudget::kept_bytes(config.memory_bytes));
        config.stores.iter_mut().for_each(|store| store.keep_within(&buffers));
        for Offer { export, .. } in &mut config.exports {
            export.block.maximum = export.block.maximum.min(budget.request_most());
        }
        let mut dispatcher = Dispatcher::new(config.exports, config.stores, timeline, config.identity, budget);
        dispatcher.faults = config.faults.map(|(rates, seed)| Faults::new(rates.in_server(), seed));
        let mut server = Self {
            poll,
            listeners: config.listeners,
            paused: Vec::new(),
            clients: Vec::new(),
            free: Vec::new(),
            dispatcher,
            settings: config.settings,
            clients_most: config.clients_most,
            began,
            stopper,
            controller,
            control,
            stop_at: None,
            shown: Arc::default(),
            publish_at: began,
            changed: true,
            idle_poll: IdlePoll::new(std::thread::available_parallelism().is_ok_and(|processors| processors.get() > 1)),
            ready: Vec::new(),
            batch: Vec::new(),
            dirty: Vec::new(),
            turned_away: RejectedClients::default(),
        };
        config.connected.into_iter().for_each(|file| server.admit(file, config.settings));
        config.mounts.into_iter().for_each(|mount| server.mount(mount));
        // Readers that look before the first client connects see that nothing was done.
        server.publish(now());
        Ok(server)
    }

    /// Returns a handle that stops the server from any thread or signal handler.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Returns a handle that changes the running server from any thread.
    #[must_use]
    pub fn controller(&self) -> Controller {
        self.controller.clone()
    }

    /// Returns the number of connections for which there is memory.
    #[must_use]
    pub fn connections_most(&self) -> u64 {
        self.dispatcher.budget.connections_most()
    }

    /// Returns the snapshot that the server updates twice per second.
    #[must_use]
    pub fn shown(&self) -> Arc<Mutex<Snapshot>> {
        Arc::clone(&self.shown)
    }

    /// Serves until the server is stopped and earlier requests are answered. Returns the final snapshot.
    ///
    /// # Errors
    /// When the kernel fails to wait for events.
    pub fn run(mut self) -> io::Result<Snapshot> {
        while self.stop_at.is_none_or(|at| now() < at && self.has_pending_replies()) {
            self.handle_events()?;
            if self.stop_at.is_none() && self.stopper.is_stopped() {
                self.close();
            }
        }
        Ok(self.snapshot(now()))
    }

    fn handle_events(&mut self) -> io::Result<()> {
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
                Token::Listener(index) => self.accept(index),
                // If its input is not read, only a hang-up shows that a client has disconnected.
                Token::Client(index) if hung_up && !self.clients[index as usize].interest.read => {
                    self.disconnect(index);
                }
                Token::Client(index) => self.handle_input(index),
                Token::Control => self.change(woken),
                Token::Store(_) | Token::Stop => {}
            }
        }
        self.ready = ready;
        self.answer();
        if woken >= self.publish_at {
            self.publish(woken);
        }
        Ok(())
    }

    fn change(&mut self, now: Nanos) {
        for ControlRequest { change, done } in self.control.take() {
            match change {
                Some(ControlChange::Faults(rates)) => self.dispatcher.set_faults(rates),
                Some(ControlChange::Model(attachments)) => self.dispatcher.timeline.change(now, &attachments),
                None => {}
            }
            // The thread that requested it waits, unless it has ended.
            let _ = done.send(self.snapshot(now));
        }
    }

    fn sleep(&mut self, now: Nanos) -> Option<Nanos> {
        let due = self.dispatcher.timeline.sleep(now);
        if due.is_none() && self.dispatcher.is_idle() && self.idle_poll.polls(now, self.dispatcher.taken) {
            return Some(Nanos::ZERO);
        }
        // An idle server sleeps indefinitely: its last snapshot is up to date.
        let is_any_handshaking = self.connected().any(|client| client.export().is_none());
        let show = (self.changed || is_any_handshaking || self.dispatcher.budget.is_contended())
            .then(|| self.publish_at.since(now));
        let stop = self.stop_at.map(|at| at.since(now));
        [due, show, stop].into_iter().flatten().min()
    }

    /// Reports whether a client waits for a reply or for the rest of one.
    fn has_pending_replies(&self) -> bool {
        !self.dispatcher.is_idle() || self.connected().any(Client::has_output)
    }

    fn connected(&self) -> impl Iterator<Item = &Client> {
        self.clients.iter().filter_map(|entry| entry.client.as_ref())
    }

    fn accept(&mut self, listener: u32) {
        let settings = HandshakeSettings { tls: self.listeners[listener as usize].tls(), ..self.settings };
        for _ in 0..MAX_ACCEPTS_AT_ONCE {
            match self.listeners[listener as usize].accept() {
                Ok(file) => self.admit(file, settings),
                Err(Errno::AGAIN) => return,
                // For example when the table of descriptors is full, which is no reason to stop serving.
                Err(_) => return self.pause(listener),
            }
        }
    }

    /// Pauses a listener until the next snapshot: a client that cannot be accepted would wake the server continuously.
    fn pause(&mut self, listener: u32) {
        let file = self.listeners[listener as usize].file();
        if self.poll.change(file, Token::Listener(listener), Interest::NONE).is_ok() {
            self.paused.push(listener);
            self.changed = true;
        }
    }

    fn resume_listeners(&mut self) {
        let Self { poll, listeners, paused, .. } = self;
        // A listener that cannot be watched now is retried later.
        paused.retain(|&index| {
            poll.change(listeners[index as usize].file(), Token::Listener(index), Interest::READ).is_err()
        });
        self.changed |= !self.paused.is_empty();
    }

    /// Admits a client if the limits of clients and memory allow it; otherwise closes its connection.
    fn admit(&mut self, file: OwnedFd, settings: HandshakeSettings) {
        let full = self.clients.len() - self.free.len() >= self.clients_most;
        if full && !self.evict_handshaking() {
            self.turned_away.no_place += 1;
            return;
        }
        let admitted = self.dispatcher.budget.admit() || (self.evict_handshaking() && self.dispatcher.budget.admit());
        if !admitted {
            self.turned_away.no_memory += 1;
            return;
        }
        let socket = ClientSocket::new(file, self.dispatcher.budget.send_buffer_bytes());
        self.add_client(|ticket, budget| {
            Client::Connection(Box::new(Connection::new(socket, ticket, settings, budget, now())))
        });
    }

    /// Disconnects the client that has been longest without selecting an export, so that idle connections cannot keep
    /// new clients out. Returns whether there was one.
    fn evict_handshaking(&mut self) -> bool {
        let then = Nanos::new(now().get().saturating_sub(HANDSHAKE_MIN.get()));
        let waiting = (0u32..).zip(&self.clients).filter_map(|(index, entry)| {
            let since = entry.client.as_ref()?.handshaking_since()?;
            (since < then).then_some((since, index))
        });
        let Some((_, index)) = waiting.min() else { return false };
        self.disconnect(index);
        self.turned_away.hesitant += 1;
        true
    }

    fn mount(&mut self, ExportMount { channel, node, export }: ExportMount) {
        self.dispatcher.offered[export].tally.connect();
        self.add_client(|ticket, _| Client::Mounted(Box::new(Mounted::new(channel, node, ticket, export as u32))));
    }

    fn add_client(&mut self, client: impl FnOnce(ConnectionTicket, &MemoryBudget) -> Client) {
        let index = self.free.pop().unwrap_or_else(|| {
            self.clients.push(ClientSlot::default());
            (self.clients.len() - 1) as u32
        });
        let entry = &mut self.clients[index as usize];
        let client = client(ConnectionTicket { client: index, generation: entry.generation }, &self.dispatcher.budget);
        entry.interest = client.interest(&self.dispatcher.budget);
        let watched = self.poll.watch(client.file(), Token::Client(index), entry.interest);
        entry.client = Some(client);
        match watched {
            Ok(()) => self.dirty.push(index),
            Err(_) => self.disconnect(index),
        }
    }

    fn handle_input(&mut self, index: u32) {
        let Some(client) = &mut self.clients[index as usize].client else { return };
        let before = client.export();
        let result = client.handle_input(now(), &mut self.dispatcher);
        if let (None, Some(export)) = (before, client.export()) {
            self.dispatcher.offered[export as usize].tally.connect();
        }
        match result {
            Ok(()) => self.dirty.push(index),
            Err(ClientEnded) => self.disconnect(index),
        }
    }

    /// Sends replies until none is ready.
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

    /// Queues the replies to finished requests.
    fn write(&mut self, now: Nanos) {
        self.dispatcher.finished(&mut self.batch);
        for slot in self.batch.drain(..) {
            let ticket = self.dispatcher.ticket(slot);
            let entry = &mut self.clients[ticket.client as usize];
            match &mut entry.client {
                Some(client) if entry.generation == ticket.generation => {
                    client.answer(now, slot, &mut self.dispatcher);
                    self.dirty.push(ticket.client);
                }
                _ => self.dispatcher.drop_answer(now, slot),
            }
        }
    }

    /// Sends queued replies and processes input that waited for memory.
    fn send(&mut self, now: Nanos) {
        let mut dirty = std::mem::take(&mut self.dirty);
        for index in dirty.drain(..) {
            let Some(client) = &mut self.clients[index as usize].client else { continue };
            match client.send(now, &mut self.dispatcher) {
                Ok(()) => self.watch(index),
                Err(ClientEnded) => self.disconnect(index),
            }
        }
        self.dirty = dirty;
    }

    /// Has the next connection that waits for memory retry.
    fn wake_waiting(&mut self) {
        let Some(ticket) = self.dispatcher.budget.next_waiting() else { return };
        if self.clients[ticket.client as usize].generation == ticket.generation {
            self.dirty.push(ticket.client);
        }
    }

    /// Updates the events that a client is watched for.
    fn watch(&mut self, index: u32) {
        let entry = &mut self.clients[index as usize];
        let Some(client) = &entry.client else { return };
        let interest = client.interest(&self.dispatcher.budget);
        if interest != entry.interest {
            entry.interest = interest;
            if self.poll.change(client.file(), Token::Client(index), interest).is_err() {
                self.disconnect(index);
            }
        }
    }

    /// Disconnects a client. Its requests are completed but not answered.
    fn disconnect(&mut self, index: u32) {
        let entry = &mut self.clients[index as usize];
        let Some(mut client) = entry.client.take() else { return };
        entry.generation = entry.generation.wrapping_add(1);
        self.free.push(index);
        self.poll.forget(client.file());
        client.close(&mut self.dispatcher);
        self.dispatcher.timeline.forget(index);
        if let Some(export) = client.export() {
            self.dispatcher.offered[export as usize].tally.connected -= 1;
        }
    }

    /// Stops accepting clients and requests.
    fn close(&mut self) {
        self.paused.clear();
        for listener in self.listeners.drain(..) {
            self.poll.forget(listener.file().as_fd());
        }
        // It stays readable, and the stop is already known.
        self.poll.forget(self.stopper.file());
        self.stop_at = Some(now() + GRACE);
        self.dispatcher.closing = true;
    }

    /// Publishes a snapshot and disconnects idle clients.
    fn publish(&mut self, now: Nanos) {
        self.publish_at = now + PUBLISH_INTERVAL;
        self.changed = !self.dispatcher.is_idle();
        self.resume_listeners();
        let snapshot = self.snapshot(now);
        match self.shown.try_lock() {
            Ok(mut shown) => *shown = snapshot,
            // A reader holds the lock: the server does not wait, but must not sleep before it has published the
            // snapshot.
            Err(_) => self.changed = true,
        }
        self.disconnect_idle(now);
    }

    /// Disconnects clients that select no export in time, and stalled ones that hold memory that others wait for.
    fn disconnect_idle(&mut self, now: Nanos) {
        let then = Nanos::new(now.get().saturating_sub(HANDSHAKE_TIMEOUT.get()));
        let contended = self.dispatcher.budget.is_contended();
        for index in 0..self.clients.len() {
            let Some(client) = &self.clients[index].client else { continue };
            let handshaking = client.handshaking_since().is_some_and(|since| since < then);
            let overdue = contended && client.is_overdue(now);
            if handshaking || overdue {
                self.disconnect(index as u32);
                self.turned_away.hesitant += u64::from(handshaking);
                self.turned_away.stalled += u64::from(overdue);
            }
        }
    }

    fn snapshot(&self, now: Nanos) -> Snapshot {
        let names = self.dispatcher.exports.iter().map(|export| export.name.clone());
        let tallies = self.dispatcher.offered.iter().map(|offered| {
            let injected = offered.tally.injected + self.dispatcher.stores[offered.store as usize].injected();
            ExportCounters { injected, ..offered.tally.clone() }
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
