//! Replay of a trace.
//!
//! A [`TraceReplay`] decides the operations of a worker as the requests of a trace, at their instants (open loop), after
//! the completions that their processes waited for (closed loop), or as fast as the queue depth allows. It reads the
//! trace piece by piece, so memory does not grow with its length.
//!
//! A replay is a job, not a runner: a trace replaces the pattern of a job behind the same [`Issuer`](crate::Issuer), so
//! engines, models, depth, safety and records are those of any job. Requests are types of `trace`, which this crate
//! therefore depends on; bytes come through [`TraceBytes`], one call for 256 KiB, and decoding is compiled in.

mod closed;
mod feed;
mod map;
mod merge;
mod open;
mod scan;
mod speed;
mod stream;

pub(crate) use map::needed_bytes;
pub use merge::MergedTrace;
pub use scan::scan_trace;
pub use stream::{StreamStep, TraceBytes, TraceStream};

use std::collections::VecDeque;

use job::{Job, ReplayFacts, ReplayLoop, ReplayOptions};
use units::{Nanos, OpKind, Problem, ProblemCode};

use crate::decision::{Decision, FileExtent, Next};
use crate::operations::Operations;
use closed::ClosedLoop;
use feed::{FedRequest, TraceFeed};
use map::OffsetMap;
use open::OpenLoop;
use speed::Speed;

/// How a replay went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayOutcome {
    /// Operations issued, with syncs.
    pub issued: u64,
    /// Longest time by which an operation was issued after its intended instant, including waits for a free slot of
    /// the queue.
    pub behind_max: Nanos,
    /// That of the last operation.
    pub behind_last: Nanos,
    /// Intended instant of the last request issued, from the start of the replay.
    pub due_last: Nanos,
    /// Maximum number of operations in flight.
    pub in_flight_max: u64,
    /// Why the replay ended early; `None` if it did not.
    pub error: Option<Problem>,
}

/// A request with its place on the target.
#[derive(Clone, Copy, Debug)]
struct PlacedRequest {
    offset: u64,
    length: u32,
    file: u32,
    kind: OpKind,
    syncs_before: bool,
    syncs_after: bool,
}

#[derive(Debug)]
pub(crate) struct TraceReplay {
    requests: PlacedFeed,
    pace: ReplayPace,
    /// Requests of several operations: syncs before and after a write.
    chains: Chains,
    /// Instant at which the replayed part of the trace begins; `None` before the first call.
    start: Option<Nanos>,
    sequence: u64,
    completed: u64,
    outcome: ReplayOutcome,
}

#[derive(Debug)]
enum ReplayPace {
    Open(OpenLoop),
    Closed(Box<ClosedLoop>),
}

/// The requests of a trace with their places.
#[derive(Debug)]
struct PlacedFeed {
    feed: TraceFeed,
    map: OffsetMap,
    allowed: Operations,
    /// Maximum length of a read or write.
    longest: u32,
    /// Requests left (`number_ios`).
    left: u64,
}

impl PlacedFeed {
    /// Returns the next request with its place; `None` at the end, or if the trace has changed since it was scanned.
    /// What has not been scanned has not been permitted either.
    #[inline]
    fn next(&mut self) -> Option<(FedRequest, PlacedRequest)> {
        if self.left == 0 {
            return None;
        }
        let fed = self.feed.next()?;
        let place = self.map.place(&fed).filter(|&(.., length)| length <= self.longest || fed.kind == OpKind::Trim);
        let Some((file, offset, length)) = place.filter(|_| self.allowed.includes(fed.kind)) else {
            self.feed.error = Some(changed());
            self.feed.finish();
            return None;
        };
        self.left -= 1;
        let FedRequest { kind, syncs_before, syncs_after, .. } = fed;
        Some((fed, PlacedRequest { offset, length, file, kind, syncs_before, syncs_after }))
    }

    fn finish(&mut self) {
        self.left = 0;
        self.feed.finish();
    }
}

#[cold]
fn changed() -> Problem {
    Problem::error(ProblemCode::Trace, "the trace changed after it was checked")
        .help("replay a file that no program writes to")
}

/// Operations of one request that follow each other.
#[derive(Debug, Default)]
struct Chains {
    /// What follows the operation in flight, and the handle of the request.
    links: Vec<(PlacedRequest, u32)>,
    free: Vec<u32>,
    /// Operations that can be issued now, with the instant at which the one before completed.
    ready: VecDeque<(PlacedRequest, u32, Nanos)>,
    /// Number of operations whose followers are not issued.
    pending: u64,
}

/// Marks handles of chains; others belong to the loop.
const CHAIN: u32 = 1 << 31;
/// The handle of operations whose completion decides nothing.
const NO_HANDLE: u32 = CHAIN - 1;

impl Chains {
    /// Returns the first operation of a request with its handle.
    #[inline]
    fn first(&mut self, request: PlacedRequest, handle: u32) -> (PlacedRequest, u32) {
        if request.syncs_before || request.syncs_after { self.link(request, handle) } else { (request, handle) }
    }

    #[cold]
    fn link(&mut self, request: PlacedRequest, handle: u32) -> (PlacedRequest, u32) {
        let sync = PlacedRequest { kind: OpKind::Sync, length: 0, syncs_before: false, syncs_after: false, ..request };
        let (first, then) = if request.syncs_before {
            (sync, PlacedRequest { syncs_before: false, ..request })
        } else if request.syncs_after {
            (PlacedRequest { syncs_after: false, ..request }, sync)
        } else {
            return (request, handle);
        };
        let link = self.free.pop().unwrap_or(self.links.len() as u32);
        match self.links.get_mut(link as usize) {
            Some(slot) => *slot = (then, handle),
            None => self.links.push((then, handle)),
        }
        self.pending += 1;
        (first, CHAIN | link)
    }

    /// Makes what follows a completed operation ready.
    #[cold]
    fn follow(&mut self, handle: u32, at: Nanos) {
        let link = handle & !CHAIN;
        let (then, handle) = self.links[link as usize];
        self.free.push(link);
        self.pending -= 1;
        self.ready.push_back((then, handle, at));
    }
}

impl TraceReplay {
    /// Prepares the replay of a job whose trace has been scanned.
    ///
    /// # Errors
    ///
    /// Fails if the trace has not been scanned or does not fit into the files.
    pub(crate) fn new(job: &Job, files: &[FileExtent], bytes: Box<dyn TraceBytes>) -> Result<Self, Problem> {
        let Some((options, facts)) = job.replay.as_ref().and_then(|options| Some((options, options.facts.as_ref()?)))
        else {
            return Err(job.unfit("replay", "the trace has not been read").help("report this as a bug"));
        };
        let requests = PlacedFeed {
            feed: TraceFeed::new(options, bytes),
            map: checked(job, options, facts, files)?,
            allowed: Operations::of(job),
            longest: facts.lengths.read.1.max(facts.lengths.write.1),
            left: job.extent.number_ios.filter(|&count| count > 0).unwrap_or(u64::MAX),
        };
        let speed = options.speed_ppm.map(Speed::new);
        let pace = match (options.dependence, speed) {
            (ReplayLoop::Closed, Some(speed)) => ReplayPace::Closed(Box::new(ClosedLoop::new(speed))),
            (_, speed) => ReplayPace::Open(OpenLoop::new(speed)),
        };
        let outcome = ReplayOutcome::default();
        Ok(Self { requests, pace, chains: Chains::default(), start: None, sequence: 0, completed: 0, outcome })
    }

    /// Decides what to do at `now`.
    pub(crate) fn next(&mut self, now: Nanos) -> Next {
        let start = *self.start.get_or_insert(now);
        if let Some((request, handle, at)) = self.chains.ready.pop_front() {
            let (first, handle) = self.chains.first(request, handle);
            return self.issue(first, handle, at, now);
        }
        let next = match &mut self.pace {
            ReplayPace::Open(open) => open.next(&mut self.requests, start, now),
            ReplayPace::Closed(closed) => closed.next(&mut self.requests, start, now),
        };
        match next {
            LoopStep::Issue(request, intended, handle) => {
                self.outcome.due_last = intended.since(start);
                let (first, handle) = self.chains.first(request, handle);
                self.issue(first, handle, intended, now)
            }
            LoopStep::Until(instant) => Next::Until(instant),
            LoopStep::Blocked => Next::Blocked,
            LoopStep::Ended if self.chains.pending > 0 => Next::Blocked,
            LoopStep::Ended => Next::Done,
        }
    }

    #[inline]
    fn issue(&mut self, request: PlacedRequest, handle: u32, intended: Nanos, now: Nanos) -> Next {
        let PlacedRequest { offset, length, file, kind, .. } = request;
        let sequence = self.sequence;
        self.sequence += 1;
        let behind = now.since(intended);
        let outcome = &mut self.outcome;
        outcome.issued += 1;
        outcome.behind_last = behind;
        outcome.behind_max = outcome.behind_max.max(behind);
        outcome.in_flight_max = outcome.in_flight_max.max(self.sequence - self.completed);
        // The pass is free to hold the handle, because a replay is never verified.
        Next::Issue(Decision {
            intended,
            offset,
            sequence,
            length,
            file,
            pass: handle,
            kind,
            priority: 0,
            checked: false,
            closing: false,
        })
    }

    /// Records that an operation completed or failed.
    #[inline]
    pub(crate) fn complete(&mut self, op: &Decision, at: Nanos) {
        self.completed += 1;
        if op.pass == NO_HANDLE {
            return;
        }
        if op.pass & CHAIN != 0 {
            self.chains.follow(op.pass, at);
        } else if let ReplayPace::Closed(closed) = &mut self.pace {
            closed.complete(op.pass, at);
        }
    }

    /// Issues nothing more, except what follows operations in flight.
    pub(crate) fn finish(&mut self) {
        self.requests.finish();
        match &mut self.pace {
            ReplayPace::Open(open) => open.finish(),
            ReplayPace::Closed(closed) => closed.finish(),
        }
    }

    /// Returns how the replay has gone so far.
    pub(crate) fn outcome(&self) -> ReplayOutcome {
        ReplayOutcome { error: self.requests.feed.error.clone(), ..self.outcome.clone() }
    }

    /// Returns the maximum length of a read or write in bytes.
    pub(crate) fn most_bytes(&self) -> u32 {
        self.requests.longest
    }
}

/// The latest intended instant: an instant that is never reached would end no wait.
const LATEST: Nanos = Nanos::new(i64::MAX as u64);

/// What a loop decides.
enum LoopStep {
    /// Issue this request, which was intended for an instant, and report its completion under the handle.
    Issue(PlacedRequest, Nanos, u32),
    Until(Nanos),
    Blocked,
    Ended,
}

/// Checks that a job can replay its trace on these files; other jobs can.
pub(crate) fn check_replay(job: &Job, files: &[FileExtent]) -> Result<(), Problem> {
    let Some(options) = &job.replay else { return Ok(()) };
    options.facts.as_ref().map_or(Ok(()), |facts| checked(job, options, facts, files).map(drop))
}

/// Checks that dependencies are known if they are needed, and places the trace in the files.
fn checked(
    job: &Job,
    options: &ReplayOptions,
    facts: &ReplayFacts,
    files: &[FileExtent],
) -> Result<OffsetMap, Problem> {
    if options.dependence == ReplayLoop::Closed && options.is_scheduled() && !facts.has_completions {
        return Err(job
            .unfit("replay_loop", "the trace has no completions, from which dependencies follow")
            .help("write replay_loop=open, or replay_speed=max"));
    }
    OffsetMap::new(job, options, facts, files)
}
