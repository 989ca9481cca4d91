//! All volumes of a run, as one target.

use std::fmt;

use target::{Completion, Op, Tag, Target};
use units::{Nanos, OpKind};
use volume::pagecache::PageCache;
use volume::{Request, System};

use crate::client::ModelClient;
use crate::clock::Clock;
use crate::hosts::{HostWork, Hosts};
use crate::ledger::Ledger;

/// `EBADF`: no such file.
const EBADF: i32 = 9;
/// `ENOSPC`: a write beyond the end.
const ENOSPC: i32 = 28;

/// Modelled volumes and the clock they run by.
#[derive(Debug)]
pub struct World<C> {
    system: System,
    clock: C,
    clients: Vec<ModelClient>,
    slots: Vec<WorldSlot>,
    /// Completions of invalid operations, which no volume sees.
    failed: Vec<Completion>,
    /// Machines with page caches; created for the first buffered client.
    hosts: Option<Box<Hosts>>,
    /// Client of the following calls that name only a file.
    current_client: u32,
    observer: Option<PeriodicObserver>,
    ledger: Ledger,
}

type ObserveFn = Box<dyn FnMut(Nanos, &System)>;

struct PeriodicObserver {
    every: Nanos,
    next: Nanos,
    look: ObserveFn,
}

impl fmt::Debug for PeriodicObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PeriodicObserver").field("every", &self.every).field("next", &self.next).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct WorldSlot {
    client: u32,
    submitted: Nanos,
    result: i32,
}

impl<C: Clock> World<C> {
    /// Creates a world without workers.
    #[must_use]
    pub fn new(system: System, clock: C) -> Self {
        let mut ledger = Ledger::default();
        ledger.record(Nanos::ZERO, &system);
        Self {
            system,
            clock,
            clients: Vec::new(),
            slots: Vec::new(),
            failed: Vec::new(),
            hosts: None,
            current_client: 0,
            observer: None,
            ledger,
        }
    }

    /// Calls `look` with the volumes at most once per `every` on the world's clock, as long as events occur.
    pub fn show(&mut self, every: Nanos, look: impl FnMut(Nanos, &System) + 'static) {
        self.observer = Some(PeriodicObserver { every, next: Nanos::ZERO, look: Box::new(look) });
    }

    #[cold]
    fn call_observer(&mut self) {
        let now = self.clock.now();
        if let Some(observer) = self.observer.as_mut().filter(|observer| now >= observer.next) {
            (observer.look)(now, &self.system);
            observer.next = now + observer.every;
        }
    }

    /// Replaces the workers, in the order of `drive`'s workers: the first has the tags `0..depth`, and so on. The
    /// volumes and the page caches keep their state.
    pub fn connect(&mut self, clients: Vec<ModelClient>) {
        if clients.iter().any(|client| client.buffered.is_some()) && self.hosts.is_none() {
            self.hosts = Some(Box::new(Hosts::new(self.system.homes())));
        }
        if let Some(hosts) = &mut self.hosts {
            hosts.connect(&clients);
        }
        self.slots.clear();
        for (number, client) in clients.iter().enumerate() {
            let slot = WorldSlot { client: number as u32, ..WorldSlot::default() };
            self.slots.resize(self.slots.len() + client.depth as usize, slot);
        }
        self.clients = clients;
    }

    /// Returns the simulated volumes.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// Returns the recorded burst credits.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Returns the page cache of a machine, numbered as in [`System::homes`]; `None` until a buffered client connects.
    pub fn page_cache(&self, machine: usize) -> Option<&PageCache> {
        self.hosts.as_ref()?.cache(machine)
    }

    /// Resolves an operation to its route and request, or to an immediate result.
    #[inline]
    fn resolve(&self, op: &Op, client: u32) -> Result<(usize, Request), i32> {
        let files = &self.clients[client as usize].files;
        let Some(place) = files.get(op.file as usize) else { return Err(-EBADF) };
        if op.kind == OpKind::SyncRange && self.hosts.is_none() {
            // Without a page cache there is nothing to write back.
            return Err(0);
        }
        let kind = kind(op.kind);
        let room = place.bytes.saturating_sub(op.offset).min(u64::from(op.length)) as u32;
        if room == 0 && op.length > 0 {
            return Err(if kind == volume::RequestKind::Read { 0 } else { -ENOSPC });
        }
        Ok((place.route, Request { id: op.tag.0, kind, offset: place.base + op.offset, length: room }))
    }

    /// Submits an operation through its machine.
    #[cold]
    fn submit_to_hosts(&mut self, now: Nanos, op: &Op, client: u32, request: Request) {
        let place = self.clients[client as usize].files[op.file as usize];
        if let Some(hosts) = &mut self.hosts {
            hosts.submit(&mut self.system, now, HostWork { cache_client: client, file: op.file, place, request });
        }
    }

    /// Completes an event of a machine if it is an operation.
    #[cold]
    fn complete_on_hosts(&mut self, id: u32, now: Nanos, done: &mut Vec<Completion>) {
        if let Some(hosts) = &mut self.hosts
            && hosts.handle_completion(&mut self.system, now, id)
        {
            let (submitted, result) = (hosts.began(Tag(id)), self.slots[id as usize].result);
            done.push(Completion { tag: Tag(id), submitted, completed: now, result });
        }
    }

    #[inline]
    fn complete(&mut self, id: u32, completed: Nanos, done: &mut Vec<Completion>) {
        let slot = &self.slots[id as usize];
        done.push(Completion { tag: Tag(id), submitted: slot.submitted, completed, result: slot.result });
    }
}

impl<C: Clock> Target for World<C> {
    #[inline]
    fn now(&mut self) -> Nanos {
        self.clock.now()
    }

    #[inline(always)]
    fn submit(&mut self, op: Op) {
        let now = self.clock.now();
        let client = self.slots[op.tag.index()].client;
        match self.resolve(&op, client) {
            Ok((route, request)) => {
                self.slots[op.tag.index()] = WorldSlot { client, submitted: now, result: request.length as i32 };
                match self.hosts {
                    None => self.system.arrive(now, route, request),
                    Some(_) => self.submit_to_hosts(now, &op, client, request),
                }
            }
            Err(result) => self.failed.push(Completion { tag: op.tag, submitted: now, completed: now, result }),
        }
    }

    fn wait(&mut self, min: u32, until: Nanos, done: &mut Vec<Completion>) {
        if self.observer.is_some() {
            self.call_observer();
        }
        let enough = done.len() + min as usize;
        done.append(&mut self.failed);
        loop {
            let mut now = self.clock.now();
            // If only volumes have events, virtual time jumps to the next completion.
            let jumps = self.clock.jumps() && min > 0 && self.hosts.is_none();
            while let Some((at, id)) = self.system.next_done(if jumps { until } else { now }) {
                if jumps {
                    self.clock.wait_until(at);
                    now = now.max(at);
                }
                match self.hosts {
                    None => self.complete(id, now, done),
                    Some(_) => self.complete_on_hosts(id, now, done),
                }
                // Let the waiting worker issue its next operation before further completions: in virtual time, a pop
                // followed by a push costs one move in the event queue.
                if min > 0 && done.len() >= enough {
                    return;
                }
            }
            if min == 0 || done.len() >= enough || now >= until {
                return;
            }
            // Machines may have background work although no worker waits for it.
            if until == Nanos::MAX && self.hosts.as_ref().is_some_and(|hosts| hosts.is_idle()) {
                return;
            }
            let next = self.system.next_event().unwrap_or(Nanos::MAX).min(until);
            if next == Nanos::MAX {
                return;
            }
            self.clock.wait_until(next);
        }
    }

    fn turn_to(&mut self, tag: Tag) {
        self.current_client = self.slots.get(tag.index()).map_or(0, |slot| slot.client);
    }

    fn measure(&mut self, tag: Tag, begins: bool) {
        let now = self.clock.now();
        let Some(client) = self.slots.get(tag.index()).and_then(|slot| self.clients.get(slot.client as usize)) else {
            return;
        };
        for (number, place) in client.files.iter().enumerate() {
            if client.files[..number].iter().all(|before| before.route != place.route) {
                self.system.measure(now, place.route, begins);
            }
        }
    }

    fn note(&mut self) {
        let now = self.clock.now();
        self.ledger.record(now, &self.system);
    }

    fn invalidate(&mut self, file: u32, offset: u64, length: u64) {
        let Some(hosts) = &mut self.hosts else { return };
        let files = self.clients.get(self.current_client as usize).map(|client| &client.files);
        if let Some(place) = files.and_then(|files| files.get(file as usize)) {
            hosts.invalidate(place, offset, length);
        }
    }

    #[inline]
    fn buffer(&mut self, _: Tag) -> Option<&mut [u8]> {
        None
    }
}

const fn kind(kind: OpKind) -> volume::RequestKind {
    match kind {
        OpKind::Read => volume::RequestKind::Read,
        OpKind::Write => volume::RequestKind::Write,
        OpKind::Trim => volume::RequestKind::Trim,
        OpKind::Sync | OpKind::DataSync | OpKind::SyncRange | OpKind::SyncFilesystem => volume::RequestKind::Flush,
    }
}
