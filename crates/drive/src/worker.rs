//! A worker: its issuer, its meter and its operations in flight.

mod depth_search;
mod floor;
mod outcome;
mod restraint;
mod retry;

use meter::{Meter, Sample};
use target::{Completion, Op, Tag, Target, WriteBackSource};
use units::{Nanos, OpKind, ZoneCommand};
use workload::{Decision, Issuer, Next};

use crate::group::GroupSizing;
use crate::outcome::{Abandoned, Ending, FailureCause, OperationFailure, Verification};
use crate::recent::RecentWrites;
use crate::slots::{Flight, FlightSlots};
use crate::{EndScope, Policy, WorkerRules};
use restraint::Restraint;
use retry::EINTR;

/// What a worker waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// At least this many completions.
    Completions(u32),
    /// A poll of the target, after which it is stepped again.
    Poll,
    /// This instant, or a completion.
    At(Nanos),
    /// Nothing: it ended in this step.
    Ended,
    /// Nothing: it ended before.
    AlreadyEnded,
}

/// A worker: what it issues, its statistics and its progress.
#[derive(Debug)]
pub struct DriveWorker {
    issuer: Issuer,
    checks: Box<Checks>,
    meter: Meter,
    policy: Policy,
    /// Rules that few jobs have.
    restraint: Option<Box<Restraint>>,
    /// Whether `restraint`, `recent` or the trims of blocks in `meter` need each completion.
    is_watched: bool,
    slots: FlightSlots,
    group: GroupSizing,
    /// Completions not yet processed, if [`Policy::complete_max`] limits how many are processed at a time.
    backlog: Vec<Completion>,
    /// Operations to submit again: rests of short transfers, and those that failed with `EAGAIN` or `EINTR`.
    retries: Vec<Tag>,
    failures: Vec<OperationFailure>,
    abandoned: Vec<Abandoned>,
    /// Whether operations count at the depth that each of them reaches.
    counts_each: bool,
    /// Operations whose depth is counted when the queue is filled up.
    refilled: u32,
    start: Nanos,
    ramp_end: Nanos,
    end: Nanos,
    /// Instant of the running timer.
    armed: Nanos,
    ramping: bool,
    /// Whether the target was notified that results count.
    measured: bool,
    exhausted: bool,
    ending: Option<Ending>,
    ended: bool,
}

/// What only workers need that verify, or save the state of their writes.
#[derive(Debug, Default)]
struct Checks {
    /// The issuer of writes, during a pass that reads back.
    writer: Option<Issuer>,
    /// Results up to now; what was written is that of the passes that read back.
    results: Verification,
    /// Writes covered by these passes.
    replayed: u64,
    /// Writes that failed since the last of them began.
    failed_writes: u64,
    /// Reads that were still damaged after repetition.
    not_torn: u32,
    /// The last writes that completed, if the state is saved.
    recent: Option<RecentWrites>,
}

impl DriveWorker {
    /// Returns a worker that has not started.
    #[must_use]
    pub fn new(issuer: Issuer, meter: Meter, policy: Policy) -> Self {
        let recent = policy.keep_progress.then(|| RecentWrites::new(policy.depth, issuer.regions().len()));
        Self {
            issuer,
            checks: Box::new(Checks { recent, ..Checks::default() }),
            is_watched: policy.keep_progress || policy.rules != WorkerRules::default() || meter.counts_trims(),
            meter,
            restraint: Restraint::new(&policy.rules, policy.depth.max(1)),
            slots: FlightSlots::new(policy.depth.max(1)),
            group: GroupSizing::new(policy.batch, policy.depth.max(1)),
            backlog: Vec::new(),
            retries: Vec::new(),
            failures: Vec::new(),
            abandoned: Vec::new(),
            counts_each: policy.batch.is_none() && (policy.complete_min > 1 || policy.low.is_some()),
            refilled: 0,
            start: Nanos::MAX,
            ramp_end: Nanos::MAX,
            end: Nanos::MAX,
            armed: Nanos::ZERO,
            ramping: policy.ramp > Nanos::ZERO || policy.ramp_bytes.is_some(),
            measured: false,
            exhausted: false,
            ending: None,
            ended: false,
            policy,
        }
    }

    pub fn meter_mut(&mut self) -> &mut Meter {
        &mut self.meter
    }

    /// Returns the workers that end with this one, which has ended, if any do.
    pub(crate) fn ends_others(&self) -> Option<EndScope> {
        self.policy.ends_others.scope_of(self.ending == Some(Ending::Failed))
    }

    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the maximum number of operations in flight.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.slots.depth()
    }

    pub(crate) fn place(&mut self, base: u32) {
        self.slots.place(base);
    }

    /// Sets the times of the start, the ramp and the end.
    pub(crate) fn arrive(&mut self, now: Nanos) {
        self.start = now + self.policy.delay;
        self.ramp_end = self.start + self.policy.ramp;
        self.end = self.ramp_end + self.policy.runtime;
        self.await_ramp_bytes();
        if self.ramping {
            self.meter.begin_ramp(self.start);
        } else {
            self.meter.begin(self.start);
        }
        if let Some(restraint) = &mut self.restraint {
            restraint.begin(self.ramp_end);
        }
    }

    /// Issues nothing more.
    pub(crate) fn stop(&mut self) {
        if !self.ended {
            self.ending.get_or_insert(Ending::Stopped);
        }
    }

    /// Ends without waiting for operations in flight.
    pub(crate) fn abandon<T: Target>(&mut self, target: &mut T, now: Nanos) {
        if self.ended {
            return;
        }
        let waited = |flight: &Flight| Abandoned { decision: flight.decision, waited: now.since(flight.started) };
        self.abandoned.extend(self.slots.flights().map(waited));
        self.ending.get_or_insert(Ending::Stopped);
        self.ended = true;
        self.meter.end_phase(now);
        if self.measured {
            target.measure(self.slots.first_tag(), false);
        }
    }

    /// Issues what can be issued now. Returns what to wait for.
    pub(crate) fn step<T: Target>(&mut self, target: &mut T, now: Nanos) -> Wake {
        if self.backlog.is_empty() { self.advance(target, now) } else { self.step_backlog(target, now) }
    }

    /// Steps after processing at most [`Policy::complete_max`] completions.
    #[cold]
    fn step_backlog<T: Target>(&mut self, target: &mut T, now: Nanos) -> Wake {
        let most = self.policy.complete_max.map_or(usize::MAX, |most| most.max(1) as usize);
        let mut backlog = std::mem::take(&mut self.backlog);
        let taken = most.min(backlog.len());
        self.take(target, &backlog[..taken]);
        backlog.drain(..taken);
        self.backlog = backlog;
        match self.advance(target, now) {
            wake if self.backlog.is_empty() => wake,
            Wake::At(_) => {
                self.armed = Nanos::ZERO;
                Wake::Poll
            }
            _ => Wake::Poll,
        }
    }

    fn advance<T: Target>(&mut self, target: &mut T, now: Nanos) -> Wake {
        if self.ended {
            return Wake::AlreadyEnded;
        }
        if now < self.start && self.ending.is_none() {
            // Without a start it waits for another job.
            return if self.start == Nanos::MAX { Wake::Completions(1) } else { self.wait_until(self.start) };
        }
        if !self.measured && !self.ramping {
            self.measured = true;
            target.measure(self.slots.first_tag(), true);
        }
        if now >= self.end && self.ending.is_none() {
            self.ending = Some(Ending::Runtime);
            self.end_runtime();
        }
        if self.restraint.is_some() {
            self.release_locks();
            if self.ending.is_none() && !self.ramping {
                self.check_rules(target, now);
            }
        }
        if self.exhausted || self.is_halted() {
            return self.drain(target, now);
        }
        self.fill(target, now)
    }

    /// Ends the load. With [`Policy::verify_after_runtime`], a pass that reads back is completed.
    fn end_runtime(&mut self) {
        match &mut self.checks.writer {
            Some(writer) if self.policy.verify_after_runtime => writer.finish(),
            _ => self.issuer.finish(),
        }
    }

    /// Reports whether nothing more is issued, including operations that would end the job properly.
    fn is_halted(&self) -> bool {
        matches!(self.ending, Some(Ending::Stopped | Ending::Failed))
    }

    /// Submits retries and waits for operations in flight; then begins the next phase, or ends.
    fn drain<T: Target>(&mut self, target: &mut T, now: Nanos) -> Wake {
        if self.is_halted() {
            self.fail_retries(now);
        }
        if self.refilled > 0 {
            self.meter.at_depth(self.slots.in_flight().max(1), std::mem::take(&mut self.refilled));
        }
        self.submit_retries(target);
        if self.slots.in_flight() > 0 {
            return Wake::Completions(1);
        }
        if self.begin_next_phase(now) {
            return self.fill(target, now);
        }
        self.meter.end_phase(now);
        self.ended = true;
        if let Some(restraint) = &mut self.restraint {
            restraint.end();
        }
        if self.measured {
            target.measure(self.slots.first_tag(), false);
        }
        Wake::Ended
    }

    fn fill<T: Target>(&mut self, target: &mut T, mut now: Nanos) -> Wake {
        self.submit_retries(target);
        let before = self.slots.in_flight();
        if before > 0 && self.policy.low.is_some_and(|low| before > low) {
            return Wake::Completions(1);
        }
        let most = self.group.next(before);
        let mut issued = 0;
        let wake = loop {
            if !self.slots.has_free() {
                break Wake::Completions(self.policy.complete_min.clamp(1, self.slots.depth()));
            }
            if issued == most {
                break Wake::Poll;
            }
            if self.restraint.is_some()
                && let Some(wait) = self.wait_of_rules(now)
            {
                break wait;
            }
            match &self.next_by_rules(now) {
                Next::Issue(decision) => {
                    self.issue(target, decision, now);
                    issued += 1;
                }
                Next::IssueAnew(decision) => {
                    now = self.invalidate(target);
                    if self.is_halted() {
                        return self.drain(target, now);
                    }
                    let intended = if self.policy.scheduled { decision.intended } else { now };
                    self.issue(target, &Decision { intended, ..*decision }, now);
                    issued += 1;
                }
                // After the runtime, what is left to do is not cut short by its end.
                Next::Until(instant) if now >= self.end => break self.wait_until(*instant),
                Next::Until(instant) => break self.wait_until(self.end.min(*instant)),
                Next::Close(file) => target.close(*file),
                step @ (Next::Renew(_) | Next::Command(_)) => {
                    now = self.prepare(target, step);
                    if self.is_halted() {
                        return self.drain(target, now);
                    }
                }
                // Also looks at completions and at the end of the run.
                Next::Spin(cycles) => {
                    target.spin(*cycles);
                    break Wake::Poll;
                }
                Next::Blocked => break Wake::Completions(1),
                Next::Done => {
                    self.exhausted = true;
                    break Wake::Completions(1);
                }
            }
        };
        if issued > 0 {
            self.meter.submitted(issued);
            self.count_depth(before, issued, issued == most);
        }
        if self.exhausted && self.slots.in_flight() == 0 { self.drain(target, now) } else { wake }
    }

    /// Counts the depth of a group of operations. fio reaps one completion at a time and issues the next operation, so that
    /// it counts each at the depth to which the queue is filled up again. `is_limited` is whether the size of the group ended
    /// it, so that another one may follow.
    #[inline]
    fn count_depth(&mut self, before: u32, issued: u32, is_limited: bool) {
        if self.counts_each {
            return (1..=issued).for_each(|nth| self.meter.at_depth(before + nth, 1));
        }
        if self.slots.has_free() && is_limited && self.policy.batch.is_none() {
            self.refilled += issued;
        } else {
            let refilled = issued + std::mem::take(&mut self.refilled);
            self.meter.at_depth(self.slots.in_flight(), refilled);
        }
    }

    /// Does what must precede further operations and is part of none: renews a file, or sends a command to a zone. Returns
    /// the time afterwards. A failure ends the worker: it would recur, or the next loop would work on the data of the last
    /// one.
    #[cold]
    fn prepare<T: Target>(&mut self, target: &mut T, step: &Next) -> Nanos {
        let began = target.now();
        let (kind, file, offset, result) = match step {
            Next::Renew(file) => (OpKind::Write, *file, 0, target.renew(*file)),
            Next::Command(task) => {
                let result = target.command_zone(task.file, task.command, task.start, task.length);
                self.issuer.zone_commanded(task, result.ok());
                let kind = if task.command == ZoneCommand::Reset { OpKind::Trim } else { OpKind::Write };
                (kind, task.file, task.start, result.map(drop))
            }
            _ => return began,
        };
        if let Err(errno) = result {
            self.fail(placeholder(kind, file, offset, began), FailureCause::Errno(errno), None);
            self.ending = Some(Ending::Failed);
        }
        target.now()
    }

    /// Drops the cached data of the files. Returns the time afterwards, because this is not part of an operation.
    #[cold]
    fn invalidate<T: Target>(&mut self, target: &mut T) -> Nanos {
        target.turn_to(self.slots.first_tag());
        if self.checks.writer.is_some() && self.policy.settle_before_verify {
            self.settle(target);
        } else {
            for (file, region) in (0..).zip(self.issuer.regions()) {
                target.invalidate(file, region.start, region.length);
            }
        }
        target.now()
    }

    /// Writes back the cached data of the files. A failure counts as a failed `fdatasync`.
    fn settle<T: Target>(&mut self, target: &mut T) {
        let mut failed = Vec::new();
        for (file, region) in (0..).zip(self.issuer.regions()) {
            let began = target.now();
            match target.settle(file, region.start, region.length) {
                Ok(settled) => self.checks.results.cached |= settled == WriteBackSource::Cached,
                // The write-back was abandoned.
                Err(EINTR) => {
                    let decision = placeholder(OpKind::DataSync, file, region.start, began);
                    self.abandoned.push(Abandoned { decision, waited: target.now().since(began) });
                }
                Err(errno) => failed.push((placeholder(OpKind::DataSync, file, region.start, began), errno)),
            }
        }
        for (decision, errno) in failed {
            self.fail(decision, FailureCause::Errno(errno), None);
        }
    }

    #[inline(always)]
    fn issue<T: Target>(&mut self, target: &mut T, decision: &Decision, now: Nanos) {
        let flight = Flight { decision: *decision, started: now, submitted: Nanos::MAX, moved: 0 };
        let Some((tag, free_since)) = self.slots.take(flight) else { return };
        match decision.kind {
            OpKind::Read => self.compare(target, tag, decision),
            OpKind::Write => self.make_payload(target, tag, decision),
            OpKind::Trim => target.divide(tag, self.issuer.trim_ranges()),
            kind => self.begin_sync(tag, kind),
        }
        if self.policy.scheduled {
            self.meter.record_lateness(now.since(decision.intended.max(free_since)));
        }
        if decision.priority > 0 {
            self.prioritize(target, decision);
        }
        target.submit(op(tag, decision, 0));
    }

    /// Records which writes a sync covers, if the state of the writes is saved.
    #[cold]
    fn begin_sync(&mut self, tag: Tag, kind: OpKind) {
        // `sync_file_range` leaves data in the caches of the device.
        let is_durable = matches!(kind, OpKind::Sync | OpKind::DataSync | OpKind::SyncFilesystem);
        let Some(recent) = self.checks.recent.as_mut().filter(|_| is_durable) else { return };
        let writes = self.slots.flights().map(|flight| flight.decision).filter(|it| it.kind == OpKind::Write);
        recent.begin_sync(tag, self.issuer.writes(), writes);
    }

    #[cold]
    fn prioritize<T: Target>(&self, target: &mut T, decision: &Decision) {
        if let Some(priority) = self.policy.priorities.get(usize::from(decision.priority)) {
            target.prioritize(*priority);
        }
    }

    /// Makes a read that is verified a comparison with what is expected, if the policy wants that.
    #[inline(always)]
    fn compare<T: Target>(&mut self, target: &mut T, tag: Tag, decision: &Decision) {
        if decision.checked && self.policy.compares {
            self.make_payload(target, tag, decision);
            target.compare();
        }
    }

    fn make_payload<T: Target>(&mut self, target: &mut T, tag: Tag, decision: &Decision) {
        let Some(buffer) = target.buffer(tag) else { return };
        if let Some(number) = self.slots.first_use(tag) {
            self.issuer.prepare(number, buffer);
        }
        if let Some(block) = buffer.get_mut(..decision.length as usize) {
            self.issuer.fill(decision, block);
        }
    }

    /// Takes completions of this worker's operations.
    pub(crate) fn finish<T: Target>(&mut self, target: &mut T, done: &[Completion]) {
        if self.policy.complete_max.is_some() {
            self.backlog.extend_from_slice(done);
        } else if !done.is_empty() {
            self.take(target, done);
        }
    }

    #[inline(always)]
    fn take<T: Target>(&mut self, target: &mut T, done: &[Completion]) {
        self.meter.completed(done.len() as u32);
        for completion in done {
            if self.ramping {
                self.check_ramp(completion);
            }
            self.finish_one(target, completion);
        }
    }

    #[inline(always)]
    fn finish_one<T: Target>(&mut self, target: &mut T, completion: &Completion) {
        let Some(flight) = self.slots.get(completion.tag) else { return };
        let decision = &flight.decision;
        let whole = completion.result == (decision.length - flight.moved) as i32;
        if !whole || decision.checked || !decision.kind.moves_data() || self.is_watched {
            return self.finish_slowly(target, completion);
        }
        // Fields are read one by one, because copying the whole flight just after parts of it were written stalls.
        self.meter.record(&sample(flight, completion, self.policy.queues));
        self.issuer.complete(decision, completion.completed);
        self.slots.release(completion.tag, completion.completed);
    }

    /// Finishes any operation other than a complete transfer that needs no verification.
    fn finish_slowly<T: Target>(&mut self, target: &mut T, completion: &Completion) {
        let Some(flight) = self.slots.get(completion.tag).copied() else { return };
        let decision = flight.decision;
        if self.restraint.is_some() {
            self.record_completion(&flight, completion);
        }
        if completion.result == Completion::WITHOUT_CALL {
            self.meter.record_without_latency(decision.kind.data_kind(), decision.length, completion.completed);
        } else if completion.result == Completion::WITHOUT_DATA {
            self.meter.record(&Sample { bytes: 0, ..sample(&flight, completion, self.policy.queues) });
            self.check_latency(&flight, completion);
        } else if decision.kind.moves_data() {
            if completion.result != (decision.length - flight.moved) as i32 {
                return self.finish_or_repeat(target, completion);
            }
            if decision.checked && self.verify_or_retry(target, completion, &flight) {
                return;
            }
            self.meter.record(&sample(&flight, completion, self.policy.queues));
            self.meter.record_blocks(decision.kind.data_kind(), decision.offset, decision.length, true);
            if let Some(recent) = self.checks.recent.as_mut().filter(|_| decision.kind == OpKind::Write) {
                recent.record(&decision);
            }
            self.check_latency(&flight, completion);
        } else {
            if let Some(recent) = &mut self.checks.recent {
                recent.end_sync(completion.tag, completion.result >= 0);
            }
            if completion.result < 0 {
                return self.finish_incomplete(completion);
            }
            if !decision.closing {
                self.meter.record_sync(sample(&flight, completion, self.policy.queues).service());
            }
        }
        self.issuer.complete(&decision, completion.completed);
        self.slots.release(completion.tag, completion.completed);
    }

    /// Postpones the end of the ramp, and with it that of the runtime, until the bytes of the ramp were transferred.
    fn await_ramp_bytes(&mut self) {
        if self.policy.ramp_bytes.as_ref().is_some_and(|bytes| !bytes.is_over()) {
            (self.ramp_end, self.end) = (Nanos::MAX, Nanos::MAX);
        }
    }

    /// Begins to measure if the ramp was over before this completion, which is not yet recorded.
    #[cold]
    fn check_ramp(&mut self, completion: &Completion) {
        if self.ramp_end == Nanos::MAX {
            self.count_ramp_bytes(completion);
        }
        if completion.completed < self.ramp_end || self.ramp_end == Nanos::MAX {
            return;
        }
        self.ramping = false;
        self.meter.begin(self.ramp_end);
    }

    /// Counts the bytes of a completion. Those of the last operation of the ramp are part of it.
    fn count_ramp_bytes(&mut self, completion: &Completion) {
        let Some(bytes) = &self.policy.ramp_bytes else { return };
        let moves_data = self.slots.get(completion.tag).is_some_and(|flight| flight.decision.kind.moves_data());
        let moved = if moves_data { u64::try_from(completion.result).unwrap_or(0) } else { 0 };
        let end = if bytes.is_over() {
            completion.completed
        } else if bytes.add(moved) {
            completion.completed + Nanos::new(1)
        } else {
            return;
        };
        self.ramp_end = end.max(self.start + self.policy.ramp);
        self.end = self.ramp_end + self.policy.runtime;
        if let Some(restraint) = &mut self.restraint {
            restraint.begin(self.ramp_end);
        }
    }

    /// Begins to read back what was written, or after that to write the rest. Returns false if neither is left. After
    /// the runtime, [`Policy::verify_after_runtime`] decides whether anything is read back.
    fn begin_next_phase(&mut self, now: Nanos) -> bool {
        let is_late = self.ending == Some(Ending::Runtime) && self.policy.verify_after_runtime;
        if self.ending.is_some() && !is_late {
            return false;
        }
        let begins = match self.checks.writer.take() {
            Some(writer) => {
                let reader = std::mem::replace(&mut self.issuer, writer);
                self.issuer.resume(Some(&reader))
            }
            None => self.begin_read_back() || self.issuer.resume(None),
        };
        self.exhausted = !begins;
        if begins {
            self.meter.begin_phase(now);
        }
        begins
    }

    fn begin_read_back(&mut self) -> bool {
        let Some(reader) = self.issuer.verify_pass() else { return false };
        self.checks.replayed = self.issuer.writes();
        self.checks.results.written += reader.to_read_back();
        // They are not read back.
        self.checks.failed_writes = 0;
        self.checks.writer = Some(std::mem::replace(&mut self.issuer, reader));
        true
    }

    fn wait_until(&mut self, instant: Nanos) -> Wake {
        if self.armed == instant {
            return Wake::Completions(1);
        }
        self.armed = instant;
        Wake::At(instant)
    }
}

/// Returns a placeholder decision for a failure that is not that of an operation of the issuer.
fn placeholder(kind: OpKind, file: u32, offset: u64, intended: Nanos) -> Decision {
    let (sequence, length, pass) = (0, 0, 0);
    Decision { intended, offset, sequence, length, file, pass, kind, priority: 0, checked: false, closing: true }
}

fn op(tag: Tag, decision: &Decision, moved: u32) -> Op {
    Op {
        tag,
        kind: decision.kind,
        file: decision.file,
        offset: decision.offset + u64::from(moved),
        length: decision.length - moved,
        skip: moved,
    }
}

/// Returns the sample of a completed operation.
#[inline]
fn sample(flight: &Flight, completion: &Completion, queues: bool) -> Sample {
    let submitted = flight.submitted.min(completion.submitted);
    Sample {
        direction: flight.decision.kind.data_kind(),
        priority: flight.decision.priority,
        bytes: flight.decision.length,
        offset: flight.decision.offset,
        intended: flight.decision.intended,
        started: if queues { flight.started } else { submitted },
        submitted,
        completed: completion.completed,
    }
}
