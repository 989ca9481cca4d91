//! Machines between jobs and volumes: page caches and copying threads.
//!
//! Reads and writes of a buffered client go through its machine's [`PageCache`]. Cached bytes are copied, at the speed
//! of one CPU per client; missing pages become requests to volumes; dirty pages are written back.
//!
//! # Engines
//!
//! A blocking client is served one operation at a time: `psync` and similar engines, and `libaio`, because
//! `io_submit(2)` returns only once a buffered operation has completed. Operations of other clients (`io_uring`) wait
//! for volumes concurrently, and are copied one after another.
//!
//! # Direct operations on buffered ranges
//!
//! As in Linux, dirty pages of the range are written back first, and cached pages of a written range are dropped.

use std::collections::VecDeque;

use target::Tag;
use units::Nanos;
use volume::pagecache::{
    CacheStep, DeviceTransfer, PAGE_BYTES, PageCache, PageCacheSettings, READ_AHEAD, Read, ReadaheadStream, Resumed,
    WakeReason, WriteAdmission,
};
use volume::{Home, Request, RequestKind, System};

use crate::client::{Buffered, ClientPlace, ModelClient};

#[derive(Debug, Default)]
pub(crate) struct Hosts {
    caches: Vec<PageCache>,
    /// Whether a check for expired dirty pages is scheduled, by machine.
    checks_scheduled: Vec<bool>,
    homes: Vec<Home>,
    cache_clients: Vec<ClientCache>,
    ops: Vec<HostOp>,
    in_flight: u32,
    tasks: Vec<BackgroundTask>,
    free_tasks: Vec<u32>,
    resumed: Vec<Resumed>,
}

#[derive(Clone, Copy, Debug)]
enum BackgroundTask {
    Transfer { machine: usize, transfer: u32 },
    ExpiryCheck { machine: usize },
}

/// A worker's thread, as its page cache sees it.
#[derive(Clone, Debug, Default)]
struct ClientCache {
    buffering_mode: Option<Buffered>,
    streams: Vec<ReadaheadStream>,
    /// When its current copy ends.
    busy_until: Nanos,
    /// Whether an operation blocks it and those behind it.
    serving: bool,
    queue: VecDeque<u32>,
}

/// An operation between its submission and its completion.
#[derive(Clone, Copy, Debug)]
struct HostOp {
    cache_client: u32,
    file: u32,
    route: usize,
    /// Request to the volume, if one is needed.
    request: Request,
    /// Byte range on the volume.
    start: u64,
    end: u64,
    /// Next page.
    page: u64,
    began: Nanos,
    waited: bool,
    phase: HostPhase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HostPhase {
    /// Being served by the page cache.
    Pages,
    /// Being copied; completes at its event.
    Copy,
    /// Waits until its range is written; then goes to the volume.
    Sync,
    Volume,
}

const IDLE: HostOp = HostOp {
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
            checks_scheduled: vec![false; machines],
            homes: homes.to_vec(),
            ..Self::default()
        }
    }

    /// Replaces the workers; the caches keep their contents.
    pub(crate) fn connect(&mut self, clients: &[ModelClient]) {
        let depth: u32 = clients.iter().map(|client| client.depth).sum();
        self.ops = vec![IDLE; depth as usize];
        self.in_flight = 0;
        self.cache_clients = clients.iter().map(|client| self.cache_client(client)).collect();
    }

    fn cache_client(&self, client: &ModelClient) -> ClientCache {
        let Some(buffering_mode) = client.buffered else { return ClientCache::default() };
        let stream = |place: &ClientPlace| {
            let read_ahead = self.homes[place.route].buffering.read_ahead.unwrap_or(READ_AHEAD);
            let pages = pages(place.base, place.base + place.bytes);
            ReadaheadStream::new(pages.start, pages.end, read_ahead.get() / PAGE_BYTES, buffering_mode.advice)
        };
        ClientCache {
            buffering_mode: Some(buffering_mode),
            streams: client.files.iter().map(stream).collect(),
            ..ClientCache::default()
        }
    }

    pub(crate) fn cache(&self, machine: usize) -> Option<&PageCache> {
        self.caches.get(machine)
    }

    /// Reports whether no worker waits for an operation.
    pub(crate) fn is_idle(&self) -> bool {
        self.in_flight == 0
    }

    pub(crate) fn began(&self, tag: Tag) -> Nanos {
        self.ops[tag.index()].began
    }

    pub(crate) fn submit(&mut self, system: &mut System, now: Nanos, work: HostWork) {
        let HostWork { cache_client, file, place, request } = work;
        self.in_flight += 1;
        let (start, end, route) = match request.kind {
            // Syncs cover the whole file.
            RequestKind::Flush => (place.base, place.base + place.bytes, place.route),
            _ => (request.offset, request.offset + u64::from(request.length), place.route),
        };
        let (began, page) = (now, start / PAGE_BYTES);
        self.ops[request.id as usize] = HostOp { cache_client, file, route, request, start, end, page, began, ..IDLE };
        let cache_client = &mut self.cache_clients[cache_client as usize];
        if cache_client.buffering_mode.is_some_and(|buffering_mode| buffering_mode.blocking) {
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
        let HostOp { cache_client, route, request, start, end, .. } = *op;
        let pages = pages(start, end);
        let cache = &mut self.caches[self.homes[route].machine];
        let buffered = self.cache_clients[cache_client as usize].buffering_mode.is_some();
        match request.kind {
            RequestKind::Read | RequestKind::Write if buffered => {
                op.phase = HostPhase::Pages;
                let cache_client = &mut self.cache_clients[cache_client as usize];
                cache_client.busy_until = cache_client.busy_until.max(now) + cache.settings().call;
                self.advance(system, now, tag, None);
            }
            RequestKind::Trim => {
                cache.discard(route as u32, pages);
                cache.admit(now, &mut self.resumed);
                self.submit_to_volume(system, now, tag);
                self.resume(system, now, self.homes[route].machine);
            }
            RequestKind::Flush => self.sync(system, now, tag),
            RequestKind::Read | RequestKind::Write if cache.is_unwritten(route as u32, pages.clone()) => {
                self.sync(system, now, tag);
            }
            RequestKind::Read | RequestKind::Write => self.submit_to_volume(system, now, tag),
        }
    }

    /// Continues in the page cache; `why` is the reason for which it was resumed.
    fn advance(&mut self, system: &mut System, now: Nanos, tag: u32, why: Option<WakeReason>) {
        let HostOp { cache_client, file, route, request, start, end, page, waited, .. } = self.ops[tag as usize];
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
        self.submit_transfers(system, now, machine);
    }

    /// Writes the dirty pages of an operation's range, then sends it to the volume.
    fn sync(&mut self, system: &mut System, now: Nanos, tag: u32) {
        let HostOp { route, start, end, .. } = self.ops[tag as usize];
        let machine = self.homes[route].machine;
        self.ops[tag as usize].phase = HostPhase::Sync;
        if self.caches[machine].sync(tag, route as u32, pages(start, end)) {
            self.submit_to_volume(system, now, tag);
        }
        self.submit_transfers(system, now, machine);
    }

    fn submit_to_volume(&mut self, system: &mut System, now: Nanos, tag: u32) {
        let op = &mut self.ops[tag as usize];
        op.phase = HostPhase::Volume;
        let HostOp { route, request, start, end, .. } = *op;
        if request.kind == RequestKind::Write {
            self.caches[self.homes[route].machine].drop_clean(route as u32, pages(start, end));
        }
        system.arrive(now, route, request);
    }

    /// Handles a completion. Returns true if it completes an operation of a worker.
    pub(crate) fn handle_completion(&mut self, system: &mut System, now: Nanos, id: u32) -> bool {
        if id >= System::HOST_IDS {
            self.finish_task(system, now, id - System::HOST_IDS);
            return false;
        }
        let op = &mut self.ops[id as usize];
        let (cache_client, durable) = (
            op.cache_client as usize,
            self.cache_clients[op.cache_client as usize].buffering_mode.is_some_and(|m| m.durable),
        );
        if op.phase == HostPhase::Copy && durable && op.request.kind == RequestKind::Write {
            op.request = Request { kind: RequestKind::Flush, length: 0, ..op.request };
            self.sync(system, now, id);
            return false;
        }
        self.in_flight -= 1;
        self.start_next(system, now, cache_client);
        true
    }

    /// Starts the next operation of a blocking client.
    fn start_next(&mut self, system: &mut System, now: Nanos, cache_client: usize) {
        let cache_client = &mut self.cache_clients[cache_client];
        match cache_client.queue.pop_front() {
            Some(tag) => self.begin(system, now, tag),
            None => cache_client.serving = false,
        }
    }

    fn finish_task(&mut self, system: &mut System, now: Nanos, task: u32) {
        self.free_tasks.push(task);
        match self.tasks[task as usize] {
            BackgroundTask::ExpiryCheck { machine } => {
                self.checks_scheduled[machine] = false;
                self.caches[machine].look_for_expired(now);
                self.submit_transfers(system, now, machine);
            }
            BackgroundTask::Transfer { machine, transfer } => {
                self.caches[machine].finish(transfer, now, &mut self.resumed);
                self.resume(system, now, machine);
            }
        }
    }

    /// Resumes waiting operations in order, and submits the transfers that they and the cache need.
    fn resume(&mut self, system: &mut System, now: Nanos, machine: usize) {
        let mut index = 0;
        while let Some(&Resumed { op: tag, why }) = self.resumed.get(index) {
            index += 1;
            if why == WakeReason::Synced {
                self.submit_to_volume(system, now, tag);
            } else {
                self.advance(system, now, tag, Some(why));
            }
            if why == WakeReason::Admitted {
                self.caches[machine].admit(now, &mut self.resumed);
            }
        }
        self.resumed.clear();
        self.submit_transfers(system, now, machine);
    }

    /// Submits a cache's transfers to the volumes, and schedules the check for expired dirty pages.
    fn submit_transfers(&mut self, system: &mut System, now: Nanos, machine: usize) {
        while let Some(DeviceTransfer { id, device, kind, offset, length }) = self.caches[machine].next_transfer() {
            let id = self.allocate_task(BackgroundTask::Transfer { machine, transfer: id });
            system.arrive(now, device as usize, Request { id, kind, offset, length });
        }
        if self.caches[machine].has_dirty() && !self.checks_scheduled[machine] {
            self.checks_scheduled[machine] = true;
            let every = self.caches[machine].settings().flusher_every.get().max(1);
            let id = self.allocate_task(BackgroundTask::ExpiryCheck { machine });
            system.enter(Nanos::new((now.get() / every + 1) * every), id);
        }
    }

    /// Allocates an ID for background work.
    fn allocate_task(&mut self, task: BackgroundTask) -> u32 {
        let index = self.free_tasks.pop().unwrap_or_else(|| {
            self.tasks.push(task);
            (self.tasks.len() - 1) as u32
        });
        self.tasks[index as usize] = task;
        System::HOST_IDS + index
    }

    /// Drops the clean cached pages of a file's range; partially covered pages stay.
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

#[derive(Clone, Copy, Debug)]
pub(crate) struct HostWork {
    pub(crate) cache_client: u32,
    pub(crate) file: u32,
    pub(crate) place: ClientPlace,
    pub(crate) request: Request,
}

/// Returns the pages that contain a range of bytes.
fn pages(start: u64, end: u64) -> std::ops::Range<u64> {
    start / PAGE_BYTES..end.div_ceil(PAGE_BYTES)
}
