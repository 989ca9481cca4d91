//! Events of the block layer, and the requests that they are about.

use std::collections::{BTreeMap, BTreeSet};

use crate::{TraceOperation, TraceRequest};

/// Maximum number of requests in flight or in a queue. With more, the older half is taken as never completed.
const PENDING_MAX: usize = 1 << 16;

/// What happened to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum BlockAction {
    /// `Q`: a bio was submitted.
    Queue,
    /// `M`, `F`: the bio became a part of an earlier request.
    Merge,
    /// `I`: the scheduler took it.
    Insert,
    /// `D`: the driver took it.
    Issue,
    /// `R`: the driver gave it back.
    Requeue,
    /// `C`: it is completed.
    Complete,
    /// `A`: the request of a device above became one of the device below, such as a disk of the device mapper. The event is
    /// about the one above.
    Remap,
}

/// An event. Its request says what is known: operation, flags, offset, length, process and device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockEvent {
    pub(crate) time_ns: u64,
    pub(crate) action: BlockAction,
    pub(crate) request: TraceRequest,
}

/// A request that is not completed.
#[derive(Clone, Copy, Debug)]
struct PendingRequest {
    request: TraceRequest,
    queued_ns: Option<u64>,
    inserted_ns: Option<u64>,
    issued_ns: Option<u64>,
    /// Number of bytes that are completed.
    completed: u32,
}

impl PendingRequest {
    fn new(request: TraceRequest) -> Self {
        Self { request, queued_ns: None, inserted_ns: None, issued_ns: None, completed: 0 }
    }

    fn started_ns(&self) -> u64 {
        self.inserted_ns.or(self.queued_ns).or(self.issued_ns).unwrap_or(0)
    }
}

/// Makes requests out of events.
///
/// The issue is `D`, the time in the queue is from `I` to `D`, the service from `D` to `C`. Devices without requests of
/// their own, such as those of the device mapper, have only `Q` and `C`: there the issue is `Q`. So it is if neither
/// `D` nor `C` were traced. Requests come out in the order of their completion.
#[derive(Debug, Default)]
pub(crate) struct EventPairing {
    /// By device, and sector or what is left of the request.
    pending: BTreeMap<(u16, u64), Vec<PendingRequest>>,
    count: usize,
    /// Whether there were other events than `Q`.
    has_issues: bool,
    /// Number of completions without a request: it was issued before the trace began.
    unmatched: u64,
    /// Devices whose requests are remapped to others, where they count.
    remapped: BTreeSet<u16>,
}

impl EventPairing {
    /// Returns the number of completions whose issue is not in the trace.
    pub(crate) fn unmatched(&self) -> u64 {
        self.unmatched
    }

    /// Adds an event, with times of its trace; requests have them too.
    pub(crate) fn add(&mut self, event: &BlockEvent, requests: &mut Vec<TraceRequest>) {
        let given = &event.request;
        match event.action {
            BlockAction::Queue => {
                self.push(
                    PendingRequest { queued_ns: Some(event.time_ns), ..PendingRequest::new(*given) },
                    given.offset,
                    requests,
                );
            }
            BlockAction::Merge => drop(self.take(given, |flight| {
                flight.issued_ns.is_none() && flight.inserted_ns.is_none() && flight.request.length == given.length
            })),
            BlockAction::Insert => {
                let mut flight = self.waiting(given);
                flight.inserted_ns = flight.inserted_ns.or(Some(event.time_ns));
                self.push(flight, given.offset, requests);
            }
            BlockAction::Issue => {
                self.has_issues = true;
                let mut flight = self.waiting(given);
                flight.issued_ns = Some(event.time_ns);
                self.push(flight, given.offset, requests);
            }
            BlockAction::Requeue => {
                if let Some(mut flight) = self.take(given, |flight| flight.issued_ns.is_some()) {
                    flight.issued_ns = None;
                    self.push(flight, given.offset, requests);
                }
            }
            BlockAction::Remap => {
                self.remapped.insert(given.device);
                self.take(given, |_| true);
            }
            BlockAction::Complete => self.complete(event, requests),
        }
    }

    fn complete(&mut self, event: &BlockEvent, requests: &mut Vec<TraceRequest>) {
        let given = &event.request;
        let issued = self.take(given, |flight| flight.issued_ns.is_some());
        let Some(mut flight) = issued.or_else(|| self.take(given, |flight| flight.queued_ns.is_some())) else {
            // A flush without data has a second completion: of the request that it was made for.
            self.unmatched += u64::from(given.length > 0 && !self.remapped.contains(&given.device));
            return;
        };
        self.has_issues = true;
        flight.request.has_failed |= given.has_failed;
        let completed = flight.completed.saturating_add(given.length);
        if completed < flight.request.length && given.length > 0 && !given.has_failed {
            flight.completed = completed;
            self.push(flight, given.offset.saturating_add(given.length.into()), requests);
            return;
        }
        requests.push(of_pending(&flight, Some(event.time_ns)));
    }

    /// Returns the request that waits to be inserted or issued; it takes the length that it has now.
    fn waiting(&mut self, given: &TraceRequest) -> PendingRequest {
        let Some(mut flight) = self.take(given, |flight| flight.issued_ns.is_none()) else {
            return PendingRequest::new(*given);
        };
        // The event may come from a thread of the kernel, but the process is the one of the bio.
        flight.request = TraceRequest { process: flight.request.process, ..*given };
        flight
    }

    fn push(&mut self, flight: PendingRequest, offset: u64, requests: &mut Vec<TraceRequest>) {
        self.pending.entry((flight.request.device, offset)).or_default().push(flight);
        self.count += 1;
        if self.count > PENDING_MAX {
            self.expire(PENDING_MAX / 2, requests);
        }
    }

    /// Takes the request at the offset of another to which `is_meant` applies: one with the same operation and length
    /// if there is any, else one with the same operation, else the oldest.
    fn take(&mut self, given: &TraceRequest, is_meant: impl Fn(&PendingRequest) -> bool) -> Option<PendingRequest> {
        let key = (given.device, given.offset);
        let pending = self.pending.get_mut(&key)?;
        let difference = |flight: &PendingRequest| {
            (flight.request.operation != given.operation, flight.request.length != given.length)
        };
        // Flushes have sector 0 as well as what is written there.
        let is_same_kind = |flight: &PendingRequest| (flight.request.length == 0) == (given.length == 0);
        let meant = pending.iter().enumerate().filter(|(_, flight)| is_same_kind(flight) && is_meant(flight));
        let (index, _) = meant.min_by_key(|(_, flight)| difference(flight))?;
        let flight = pending.remove(index);
        if pending.is_empty() {
            self.pending.remove(&key);
        }
        self.count -= 1;
        Some(flight)
    }

    /// Ends the trace: requests that were issued but not completed have no service time.
    pub(crate) fn finish(&mut self, requests: &mut Vec<TraceRequest>) {
        self.expire(0, requests);
    }

    /// Takes the oldest requests, until `keep` are left.
    fn expire(&mut self, keep: usize, requests: &mut Vec<TraceRequest>) {
        let mut pending: Vec<((u16, u64), PendingRequest)> = std::mem::take(&mut self.pending)
            .into_iter()
            .flat_map(|(key, pending)| pending.into_iter().map(move |flight| (key, flight)))
            .collect();
        pending.sort_by_key(|(_, flight)| flight.started_ns());
        let later = pending.split_off(pending.len().saturating_sub(keep));
        let has_issues = self.has_issues;
        let expired = pending.iter().map(|(_, flight)| flight);
        // Where requests are issued, a bio that was not became a part of another or was remapped.
        requests.extend(
            expired.filter(|flight| flight.issued_ns.is_some() || !has_issues).map(|flight| of_pending(flight, None)),
        );
        self.count = later.len();
        for (key, flight) in later {
            self.pending.entry(key).or_default().push(flight);
        }
    }
}

fn of_pending(flight: &PendingRequest, completed_ns: Option<u64>) -> TraceRequest {
    let issued_ns = flight.issued_ns.or(flight.queued_ns).unwrap_or(0);
    TraceRequest {
        issued_ns,
        queued_ns: flight.inserted_ns.map(|inserted| issued_ns.saturating_sub(inserted)),
        service_ns: completed_ns.map(|completed| completed.saturating_sub(issued_ns)),
        ..flight.request
    }
}

/// Sets operation and flags from letters as in the output of `blkparse` and in the kernel's events, such as `FWFSM`.
/// Returns `None` if a letter is unknown; what precedes it is set.
pub fn set_letters(request: &mut TraceRequest, letters: &[u8]) -> Option<()> {
    let (has_flush, rest) = match letters {
        [b'F', rest @ ..] if rest.first().is_some_and(|letter| b"RWDNZ".contains(letter)) => (true, rest),
        _ => (false, letters),
    };
    let (operation, flags) = rest.split_first()?;
    request.operation = match operation {
        b'R' => TraceOperation::Read,
        b'W' if flags.first() == Some(&b'Z') => TraceOperation::WriteZeroes,
        b'W' => TraceOperation::Write,
        b'D' => TraceOperation::Discard,
        b'F' => TraceOperation::Flush,
        b'N' if has_flush => TraceOperation::Flush,
        b'N' | b'Z' => TraceOperation::Other,
        _ => return None,
    };
    request.is_preflush = has_flush && request.operation != TraceOperation::Flush;
    request.is_fua = flags.contains(&b'F') && request.operation != TraceOperation::Flush;
    request.is_sync = flags.contains(&b'S');
    request.is_meta = flags.contains(&b'M');
    request.is_readahead = flags.contains(&b'A');
    flags.iter().all(|letter| b"FSMAEZBHU".contains(letter)).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(events: &[(u64, BlockAction, u64, u32)]) -> Vec<TraceRequest> {
        let mut pairing = EventPairing::default();
        let mut requests = Vec::new();
        for (time_ns, action, sector, length) in events {
            let request = TraceRequest { offset: sector * 512, length: *length, ..TraceRequest::default() };
            pairing.add(&BlockEvent { time_ns: *time_ns, action: *action, request }, &mut requests);
        }
        pairing.finish(&mut requests);
        requests
    }

    fn times(request: &TraceRequest) -> (u64, Option<u64>, Option<u64>, u64, u32) {
        (request.issued_ns, request.queued_ns, request.service_ns, request.offset / 512, request.length)
    }

    use BlockAction::{Complete, Insert, Issue, Merge, Queue, Remap, Requeue};

    /// Each request of a logical volume counted on it and on its disk.
    #[test]
    fn remapped_requests_count_once() {
        let mut pairing = EventPairing::default();
        let mut requests = Vec::new();
        let events = [
            (0, 10, Queue, 8),
            (0, 11, Remap, 8),
            (1, 12, Queue, 100),
            (1, 13, Issue, 100),
            (1, 20, Complete, 100),
            (0, 21, Complete, 8),
        ];
        for (device, time_ns, action, sector) in events {
            let request = TraceRequest { device, offset: sector * 512, length: 4096, ..TraceRequest::default() };
            pairing.add(&BlockEvent { time_ns, action, request }, &mut requests);
        }
        pairing.finish(&mut requests);
        assert_eq!(requests.iter().map(|one| (one.device, one.issued_ns)).collect::<Vec<_>>(), [(1, 13)]);
        assert_eq!(pairing.unmatched(), 0);
    }

    #[test]
    fn events_of_a_request_are_paired() {
        let plain = run(&[(10, Queue, 8, 4096), (12, Insert, 8, 4096), (20, Issue, 8, 4096), (50, Complete, 8, 4096)]);
        assert_eq!(plain.iter().map(times).collect::<Vec<_>>(), [(20, Some(8), Some(30), 8, 4096)]);
        let merged = run(&[
            (10, Queue, 8, 4096),
            (12, Insert, 8, 4096),
            (13, Queue, 16, 4096),
            (14, Merge, 16, 4096),
            (20, Issue, 8, 8192),
            (50, Complete, 8, 8192),
        ]);
        assert_eq!(merged.iter().map(times).collect::<Vec<_>>(), [(20, Some(8), Some(30), 8, 8192)]);
        let requeued = run(&[
            (10, Insert, 8, 512),
            (20, Issue, 8, 512),
            (25, Requeue, 8, 512),
            (30, Issue, 8, 512),
            (50, Complete, 8, 512),
        ]);
        assert_eq!(requeued.iter().map(times).collect::<Vec<_>>(), [(30, Some(20), Some(20), 8, 512)]);
        let in_parts = run(&[(20, Issue, 8, 8192), (40, Complete, 8, 4096), (50, Complete, 16, 4096)]);
        assert_eq!(in_parts.iter().map(times).collect::<Vec<_>>(), [(20, None, Some(30), 8, 8192)]);
    }

    #[test]
    fn incomplete_requests_are_told_apart() {
        let lost = run(&[(5, Complete, 64, 512), (10, Queue, 8, 4096), (20, Issue, 16, 4096)]);
        assert_eq!(lost.iter().map(times).collect::<Vec<_>>(), [(20, None, None, 16, 4096)]);
        let of_bios = run(&[(10, Queue, 8, 4096), (30, Complete, 8, 4096)]);
        assert_eq!(of_bios.iter().map(times).collect::<Vec<_>>(), [(10, None, Some(20), 8, 4096)]);
        let queued_only = run(&[(10, Queue, 8, 4096), (30, Queue, 8, 4096)]);
        assert_eq!(queued_only.len(), 2);
        let flush = run(&[
            (1, Issue, 0, 4096),
            (2, Issue, 0, 0),
            (3, Complete, 0, 0),
            (4, Complete, 0, 0),
            (9, Complete, 0, 4096),
        ]);
        assert_eq!(
            flush.iter().map(times).collect::<Vec<_>>(),
            [(2, None, Some(1), 0, 0), (1, None, Some(8), 0, 4096)]
        );
        let same = run(&[(1, Issue, 8, 512), (2, Issue, 8, 512), (3, Complete, 8, 512), (5, Complete, 8, 512)]);
        assert_eq!(
            same.iter().map(times).collect::<Vec<_>>(),
            [(1, None, Some(2), 8, 512), (2, None, Some(3), 8, 512)]
        );
    }

    #[test]
    fn memory_is_bounded() {
        let events: Vec<_> = (0..200_000).map(|index| (index, Queue, index * 8, 4096)).collect();
        let requests = run(&events);
        assert_eq!(requests.len(), 200_000);
        assert!(requests.is_sorted_by_key(|request| request.issued_ns));
    }
}
