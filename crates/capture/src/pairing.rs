//! Makes requests out of events.
//!
//! Requests come out in the order of their issue, each once it and all earlier ones are completed. One that takes longer
//! than [`LATE_NS`] does not delay the others: it comes out of order when it is completed.

use std::collections::{BTreeMap, HashMap, VecDeque};

use foldhash::fast::RandomState;
use trace::TraceRequest;

use crate::event::{RequestAction, RequestEvent, RequestPlace};

/// Maximum number of requests that wait for an earlier one.
const WINDOW_MAX: usize = 1 << 17;
/// Maximum number of requests that come out of order or were never completed, and of those in a queue.
const OUTSIDE_MAX: usize = 1 << 16;
/// Time after which requests no longer wait for an earlier one.
const LATE_NS: u64 = 10_000_000_000;
/// Number of completions that are kept in case that their issue comes later, and for how long. Processors of a virtual
/// machine may stop between the time of an event and its end.
const ORPHANS_MAX: usize = 1024;
const ORPHAN_NS: u64 = 1_000_000_000;
const NONE: u64 = u64::MAX;

/// Counts of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairingCounts {
    /// Requests that were issued.
    pub issued: u64,
    /// Requests whose issue and completion were seen.
    pub completed: u64,
    /// Requests that were completed, and when was not seen.
    pub untimed: u64,
    /// Completions of requests that were issued before the capture began.
    pub unmatched: u64,
    /// Requests that the driver gave back.
    pub requeued: u64,
    /// Calls that waited for flushes without data. Several may wait for one flush of the device.
    pub flush_waits: u64,
}

#[derive(Clone, Copy, Debug)]
struct IssuedRequest {
    request: TraceRequest,
    /// Bytes that are completed.
    completed: u32,
    is_done: bool,
    /// Whether the driver gave it back: it is issued again as another one.
    is_void: bool,
    place: RequestPlace,
    /// Number of the next request at the same place.
    next: u64,
}

/// A request that is not issued yet.
#[derive(Clone, Copy, Debug)]
struct QueuedRequest {
    since_ns: u64,
    process: u16,
}

/// Pairs issues and completions.
#[derive(Debug, Default)]
pub(crate) struct RequestPairing {
    /// Requests in the order of issue.
    window: VecDeque<IssuedRequest>,
    /// Number of the first request of the window.
    base: u64,
    /// Older requests that are not completed.
    late: BTreeMap<u64, IssuedRequest>,
    /// Oldest request at each place.
    places: HashMap<RequestPlace, u64, RandomState>,
    queued: HashMap<u64, QueuedRequest, RandomState>,
    orphans: VecDeque<RequestEvent>,
    counts: PairingCounts,
    now_ns: u64,
}

impl RequestPairing {
    /// Returns the counts so far.
    pub(crate) fn counts(&self) -> PairingCounts {
        let waiting = self.orphans.len() as u64;
        PairingCounts { unmatched: self.counts.unmatched + waiting, ..self.counts }
    }

    /// Returns the issue of the oldest request that has not come out, apart from late ones.
    pub(crate) fn oldest_ns(&self) -> Option<u64> {
        self.window.front().map(|issued| issued.request.issued_ns)
    }

    /// Adds an event. Events come in the order of their times, apart from exceptions. Returns whether the kernel counts
    /// a completed request of its operation.
    #[inline]
    pub(crate) fn add(&mut self, event: &RequestEvent, out: &mut Vec<TraceRequest>) -> bool {
        self.now_ns = self.now_ns.max(event.time_ns);
        match event.action {
            RequestAction::Issue => self.issue(event, out),
            RequestAction::Complete => return self.complete(event, out),
            RequestAction::Insert => self.insert(event),
            RequestAction::Requeue => self.requeue(event, out),
            RequestAction::Merge => drop(self.take_queued(event.place)),
            RequestAction::FrontMerge => self.merge_in_front(event),
            // Without data, the waiting request has no sector.
            RequestAction::FlushDone => {
                let is_empty = event.place == RequestPlace::Sector(0);
                self.counts.flush_waits += u64::from(is_empty);
                return is_empty;
            }
        }
        false
    }

    fn insert(&mut self, event: &RequestEvent) {
        let RequestPlace::Sector(sector) = event.place else { return };
        if event.request.length == 0 {
            return;
        }
        // Those left were merged or issued unseen.
        if self.queued.len() >= OUTSIDE_MAX {
            self.queued.clear();
        }
        self.queued.insert(sector, QueuedRequest { since_ns: event.time_ns, process: event.request.process });
    }

    fn take_queued(&mut self, place: RequestPlace) -> Option<QueuedRequest> {
        match place {
            RequestPlace::Sector(sector) if !self.queued.is_empty() => self.queued.remove(&sector),
            _ => None,
        }
    }

    fn merge_in_front(&mut self, event: &RequestEvent) {
        let RequestPlace::Sector(sector) = event.place else { return };
        let end = sector.saturating_add(u64::from(event.request.length) / 512);
        if let Some(queued) = self.take_queued(RequestPlace::Sector(end)) {
            self.queued.insert(sector, queued);
        }
    }

    #[inline]
    fn issue(&mut self, event: &RequestEvent, out: &mut Vec<TraceRequest>) {
        self.counts.issued += 1;
        let mut request = TraceRequest { issued_ns: event.time_ns, ..event.request };
        if let Some(queued) = self.take_queued(event.place) {
            request.queued_ns = Some(event.time_ns.saturating_sub(queued.since_ns));
            // A thread of the kernel may issue what a process put into the queue.
            request.process = queued.process;
        }
        let number = self.base + self.window.len() as u64;
        let place = event.place;
        self.window.push_back(IssuedRequest {
            request,
            completed: 0,
            is_done: false,
            is_void: false,
            place,
            next: NONE,
        });
        self.link(place, number);
        if !self.orphans.is_empty() {
            self.adopt(place, out);
        }
        if self.window.len() > WINDOW_MAX || self.now_ns.saturating_sub(self.oldest_ns().unwrap_or(NONE)) > LATE_NS {
            self.advance_beyond_front(out);
        }
    }

    /// Appends a request to those at its place.
    #[inline]
    fn link(&mut self, place: RequestPlace, number: u64) {
        let mut last = *self.places.entry(place).or_insert(number);
        while last != number {
            let Some(issued) = self.get(last) else { return };
            if issued.next == NONE {
                issued.next = number;
                return;
            }
            last = issued.next;
        }
    }

    #[inline]
    fn get(&mut self, number: u64) -> Option<&mut IssuedRequest> {
        match number.checked_sub(self.base) {
            Some(index) => self.window.get_mut(usize::try_from(index).ok()?),
            None => self.late.get_mut(&number),
        }
    }

    /// Finds the request that an event is about: at its place one with the same operation and length, else with the same
    /// operation, else the oldest. Removes it from its place.
    #[inline]
    fn unlink(&mut self, event: &RequestEvent) -> Option<u64> {
        let first = *self.places.get(&event.place)?;
        let (mut best, mut best_before, mut best_rank) = (first, NONE, u8::MAX);
        let (mut number, mut before) = (first, NONE);
        while number != NONE {
            let issued = self.get(number)?;
            let left = issued.request.length - issued.completed.min(issued.request.length);
            let differs = issued.request.operation != event.request.operation;
            let rank = u8::from(differs) << 1 | u8::from(left != event.request.length);
            if rank < best_rank {
                (best, best_before, best_rank) = (number, before, rank);
            }
            if rank == 0 {
                break;
            }
            (before, number) = (number, issued.next);
        }
        let next = std::mem::replace(&mut self.get(best)?.next, NONE);
        match (best_before, next) {
            (NONE, NONE) => drop(self.places.remove(&event.place)),
            (NONE, next) => drop(self.places.insert(event.place, next)),
            (before, next) => self.get(before)?.next = next,
        }
        Some(best)
    }

    /// Completes a request or a part of it. Returns whether nothing of it is left.
    #[inline]
    fn complete(&mut self, event: &RequestEvent, out: &mut Vec<TraceRequest>) -> bool {
        let Some(number) = self.unlink(event).or_else(|| self.unlink_by_end(event)) else {
            self.keep_orphan(event);
            return true;
        };
        let Some(issued) = self.get(number) else { return true };
        let completed = issued.completed.saturating_add(event.request.length);
        if completed < issued.request.length && event.request.length > 0 && !event.request.has_failed {
            issued.completed = completed;
            if let RequestPlace::Sector(sector) = event.place {
                let place = RequestPlace::Sector(sector.saturating_add(u64::from(event.request.length) / 512));
                issued.place = place;
                self.link(place, number);
            }
            return false;
        }
        issued.request.has_failed |= event.request.has_failed;
        issued.request.service_ns = Some(event.time_ns.saturating_sub(issued.request.issued_ns));
        issued.is_done = true;
        self.counts.completed += 1;
        if number < self.base {
            out.extend(self.late.remove(&number).map(|issued| issued.request));
        } else if number == self.base {
            self.advance(out);
        }
        true
    }

    /// Finds the request whose end is at the place of a completion without length: some drivers of bios advance them.
    fn unlink_by_end(&mut self, event: &RequestEvent) -> Option<u64> {
        let RequestPlace::Sector(sector) = event.place else { return None };
        if event.request.length > 0 {
            return None;
        }
        let end = sector.saturating_mul(512);
        let ends_there = |issued: &&IssuedRequest| {
            !issued.is_done
                && !issued.is_void
                && issued.request.operation == event.request.operation
                && issued.request.offset.saturating_add(issued.request.length.into()) == end
        };
        let found = self.window.iter().find(ends_there)?;
        let (place, request) = (found.place, found.request);
        self.unlink(&RequestEvent { place, request, ..*event })
    }

    /// Takes requests that are done from the front.
    #[inline]
    fn advance(&mut self, out: &mut Vec<TraceRequest>) {
        while let Some(first) = self.window.front().filter(|first| first.is_done || first.is_void) {
            if first.is_done {
                out.push(first.request);
            }
            self.window.pop_front();
            self.base += 1;
        }
    }

    /// Goes on without the first request, which is not done.
    fn advance_beyond_front(&mut self, out: &mut Vec<TraceRequest>) {
        self.advance(out);
        if let Some(first) = self.window.pop_front() {
            self.late.insert(self.base, first);
            self.base += 1;
        }
        self.advance(out);
        if self.late.len() > OUTSIDE_MAX
            && let Some((number, oldest)) = self.late.pop_first()
        {
            self.forget(oldest.place, number, oldest.next);
            out.push(oldest.request);
        }
    }

    /// Removes a request that has been taken away from its place.
    fn forget(&mut self, place: RequestPlace, number: u64, next: u64) {
        let Some(first) = self.places.get(&place).copied() else { return };
        if first == number {
            match next {
                NONE => drop(self.places.remove(&place)),
                next => drop(self.places.insert(place, next)),
            }
            return;
        }
        let mut at = first;
        while let Some(issued) = self.get(at) {
            match issued.next {
                NONE => return,
                after if after == number => {
                    issued.next = next;
                    return;
                }
                after => at = after,
            }
        }
    }

    fn requeue(&mut self, event: &RequestEvent, out: &mut Vec<TraceRequest>) {
        let Some(number) = self.unlink(event) else { return };
        self.counts.requeued += 1;
        self.counts.issued = self.counts.issued.saturating_sub(1);
        let Some(issued) = self.get(number) else { return };
        issued.is_void = true;
        let request = issued.request;
        let since_ns = request.issued_ns.saturating_sub(request.queued_ns.unwrap_or(0));
        if let RequestPlace::Sector(sector) = event.place {
            self.queued.insert(sector, QueuedRequest { since_ns, process: request.process });
        }
        self.late.remove(&number);
        self.advance(out);
    }

    /// Keeps a completion without an issue.
    fn keep_orphan(&mut self, event: &RequestEvent) {
        while self.orphans.len() >= ORPHANS_MAX
            || self.orphans.front().is_some_and(|orphan| orphan.time_ns.saturating_add(ORPHAN_NS) < event.time_ns)
        {
            self.orphans.pop_front();
            self.counts.unmatched += 1;
        }
        self.orphans.push_back(*event);
    }

    /// Completes a request whose completion came before its issue.
    fn adopt(&mut self, place: RequestPlace, out: &mut Vec<TraceRequest>) {
        let Some(newest) = self.window.back() else { return };
        let request = newest.request;
        let is_its = |orphan: &RequestEvent| {
            orphan.place == place
                && orphan.request.length == request.length
                && orphan.request.operation == request.operation
                && orphan.time_ns >= request.issued_ns
        };
        if let Some(index) = self.orphans.iter().position(is_its)
            && let Some(orphan) = self.orphans.remove(index)
        {
            self.complete(&orphan, out);
        }
    }

    /// Ends: the requests in flight come out without service times.
    pub(crate) fn finish(&mut self, out: &mut Vec<TraceRequest>) {
        out.extend(std::mem::take(&mut self.late).into_values().map(|issued| issued.request));
        out.extend(self.window.drain(..).filter(|issued| !issued.is_void).map(|issued| issued.request));
        self.counts.unmatched += self.orphans.len() as u64;
        self.orphans.clear();
        self.places.clear();
    }
}

#[cfg(test)]
#[path = "pairing_tests.rs"]
mod tests;
