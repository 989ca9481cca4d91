//! The page cache of a machine, for jobs without `direct=1`.
//!
//! A [`PageCache`] is told of reads, writes and syncs and says how far they come at once, which transfers the volumes
//! have to carry out, and who goes on when one of them has ended. It follows what the kernel documents: windows of
//! readahead ([`ReadaheadStream`]), the thresholds of `Documentation/admin-guide/sysctl/vm.rst`, `posix_fadvise(2)`, and
//! `fsync(2)`.
//!
//! Simplifications: pages are given up in the order of a clock instead of two lists; a writer at the limit stops until
//! there is room, where the kernel slows it down from half-way between the two thresholds on, to the same rate; all
//! memory can hold pages; background write-back is not slowed in favour of reads.
//!
//! What is *not* here: a clock, the time that copying takes, bytes, and whose operations these are.

mod dirty;
mod pages;
mod readahead;
#[cfg(test)]
mod tests;
mod write;

use std::collections::VecDeque;
use std::ops::Range;

use units::{Bytes, Nanos};

use crate::request::RequestKind;
use dirty::DirtyPages;
use pages::{MARK, NONE, PageTable, UPTODATE};
use readahead::ReadaheadWindow;
pub use readahead::{AccessAdvice, ReadaheadStream};
use write::Sync;
pub use write::WriteAdmission;

/// Bytes of a page.
pub const PAGE_BYTES: u64 = 4096;

/// A machine's memory and its ways with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageCacheSettings {
    /// Memory for pages.
    pub memory: Bytes,
    /// `vm.dirty_background_ratio`: write-back begins when this share of memory is dirty, in percent.
    pub dirty_background_percent: u32,
    /// `vm.dirty_ratio`: writers wait when this share of memory is dirty or on its way, in percent.
    pub dirty_percent: u32,
    /// `vm.dirty_expire_centisecs`: what has been dirty for so long is written.
    pub dirty_expire: Nanos,
    /// `vm.dirty_writeback_centisecs`: the interval of looks for expired pages.
    pub flusher_every: Nanos,
    /// `max_sectors_kb`: the largest request to a volume.
    pub request_bytes_max: u32,
    /// Requests of write-back in flight to one volume, at most 64.
    pub writes_in_flight_max: u32,
    /// What a call takes besides copying.
    pub call: Nanos,
    /// Bytes that one processor copies in a second between a job's buffer and pages.
    pub copy_bytes_per_sec: u64,
}

impl Default for PageCacheSettings {
    /// Linux's defaults, on a machine with 8 GiB (assumed). The time of calls and copies was measured with `fathom run`:
    /// one `psync` job that reads a warm file of 256 MiB on a virtual machine; medians of about 0.3 us at 512 bytes, 0.7 us
    /// at 4 KiB, 15.5 us at 128 KiB and 118 us at 1 MiB. 32 requests in flight are assumed: the queue depth of SATA, and
    /// less than NVMe has.
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

/// `read_ahead_kb` of a device, unless a volume says otherwise.
pub const READ_AHEAD: Bytes = Bytes::new(128 << 10);

/// Something that a volume has to do for the cache. It is told of the end by [`PageCache::finish`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceTransfer {
    /// Its name, free again when it has ended.
    pub id: u32,
    /// Which device.
    pub device: u32,
    /// A read or a write.
    pub kind: RequestKind,
    /// Where it begins, in bytes.
    pub offset: u64,
    /// How many bytes.
    pub length: u32,
}

/// Progress of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheStep {
    /// To its end.
    Done,
    /// To this page; it is among those that [`PageCache::finish`] has go on.
    Waits(u64),
}

/// Counters of a page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageCacheCounts {
    /// Reads that have ended.
    pub reads: u64,
    /// Those that did not wait for a volume.
    pub hits: u64,
    /// Bytes that jobs have read.
    pub read_bytes: u64,
    /// Bytes that were read from volumes.
    pub fetched_bytes: u64,
    /// Writes that have ended.
    pub writes: u64,
    /// Those that waited because too much was dirty.
    pub held: u64,
    /// How long they waited for that, all together.
    pub held_ns: u64,
    /// Bytes that jobs have written.
    pub written_bytes: u64,
    /// Bytes that were written to volumes.
    pub written_back_bytes: u64,
}

/// The pages of all devices of a machine.
#[derive(Debug)]
pub struct PageCache {
    settings: PageCacheSettings,
    pages: PageTable,
    dirty: DirtyPages,
    devices: Vec<CachedDevice>,
    flights: Vec<TransferInFlight>,
    flights_free: Vec<u32>,
    /// What the volumes have to be asked for.
    asked: VecDeque<DeviceTransfer>,
    /// The next that waits for the same transfer, by operation.
    behind: Vec<u32>,
    syncs: Vec<Sync>,
    /// Writers that wait for room, and since when.
    held: VecDeque<(u32, Nanos)>,
    dirty_pages: u64,
    writeback_pages: u64,
    counts: PageCacheCounts,
}

/// State of a device in the page cache.
#[derive(Clone, Debug, Default)]
struct CachedDevice {
    dirty_pages: u64,
    /// When the first of them became dirty.
    dirty_since: Option<Nanos>,
    /// How many are to be written because of their age.
    expired: u64,
    /// Where background write-back goes on.
    cursor: u64,
    /// Which of its writes are in flight: a bit each, and the transfers.
    writing: u64,
    writes: Vec<u32>,
}

/// A transfer under way.
#[derive(Clone, Copy, Debug)]
struct TransferInFlight {
    kind: RequestKind,
    device: u32,
    start: u64,
    end: u64,
    /// Its place among the device's writes.
    slot: u32,
    /// Those who wait for it.
    first: u32,
    last: u32,
}

const fn key(device: u32, page: u64) -> u64 {
    (device as u64) << 48 | page
}

impl PageCache {
    /// An empty cache.
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
            asked: VecDeque::new(),
            behind: Vec::new(),
            syncs: Vec::new(),
            held: VecDeque::new(),
            dirty_pages: 0,
            writeback_pages: 0,
            counts: PageCacheCounts::default(),
        }
    }

    /// Its settings.
    #[must_use]
    pub fn settings(&self) -> &PageCacheSettings {
        &self.settings
    }

    /// What it has done.
    #[must_use]
    pub fn counts(&self) -> PageCacheCounts {
        self.counts
    }

    /// How many bytes are dirty or on their way.
    #[must_use]
    pub fn unwritten(&self) -> Bytes {
        Bytes::new((self.dirty_pages + self.writeback_pages) * PAGE_BYTES)
    }

    /// How many bytes it holds.
    #[must_use]
    pub fn held_bytes(&self) -> Bytes {
        Bytes::new(self.pages.len() as u64 * PAGE_BYTES)
    }

    /// The next transfer that the volumes have to carry out.
    pub fn next_transfer(&mut self) -> Option<DeviceTransfer> {
        self.asked.pop_front()
    }

    /// Reads on for operation `op`: `pages` are those that it has not had yet.
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
        self.counts.hits += u64::from(!read.waited);
        self.counts.read_bytes += u64::from(read.bytes);
        CacheStep::Done
    }

    fn request_pages(&self) -> u64 {
        (u64::from(self.settings.request_bytes_max) / PAGE_BYTES).max(1)
    }

    /// A page is not there.
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

    /// A mark is reached.
    fn read_further(&mut self, device: u32, page: u64, wanted: u64, stream: &mut ReadaheadStream) {
        let pages = &self.pages;
        let hole = |most: u64| (page + 1..=page + most).find(|&page| pages.find(key(device, page)).is_none());
        if let Some(window) = stream.reach(page, wanted, self.request_pages(), hole) {
            self.fetch(device, ReadaheadWindow { end: window.end.min(stream.end()), ..window });
        }
    }

    /// Has those pages of a window read that are not there.
    fn fetch(&mut self, device: u32, window: ReadaheadWindow) {
        let most = self.request_pages();
        let mut page = window.start;
        while page < window.end {
            if self.pages.find(key(device, page)).is_some() {
                page += 1;
                continue;
            }
            let start = page;
            let id = self.take_off(RequestKind::Read, device, start);
            while page < window.end && page - start < most && self.pages.find(key(device, page)).is_none() {
                let mark = if window.mark == Some(page) { MARK } else { 0 };
                self.pages.insert(key(device, page), id | mark);
                page += 1;
            }
            self.ask(id, page);
        }
    }

    /// Begins a transfer whose end is not known yet.
    fn take_off(&mut self, kind: RequestKind, device: u32, start: u64) -> u32 {
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

    /// Asks the volumes for a transfer.
    fn ask(&mut self, id: u32, end: u64) {
        let flight = &mut self.flights[id as usize];
        flight.end = end;
        let (start, bytes) = (flight.start, (end - flight.start) * PAGE_BYTES);
        match flight.kind {
            RequestKind::Read => self.counts.fetched_bytes += bytes,
            _ => self.counts.written_back_bytes += bytes,
        }
        let (kind, device) = (flight.kind, flight.device);
        self.asked.push_back(DeviceTransfer { id, device, kind, offset: start * PAGE_BYTES, length: bytes as u32 });
    }

    /// Lets an operation wait for a transfer.
    fn wait_for(&mut self, transfer: u32, op: u32) {
        if self.behind.len() <= op as usize {
            self.behind.resize(op as usize + 1, NONE);
        }
        self.behind[op as usize] = NONE;
        let flight = &mut self.flights[transfer as usize];
        if flight.first == NONE {
            flight.first = op;
        } else {
            self.behind[flight.last as usize] = op;
        }
        flight.last = op;
    }

    /// A transfer has ended. Operations that go on now are appended to `resumed`.
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
            op = self.behind[op as usize];
        }
        self.flights_free.push(transfer);
        if flight.kind == RequestKind::Write {
            self.after_write(&flight, now, resumed);
        }
    }

    /// Forgets the pages of a range that are neither dirty nor in flight.
    pub fn drop_clean(&mut self, device: u32, pages: Range<u64>) {
        self.pages.drop_clean(key(device, pages.start), key(device, pages.end));
    }
}

/// Counts of a read at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Read {
    /// Its bytes.
    pub bytes: u32,
    /// Whether it has waited.
    pub waited: bool,
    /// Whether it ends inside its last page.
    pub ends_inside: bool,
}

/// An operation that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resumed {
    /// Which.
    pub op: u32,
    /// Why.
    pub why: WakeReason,
}

/// Reason why a waiting operation continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeReason {
    /// A page that it waited for is there: go on from where it waits.
    Arrived,
    /// There is room for what it writes, which it may not be refused now.
    Admitted,
    /// Everything of its range is written.
    Synced,
}
