//! Machines between jobs and volumes: page caches and copy threads.
//!
//! A read or write of a buffered client goes through its machine's [`PageCache`]. What is there is copied, at the speed
//! of one processor for each client; what is missing becomes requests to volumes; what is dirty is written back.
//!
//! # Engines
//!
//! A blocking client is served one operation at a time: that is what `psync` and its kin are, and `libaio` too, because
//! `io_submit(2)` returns only once a buffered operation is done. Operations of other clients (`io_uring`) wait for
//! volumes side by side, and are copied one after the other.
//!
//! # Direct operations on buffered ranges
//!
//! As in Linux, what is dirty is written back before, and what is cached of a range is dropped where it is written.

use std::collections::VecDeque;

use target::Tag;
use units::Nanos;
use volume::pagecache::{
    CacheStep, DeviceTransfer, PAGE_BYTES, PageCache, PageCacheSettings, READ_AHEAD, Read, ReadaheadStream, Resumed,
    WakeReason, WriteAdmission,
};
use volume::{Home, Request, RequestKind, System};

use crate::client::{Buffered, ClientPlace, ModelClient};

/// All machines.
#[derive(Debug)]
pub(crate) struct Hosts {
    caches: Vec<PageCache>,
    /// Whether a look for old dirty pages is due, by machine.
    alarms: Vec<bool>,
    homes: Vec<Home>,
    cache_clients: Vec<ClientCache>,
    /// By tag.
    ops: Vec<Ongoing>,
    in_flight: u32,
    chores: Vec<Chore>,
    chores_free: Vec<u32>,
    resumed: Vec<Resumed>,
}

/// Background work of a machine.
#[derive(Clone, Copy, Debug)]
enum Chore {
    Transfer { machine: usize, transfer: u32 },
    Alarm { machine: usize },
}

/// A worker's thread.
#[derive(Clone, Debug, Default)]
struct ClientCache {
    manner: Option<Buffered>,
    streams: Vec<ReadaheadStream>,
    /// Until when it copies.
    busy_until: Nanos,
    /// Whether it is blocked by an operation, and those behind it.
    serving: bool,
    queue: VecDeque<u32>,
}

/// An operation between its submission and its end.
#[derive(Clone, Copy, Debug)]
struct Ongoing {
    cache_client: u32,
    file: u32,
    route: usize,
    /// What is asked of the volume in the end, if anything is.
    request: Request,
    /// Its bytes on the volume.
    start: u64,
    end: u64,
    /// The page at which it stands.
    page: u64,
    began: Nanos,
    waited: bool,
    phase: HostPhase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HostPhase {
    /// In the page cache.
    Pages,
    /// All is copied when its event comes.
    Copy,
    /// Waits until its range is written; then it goes to the volume.
    Sync,
    /// At the volume.
    Volume,
}

const IDLE: Ongoing = Ongoing {
    cache_client: 0,
    file: 0,
    route: 0,
    request: Request { id: 0, kind: RequestKind::Read, offset: 0, length: 0 },
    start: 0,
    end: 0,
    page: 0,
    began: Nanos::ZERO,
    waited: false,
    phase: HostPhase::Volume,
};

impl Hosts {
    pub(crate) fn new(homes: &[Home]) -> Self {
        let machines = homes.iter().map(|home| home.machine + 1).max().unwrap_or(0);
        let cache = |machine| {
            let memory = homes.iter().find(|home| home.machine == machine).and_then(|home| home.buffering.memory);
            let settings = PageCacheSettings::default();
            PageCache::new(PageCacheSettings { memory: memory.unwrap_or(settings.memory), ..settings })
        };
        Self {
            caches: (0..machines).map(cache).collect(),
            alarms: vec![false; machines],
            homes: homes.to_vec(),
            cache_clients: Vec::new(),
            ops: Vec::new(),
            in_flight: 0,
            chores: Vec::new(),
            chores_free: Vec::new(),
            resumed: Vec::new(),
        }
    }

    /// Lets new workers in; the caches stay as they are.
    pub(crate) fn connect(&mut self, clients: &[ModelClient]) {
        let depth: u32 = clients.iter().map(|client| client.depth).sum();
        self.ops = vec![IDLE; depth as usize];
        self.in_flight = 0;
        self.cache_clients = clients.iter().map(|client| self.cache_client(client)).collect();
    }

    fn cache_client(&self, client: &ModelClient) -> ClientCache {
        let Some(manner) = client.buffered else { return ClientCache::default() };
        let stream = |place: &ClientPlace| {
            let read_ahead = self.homes[place.route].buffering.read_ahead.unwrap_or(READ_AHEAD);
            let pages = pages(place.base, place.base + place.bytes);
            ReadaheadStream::new(pages.start, pages.end, read_ahead.get() / PAGE_BYTES, manner.advice)
        };
        ClientCache {
            manner: Some(manner),
            streams: client.files.iter().map(stream).collect(),
            ..ClientCache::default()
        }
    }

    pub(crate) fn cache(&self, machine: usize) -> Option<&PageCache> {
        self.caches.get(machine)
    }

    /// Whether no worker waits for anything.
    pub(crate) fn is_idle(&self) -> bool {
        self.in_flight == 0
    }

    /// When an operation was begun.
    pub(crate) fn began(&self, tag: Tag) -> Nanos {
        self.ops[tag.index()].began
    }

    pub(crate) fn submit(&mut self, system: &mut System, now: Nanos, work: HostWork) {
        let HostWork { cache_client, file, place, request } = work;
        self.in_flight += 1;
        let (start, end, route) = match request.kind {
            // Syncs are for the whole file.
            RequestKind::Flush => (place.base, place.base + place.bytes, place.route),
            _ => (request.offset, request.offset + u64::from(request.length), place.route),
        };
        let (began, page) = (now, start / PAGE_BYTES);
        self.ops[request.id as usize] = Ongoing {
            cache_client,
            file,
            route,
            request,
            start,
            end,
            page,
            began,
            waited: false,
            phase: HostPhase::Volume,
        };
        let cache_client = &mut self.cache_clients[cache_client as usize];
        if cache_client.manner.is_some_and(|manner| manner.blocking) {
            if cache_client.serving {
                return cache_client.queue.push_back(request.id);
            }
            cache_client.serving = true;
        }
        self.begin(system, now, request.id);
    }

    fn begin(&mut self, system: &mut System, now: Nanos, tag: u32) {
        let op = &mut self.ops[tag as usize];
        op.began = now;
        let Ongoing { cache_client, route, request, start, end, .. } = *op;
        let pages = pages(start, end);
        let cache = &mut self.caches[self.homes[route].machine];
        let buffered = self.cache_clients[cache_client as usize].manner.is_some();
        match request.kind {
            RequestKind::Read | RequestKind::Write if buffered => {
                op.phase = HostPhase::Pages;
                let cache_client = &mut self.cache_clients[cache_client as usize];
                cache_client.busy_until = cache_client.busy_until.max(now) + cache.settings().call;
                self.advance(system, now, tag, None);
            }
            RequestKind::Trim => {
                cache.discard(route as u32, pages);
                let mut resumed = std::mem::take(&mut self.resumed);
                cache.admit(now, &mut resumed);
                self.resumed = resumed;
                self.go_to_volume(system, now, tag);
                self.go_on(system, now, route);
            }
            RequestKind::Flush => self.sync(system, now, tag),
            RequestKind::Read | RequestKind::Write if cache.is_unwritten(route as u32, pages.clone()) => {
                self.sync(system, now, tag);
            }
            RequestKind::Read | RequestKind::Write => self.go_to_volume(system, now, tag),
        }
    }

    /// Goes on in the page cache; `why` says what it has waited for.
    fn advance(&mut self, system: &mut System, now: Nanos, tag: u32, why: Option<WakeReason>) {
        let Ongoing { cache_client, file, route, request, start, end, page, waited, .. } = self.ops[tag as usize];
        let machine = self.homes[route].machine;
        let (cache, cache_client) = (&mut self.caches[machine], &mut self.cache_clients[cache_client as usize]);
        let to = end.div_ceil(PAGE_BYTES);
        let step = if request.kind == RequestKind::Read {
            let read = Read { bytes: request.length, waited, ends_inside: end % PAGE_BYTES != 0 };
            cache.read(tag, route as u32, page..to, &mut cache_client.streams[file as usize], read)
        } else {
            let from = (why == Some(WakeReason::Arrived)).then_some(page);
            let gate = if why.is_none() { WriteAdmission::Closed { now } } else { WriteAdmission::Open { now } };
            cache.write(tag, route as u32, start..end, from, gate)
        };
        let reached = match step {
            CacheStep::Done => to,
            CacheStep::Waits(page) => page,
        };
        let (copied_from, copied_to) = ((page * PAGE_BYTES).max(start), (reached * PAGE_BYTES).min(end));
        let copied = copied_to.saturating_sub(copied_from);
        if copied > 0 {
            let rate = cache.settings().copy_bytes_per_sec.max(1);
            cache_client.busy_until = cache_client.busy_until.max(now) + Nanos::new(copied * 1_000_000_000 / rate);
        }
        let op = &mut self.ops[tag as usize];
        op.page = reached;
        match step {
            CacheStep::Done => {
                op.phase = HostPhase::Copy;
                system.enter(cache_client.busy_until.max(now), tag);
            }
            CacheStep::Waits(_) => op.waited = true,
        }
        self.hand_over(system, now, machine);
    }

    /// Has the range of an operation written, of a sync that of its whole file; then it goes to the volume.
    fn sync(&mut self, system: &mut System, now: Nanos, tag: u32) {
        let Ongoing { route, start, end, .. } = self.ops[tag as usize];
        let machine = self.homes[route].machine;
        self.ops[tag as usize].phase = HostPhase::Sync;
        if self.caches[machine].sync(tag, route as u32, pages(start, end)) {
            self.go_to_volume(system, now, tag);
        }
        self.hand_over(system, now, machine);
    }

    fn go_to_volume(&mut self, system: &mut System, now: Nanos, tag: u32) {
        let op = &mut self.ops[tag as usize];
        op.phase = HostPhase::Volume;
        let Ongoing { route, request, start, end, .. } = *op;
        if request.kind == RequestKind::Write {
            self.caches[self.homes[route].machine].drop_clean(route as u32, pages(start, end));
        }
        system.arrive(now, route, request);
    }

    /// Something has ended. True if it is an operation, and the end is its own.
    pub(crate) fn happen(&mut self, system: &mut System, now: Nanos, id: u32) -> bool {
        if id >= System::HOST_IDS {
            self.chore_done(system, now, id - System::HOST_IDS);
            return false;
        }
        let op = &mut self.ops[id as usize];
        let (cache_client, durable) =
            (op.cache_client as usize, self.cache_clients[op.cache_client as usize].manner.is_some_and(|m| m.durable));
        if op.phase == HostPhase::Copy && durable && op.request.kind == RequestKind::Write {
            op.request = Request { kind: RequestKind::Flush, length: 0, ..op.request };
            self.sync(system, now, id);
            return false;
        }
        self.in_flight -= 1;
        self.next_of_desk(system, now, cache_client);
        true
    }

    /// A blocked thread takes up what is next.
    fn next_of_desk(&mut self, system: &mut System, now: Nanos, cache_client: usize) {
        let cache_client = &mut self.cache_clients[cache_client];
        match cache_client.queue.pop_front() {
            Some(tag) => self.begin(system, now, tag),
            None => cache_client.serving = false,
        }
    }

    fn chore_done(&mut self, system: &mut System, now: Nanos, chore: u32) {
        self.chores_free.push(chore);
        match self.chores[chore as usize] {
            Chore::Alarm { machine } => {
                self.alarms[machine] = false;
                self.caches[machine].look_for_expired(now);
                self.hand_over(system, now, machine);
            }
            Chore::Transfer { machine, transfer } => {
                let mut resumed = std::mem::take(&mut self.resumed);
                self.caches[machine].finish(transfer, now, &mut resumed);
                self.resumed = resumed;
                self.resume(system, now, machine);
                self.hand_over(system, now, machine);
            }
        }
    }

    fn go_on(&mut self, system: &mut System, now: Nanos, route: usize) {
        let machine = self.homes[route].machine;
        self.resume(system, now, machine);
        self.hand_over(system, now, machine);
    }

    /// Lets those go on who have waited, in their order.
    fn resume(&mut self, system: &mut System, now: Nanos, machine: usize) {
        let mut index = 0;
        while let Some(&Resumed { op: tag, why }) = self.resumed.get(index) {
            index += 1;
            if why == WakeReason::Synced {
                self.go_to_volume(system, now, tag);
            } else {
                self.advance(system, now, tag, Some(why));
            }
            if why == WakeReason::Admitted {
                let mut resumed = std::mem::take(&mut self.resumed);
                self.caches[machine].admit(now, &mut resumed);
                self.resumed = resumed;
            }
        }
        self.resumed.clear();
    }

    /// Hands a cache's transfers to the volumes, and sees to it that old dirty pages are looked for.
    fn hand_over(&mut self, system: &mut System, now: Nanos, machine: usize) {
        while let Some(DeviceTransfer { id, device, kind, offset, length }) = self.caches[machine].next_transfer() {
            let id = self.chore(Chore::Transfer { machine, transfer: id });
            system.arrive(now, device as usize, Request { id, kind, offset, length });
        }
        if self.caches[machine].has_dirty() && !self.alarms[machine] {
            self.alarms[machine] = true;
            let every = self.caches[machine].settings().flusher_every.get().max(1);
            let id = self.chore(Chore::Alarm { machine });
            system.enter(Nanos::new((now.get() / every + 1) * every), id);
        }
    }

    /// A number for what a machine does by itself.
    fn chore(&mut self, chore: Chore) -> u32 {
        let index = self.chores_free.pop().unwrap_or_else(|| {
            self.chores.push(chore);
            (self.chores.len() - 1) as u32
        });
        self.chores[index as usize] = chore;
        System::HOST_IDS + index
    }

    /// Drops what is cached of a file and not dirty; pages of which the range holds a part only stay.
    pub(crate) fn invalidate(&mut self, place: &ClientPlace, offset: u64, length: u64) {
        let start = place.base + offset.min(place.bytes);
        let whole = place.base + place.bytes;
        let end = if length == 0 { whole } else { start.saturating_add(length).min(whole) };
        let last = if end == whole { end.div_ceil(PAGE_BYTES) } else { end / PAGE_BYTES };
        let pages = start.div_ceil(PAGE_BYTES)..last;
        if !pages.is_empty() {
            self.caches[self.homes[place.route].machine].drop_clean(place.route as u32, pages);
        }
    }
}

/// Submitted work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostWork {
    pub(crate) cache_client: u32,
    pub(crate) file: u32,
    pub(crate) place: ClientPlace,
    pub(crate) request: Request,
}

/// The pages that hold a range of bytes.
fn pages(start: u64, end: u64) -> std::ops::Range<u64> {
    start / PAGE_BYTES..end.div_ceil(PAGE_BYTES)
}
