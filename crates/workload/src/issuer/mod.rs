//! The issuer: decides the operations of one worker.

mod in_order;
mod lane;
mod making;
mod replay;

pub use making::map_bytes;

use std::collections::VecDeque;

use job::Job;
use units::Nanos;
use units::random::Random;

use crate::decision::{Decision, Next, WorkerIndex};
use crate::error::WorkloadError;
use crate::extent::FileExtent;
use crate::files::JobLayout;
use crate::limits::Limits;
use crate::mix::Mix;
use crate::offsets::{Cursor, OffsetRules};
use crate::operations::Operations;
use crate::pace::Pace;
use crate::payload::Payload;
use crate::picker::Picker;
use crate::syncs::SyncSchedule;
use crate::think::{Leave, Think};
use crate::verify::{Checked, Mismatch, Verifier};
use in_order::OverlappingWrites;
use lane::Lane;
use making::used_kinds;
use replay::Replay;
use units::OpKind;

/// Decides, one after the other, the operations of one worker.
///
/// The same job, worker, layout and seed give the same decisions, whatever the target; under a rate the instants
/// too. Each decision that was issued has to be handed back to [`Issuer::complete`] once, whatever became of it.
#[derive(Clone, Debug)]
pub struct Issuer {
    lane: Lane,
    attention: bool,
    /// Caches forget the files whenever these are gone through anew.
    invalidates: bool,
    /// The next operation begins such a pass.
    anew: bool,
    mix: Mix,
    pace: Pace,
    limits: Limits,
    sequence: u64,
    /// Operations handed back; the difference to `sequence` is in flight.
    completed: u64,
    files: Vec<Cursor>,
    rules: OffsetRules,
    picker: Picker,
    streams: Streams,
    checks_reads: bool,
    syncs: Option<SyncSchedule>,
    writes: u64,
    /// Rests after each pass over the files, so that it can be read back.
    rests: bool,
    /// This issuer as it was after the last rest, for deciding the same once more; `None` before the first.
    since: Option<Box<Self>>,
    phase: IssuerPhase,
    /// The current loop began in the middle of a pass over the files, so it may go on with the next pass.
    midway: bool,
    due_sync: Option<Decision>,
    think: Option<Think>,
    pairs: Option<PendingTrims>,
    /// Writes that may overlap are verified: they have numbers, and do not overtake each other.
    order: Option<Box<OverlappingWrites>>,
    replay: Option<Replay>,
    payload: Payload,
    verifier: Option<Verifier>,
    origin: Box<IssuerInputs>,
}

/// Independent random numbers for independent choices, so that one choice more or less leaves the others alone.
#[derive(Clone, Debug)]
struct Streams {
    kinds: Random,
    places: Random,
    files: Random,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IssuerPhase {
    /// Data operations are issued.
    Load,
    /// A loop has ended: when all has completed, the files from this one on are synced.
    Closing { next_file: u32 },
    /// A pass has ended: nothing comes before [`Issuer::resume`].
    Resting,
    /// Nothing comes any more.
    Done,
}

/// Trims whose writes have yet to be issued, in order.
#[derive(Clone, Debug, Default)]
struct PendingTrims {
    waiting: VecDeque<(Decision, bool)>,
}

/// Arguments of an issuer, for restarting it.
#[derive(Clone, Debug)]
struct IssuerInputs {
    job: Job,
    worker: WorkerIndex,
    layout: JobLayout,
    seed: u64,
}

impl Issuer {
    /// The issuer of one worker. `seed` is the run's; a `randseed` of the job overrides it.
    ///
    /// It issues no other kinds of data operation than [`Operations::of`] the job: with `verify_only` it reads what it would
    /// have written where there is a method to verify by, and leaves out writes and trims where there is none.
    ///
    /// # Errors
    ///
    /// Where a region is smaller than a block, and where what is written could not be verified.
    pub fn new(job: &Job, worker: WorkerIndex, layout: &JobLayout, seed: u64) -> Result<Self, WorkloadError> {
        let mut issuer = Self::loading(job, worker, layout, seed)?;
        let operations = Operations::of(job);
        let written = job.pattern.direction.writes() && issuer.mix != Mix::Only(OpKind::Read);
        if job.verify.only && job.verify.method.is_some() && written {
            issuer.replay(u64::MAX);
        } else if !operations.includes_any_of(issuer.mix) {
            (issuer.phase, issuer.attention) = (IssuerPhase::Done, true);
        }
        Ok(issuer)
    }

    /// What to do at `now`, which must not run backwards.
    #[inline(always)]
    pub fn next(&mut self, now: Nanos) -> Next {
        if self.lane.is_open() {
            return Next::Issue(self.next_in_lane(now));
        }
        self.next_of_any_kind(now)
    }

    #[inline(never)]
    fn next_of_any_kind(&mut self, now: Nanos) -> Next {
        self.close_lane();
        loop {
            if self.attention
                && let Some(next) = self.attend(now)
            {
                return next;
            }
            if let Some(next) = self.next_data(now) {
                return if self.attention { self.marked(next) } else { next };
            }
            self.end_loop();
        }
    }

    /// Says of the first operation of another pass that it is that.
    #[cold]
    fn marked(&mut self, next: Next) -> Next {
        let next = match next {
            Next::Issue(op) if std::mem::take(&mut self.anew) => Next::IssueAnew(op),
            other => other,
        };
        self.in_order(next)
    }

    /// The next data operation; `None` when the files have been gone through.
    #[inline(always)]
    fn next_data(&mut self, now: Nanos) -> Option<Next> {
        let (kind, intended) = match self.pace.turn(self.mix, &mut self.streams.kinds, now) {
            Ok(turn) => turn,
            Err(until) => return Some(Next::Until(until)),
        };
        let (file, offset, length) = self.place(kind)?;
        Some(Next::Issue(self.issue(kind, intended, file, offset, length)))
    }

    /// File, offset and length of the next operation.
    #[inline(always)]
    fn place(&mut self, kind: OpKind) -> Option<(u32, u64, u32)> {
        let mut fresh = false;
        loop {
            let Some(file) = self.picker.next(&self.files, &mut self.streams.files) else {
                if !self.begin_pass(fresh) {
                    return None;
                }
                fresh = true;
                continue;
            };
            let cursor = &mut self.files[file];
            if let Some((offset, length)) = cursor.next(&self.rules, kind, &mut self.streams.places) {
                return Some((file as u32, offset, length));
            }
            self.picker.retire(file as u32);
        }
    }

    /// Goes through the files once more, where the job does that within a loop. A pass that was `fresh` and has
    /// no place for an operation is the last: the next would have none either.
    #[cold]
    fn begin_pass(&mut self, fresh: bool) -> bool {
        if fresh {
            self.limits.stop();
        }
        let goes_on = self.limits.wraps() || std::mem::take(&mut self.midway);
        if fresh || !goes_on {
            return false;
        }
        self.renew_files();
        true
    }

    fn renew_files(&mut self) {
        for file in &mut self.files {
            file.next_pass(&self.rules);
        }
        self.go_anew();
        self.picker.restart();
    }

    /// The next operation is the first of a pass over all files, and not the first that there is.
    pub(super) fn go_anew(&mut self) {
        if self.invalidates {
            (self.anew, self.attention) = (true, true);
        }
    }

    #[inline(always)]
    fn issue(&mut self, kind: OpKind, intended: Nanos, file: u32, offset: u64, length: u32) -> Decision {
        let (pass, sequence) = (self.pass_or_number(file), self.sequence);
        let checked = self.checks_reads;
        let op = Decision { intended, offset, sequence, length, file, pass, kind, checked, closing: false };
        self.sequence += 1;
        self.pace.spend(kind, length);
        if kind == OpKind::Write {
            self.writes += 1;
        }
        self.schedule_sync(&op);
        if self.picker.is_limited() {
            self.retire_if_done(file);
        }
        if self.attention {
            self.follow_up(&op);
        }
        if self.limits.spend(length) {
            self.end_loop();
        }
        self.open_lane();
        op
    }

    #[inline(always)]
    fn pass_or_number(&mut self, file: u32) -> u32 {
        match &mut self.order {
            Some(order) => order.next_number(),
            None => self.files[file as usize].pass,
        }
    }

    #[inline(always)]
    fn schedule_sync(&mut self, op: &Decision) {
        if let Some(kind) = self.syncs.as_mut().and_then(|syncs| syncs.after(op.kind)) {
            self.due_sync = Some(Decision { kind, length: 0, ..*op });
            self.attention = true;
        }
    }

    /// What an operation entails in jobs that do more than issue data.
    fn follow_up(&mut self, op: &Decision) {
        if let Some(think) = &mut self.think {
            think.issued();
        }
        if let Some(pairs) = &mut self.pairs {
            pairs.waiting.push_back((*op, false));
        }
    }

    /// Has a file closed that has been gone through, before another is opened.
    fn retire_if_done(&mut self, file: u32) {
        if self.files[file as usize].is_done() {
            self.picker.retire(file);
            self.attention = true;
        }
    }

    #[cold]
    fn end_loop(&mut self) {
        self.phase = IssuerPhase::Closing { next_file: 0 };
        self.attention = true;
    }

    /// Everything that may come before the next data operation.
    #[cold]
    fn attend(&mut self, now: Nanos) -> Option<Next> {
        if let Some(file) = self.picker.take_retired() {
            return Some(Next::Close(file));
        }
        if self.replay.is_some() {
            return Some(self.replayed(now));
        }
        if let Some(write) = self.pairs.as_mut().and_then(PendingTrims::ready) {
            return Some(self.issue_paired(write, now));
        }
        if let Some(next) = self.waiting_write() {
            return Some(next);
        }
        if let IssuerPhase::Closing { next_file } = self.phase
            && let Some(next) = self.close(next_file, now)
        {
            return Some(next);
        }
        if matches!(self.phase, IssuerPhase::Done | IssuerPhase::Resting) {
            return Some(Next::Done);
        }
        // A sync that was due when a loop ended is issued if there is another loop, and dropped otherwise.
        if let Some(sync) = self.due_sync.take() {
            return Some(self.issue_sync(Decision { intended: now, ..sync }));
        }
        let held = self.hold(now);
        if held.is_none() {
            self.attention = self.anew || self.think.is_some() || self.pairs.is_some() || self.order.is_some();
        }
        held
    }

    fn hold(&mut self, now: Nanos) -> Option<Next> {
        let in_flight = self.in_flight();
        match self.think.as_mut()?.leave(now, in_flight) {
            Leave::Granted => None,
            Leave::Until(until) => Some(Next::Until(until)),
            Leave::AfterAll => Some(Next::Blocked),
        }
    }

    /// Ends a loop, and begins the next one if there is one.
    fn close(&mut self, next_file: u32, now: Nanos) -> Option<Next> {
        if self.pairs.as_ref().is_some_and(|pairs| !pairs.waiting.is_empty()) {
            return Some(Next::Blocked);
        }
        if self.syncs_at_end() && (next_file as usize) < self.files.len() {
            if self.in_flight() > 0 {
                return Some(Next::Blocked);
            }
            self.phase = IssuerPhase::Closing { next_file: next_file + 1 };
            return Some(self.issue_closing_sync(next_file, now));
        }
        if self.rests_here() {
            self.phase = IssuerPhase::Resting;
            return Some(Next::Done);
        }
        self.next_loop();
        None
    }

    /// Begins the next loop; false, and nothing comes any more, when there is none.
    fn next_loop(&mut self) -> bool {
        if !self.limits.next_loop() {
            self.phase = IssuerPhase::Done;
            return false;
        }
        self.phase = IssuerPhase::Load;
        self.midway = !self.files.iter().all(Cursor::is_done);
        if !self.midway {
            self.renew_files();
        }
        true
    }

    /// Whether the loop that is ending ends with syncs.
    fn syncs_at_end(&self) -> bool {
        let (sync, job) = (&self.origin.job.sync, &self.origin.job);
        let last = self.limits.is_last_loop();
        let wanted = (sync.end_fsync && !self.limits.is_endless()) || (sync.fsync_on_close && last);
        wanted && job.pattern.direction.writes() && self.writes > 0
    }

    fn issue_sync(&mut self, sync: Decision) -> Next {
        let op = Decision { sequence: self.sequence, checked: false, ..sync };
        self.sequence += 1;
        if sync.closing || self.files[sync.file as usize].is_done() {
            self.picker.retire(sync.file);
            self.attention = true;
        }
        Next::Issue(op)
    }

    fn issue_closing_sync(&mut self, file: u32, now: Nanos) -> Next {
        let pass = self.files[file as usize].pass;
        let (kind, closing, checked) = (OpKind::Sync, true, false);
        self.issue_sync(Decision {
            intended: now,
            offset: 0,
            sequence: 0,
            length: 0,
            file,
            pass,
            kind,
            checked,
            closing,
        })
    }

    fn issue_paired(&mut self, trim: Decision, now: Nanos) -> Next {
        let op = Decision { kind: OpKind::Write, sequence: self.sequence, intended: now, ..trim };
        self.sequence += 1;
        self.writes += 1;
        self.retire_if_done(op.file);
        Next::Issue(op)
    }

    /// An operation has completed, well or not, at `at` on the caller's clock.
    #[inline]
    pub fn complete(&mut self, op: &Decision, at: Nanos) {
        self.completed += 1;
        if self.attention {
            self.after_completion(op, at);
        }
    }

    const fn in_flight(&self) -> u64 {
        self.sequence.saturating_sub(self.completed)
    }

    fn after_completion(&mut self, op: &Decision, at: Nanos) {
        self.ends_in_order(op);
        if let Some(pairs) = &mut self.pairs {
            pairs.completed(op);
        }
        let last = self.in_flight() == 0;
        if let Some(think) = self.think.as_mut().filter(|_| last) {
            think.all_completed(at);
        }
    }

    /// Issues no more data: what follows is what ends the job (its last writes of pairs, `end_fsync`), then
    /// [`Next::Done`]. For a job whose `runtime` is over.
    pub fn finish(&mut self) {
        self.close_lane();
        self.limits.stop();
        self.replay = self.replay.map(|replay| Replay { left: 0, reads: 0, ..replay });
        if self.phase == IssuerPhase::Load {
            self.end_loop();
        }
    }

    /// Fills a new buffer once, before its first use; `number` tells the worker's buffers apart.
    pub fn prepare(&self, number: u32, buffer: &mut [u8]) {
        self.payload.prepare(u64::from(number), buffer);
    }

    /// Makes a buffer ready for the write `op`: `buffer` is exactly `op.length` bytes and was prepared before.
    #[inline]
    pub fn fill(&self, op: &Decision, buffer: &mut [u8]) {
        match &self.verifier {
            Some(verifier) => verifier.fill(op, buffer),
            None => self.payload.fill(op, buffer),
        }
    }

    /// Checks the data that `op`, a read with `checked` set, has brought.
    ///
    /// # Errors
    ///
    /// The first block that is not what was written.
    pub fn check(&mut self, op: &Decision, data: &[u8]) -> Result<Checked, Mismatch> {
        self.verifier.as_mut().map_or(Ok(Checked::Good), |verifier| verifier.check(op, data))
    }

    /// Whether other workers write to the same part of a file that this issuer reads back: a read may then be torn.
    #[must_use]
    pub fn is_shared(&self, file: u32) -> bool {
        self.verifier.as_ref().is_some_and(|verifier| verifier.is_shared(file))
    }

    /// How many reads are still to come of an issuer that reads back; zero of others.
    #[must_use]
    pub fn to_read_back(&self) -> u64 {
        self.replay.map_or(0, |replay| replay.reads)
    }

    /// How many writes were issued.
    #[must_use]
    pub fn writes(&self) -> u64 {
        if self.replay.is_some() { 0 } else { self.writes + self.lane.writes() }
    }

    /// The nonce in the headers of verified blocks: that of the run, or what a job that only reads has learned. `None`
    /// where blocks have no headers.
    #[must_use]
    pub fn nonce(&self) -> Option<u32> {
        self.verifier.as_ref().and_then(Verifier::nonce)
    }

    /// The regions of the files, in the order in which decisions refer to them.
    #[must_use]
    pub fn regions(&self) -> &[FileExtent] {
        &self.origin.layout.files
    }

    /// The most bytes of an operation: how large buffers have to be.
    #[must_use]
    pub fn most_bytes(&self) -> u32 {
        let job = &self.origin.job;
        let sizes = &job.pattern.block_sizes;
        let kinds = [(OpKind::Read, &sizes.read), (OpKind::Write, &sizes.write), (OpKind::Trim, &sizes.trim)];
        let used = used_kinds(job, self.mix);
        kinds.into_iter().filter(|(kind, _)| used[kind.index()]).map(|(_, sizes)| sizes.max()).max().unwrap_or(0)
    }
}

impl PendingTrims {
    /// The oldest trim, if it has completed: its write can follow.
    fn ready(&mut self) -> Option<Decision> {
        if self.waiting.front().is_some_and(|(_, completed)| *completed) {
            return self.waiting.pop_front().map(|(trim, _)| trim);
        }
        None
    }

    fn completed(&mut self, op: &Decision) {
        if op.kind == OpKind::Trim
            && let Ok(place) = self.waiting.binary_search_by_key(&op.sequence, |(trim, _)| trim.sequence)
        {
            self.waiting[place].1 = true;
        }
    }
}
