//! The page cache of a machine, for jobs without `direct=1`.
//!
//! A [`PageCache`] processes reads, writes and syncs. It reports how far each proceeds at once, which transfers the
//! volumes must carry out, and which operations resume when a transfer ends. It follows the kernel's documentation:
//! readahead windows ([`ReadaheadStream`]), the thresholds of `Documentation/admin-guide/sysctl/vm.rst`,
//! `posix_fadvise(2)`, and `fsync(2)`.
//!
//! Simplifications: clock eviction replaces the kernel's two lists; a writer at the limit stops until it is admitted,
//! where the kernel slows it down from half-way between the two thresholds on, to the same rate; all memory can hold
//! pages; background write-back is not slowed in favour of reads.
//!
//! The caller provides the clock, the time of copies and the operations; no data are stored.

mod pages;
mod readahead;
#[cfg(test)]
mod tests;
mod write;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};

use crate::request::RequestKind;
use pages::{MARK, NONE, PageTable, UPTODATE};
use readahead::ReadaheadWindow;
pub use readahead::{AccessAdvice, ReadaheadStream};
use write::Sync;
pub use write::WriteAdmission;

/// Page size in bytes.
pub const PAGE_BYTES: u64 = 4096;

/// Memory and write-back settings of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageCacheSettings {
    /// Memory for pages.
    pub memory: Bytes,
    /// `vm.dirty_background_ratio`: percentage of dirty memory at which write-back begins.
    pub dirty_background_percent: u32,
    /// `vm.dirty_ratio`: percentage of memory dirty or under write-back at which writers wait.
    pub dirty_percent: u32,
    /// `vm.dirty_expire_centisecs`: age at which dirty pages are written.
    pub dirty_expire: Nanos,
    /// `vm.dirty_writeback_centisecs`: interval of checks for expired pages.
    pub flusher_every: Nanos,
    /// `max_sectors_kb`: size of the largest request to a volume.
    pub request_bytes_max: u32,
    /// Write-back requests in flight per volume, at most 64.
    pub writes_in_flight_max: u32,
    /// Duration of a call besides copying.
    pub call: Nanos,
    /// Bytes per second that one CPU copies between a job's buffer and pages.
    pub copy_bytes_per_sec: u64,
}

impl Default for PageCacheSettings {
    /// Linux's defaults, on a machine with 8 GiB (assumed). The times of calls and copies were measured with `fathom
    /// run`: one `psync` job that reads a warm file of 256 MiB on a virtual machine; medians of about 0.3 us at 512
    /// bytes, 0.7 us at 4 KiB, 15.5 us at 128 KiB and 118 us at 1 MiB. 32 requests in flight are assumed: the queue
    /// depth of SATA, and less than that of NVMe.
    fn default() -> Self {
        Self {
            memory: Bytes::new(8 << 30),
            dirty_background_percent: 10,
            dirty_percent: 20,
            dirty_expire: Nanos::from_secs(30),
            flusher_every: Nanos::from_secs(5),
            request_bytes_max: 1280 << 10,
            writes_in_flight_max: 32,
            call: Nanos::new(250),
            copy_bytes_per_sec: 9_000_000_000,
        }
    }
}

/// Default `read_ahead_kb` of a device.
pub const READ_AHEAD: Bytes = Bytes::new(128 << 10);

/// A transfer between cache and volume. The caller reports its end with [`PageCache::finish`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceTransfer {
    /// ID, reused once the transfer has ended.
    pub id: u32,
    /// Index of the device.
    pub device: u32,
    /// Read or write.
    pub kind: RequestKind,
    /// Offset in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub length: u32,
}

/// Progress of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheStep {
    /// The operation has completed.
    Done,
    /// The operation waits at this page; [`PageCache::finish`] resumes it.
    Waits(u64),
}

/// Activity of a machine's page cache.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PageCacheCounts {
    /// Name of the machine.
    pub host: String,
    /// Memory of the machine in bytes.
    pub memory_bytes: u64,
    /// Reads through the cache.
    pub reads: u64,
    /// Reads that did not wait for a volume.
    pub read_hits: u64,
    /// Bytes that jobs read from the cache.
    pub read_bytes: u64,
    /// Bytes that the cache read from volumes.
    pub fetched_bytes: u64,
    /// Writes through the cache.
    pub writes: u64,
    /// Writes that were throttled because too much was dirty.
    pub writes_held: u64,
    /// Total time of that throttling in nanoseconds.
    pub held_ns: u64,
    /// Bytes that jobs wrote to the cache.
    pub written_bytes: u64,
    /// Bytes that the cache wrote to volumes.
    pub written_back_bytes: u64,
    /// Bytes still dirty at the end.
    pub unwritten_bytes: u64,
}

/// Page cache of a machine, with the pages of all its devices.
#[derive(Debug)]
pub struct PageCache {
    settings: PageCacheSettings,
    pages: PageTable,
    dirty: DirtyPages,
    devices: Vec<CachedDevice>,
    flights: Vec<TransferInFlight>,
    flights_free: Vec<u32>,
    /// Transfers that the caller has not taken yet.
    queued: VecDeque<DeviceTransfer>,
    /// Next operation that waits for the same transfer, by operation.
    next_waiter: Vec<u32>,
    syncs: Vec<Sync>,
    /// Throttled writers, and since when.
    throttled: VecDeque<(u32, Nanos)>,
    dirty_pages: u64,
    writeback_pages: u64,
    counts: PageCacheCounts,
}

#[derive(Clone, Debug, Default)]
struct CachedDevice {
    dirty_pages: u64,
    /// When the first of them became dirty.
    dirty_since: Option<Nanos>,
    /// Number of pages to be written because of their age.
    expired: u64,
    /// Page at which background write-back continues.
    cursor: u64,
    /// Write-back slots in use, one bit each, and their transfers.
    writing: u64,
    writes: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct TransferInFlight {
    kind: RequestKind,
    device: u32,
    start: u64,
    end: u64,
    /// Its write-back slot of the device.
    slot: u32,
    /// First and last operation that wait for it.
    first: u32,
    last: u32,
}

const fn key(device: u32, page: u64) -> u64 {
    (device as u64) << 48 | page
}

impl PageCache {
    /// Creates an empty cache.
    #[must_use]
    pub fn new(settings: PageCacheSettings) -> Self {
        let pages = (settings.memory.get() / PAGE_BYTES).clamp(1, u64::from(u32::MAX / 2));
        Self {
            pages: PageTable::new(pages as usize),
            settings: PageCacheSettings {
                writes_in_flight_max: settings.writes_in_flight_max.clamp(1, 64),
                ..settings
            },
            dirty: DirtyPages::default(),
            devices: Vec::new(),
            flights: Vec::new(),
            flights_free: Vec::new(),
            queued: VecDeque::new(),
            next_waiter: Vec::new(),
            syncs: Vec::new(),
            throttled: VecDeque::new(),
            dirty_pages: 0,
            writeback_pages: 0,
            counts: PageCacheCounts::default(),
        }
    }

    #[must_use]
    pub fn settings(&self) -> &PageCacheSettings {
        &self.settings
    }

    /// Returns the counts without the name of the machine.
    #[must_use]
    pub fn counts(&self) -> PageCacheCounts {
        PageCacheCounts {
            memory_bytes: self.settings.memory.get(),
            unwritten_bytes: self.unwritten().get(),
            ..self.counts.clone()
        }
    }

    /// Returns the bytes that are dirty or under write-back.
    #[must_use]
    pub fn unwritten(&self) -> Bytes {
        Bytes::new((self.dirty_pages + self.writeback_pages) * PAGE_BYTES)
    }

    #[must_use]
    pub fn held_bytes(&self) -> Bytes {
        Bytes::new(self.pages.len() as u64 * PAGE_BYTES)
    }

    /// Returns the next transfer that a volume must carry out.
    pub fn next_transfer(&mut self) -> Option<DeviceTransfer> {
        self.queued.pop_front()
    }

    /// Starts or continues a read of operation `op`; `pages` are those it has not read yet.
    pub fn read(
        &mut self,
        op: u32,
        device: u32,
        pages: Range<u64>,
        stream: &mut ReadaheadStream,
        read: Read,
    ) -> CacheStep {
        let mut page = pages.start;
        while page < pages.end {
            let Some(at) = self.pages.find(key(device, page)) else {
                self.read_ahead(device, page, pages.end - page, stream);
                continue;
            };
            let state = self.pages.state(at);
            if state & MARK != 0 {
                self.pages.change(at, MARK, 0);
                self.read_further(device, page, pages.end - page, stream);
                continue;
            }
            if state & UPTODATE == 0 {
                self.wait_for(self.pages.transfer(at), op);
                return CacheStep::Waits(page);
            }
            self.pages.touch(at);
            page += 1;
        }
        stream.has_read(pages.end - u64::from(read.ends_inside));
        self.counts.reads += 1;
        self.counts.read_hits += u64::from(!read.waited);
        self.counts.read_bytes += u64::from(read.bytes);
        CacheStep::Done
    }

    fn request_pages(&self) -> u64 {
        (u64::from(self.settings.request_bytes_max) / PAGE_BYTES).max(1)
    }

    /// Starts readahead for a missing page.
    fn read_ahead(&mut self, device: u32, page: u64, wanted: u64, stream: &mut ReadaheadStream) {
        let pages = &self.pages;
        let before = |most: u64| {
            (0..most.min(page)).take_while(|back| pages.find(key(device, page - 1 - back)).is_some()).count() as u64
        };
        let window = stream.miss(page, wanted, self.request_pages(), before);
        self.fetch(device, window);
        if self.pages.find(key(device, page)).is_none() {
            self.fetch(device, ReadaheadWindow { start: page, end: page + 1, mark: None });
        }
    }

    /// Starts the next readahead window when its mark is reached.
    fn read_further(&mut self, device: u32, page: u64, wanted: u64, stream: &mut ReadaheadStream) {
        let pages = &self.pages;
        let hole = |most: u64| (page + 1..=page + most).find(|&page| pages.find(key(device, page)).is_none());
        if let Some(window) = stream.reach(page, wanted, self.request_pages(), hole) {
            self.fetch(device, ReadaheadWindow { end: window.end.min(stream.end()), ..window });
        }
    }

    /// Starts reads of the missing pages of a window.
    fn fetch(&mut self, device: u32, window: ReadaheadWindow) {
        let most = self.request_pages();
        let mut page = window.start;
        while page < window.end {
            if self.pages.find(key(device, page)).is_some() {
                page += 1;
                continue;
            }
            let start = page;
            let id = self.begin_transfer(RequestKind::Read, device, start);
            while page < window.end && page - start < most && self.pages.find(key(device, page)).is_none() {
                let mark = if window.mark == Some(page) { MARK } else { 0 };
                self.pages.insert(key(device, page), id | mark);
                page += 1;
            }
            self.queue_transfer(id, page);
        }
    }

    /// Starts a transfer whose end is unknown yet.
    fn begin_transfer(&mut self, kind: RequestKind, device: u32, start: u64) -> u32 {
        let flight = TransferInFlight { kind, device, start, end: start, slot: 0, first: NONE, last: NONE };
        match self.flights_free.pop() {
            Some(id) => {
                self.flights[id as usize] = flight;
                id
            }
            None => {
                self.flights.push(flight);
                (self.flights.len() - 1) as u32
            }
        }
    }

    /// Queues a transfer for its volume.
    fn queue_transfer(&mut self, id: u32, end: u64) {
        let flight = &mut self.flights[id as usize];
        flight.end = end;
        let (start, bytes) = (flight.start, (end - flight.start) * PAGE_BYTES);
        match flight.kind {
            RequestKind::Read => self.counts.fetched_bytes += bytes,
            _ => self.counts.written_back_bytes += bytes,
        }
        let (kind, device) = (flight.kind, flight.device);
        self.queued.push_back(DeviceTransfer { id, device, kind, offset: start * PAGE_BYTES, length: bytes as u32 });
    }

    fn wait_for(&mut self, transfer: u32, op: u32) {
        if self.next_waiter.len() <= op as usize {
            self.next_waiter.resize(op as usize + 1, NONE);
        }
        self.next_waiter[op as usize] = NONE;
        let flight = &mut self.flights[transfer as usize];
        if flight.first == NONE {
            flight.first = op;
        } else {
            self.next_waiter[flight.last as usize] = op;
        }
        flight.last = op;
    }

    /// Completes a transfer. Operations that can continue are appended to `resumed`.
    pub fn finish(&mut self, transfer: u32, now: Nanos, resumed: &mut Vec<Resumed>) {
        let flight = self.flights[transfer as usize];
        if flight.kind == RequestKind::Read {
            for page in flight.start..flight.end {
                if let Some(at) = self.pages.find(key(flight.device, page)) {
                    self.pages.change(at, pages::TRANSFER, UPTODATE);
                }
            }
        } else {
            self.written(&flight);
        }
        let mut op = flight.first;
        while op != NONE {
            resumed.push(Resumed { op, why: WakeReason::Arrived });
            op = self.next_waiter[op as usize];
        }
        self.flights_free.push(transfer);
        if flight.kind == RequestKind::Write {
            self.after_write(&flight, now, resumed);
        }
    }

    /// Drops the pages of a range that are neither dirty nor in flight.
    pub fn drop_clean(&mut self, device: u32, pages: Range<u64>) {
        self.pages.drop_clean(key(device, pages.start), key(device, pages.end));
    }
}

/// Size and history of a read, counted when it completes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Read {
    pub bytes: u32,
    /// Whether the read has waited for a volume.
    pub waited: bool,
    /// Whether the read ends inside its last page.
    pub ends_inside: bool,
}

/// An operation that can continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resumed {
    /// ID of the operation.
    pub op: u32,
    pub why: WakeReason,
}

/// Reason why a waiting operation continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeReason {
    /// The page it waited for is present: continue from there.
    Arrived,
    /// The write is admitted and must not be throttled again.
    Admitted,
    /// All pages of the synced range are written.
    Synced,
}

const WORD_BITS: u32 = 6;

/// A sparse bit map in words of 64 pages: its size depends on the dirty pages, not on the device.
#[derive(Debug, Default)]
struct DirtyPages {
    words: BTreeMap<u64, u64>,
}

impl DirtyPages {
    fn insert(&mut self, key: u64) {
        *self.words.entry(key >> WORD_BITS).or_default() |= bit(key);
    }

    fn remove(&mut self, key: u64) {
        let word = key >> WORD_BITS;
        if let Some(bits) = self.words.get_mut(&word) {
            *bits &= !bit(key);
            if *bits == 0 {
                self.words.remove(&word);
            }
        }
    }

    fn first(&self, from: u64, to: u64) -> Option<u64> {
        if from >= to {
            return None;
        }
        let word = from >> WORD_BITS;
        self.words.range(word..=(to - 1) >> WORD_BITS).find_map(|(&at, &bits)| {
            let bits = if at == word { bits & (u64::MAX << (from & 63)) } else { bits };
            let key = at << WORD_BITS | u64::from(bits.trailing_zeros());
            (bits != 0 && key < to).then_some(key)
        })
    }
}

const fn bit(key: u64) -> u64 {
    1 << (key & 63)
}
