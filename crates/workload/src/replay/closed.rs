//! Closed loop: each request is issued after the completion that its process waited for.
//!
//! In the trace, a request follows the latest completion of its process before its issue. The time from that completion
//! to the issue is think time, which the replay keeps after the same completion on its own target. A request before any
//! completion keeps its distance from the issue before it. Requests of a process stay in order.
//!
//! One worker replays all processes: a worker for each would need the requests of all others in memory. More requests
//! read ahead than [`AHEAD_MAX`] would leave the CPU's cache.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use units::Nanos;

use super::feed::FedRequest;
use super::speed::Speed;
use super::{LATEST, LoopStep, PlacedFeed, PlacedRequest};

/// Requests read ahead of their issue, at most. While one process is that far behind, the others wait for it.
const AHEAD_MAX: usize = 32_768;
/// Requests that are read at a time.
const AHEAD_STEP: usize = 1_024;
/// Completions of the trace that are awaited at a time, at most: more requests in flight decide nothing.
const AWAITED_MAX: usize = 65_536;

/// No node.
const NONE: u32 = u32::MAX;

/// A request from its reading until nothing depends on it.
#[derive(Clone, Copy, Debug)]
struct Node {
    request: PlacedRequest,
    /// Time from the completion of `after` to the issue; without one, from the previous issue of the process.
    think: u64,
    /// Node that must have completed; `NONE` for none.
    after: u32,
    /// Next request of the process; `NONE` for none.
    next: u32,
    process: u32,
    /// Reasons to keep the node: it has not completed, its completion in the trace is still of interest, requests
    /// depend on it.
    uses: u32,
    /// Instant of its completion in the replay; [`Nanos::MAX`] before that.
    completed: Nanos,
}

/// A process of the trace.
#[derive(Clone, Debug)]
struct Process {
    /// Its first and last request that is not issued.
    head: u32,
    tail: u32,
    /// The latest completion of the trace before the last request read.
    latest: u32,
    /// Instant of that completion in the trace.
    latest_at: u64,
    /// Completions in the trace of requests read, after that.
    awaited: BinaryHeap<Reverse<(u64, u32)>>,
    /// Instant in the trace of the last request read.
    read_at: u64,
    /// Instant of its last issue in the replay.
    issued: Nanos,
}

impl Process {
    fn new(start: Nanos) -> Self {
        let awaited = BinaryHeap::new();
        Self { head: NONE, tail: NONE, latest: NONE, latest_at: 0, awaited, read_at: 0, issued: start }
    }
}

/// Issues requests after the completions that they depend on.
#[derive(Debug)]
pub(super) struct ClosedLoop {
    speed: Speed,
    nodes: Vec<Node>,
    free: Vec<u32>,
    processes: Vec<Option<Process>>,
    /// Processes whose next request is due, by instant.
    due: BinaryHeap<Reverse<(Nanos, u32)>>,
    /// Number of requests that were read and not issued.
    ahead: usize,
    /// Number of completions in all `awaited`.
    awaited: usize,
    /// Whether the feed has ended.
    has_ended: bool,
}

impl ClosedLoop {
    pub(super) fn new(speed: Speed) -> Self {
        Self {
            speed,
            nodes: Vec::new(),
            free: Vec::new(),
            processes: Vec::new(),
            due: BinaryHeap::new(),
            ahead: 0,
            awaited: 0,
            has_ended: false,
        }
    }

    #[inline]
    pub(super) fn next(&mut self, requests: &mut PlacedFeed, start: Nanos, now: Nanos) -> LoopStep {
        if self.ahead <= AHEAD_MAX - AHEAD_STEP && !self.has_ended {
            self.read_ahead(requests, start);
        }
        let Some(&Reverse((intended, process))) = self.due.peek() else {
            return if self.ahead > 0 { LoopStep::Blocked } else { LoopStep::Ended };
        };
        if intended > now {
            return LoopStep::Until(intended);
        }
        self.due.pop();
        let Some((node, request)) = self.take_head(process, intended) else { return LoopStep::Blocked };
        self.schedule(process);
        LoopStep::Issue(request, intended, node)
    }

    /// Takes the first request of a process, which is issued as intended at `intended`.
    fn take_head(&mut self, index: u32, intended: Nanos) -> Option<(u32, PlacedRequest)> {
        let process = self.processes.get_mut(index as usize)?.as_mut()?;
        let node = process.head;
        let Node { request, next, after, .. } = *self.nodes.get(node as usize)?;
        self.ahead -= 1;
        process.head = next;
        process.issued = intended;
        if next == NONE {
            process.tail = NONE;
        }
        self.release(after);
        Some((node, request))
    }

    /// Schedules the first request of a process if what it depends on has completed.
    #[inline]
    fn schedule(&mut self, index: u32) {
        let Some(process) = self.processes[index as usize].as_ref() else { return };
        let Some(node) = self.nodes.get(process.head as usize) else { return };
        let from = match self.nodes.get(node.after as usize) {
            None => process.issued,
            Some(after) if after.completed == Nanos::MAX => return,
            Some(after) => after.completed,
        };
        let intended = (from + Nanos::new(node.think)).max(process.issued).min(LATEST);
        self.due.push(Reverse((intended, index)));
    }

    /// Records the completion of a request.
    pub(super) fn complete(&mut self, node: u32, at: Nanos) {
        let Some(done) = self.nodes.get_mut(node as usize) else { return };
        done.completed = at;
        let process = done.process;
        let head = self.processes[process as usize].as_ref().map_or(NONE, |process| process.head);
        let is_awaited = self.nodes.get(head as usize).is_some_and(|head| head.after == node);
        if is_awaited {
            self.schedule(process);
        }
        self.release(node);
    }

    /// Drops one use of a node.
    #[inline]
    fn release(&mut self, node: u32) {
        if let Some(known) = self.nodes.get_mut(node as usize) {
            known.uses -= 1;
            if known.uses == 0 {
                self.free.push(node);
            }
        }
    }

    #[cold]
    fn read_ahead(&mut self, requests: &mut PlacedFeed, start: Nanos) {
        while self.ahead < AHEAD_MAX {
            let Some((fed, request)) = requests.next() else {
                self.has_ended = true;
                return;
            };
            self.add(&fed, request, start);
        }
    }

    fn add(&mut self, fed: &FedRequest, request: PlacedRequest, start: Nanos) {
        let index = u32::from(fed.process);
        if self.processes.len() <= index as usize {
            self.processes.resize(index as usize + 1, None);
        }
        self.forget_past(index, fed.at);
        let process = self.processes[index as usize].get_or_insert_with(|| Process::new(start));
        let after = process.latest;
        let since = if after == NONE { process.read_at } else { process.latest_at };
        let think = fed.at.saturating_sub(since);
        process.read_at = fed.at;
        let completion =
            fed.service.checked_add(fed.at).filter(|_| self.awaited < AWAITED_MAX && fed.service < u64::MAX);
        let node = Node {
            request,
            think: self.speed.apply(think),
            after,
            next: NONE,
            process: index,
            uses: 1 + u32::from(completion.is_some()),
            completed: Nanos::MAX,
        };
        let place = self.free.pop().unwrap_or(self.nodes.len() as u32);
        match self.nodes.get_mut(place as usize) {
            Some(slot) => *slot = node,
            None => self.nodes.push(node),
        }
        if let Some(after) = self.nodes.get_mut(after as usize) {
            after.uses += 1;
        }
        if let Some(completion) = completion {
            process.awaited.push(Reverse((completion, place)));
            self.awaited += 1;
        }
        self.ahead += 1;
        match self.nodes.get_mut(process.tail as usize) {
            Some(tail) => tail.next = place,
            None => process.head = place,
        }
        let is_first = process.head == place;
        process.tail = place;
        if is_first {
            self.schedule(index);
        }
    }

    /// Finds the latest completion of a process up to the instant of its next request.
    fn forget_past(&mut self, index: u32, at: u64) {
        loop {
            let Some(process) = self.processes[index as usize].as_mut() else { return };
            match process.awaited.peek() {
                Some(&Reverse((completion, node))) if completion <= at => {
                    process.awaited.pop();
                    self.awaited -= 1;
                    let before = std::mem::replace(&mut process.latest, node);
                    process.latest_at = completion;
                    self.release(before);
                }
                _ => return,
            }
        }
    }

    pub(super) fn finish(&mut self) {
        self.due.clear();
        (self.ahead, self.has_ended) = (0, true);
        self.processes.iter_mut().flatten().for_each(|process| (process.head, process.tail) = (NONE, NONE));
    }
}
