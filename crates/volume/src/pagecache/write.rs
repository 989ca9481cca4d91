//! Dirty pages: limits and write-back.

use std::ops::Range;

use units::Nanos;

use super::pages::{DIRTY, NONE, TRANSFER, UPTODATE, WRITEBACK};
use super::readahead::ReadaheadWindow;
use super::{CacheStep, CachedDevice, PAGE_BYTES, PageCache, Resumed, TransferInFlight, WakeReason, key};
use crate::request::RequestKind;

/// A sync that waits until a range is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sync {
    op: u32,
    device: u32,
    /// All dirty pages before this one are under write-back.
    cursor: u64,
    end: u64,
    /// Write-back slots that it waits for, one bit each.
    awaits: u64,
}

impl PageCache {
    /// Starts or continues a write of operation `op`: `from` is `None` at first, then the page at which it waits. An
    /// open `gate` skips throttling. Partially written pages must be read first.
    pub fn write(
        &mut self,
        op: u32,
        device: u32,
        bytes: Range<u64>,
        from: Option<u64>,
        gate: WriteAdmission,
    ) -> CacheStep {
        self.ensure_device(device);
        let pages = bytes.start / PAGE_BYTES..bytes.end.div_ceil(PAGE_BYTES);
        if let WriteAdmission::Closed { now } = gate
            && !self.may_write()
        {
            self.throttled.push_back((op, now));
            self.write_back_all();
            return CacheStep::Waits(pages.start);
        }
        let whole = |page: u64| page * PAGE_BYTES >= bytes.start && (page + 1) * PAGE_BYTES <= bytes.end;
        for page in from.unwrap_or(pages.start)..pages.end {
            let key = key(device, page);
            let at = match self.pages.find(key) {
                Some(at) if self.pages.state(at) & UPTODATE == 0 => {
                    self.wait_for(self.pages.transfer(at), op);
                    return CacheStep::Waits(page);
                }
                Some(at) => at,
                None if whole(page) => self.pages.insert(key, UPTODATE),
                None => {
                    self.fetch(device, ReadaheadWindow { start: page, end: page + 1, mark: None });
                    if let Some(at) = self.pages.find(key) {
                        self.wait_for(self.pages.state(at) & TRANSFER, op);
                    }
                    return CacheStep::Waits(page);
                }
            };
            self.mark_dirty(device, page, at, gate.now());
        }
        self.counts.writes += 1;
        self.counts.written_bytes += bytes.end - bytes.start;
        self.write_back(device);
        CacheStep::Done
    }

    fn ensure_device(&mut self, device: u32) {
        if self.devices.len() <= device as usize {
            self.devices.resize(device as usize + 1, CachedDevice::default());
        }
    }

    fn mark_dirty(&mut self, device: u32, page: u64, at: u32, now: Nanos) {
        self.pages.touch(at);
        if self.pages.state(at) & DIRTY != 0 {
            return;
        }
        self.pages.change(at, 0, DIRTY);
        self.dirty.insert(key(device, page));
        self.dirty_pages += 1;
        let device = &mut self.devices[device as usize];
        device.dirty_pages += 1;
        device.dirty_since.get_or_insert(now);
    }

    fn percent_of_memory(&self, percent: u32) -> u64 {
        self.settings.memory.get() / PAGE_BYTES * u64::from(percent) / 100
    }

    fn dirty_limit(&self) -> u64 {
        self.percent_of_memory(self.settings.dirty_percent).max(1)
    }

    /// Returns the background threshold. As in `vm.rst`, one at or above the limit counts as half the limit.
    fn background(&self) -> u64 {
        let background = self.percent_of_memory(self.settings.dirty_background_percent);
        if background < self.dirty_limit() { background } else { self.dirty_limit() / 2 }
    }

    /// Reports whether a writer may proceed: no other writer waits, and the limit is not reached. One write may exceed
    /// it.
    fn may_write(&self) -> bool {
        self.throttled.is_empty() && self.is_below_limit()
    }

    fn is_below_limit(&self) -> bool {
        self.dirty_pages + self.writeback_pages < self.dirty_limit()
    }

    /// Reports whether pages are written back without a sync.
    fn is_flushing(&self, device: u32) -> bool {
        self.dirty_pages > self.background() || !self.throttled.is_empty() || self.devices[device as usize].expired > 0
    }

    fn write_back_all(&mut self) {
        for device in 0..self.devices.len() as u32 {
            self.write_back(device);
        }
    }

    /// Starts as many writes of a device as may be in flight: those that syncs wait for, then others.
    fn write_back(&mut self, device: u32) {
        if self.devices[device as usize].dirty_pages == 0 && self.syncs.is_empty() {
            return;
        }
        let most = self.settings.writes_in_flight_max;
        for index in 0..self.syncs.len() {
            while self.devices[device as usize].writing.count_ones() < most && self.syncs[index].device == device {
                if !self.write_for_sync(index) {
                    break;
                }
            }
        }
        while self.devices[device as usize].writing.count_ones() < most && self.is_flushing(device) {
            if !self.write_next(device) {
                break;
            }
        }
    }

    /// Starts the next write of a sync; returns false if there is none, or none yet.
    fn write_for_sync(&mut self, index: usize) -> bool {
        let Sync { device, cursor, end, .. } = self.syncs[index];
        let Some(first) = self.dirty.first(key(device, cursor), key(device, end)) else {
            self.syncs[index].cursor = end;
            return false;
        };
        let page = first - key(device, 0);
        self.syncs[index].cursor = page;
        if !self.is_writable(device, page) {
            return false;
        }
        let written = self.write_run(device, page, end);
        self.syncs[index].cursor = written;
        true
    }

    /// Starts the next background write, cycling through the device.
    fn write_next(&mut self, device: u32) -> bool {
        let cursor = self.devices[device as usize].cursor;
        let base = key(device, 0);
        for range in [base + cursor..base + (1 << 48), base..base + cursor] {
            let mut from = range.start;
            while let Some(first) = self.dirty.first(from, range.end) {
                let page = first - base;
                if self.is_writable(device, page) {
                    let end = self.write_run(device, page, 1 << 48);
                    let device = &mut self.devices[device as usize];
                    device.cursor = end;
                    device.expired = device.expired.saturating_sub(end - page);
                    return true;
                }
                from = first + 1;
            }
        }
        false
    }

    /// Reports whether a page is dirty and not under write-back.
    fn is_writable(&self, device: u32, page: u64) -> bool {
        let at = self.pages.find(key(device, page));
        at.is_some_and(|at| self.pages.state(at) & (DIRTY | WRITEBACK) == DIRTY)
    }

    /// Starts a write of a page and the dirty pages after it, as far as one request can hold them. Returns its end.
    fn write_run(&mut self, device: u32, start: u64, most: u64) -> u64 {
        let id = self.begin_transfer(RequestKind::Write, device, start);
        let most = most.min(start + self.request_pages());
        let mut page = start;
        while page < most {
            let at = self.pages.find(key(device, page));
            let Some(at) = at.filter(|&at| self.pages.state(at) & (DIRTY | WRITEBACK) == DIRTY) else { break };
            self.pages.change(at, DIRTY, WRITEBACK);
            self.dirty.remove(key(device, page));
            page += 1;
        }
        let count = page - start;
        self.dirty_pages -= count;
        self.writeback_pages += count;
        let known = &mut self.devices[device as usize];
        known.dirty_pages -= count;
        if known.dirty_pages == 0 {
            (known.dirty_since, known.expired) = (None, 0);
        }
        let slot = known.writing.trailing_ones();
        known.writing |= 1 << slot;
        if known.writes.len() <= slot as usize {
            known.writes.resize(slot as usize + 1, NONE);
        }
        known.writes[slot as usize] = id;
        self.flights[id as usize].slot = slot;
        for sync in self.syncs.iter_mut().filter(|sync| sync.device == device) {
            if sync.cursor < page && start < sync.end {
                sync.awaits |= 1 << slot;
            }
        }
        self.queue_transfer(id, page);
        page
    }

    /// Clears the write-back state of pages that have reached their volume.
    pub(super) fn written(&mut self, flight: &TransferInFlight) {
        for page in flight.start..flight.end {
            if let Some(at) = self.pages.find(key(flight.device, page)) {
                self.pages.change(at, WRITEBACK, 0);
            }
        }
        self.writeback_pages -= flight.end - flight.start;
        self.devices[flight.device as usize].writing &= !(1 << flight.slot);
        for sync in self.syncs.iter_mut().filter(|sync| sync.device == flight.device) {
            sync.awaits &= !(1 << flight.slot);
        }
    }

    /// Continues what the end of a write allows: more writes, completed syncs, throttled writers.
    pub(super) fn after_write(&mut self, flight: &TransferInFlight, now: Nanos, resumed: &mut Vec<Resumed>) {
        self.write_back(flight.device);
        let device = flight.device;
        self.syncs.retain(|sync| {
            let done = sync.device == device && sync.awaits == 0 && sync.cursor >= sync.end;
            if done {
                resumed.push(Resumed { op: sync.op, why: WakeReason::Synced });
            }
            !done
        });
        self.admit(now, resumed);
    }

    /// Admits the next writer if the limit allows. Its pages are dirty only once it has continued: call this again
    /// then.
    pub fn admit(&mut self, now: Nanos, resumed: &mut Vec<Resumed>) {
        if self.is_below_limit()
            && let Some((op, since)) = self.throttled.pop_front()
        {
            self.counts.writes_held += 1;
            self.counts.held_ns += now.since(since).get();
            resumed.push(Resumed { op, why: WakeReason::Admitted });
        }
    }

    /// Starts writing all dirty pages of a range. Returns true if there were none; does not flush the volume.
    pub fn sync(&mut self, op: u32, device: u32, pages: Range<u64>) -> bool {
        self.ensure_device(device);
        let known = &self.devices[device as usize];
        let mut awaits = 0;
        for (slot, &id) in known.writes.iter().enumerate() {
            let Some(flight) = self.flights.get(id as usize).filter(|_| known.writing >> slot & 1 == 1) else {
                continue;
            };
            if flight.start < pages.end && pages.start < flight.end {
                awaits |= 1 << slot;
            }
        }
        let first = self.dirty.first(key(device, pages.start), key(device, pages.end));
        if awaits == 0 && first.is_none() {
            return true;
        }
        self.syncs.push(Sync { op, device, cursor: pages.start, end: pages.end, awaits });
        // Write-back may only have to notice that the rest is in flight.
        if first.is_none() {
            self.syncs.last_mut().into_iter().for_each(|sync| sync.cursor = sync.end);
        }
        self.write_back(device);
        false
    }

    /// Reports whether any page of a range may be dirty or under write-back.
    #[must_use]
    pub fn is_unwritten(&self, device: u32, pages: Range<u64>) -> bool {
        let Some(known) = self.devices.get(device as usize) else { return false };
        known.writing != 0 || self.dirty.first(key(device, pages.start), key(device, pages.end)).is_some()
    }

    /// Drops the pages of a trimmed range, dirty or not. Transfers in flight continue.
    pub fn discard(&mut self, device: u32, pages: Range<u64>) {
        self.ensure_device(device);
        let (base, end) = (key(device, 0), key(device, pages.end));
        let mut from = base + pages.start;
        while let Some(first) = self.dirty.first(from, end) {
            if let Some(at) = self.pages.find(first) {
                self.pages.change(at, DIRTY, 0);
            }
            self.dirty.remove(first);
            self.dirty_pages -= 1;
            self.devices[device as usize].dirty_pages -= 1;
            from = first + 1;
        }
        if self.devices[device as usize].dirty_pages == 0 {
            (self.devices[device as usize].dirty_since, self.devices[device as usize].expired) = (None, 0);
        }
        self.drop_clean(device, pages);
    }

    /// Writes pages that have been dirty for too long. Call it every
    /// [`flusher_every`](super::PageCacheSettings::flusher_every) while [`PageCache::has_dirty`] holds.
    pub fn look_for_expired(&mut self, now: Nanos) {
        for device in 0..self.devices.len() as u32 {
            let expire = self.settings.dirty_expire;
            let known = &mut self.devices[device as usize];
            if known.dirty_since.is_some_and(|since| since + expire <= now) {
                known.expired = known.dirty_pages;
                known.dirty_since = Some(now);
                self.write_back(device);
            }
        }
    }

    /// Reports whether any page is dirty.
    #[must_use]
    pub fn has_dirty(&self) -> bool {
        self.dirty_pages > 0
    }
}

/// Whether a write may be throttled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteAdmission {
    /// It may be throttled.
    Closed {
        /// Current time.
        now: Nanos,
    },
    /// It has been admitted.
    Open {
        /// Current time.
        now: Nanos,
    },
}

impl WriteAdmission {
    const fn now(self) -> Nanos {
        match self {
            Self::Closed { now } | Self::Open { now } => now,
        }
    }
}
