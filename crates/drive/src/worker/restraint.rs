//! Applies a worker's rules: what it may not issue yet, and what makes it fail.

use target::{Completion, Target};
use units::{Nanos, OpKind};
use workload::{Decision, Next};

use super::depth_search::{DepthSearch, SearchStep};
use super::floor::{BelowFloor, FloorCheck};
use super::{DriveWorker, Wake, placeholder};
use crate::OperationRecorder;
use crate::locks::{LockAnswer, LockHolder};
use crate::outcome::{Ending, FailureCause};
use crate::rules::{FlowMember, FoundDepth, WorkerRules};
use crate::slots::Flight;

/// Shortest and longest pause of a worker that waits for the lock of another one. The first ones are spent polling.
const LOCK_PAUSE_MIN: Nanos = Nanos::from_micros(2);
const LOCK_PAUSE_MAX: Nanos = Nanos::from_millis(1);

/// The rules of a worker and what they have to remember.
#[derive(Default)]
pub(super) struct Restraint {
    rules: WorkerRules,
    floor: Option<FloorCheck>,
    search: Option<DepthSearch>,
    /// Operations issued, as the flow counts them; `None` outside the flow.
    flow_issued: Option<u64>,
    /// An operation that waits for others that it overlaps.
    held: Option<Decision>,
    /// Locks that operations hold.
    locks: Option<LockHolder>,
    /// Whether that operation begins another pass.
    is_held_anew: bool,
    /// Since when that operation has waited for the lock of another worker.
    waits_since: Option<Nanos>,
    /// Receive the operations.
    recorders: Vec<Box<dyn OperationRecorder>>,
}

impl std::fmt::Debug for Restraint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Restraint").field("rules", &self.rules).finish_non_exhaustive()
    }
}

impl Restraint {
    /// Returns `None` if there are no rules.
    pub(super) fn new(rules: &WorkerRules, depth: u32) -> Option<Box<Self>> {
        if *rules == WorkerRules::default() {
            return None;
        }
        let mut restraint = Box::<Self>::default();
        restraint.floor = rules.floor.clone().map(FloorCheck::new);
        restraint.search = rules.latency_target.map(|target| DepthSearch::new(target, depth));
        restraint.locks = rules.locks.clone().map(|locks| LockHolder::new(locks, depth));
        restraint.rules = rules.clone();
        Some(restraint)
    }

    pub(super) fn begin(&mut self, start: Nanos) {
        if let Some(floor) = &mut self.floor {
            floor.begin(start);
        }
        if let Some(search) = &mut self.search {
            search.begin(start);
        }
    }

    /// Returns the depth to which a latency target has led.
    pub(super) fn found_depth(&self) -> Option<FoundDepth> {
        self.search.as_ref().map(DepthSearch::found)
    }

    /// Leaves the flow and gives back locks, so that the others do not wait for this worker.
    pub(super) fn end(&mut self) {
        if let Some(locks) = &mut self.locks {
            locks.end();
        }
        if let (Some(member), Some(issued)) = (&self.rules.flow, self.flow_issued.take()) {
            member.leave(issued);
        }
    }

    /// Reports whether the search permits another operation in flight.
    fn has_room(&self, in_flight: u32) -> bool {
        self.search.as_ref().is_none_or(|search| in_flight < search.depth())
    }

    /// Returns the pause of a worker that is ahead of its flow.
    fn flow_pause(&mut self) -> Option<Nanos> {
        let member: &FlowMember = self.rules.flow.as_ref()?;
        let issued = *self.flow_issued.get_or_insert_with(|| {
            member.enter();
            0
        });
        member.is_ahead(issued).then_some(member.pause)
    }

    /// Takes the lock of the next operation's file. Returns what to wait for if it cannot, and keeps the operation.
    #[cold]
    fn wait_of_locks(&mut self, next: &Next, now: Nanos) -> Option<Next> {
        let (Next::Issue(decision) | Next::IssueAnew(decision)) = next else { return None };
        let answer = self.locks.as_mut()?.ask(decision.file, decision.kind == OpKind::Read);
        let wait = match answer {
            LockAnswer::Held => {
                self.waits_since = None;
                return None;
            }
            LockAnswer::AfterOwn => Next::Blocked,
            LockAnswer::Elsewhere => {
                // Later by an eighth of the wait at most.
                let waited = now.since(*self.waits_since.get_or_insert(now));
                Next::Until(now + Nanos::new(waited.get() / 8).clamp(LOCK_PAUSE_MIN, LOCK_PAUSE_MAX))
            }
        };
        self.held = Some(*decision);
        self.is_held_anew = matches!(next, Next::IssueAnew(_));
        Some(wait)
    }

    fn count_issued(&mut self) {
        if let (Some(member), Some(issued)) = (&self.rules.flow, &mut self.flow_issued) {
            member.issue();
            *issued += 1;
        }
    }
}

impl Drop for Restraint {
    fn drop(&mut self) {
        self.end();
    }
}

impl DriveWorker {
    /// Passes all operations from now on to a recorder, too.
    pub fn record(&mut self, recorder: Box<dyn OperationRecorder>) {
        self.is_watched |= recorder.sees_completions();
        self.restraint.get_or_insert_default().recorders.push(recorder);
    }

    /// Returns the recorders, for their end.
    pub fn take_recorders(&mut self) -> Vec<Box<dyn OperationRecorder>> {
        self.restraint.as_mut().map(|restraint| std::mem::take(&mut restraint.recorders)).unwrap_or_default()
    }

    /// Passes a completion to the recorders.
    #[cold]
    pub(super) fn record_completion(&mut self, flight: &Flight, completion: &Completion) {
        let Some(restraint) = &mut self.restraint else { return };
        for recorder in &mut restraint.recorders {
            recorder.completed(&flight.decision, flight.started, completion);
        }
    }

    /// Gives back the locks of files on which nothing is in flight.
    #[cold]
    pub(super) fn release_locks(&mut self) {
        let slots = &self.slots;
        if let Some(locks) = self.restraint.as_mut().and_then(|restraint| restraint.locks.as_mut()) {
            locks.release_idle(|file| slots.flights().any(|flight| flight.decision.file == file));
        }
    }

    /// Applies the rules that depend on time. Called before operations are issued.
    #[cold]
    pub(super) fn check_rules<T: Target>(&mut self, target: &mut T, now: Nanos) {
        let (ios, bytes) = (self.meter.ios(), self.meter.bytes());
        let Some(restraint) = &mut self.restraint else { return };
        if let Some(BelowFloor { kind, cause }) =
            restraint.floor.as_mut().and_then(|floor| floor.check(now, ios, bytes))
        {
            self.fail(placeholder(kind, 0, 0, now), cause, None);
            return;
        }
        let oldest = || self.slots.flights().map(|flight| flight.started).min();
        match restraint.search.as_mut().and_then(|search| search.step(now, oldest)) {
            Some(SearchStep::Measure) => {
                self.meter.begin(now);
                target.measure(self.slots.first_tag(), true);
            }
            Some(SearchStep::End) => {
                self.ending = Some(Ending::Complete);
                self.end_runtime();
            }
            None => {}
        }
    }

    /// Returns what to wait for before the next operation, if a rule forbids it now.
    #[cold]
    pub(super) fn wait_of_rules(&mut self, now: Nanos) -> Option<Wake> {
        let in_flight = self.slots.in_flight();
        let restraint = self.restraint.as_mut()?;
        if !restraint.has_room(in_flight) {
            return Some(Wake::Completions(1));
        }
        let pause = restraint.flow_pause()?;
        Some(self.wait_until((now + pause).min(self.end)))
    }

    /// Takes the next decision. One that overlaps an operation in flight is kept until that has completed, if the job
    /// says so.
    #[inline(always)]
    pub(super) fn next_by_rules(&mut self, now: Nanos) -> Next {
        let Some(restraint) = &mut self.restraint else { return self.issuer.next(now) };
        let next = match restraint.held.take() {
            Some(held) if std::mem::take(&mut restraint.is_held_anew) => Next::IssueAnew(held),
            Some(held) => Next::Issue(held),
            None => self.issuer.next(now),
        };
        if let Next::Issue(decision) = &next
            && restraint.rules.serializes
            && self.slots.flights().any(|flight| overlaps(flight, decision))
        {
            restraint.held = Some(*decision);
            return Next::Blocked;
        }
        if restraint.locks.is_some()
            && let Some(wait) = restraint.wait_of_locks(&next, now)
        {
            return wait;
        }
        if let Next::Issue(decision) | Next::IssueAnew(decision) = &next {
            restraint.count_issued();
            restraint.recorders.iter_mut().for_each(|recorder| recorder.issued(decision, now));
        }
        next
    }

    /// Applies the rules on latency to a completed operation.
    pub(super) fn check_latency(&mut self, flight: &Flight, completion: &Completion) {
        let kind = flight.decision.kind;
        let Some(restraint) = self.restraint.as_mut().filter(|_| kind.moves_data()) else { return };
        let latency = completion.completed.since(flight.started);
        let target = restraint.rules.latency_target.map(|target| target.latency);
        let impossible = restraint.search.as_mut().is_some_and(|search| search.count(latency));
        let most = restraint.rules.latency_max.slot(kind.index()).filter(|&most| latency > most);
        if let Some(most) = most.or(target.filter(|_| impossible)) {
            self.fail(flight.decision, FailureCause::TooSlow { latency, most }, None);
        }
    }
}

/// Reports whether an operation in flight and another one touch the same bytes, at least one of them changing them.
fn overlaps(flight: &Flight, decision: &Decision) -> bool {
    let other = &flight.decision;
    let changes = |kind| matches!(kind, OpKind::Write | OpKind::Trim);
    (changes(other.kind) || changes(decision.kind))
        && other.file == decision.file
        && other.offset < decision.offset + u64::from(decision.length)
        && decision.offset < other.offset + u64::from(other.length)
}
