//! The requests that a job replays, in the order of their instants, with offsets as in the trace.

use job::{ReplayOptions, ReplaySkip};
use trace::{TraceEnd, TraceInfo, TraceOperation, TraceRequest, WaitingProcesses};
use units::{OpKind, Problem};

use super::stream::{StreamStep, TraceStream};
use crate::TraceBytes;

/// Maximum length of a read or write in bytes. Longer ones, such as those that write zeroes, are divided.
pub(super) const DATA_BYTES_MAX: u32 = 4 << 20;
/// Maximum length of a trim in bytes, for lengths of operations are signed numbers of 32 bits.
pub(super) const TRIM_BYTES_MAX: u32 = 1 << 30;

/// A request to be replayed, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FedRequest {
    /// Instant in the trace, in nanoseconds since the start of the replayed part.
    pub(super) at: u64,
    /// Time to its completion in the trace; `u64::MAX` if it is unknown.
    pub(super) service: u64,
    pub(super) offset: u64,
    pub(super) length: u32,
    pub(super) process: u16,
    pub(super) device: u16,
    pub(super) kind: OpKind,
    /// Whether a sync precedes it.
    pub(super) syncs_before: bool,
    /// Whether a sync follows it.
    pub(super) syncs_after: bool,
}

/// What a feed left out or changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FeedCounts {
    /// Requests of other kinds.
    pub(super) others: u64,
    /// Reads, writes and trims without a length.
    pub(super) empty: u64,
    /// Requests whose end is beyond 64 bits.
    pub(super) beyond: u64,
    /// Requests that the job skips.
    pub(super) skipped: u64,
    /// Requests that were divided.
    pub(super) divided: u64,
    /// Requests that came too late to be sorted, and are replayed with those before which they came.
    pub(super) late: u64,
    /// Damaged parts, and the first.
    pub(super) damaged: u64,
    pub(super) first_damage: Option<String>,
    pub(super) end: Option<TraceEnd>,
}

/// Reads the requests of a trace that a job replays.
#[derive(Debug)]
pub(super) struct TraceFeed {
    stream: TraceStream,
    /// Replayed part of the trace, in nanoseconds.
    start: u64,
    end: u64,
    skip: ReplaySkip,
    scale: u64,
    /// Alignment of offsets and lengths, less one.
    align_mask: u64,
    /// Requests in order; those before `next` have been given out.
    sorted: Vec<TraceRequest>,
    next: usize,
    /// Number of sorted requests before which no later one is expected.
    settled: usize,
    last_at: u64,
    waiting: WaitingProcesses,
    /// The rest of a request that is being divided.
    rest: Option<FedRequest>,
    has_ended: bool,
    pub(super) counts: FeedCounts,
    /// Why the trace cannot be read to its end.
    pub(super) error: Option<Problem>,
}

impl TraceFeed {
    pub(super) fn new(options: &ReplayOptions, bytes: Box<dyn TraceBytes>) -> Self {
        Self {
            stream: TraceStream::new(&options.trace, bytes),
            start: options.start.get(),
            end: options.end().get(),
            skip: options.skip,
            scale: u64::from(options.scale.max(1)),
            align_mask: u64::from(options.align.max(1)) - 1,
            sorted: Vec::new(),
            next: 0,
            settled: 0,
            last_at: 0,
            waiting: WaitingProcesses::default(),
            rest: None,
            has_ended: false,
            counts: FeedCounts::default(),
            error: None,
        }
    }

    pub(super) fn info(&self) -> Option<&TraceInfo> {
        self.stream.info()
    }

    pub(super) fn has_completions(&self) -> bool {
        self.stream.has_completions()
    }

    pub(super) fn missing(&self) -> u64 {
        self.stream.missing()
    }

    pub(super) fn early(&self) -> u64 {
        self.stream.early()
    }

    /// Returns the next request; `None` at the end, or if there is an error.
    #[inline]
    pub(super) fn next(&mut self) -> Option<FedRequest> {
        if self.rest.is_some() {
            return self.next_part();
        }
        loop {
            if self.next == self.settled && !self.refill() {
                return None;
            }
            let mut request = self.sorted[self.next];
            self.next += 1;
            self.waiting.set(&mut request, self.stream.info().map_or(&[], |info| &info.processes));
            if let Some(fed) = self.convert(&request) {
                return Some(fed);
            }
        }
    }

    #[inline]
    fn convert(&mut self, request: &TraceRequest) -> Option<FedRequest> {
        if request.issued_ns < self.start {
            return None;
        }
        if request.issued_ns >= self.end {
            self.finish();
            return None;
        }
        let kind = match request.operation {
            TraceOperation::Read => OpKind::Read,
            TraceOperation::Write | TraceOperation::WriteZeroes => OpKind::Write,
            TraceOperation::Discard => OpKind::Trim,
            TraceOperation::Flush => OpKind::Sync,
            TraceOperation::Other => {
                self.counts.others += 1;
                return None;
            }
        };
        let skip = &self.skip;
        let is_skipped = match kind {
            OpKind::Read => skip.read,
            OpKind::Write => skip.write,
            OpKind::Trim => skip.trim,
            _ => skip.sync,
        };
        if is_skipped {
            self.counts.skipped += 1;
            return None;
        }
        let at = request.issued_ns - self.start;
        if at < self.last_at {
            self.counts.late += 1;
        }
        self.last_at = self.last_at.max(at);
        let mut fed = FedRequest {
            at: self.last_at,
            service: request.service_ns.unwrap_or(u64::MAX),
            offset: request.offset,
            length: request.length,
            process: request.owner(),
            device: request.device,
            kind,
            syncs_before: request.is_preflush && kind == OpKind::Write && !skip.sync,
            syncs_after: request.is_fua && kind == OpKind::Write && !skip.sync,
        };
        if kind == OpKind::Sync {
            (fed.offset, fed.length) = (0, 0);
            return Some(fed);
        }
        self.placed(fed)
    }

    /// Scales and aligns a request with data, and divides it if it is too long.
    #[inline]
    fn placed(&mut self, mut fed: FedRequest) -> Option<FedRequest> {
        if fed.length == 0 {
            self.counts.empty += 1;
            return None;
        }
        if self.scale > 1 || self.align_mask > 0 {
            let start = fed.offset / self.scale;
            fed.offset = start & !self.align_mask;
            let length = (u64::from(fed.length) + (start - fed.offset) + self.align_mask) & !self.align_mask;
            fed.length = u32::try_from(length).unwrap_or(!(self.align_mask as u32));
        }
        if fed.offset.checked_add(u64::from(fed.length)).is_none_or(|end| end > OFFSET_MAX) {
            self.counts.beyond += 1;
            return None;
        }
        if fed.length > longest(fed.kind) {
            self.counts.divided += 1;
            self.rest = Some(fed);
            return self.next_part();
        }
        Some(fed)
    }

    #[cold]
    fn next_part(&mut self) -> Option<FedRequest> {
        let mut part = self.rest.take()?;
        let longest = longest(part.kind);
        if part.length > longest {
            let rest = FedRequest {
                offset: part.offset + u64::from(longest),
                length: part.length - longest,
                syncs_before: false,
                ..part
            };
            self.rest = Some(rest);
            (part.length, part.syncs_after) = (longest, false);
        }
        Some(part)
    }

    /// Ends the feed.
    pub(super) fn finish(&mut self) {
        (self.has_ended, self.rest) = (true, None);
        (self.next, self.settled) = (0, 0);
        self.sorted = Vec::new();
    }

    /// Reads until there are requests in order. Returns false at the end.
    #[cold]
    fn refill(&mut self) -> bool {
        while self.next == self.settled {
            if self.has_ended {
                self.settled = self.sorted.len();
                return self.next < self.settled;
            }
            self.sorted.drain(..self.next);
            (self.next, self.settled) = (0, 0);
            let held = self.sorted.len();
            match self.stream.next(&mut self.sorted) {
                Ok(StreamStep::Requests) => self.settle(held),
                Ok(StreamStep::Damaged(what)) => {
                    self.counts.damaged += 1;
                    self.counts.first_damage.get_or_insert(what);
                }
                Ok(StreamStep::End(end)) => {
                    self.counts.end = Some(end);
                    self.has_ended = true;
                }
                Err(error) => {
                    self.error = Some(error);
                    self.finish();
                    return false;
                }
            }
        }
        true
    }

    /// Sorts the requests, of which the first `held` were held back. The last block is held back for late ones.
    fn settle(&mut self, held: usize) {
        let instant = |request: &TraceRequest| request.issued_ns;
        let fresh = self.sorted.len() - held;
        if !self.sorted.is_sorted_by_key(instant) {
            self.sorted.sort_by_key(instant);
        }
        // Small pieces are collected first, so that sorting them again stays cheap.
        self.settled =
            if held >= HELD_MIN { self.sorted.len() - fresh.max(HELD_MIN).min(self.sorted.len()) } else { 0 };
    }
}

/// Minimum number of requests that are held back for late ones.
const HELD_MIN: usize = 4096;

/// Maximum end of a request in bytes: devices and files have no larger offsets.
const OFFSET_MAX: u64 = i64::MAX as u64;

const fn longest(kind: OpKind) -> u32 {
    if matches!(kind, OpKind::Trim) { TRIM_BYTES_MAX } else { DATA_BYTES_MAX }
}
