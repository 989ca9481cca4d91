//! All volumes of a run, as one target.

use std::fmt;

use target::{Completion, Op, Tag, Target};
use units::Nanos;
use units::OpKind;
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

/// Modelled volumes and the clock they live by.
#[derive(Debug)]
pub struct World<C> {
    system: System,
    clock: C,
    clients: Vec<ModelClient>,
    slots: Vec<WorldSlot>,
    /// Ends that no volume has to do with: wrong requests.
    at_once: Vec<Completion>,
    /// The machines, from the first buffered client on.
    hosts: Option<Box<Hosts>>,
    /// Whose files are meant where only a file is named.
    turned_to: u32,
    onlooker: Option<Onlooker>,
    /// The credits of the volumes in the course of time.
    ledger: Ledger,
}

/// Observer of the volumes at an instant.
type Look = Box<dyn FnMut(Nanos, &System)>;

/// An observer of the volumes while they are used.
struct Onlooker {
    every: Nanos,
    next: Nanos,
    look: Look,
}

impl fmt::Debug for Onlooker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Onlooker").field("every", &self.every).field("next", &self.next).finish_non_exhaustive()
    }
}

/// Operation in flight under a tag.
#[derive(Clone, Copy, Debug, Default)]
struct WorldSlot {
    client: u32,
    submitted: Nanos,
    result: i32,
}

impl<C: Clock> World<C> {
    /// A world without workers.
    #[must_use]
    pub fn new(system: System, clock: C) -> Self {
        let mut ledger = Ledger::default();
        ledger.note(Nanos::ZERO, &system);
        Self {
            system,
            clock,
            clients: Vec::new(),
            slots: Vec::new(),
            at_once: Vec::new(),
            hosts: None,
            turned_to: 0,
            onlooker: None,
            ledger,
        }
    }

    /// Has `look` see the volumes about so often on the world's clock, as long as anything happens.
    pub fn show(&mut self, every: Nanos, look: impl FnMut(Nanos, &System) + 'static) {
        self.onlooker = Some(Onlooker { every, next: Nanos::ZERO, look: Box::new(look) });
    }

    #[cold]
    fn be_seen(&mut self) {
        let now = self.clock.now();
        if let Some(onlooker) = self.onlooker.as_mut().filter(|onlooker| now >= onlooker.next) {
            (onlooker.look)(now, &self.system);
            onlooker.next = now + onlooker.every;
        }
    }

    /// Lets workers in, in the order in which `drive` will have them: the first has the tags `0..depth`, and so on.
    /// Those who were here before are gone; the volumes and the page caches stay as they are.
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

    /// The volumes.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// How full the volumes' buckets of credits were, as far as it was recorded.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The page cache of a machine, once an operation has used one; machines are numbered as in
    /// [`System::homes`].
    pub fn page_cache(&self, machine: usize) -> Option<&PageCache> {
        self.hosts.as_ref()?.cache(machine)
    }

    /// What an operation comes to: the route to its volume and what is asked of it there, or how it ends at once.
    #[inline]
    fn resolve(&self, op: &Op, client: u32) -> Result<(usize, Request), i32> {
        let files = &self.clients[client as usize].files;
        let Some(place) = files.get(op.file as usize) else { return Err(-EBADF) };
        let kind = kind(op.kind);
        let room = place.bytes.saturating_sub(op.offset).min(u64::from(op.length)) as u32;
        if room == 0 && op.length > 0 {
            return Err(if kind == volume::RequestKind::Read { 0 } else { -ENOSPC });
        }
        Ok((place.route, Request { id: op.tag.0, kind, offset: place.base + op.offset, length: room }))
    }

    /// Submits where there are page caches.
    #[cold]
    fn submit_to_hosts(&mut self, now: Nanos, op: &Op, client: u32, request: Request) {
        let place = self.clients[client as usize].files[op.file as usize];
        if let Some(hosts) = &mut self.hosts {
            hosts.submit(&mut self.system, now, HostWork { cache_client: client, file: op.file, place, request });
        }
    }

    /// Something has ended where there are page caches: hands it out, if it is an operation.
    #[cold]
    fn happen_on_hosts(&mut self, id: u32, now: Nanos, done: &mut Vec<Completion>) {
        if let Some(hosts) = &mut self.hosts
            && hosts.happen(&mut self.system, now, id)
        {
            let (submitted, result) = (hosts.began(Tag(id)), self.slots[id as usize].result);
            done.push(Completion { tag: Tag(id), submitted, completed: now, result });
        }
    }

    /// Hands out what has ended.
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
            Err(result) => self.at_once.push(Completion { tag: op.tag, submitted: now, completed: now, result }),
        }
    }

    fn wait(&mut self, min: u32, until: Nanos, done: &mut Vec<Completion>) {
        if self.onlooker.is_some() {
            self.be_seen();
        }
        let enough = done.len() + min as usize;
        done.append(&mut self.at_once);
        loop {
            let mut now = self.clock.now();
            // Where only the volumes have anything to do, virtual time goes straight to the next end.
            let jumps = C::JUMPS && min > 0 && self.hosts.is_none();
            while let Some((at, id)) = self.system.next_done(if jumps { until } else { now }) {
                if jumps {
                    self.clock.wait_until(at);
                    now = now.max(at);
                }
                match self.hosts {
                    None => self.complete(id, now, done),
                    Some(_) => self.happen_on_hosts(id, now, done),
                }
                // The worker that waits for one is asked what is next before the others are handed out: where time is
                // virtual, an event that is taken and another that is entered cost one move in the queue.
                if min > 0 && done.len() >= enough {
                    return;
                }
            }
            if min == 0 || done.len() >= enough || now >= until {
                return;
            }
            // Machines may have things to do although no worker waits for them.
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
        self.turned_to = self.slots.get(tag.index()).map_or(0, |slot| slot.client);
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
        self.ledger.note(now, &self.system);
    }

    fn invalidate(&mut self, file: u32, offset: u64, length: u64) {
        let Some(hosts) = &mut self.hosts else { return };
        let files = self.clients.get(self.turned_to as usize).map(|client| &client.files);
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
        OpKind::Sync | OpKind::DataSync => volume::RequestKind::Flush,
    }
}
