//! One worker: issuer, meter and operations in flight.

mod retry;

use meter::{Meter, Sample, SummaryDirection};
use target::{Completion, Op, Settled, Tag, Target};
use units::Nanos;
use units::OpKind;
use workload::{Decision, Issuer, Next};

use crate::Policy;
use crate::group::GroupSizing;
use crate::outcome::{Abandoned, Ending, FailureCause, OperationFailure, Verification};
use crate::slots::{Flight, FlightSlots};
use retry::EINTR;

/// The next event that a worker waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// At least so many completions.
    Completions(u32),
    /// Nothing: it wants to be asked again after a look at the target.
    Look,
    /// This instant, or a completion.
    At(Nanos),
    /// Nothing: it has just ended.
    Ended,
    /// Nothing: it ended before.
    AlreadyEnded,
}

/// One worker: what it issues, what it has counted, how far it is.
#[derive(Debug)]
pub struct DriveWorker {
    issuer: Issuer,
    /// The issuer of what is written, while what it has written is read back.
    writer: Option<Issuer>,
    meter: Meter,
    policy: Policy,
    slots: FlightSlots,
    group: GroupSizing,
    /// Completions that are not taken yet, where [`Policy::complete_max`] limits how many are taken at a time.
    backlog: Vec<Completion>,
    /// Operations to be submitted again: the rest of short transfers, and what met `EAGAIN`.
    again: Vec<Tag>,
    failures: Vec<OperationFailure>,
    /// Checked reads, and how many of them failed the check.
    checked: u64,
    mismatches: u64,
    /// What was written stayed in a cache as it was read back.
    cached: bool,
    /// Checked reads that cannot be judged.
    overwritten: u64,
    /// Reads that were repeated in vain.
    not_torn: u32,
    failed_writes: u64,
    /// Writes whose reading back has begun, and the reads that it takes.
    replayed: u64,
    to_read_back: u64,
    abandoned: Vec<Abandoned>,
    start: Nanos,
    ramp_end: Nanos,
    end: Nanos,
    /// The instant for which a timer is running.
    armed: Nanos,
    ramping: bool,
    /// The target knows that results count.
    measured: bool,
    exhausted: bool,
    ending: Option<Ending>,
    ended: bool,
}

impl DriveWorker {
    /// A worker that has not begun.
    #[must_use]
    pub fn new(issuer: Issuer, meter: Meter, policy: Policy) -> Self {
        Self {
            issuer,
            writer: None,
            meter,
            slots: FlightSlots::new(policy.depth.max(1)),
            group: GroupSizing::new(policy.batch, policy.depth.max(1)),
            backlog: Vec::new(),
            again: Vec::new(),
            failures: Vec::new(),
            checked: 0,
            mismatches: 0,
            cached: false,
            overwritten: 0,
            not_torn: 0,
            failed_writes: 0,
            replayed: 0,
            to_read_back: 0,
            abandoned: Vec::new(),
            start: Nanos::MAX,
            ramp_end: Nanos::MAX,
            end: Nanos::MAX,
            armed: Nanos::ZERO,
            ramping: policy.ramp > Nanos::ZERO,
            measured: false,
            exhausted: false,
            ending: None,
            ended: false,
            policy,
        }
    }

    /// Its meter.
    pub fn meter_mut(&mut self) -> &mut Meter {
        &mut self.meter
    }

    /// The first failures, in the order in which they were seen.
    #[must_use]
    pub fn failures(&self) -> &[OperationFailure] {
        &self.failures
    }

    /// Operations that never completed because [`crate::Stop::abandon`] came first; the target still has them.
    #[must_use]
    pub fn abandoned(&self) -> &[Abandoned] {
        &self.abandoned
    }

    /// Why it ended; `None` while it runs.
    #[must_use]
    pub fn ending(&self) -> Option<Ending> {
        if self.ended { Some(self.ending.unwrap_or(Ending::Complete)) } else { None }
    }

    /// What it has written and verified so far.
    #[must_use]
    pub fn verification(&self) -> Verification {
        let issued = self.writer.as_ref().unwrap_or(&self.issuer);
        let written = issued.writes().saturating_sub(self.replayed) + self.to_read_back;
        Verification {
            written: written.saturating_sub(self.failed_writes),
            checked: self.checked,
            overwritten: self.overwritten,
            mismatches: self.mismatches,
            cached: self.cached,
            nonce: issued.nonce(),
        }
    }

    /// Whether its end is that of the others.
    pub(crate) fn ends_others(&self) -> bool {
        self.policy.ends_others
    }

    /// How many operations it can have in flight.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.slots.depth()
    }

    pub(crate) fn place(&mut self, base: u32) {
        self.slots.place(base);
    }

    /// Sets its timetable by the time of its arrival.
    pub(crate) fn arrive(&mut self, now: Nanos) {
        self.start = now + self.policy.delay;
        self.ramp_end = self.start + self.policy.ramp;
        self.end = self.ramp_end + self.policy.runtime;
        self.meter.begin(self.start);
    }

    /// Issues nothing more.
    pub(crate) fn stop(&mut self) {
        if !self.ended {
            self.ending.get_or_insert(Ending::Stopped);
        }
    }

    /// Ends without waiting for what is in flight.
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

    /// Issues what can be issued now and says what to wait for.
    pub(crate) fn step<T: Target>(&mut self, target: &mut T, now: Nanos) -> Wake {
        if self.backlog.is_empty() { self.advance(target, now) } else { self.work_off(target, now) }
    }

    /// A step with as many of the completions before it as are taken at a time.
    #[cold]
    fn work_off<T: Target>(&mut self, target: &mut T, now: Nanos) -> Wake {
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
                Wake::Look
            }
            _ => Wake::Look,
        }
    }

    fn advance<T: Target>(&mut self, target: &mut T, now: Nanos) -> Wake {
        if self.ended {
            return Wake::AlreadyEnded;
        }
        if now < self.start && self.ending.is_none() {
            return self.wait_until(self.start);
        }
        if !self.measured && !self.ramping {
            self.measured = true;
            target.measure(self.slots.first_tag(), true);
        }
        if now >= self.end && self.ending.is_none() {
            self.ending = Some(Ending::Runtime);
            self.end_runtime();
        }
        if self.exhausted || self.is_halted() {
            return self.drain(target, now);
        }
        self.fill(target, now)
    }

    /// Issues no more of the load. What is being read back is read to its end where the policy says so.
    fn end_runtime(&mut self) {
        match &mut self.writer {
            Some(writer) if self.policy.verify_after_runtime => writer.finish(),
            _ => self.issuer.finish(),
        }
    }

    /// Whether nothing more is issued, not even what would end the job in good order.
    fn is_halted(&self) -> bool {
        matches!(self.ending, Some(Ending::Stopped | Ending::Failed))
    }

    /// Submits again what has to be and waits for what is in flight; then begins what comes next.
    fn drain<T: Target>(&mut self, target: &mut T, now: Nanos) -> Wake {
        if self.is_halted() {
            self.give_up_again(now);
        }
        self.submit_again(target);
        if self.slots.in_flight() > 0 {
            return Wake::Completions(1);
        }
        if self.turns_to_what_is_left(now) {
            return self.fill(target, now);
        }
        self.meter.end_phase(now);
        self.ended = true;
        if self.measured {
            target.measure(self.slots.first_tag(), false);
        }
        Wake::Ended
    }

    fn fill<T: Target>(&mut self, target: &mut T, mut now: Nanos) -> Wake {
        self.submit_again(target);
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
                break Wake::Look;
            }
            match self.issuer.next(now) {
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
                    self.issue(target, Decision { intended, ..decision }, now);
                    issued += 1;
                }
                Next::Until(instant) => break self.wait_until(instant.min(self.end)),
                Next::Close(file) => target.close(file),
                Next::Blocked => break Wake::Completions(1),
                Next::Done => {
                    self.exhausted = true;
                    break Wake::Completions(1);
                }
            }
        };
        if issued > 0 {
            self.meter.submitted(before, issued);
        }
        if self.exhausted && self.slots.in_flight() == 0 { self.drain(target, now) } else { wake }
    }

    /// Has the target forget what its caches hold of the files. Returns the time afterwards: this is no part of an
    /// operation.
    #[cold]
    fn invalidate<T: Target>(&mut self, target: &mut T) -> Nanos {
        target.turn_to(self.slots.first_tag());
        if self.writer.is_some() && self.policy.settle_before_verify {
            self.settle(target);
        } else {
            for (file, region) in (0..).zip(self.issuer.regions()) {
                target.invalidate(file, region.start, region.length);
            }
        }
        target.now()
    }

    /// Has the target write back what was written. Where that fails this is a failed `fdatasync`.
    fn settle<T: Target>(&mut self, target: &mut T) {
        let mut failed = Vec::new();
        for (file, region) in (0..).zip(self.issuer.regions()) {
            let began = target.now();
            match target.settle(file, region.start, region.length) {
                Ok(settled) => self.cached |= settled == Settled::Cached,
                // Nothing in it is waited for any longer.
                Err(EINTR) => {
                    let decision = write_back(file, region.start, began);
                    self.abandoned.push(Abandoned { decision, waited: target.now().since(began) });
                }
                Err(errno) => failed.push((write_back(file, region.start, began), errno)),
            }
        }
        for (decision, errno) in failed {
            self.fail(decision, FailureCause::Errno(errno), None);
        }
    }

    #[inline(always)]
    fn issue<T: Target>(&mut self, target: &mut T, decision: Decision, now: Nanos) {
        let flight = Flight { decision, started: now, submitted: Nanos::MAX, moved: 0 };
        let Some((tag, free_since)) = self.slots.take(flight) else { return };
        if decision.kind == OpKind::Write {
            self.make_payload(target, tag, &decision);
        }
        if self.policy.scheduled {
            self.meter.record_lateness(now.since(decision.intended.max(free_since)));
        }
        target.submit(op(tag, &decision, 0));
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

    /// Takes completions of its own operations.
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
            if self.ramping && completion.completed >= self.ramp_end {
                self.ramping = false;
                self.meter.begin(self.ramp_end);
            }
            self.finish_one(target, completion);
        }
    }

    #[inline(always)]
    fn finish_one<T: Target>(&mut self, target: &mut T, completion: &Completion) {
        let Some(flight) = self.slots.get(completion.tag) else { return };
        let decision = &flight.decision;
        let whole = completion.result == (decision.length - flight.moved) as i32;
        if !whole || decision.checked || !decision.kind.moves_data() {
            return self.finish_rarely(target, completion);
        }
        // Fields are read one by one: copying the flight whole, just after parts of it were written, stalls.
        self.meter.record(&sample(flight, completion));
        self.issuer.complete(decision, completion.completed);
        self.slots.release(completion.tag, completion.completed);
    }

    /// Everything but a whole transfer that needs no check.
    fn finish_rarely<T: Target>(&mut self, target: &mut T, completion: &Completion) {
        let Some(flight) = self.slots.get(completion.tag).copied() else { return };
        let decision = flight.decision;
        if decision.kind.moves_data() {
            if completion.result != (decision.length - flight.moved) as i32 {
                return self.finish_oddly(completion);
            }
            if decision.checked && self.is_to_be_read_again(target, completion, &flight) {
                return;
            }
            self.meter.record(&sample(&flight, completion));
        } else {
            if completion.result < 0 {
                return self.finish_oddly(completion);
            }
            if !decision.closing {
                self.meter.record_sync(sample(&flight, completion).service());
            }
        }
        self.issuer.complete(&decision, completion.completed);
        self.slots.release(completion.tag, completion.completed);
    }

    /// Turns to reading back what was written, or from there to what is still to be written; false where neither is
    /// left. When the runtime is over, [`Policy::verify_after_runtime`] says whether anything is still read back.
    fn turns_to_what_is_left(&mut self, now: Nanos) -> bool {
        let is_late = self.ending == Some(Ending::Runtime) && self.policy.verify_after_runtime;
        if self.ending.is_some() && !is_late {
            return false;
        }
        let turned = match self.writer.take() {
            Some(writer) => self.goes_on_writing(writer),
            None => self.reads_back() || self.issuer.resume(None),
        };
        self.exhausted = !turned;
        if turned {
            self.meter.begin_phase(now);
        }
        turned
    }

    fn goes_on_writing(&mut self, writer: Issuer) -> bool {
        let reader = std::mem::replace(&mut self.issuer, writer);
        self.issuer.resume(Some(&reader))
    }

    fn reads_back(&mut self) -> bool {
        let Some(reader) = self.issuer.verify_pass() else { return false };
        self.replayed = self.issuer.writes();
        self.to_read_back += reader.to_read_back();
        self.writer = Some(std::mem::replace(&mut self.issuer, reader));
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

/// A placeholder operation for writing a file back before it is read.
fn write_back(file: u32, offset: u64, intended: Nanos) -> Decision {
    let (kind, closing) = (OpKind::DataSync, true);
    Decision { intended, offset, sequence: 0, length: 0, file, pass: 0, kind, checked: false, closing }
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

/// The sample of a completed data operation.
#[inline]
fn sample(flight: &Flight, completion: &Completion) -> Sample {
    Sample {
        direction: direction(flight.decision.kind),
        bytes: flight.decision.length,
        offset: flight.decision.offset,
        intended: flight.decision.intended,
        started: flight.started,
        submitted: flight.submitted.min(completion.submitted),
        completed: completion.completed,
    }
}

/// Syncs count with writes; they are metered apart.
#[inline]
fn direction(kind: OpKind) -> SummaryDirection {
    match kind {
        OpKind::Read => SummaryDirection::Read,
        OpKind::Trim => SummaryDirection::Trim,
        OpKind::Write | OpKind::Sync | OpKind::DataSync => SummaryDirection::Write,
    }
}
