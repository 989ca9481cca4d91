//! The issuer: decides the operations of one worker.

mod build;
mod data;
mod fast_path;
mod loops;
mod overlap;
mod pairs;
mod ranges;
mod replay;
mod trims;
mod written;
mod zoned;

pub use build::map_bytes;

use std::collections::BTreeSet;

use job::Job;
use units::random::Random;
use units::{Nanos, OpKind};

use crate::decision::{Decision, FileExtent, Next, WorkerIndex};
use crate::error::WorkloadError;
use crate::files::JobLayout;
use crate::limits::Limits;
use crate::mix::Mix;
use crate::offsets::{Cursor, OffsetRules};
use crate::operations::Operations;
use crate::pace::Pace;
use crate::payload::Payload;
use crate::picker::Picker;
use crate::priorities::Priorities;
use crate::replay::{ReplayOutcome, TraceBytes, TraceReplay};
use crate::syncs::{self, SyncSchedule};
use crate::think::{Admission, Think};
use crate::verify::Verifier;
use build::used_kinds;
use fast_path::FastPath;
use overlap::OverlappingWrites;
use pairs::PendingTrims;
use replay::Replay;
use trims::BacklogTrims;
use written::WrittenBefore;
use zoned::ZonedFiles;

/// Decides the operations of one worker, one at a time.
///
/// The same job, worker, layout and seed yield the same decisions on every target, and under a rate the same instants.
/// The caller passes each issued decision to [`Issuer::complete`] once, whatever its outcome.
#[derive(Clone, Debug)]
pub struct Issuer {
    fast_path: FastPath,
    /// Whether to take the slow path: something may precede the next data operation ([`Self::before_data`]).
    slow_path: bool,
    /// Whether caches of the files are invalidated before each further pass.
    invalidates: bool,
    /// Whether the next operation begins such a pass.
    begins_pass: bool,
    mix: Mix,
    pace: Pace,
    limits: Limits,
    sequence: u64,
    /// Completed operations; `sequence` minus this is in flight.
    completed: u64,
    files: Vec<Cursor>,
    rules: OffsetRules,
    picker: Picker,
    streams: Streams,
    checks_reads: bool,
    syncs: Option<SyncSchedule>,
    writes: u64,
    /// File, offset, and pass or number of the writes since the last read-back that failed.
    failed_writes: BTreeSet<(u32, u64, u32)>,
    /// Whether to stop after each pass over the files, so that it can be read back.
    reads_back: bool,
    /// Number of writes after which they are read back within a pass; `u64::MAX` for the end of the pass.
    backlog: u64,
    /// Number of writes at which that is the case.
    backlog_full_at: u64,
    /// This issuer as it was after the last read-back, from which to repeat its decisions; `None` before the first.
    checkpoint: Option<Box<Self>>,
    phase: IssuerPhase,
    /// Number of the first operation of the current loop.
    loop_start: u64,
    /// Whether the current loop began within a pass over the files, so that it may continue with the next pass.
    within_pass: bool,
    due_sync: Option<Decision>,
    /// Next file to renew before the loop begins; `None` after the last.
    next_renewed: Option<u32>,
    think: Option<Think>,
    pairs: Option<PendingTrims>,
    /// Trims of written blocks, if the job has some.
    trims: Option<Box<BacklogTrims>>,
    /// Present if overlapping writes are verified: they are numbered and do not overtake each other.
    order: Option<Box<OverlappingWrites>>,
    replay: Option<Replay>,
    /// Decides where operations fall, if the job works in zones.
    zoned: Option<Box<ZonedFiles>>,
    /// Decides instead of the pattern, if the job replays a trace.
    trace: AttachedTrace,
    /// Maximum number of ranges of a trim.
    most_ranges: usize,
    /// Ranges of the last trim, if trims have several.
    ranges: Vec<(u64, u32)>,
    /// Draws priorities, if operations have some.
    priorities: Option<Box<Priorities>>,
    payload: Payload,
    verifier: Option<Verifier>,
    /// What an earlier job had written, if only that is checked.
    written: Option<Box<WrittenBefore>>,
    origin: Box<IssuerInputs>,
}

/// The replay of a trace, which belongs to one issuer: its copies, which read back what was written, have none.
#[derive(Debug, Default)]
struct AttachedTrace(Option<Box<TraceReplay>>);

impl Clone for AttachedTrace {
    fn clone(&self) -> Self {
        Self(None)
    }
}

/// Independent random numbers for independent choices, so that a change of one choice does not affect the others.
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
    /// A loop has ended. Once all operations have completed, the files from `next_file` on are synced.
    Closing { next_file: u32 },
    /// A pass has ended: nothing is issued before [`Issuer::resume`].
    ReadBack,
    /// As many writes as `verify_backlog` have not been read back: likewise, within a pass.
    BacklogFull,
    /// The job has ended.
    Done,
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
    /// Creates the issuer of one worker. `seed` is the run's; a `randseed` of the job overrides it.
    ///
    /// It issues only the kinds of data operation in [`Operations::of`] the job. With `verify_only` it reads what it
    /// would have written if there is a verification method, and omits writes and trims if there is none.
    ///
    /// # Errors
    ///
    /// Fails if a region is smaller than a block or if the writes could not be verified.
    pub fn new(job: &Job, worker: WorkerIndex, layout: &JobLayout, seed: u64) -> Result<Self, WorkloadError> {
        let mut issuer = Self::for_load(job, worker, layout, seed)?;
        let operations = Operations::of(job);
        let written = job.pattern.direction.writes() && issuer.mix != Mix::Only(OpKind::Read);
        if job.verify.only && job.verify.method.is_some() && written {
            issuer.replay(u64::MAX);
        } else if !operations.includes_any_of(issuer.mix) {
            (issuer.phase, issuer.slow_path) = (IssuerPhase::Done, true);
        }
        Ok(issuer)
    }

    /// Creates the issuer of a worker that replays a trace, whose facts are in the job.
    ///
    /// # Errors
    ///
    /// Fails if the trace has not been read or does not fit into the files.
    pub fn replaying(
        job: &Job,
        worker: WorkerIndex,
        layout: &JobLayout,
        seed: u64,
        bytes: Box<dyn TraceBytes>,
    ) -> Result<Self, WorkloadError> {
        let replay = TraceReplay::new(job, &layout.files, bytes)?;
        let mut issuer = Self::for_load(job, worker, layout, seed)?;
        (issuer.trace.0, issuer.slow_path) = (Some(Box::new(replay)), true);
        Ok(issuer)
    }

    /// Returns how the replay of a trace has gone so far; `None` if the job replays none.
    #[must_use]
    pub fn replay_outcome(&self) -> Option<ReplayOutcome> {
        self.trace.0.as_ref().map(|trace| trace.outcome())
    }

    /// Decides what to do at `now`, which must not run backwards.
    #[inline(always)]
    pub fn next(&mut self, now: Nanos) -> Next {
        if self.fast_path.is_open() {
            return Next::Issue(self.next_on_fast_path(now));
        }
        self.next_of_any_kind(now)
    }

    #[inline(never)]
    fn next_of_any_kind(&mut self, now: Nanos) -> Next {
        self.close_fast_path();
        loop {
            if self.slow_path
                && let Some(next) = self.before_data(now)
            {
                return next;
            }
            if let Some(next) = self.next_data(now) {
                return if self.slow_path { self.mark(next) } else { next };
            }
            self.end_loop();
        }
    }

    /// Marks the first operation of a further pass.
    #[cold]
    fn mark(&mut self, next: Next) -> Next {
        let next = match next {
            Next::Issue(op) if std::mem::take(&mut self.begins_pass) => Next::IssueAnew(op),
            other => other,
        };
        if self.is_beyond_written(&next) {
            return Next::Done;
        }
        self.hold_overlapping(next)
    }

    /// Returns the next data operation; `None` at the end of a pass.
    #[inline(always)]
    fn next_data(&mut self, now: Nanos) -> Option<Next> {
        let (kind, intended) = match self.pace.turn(self.mix, &mut self.streams.kinds, now) {
            Ok(turn) => turn,
            Err(until) => return Some(Next::Until(until)),
        };
        let (file, offset, mut length) = self.place(kind)?;
        if kind == OpKind::Trim && self.most_ranges > 1 {
            length = self.add_ranges(file, offset, length);
        }
        Some(Next::Issue(self.issue(kind, intended, file, offset, length)))
    }

    /// Returns file, offset and length of the next operation.
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

    /// Begins another pass if the job has several in a loop. A `fresh` pass without room for any operation is the last:
    /// the next one would have none either.
    #[cold]
    fn begin_pass(&mut self, fresh: bool) -> bool {
        if fresh {
            self.limits.stop();
        }
        let least = self.files.first().map_or(1, Cursor::least);
        let goes_on = self.limits.begins_pass(least) || std::mem::take(&mut self.within_pass);
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
        self.mark_pass_start();
        self.picker.restart();
    }

    /// Marks the next operation as the first of a further pass.
    pub(super) fn mark_pass_start(&mut self) {
        if self.invalidates {
            (self.begins_pass, self.slow_path) = (true, true);
        }
    }

    #[inline(always)]
    fn issue(&mut self, kind: OpKind, intended: Nanos, file: u32, offset: u64, length: u32) -> Decision {
        let (pass, sequence) = (self.pass_or_number(file), self.sequence);
        let checked = self.checks_reads;
        let priority = self.priorities.as_mut().map_or(0, |priorities| priorities.draw(kind, length));
        let closing = false;
        let op = Decision { intended, offset, sequence, length, file, pass, kind, priority, checked, closing };
        self.sequence += 1;
        self.pace.spend(kind, length);
        if kind == OpKind::Write {
            self.writes += 1;
        }
        self.schedule_sync(&op);
        if self.picker.is_limited() {
            self.retire_if_done(file);
        }
        if self.slow_path {
            self.follow_up(&op);
        }
        if self.writes >= self.backlog_full_at {
            (self.phase, self.slow_path) = (IssuerPhase::BacklogFull, true);
        }
        if self.limits.spend(length) {
            self.end_loop();
        }
        self.open_fast_path();
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
        if let Some(sync) = self.syncs.as_mut().and_then(|syncs| syncs.after(op)) {
            (self.due_sync, self.slow_path) = (Some(sync), true);
        }
    }

    /// Updates think time and pairs after an operation.
    fn follow_up(&mut self, op: &Decision) {
        if let Some(think) = &mut self.think {
            think.issued();
        }
        if let Some(pairs) = &mut self.pairs {
            pairs.waiting.push_back((*op, false));
        }
        self.choose_trim(op);
    }

    /// Closes a file at the end of its pass, before another one is opened.
    fn retire_if_done(&mut self, file: u32) {
        if self.files[file as usize].is_done() {
            self.picker.retire(file);
            self.slow_path = true;
        }
    }

    #[cold]
    fn end_loop(&mut self) {
        self.phase = IssuerPhase::Closing { next_file: 0 };
        self.slow_path = true;
    }

    /// Returns what must happen before the next data operation, if anything.
    #[cold]
    fn before_data(&mut self, now: Nanos) -> Option<Next> {
        if let Some(trace) = &mut self.trace.0 {
            return Some(trace.next(now));
        }
        if let Some(file) = self.picker.take_retired() {
            return Some(Next::Close(file));
        }
        if self.replay.is_some() {
            return Some(self.replayed(now));
        }
        if let Some(write) = self.pairs.as_mut().and_then(PendingTrims::ready) {
            return Some(self.issue_paired(write, now));
        }
        if let Some(next) = self.due_trim(now) {
            return Some(next);
        }
        if let Some(next) = self.waiting_write() {
            return Some(next);
        }
        if let IssuerPhase::Closing { next_file } = self.phase
            && let Some(next) = self.close(next_file, now)
        {
            return Some(next);
        }
        if matches!(self.phase, IssuerPhase::Done | IssuerPhase::ReadBack | IssuerPhase::BacklogFull) {
            return Some(Next::Done);
        }
        if let Some(next) = self.due_renewal() {
            return Some(next);
        }
        // A sync that was due at the end of a loop is issued if there is another loop, else dropped.
        if let Some(sync) = self.due_sync.take() {
            return Some(self.issue_sync(Decision { intended: now, ..sync }));
        }
        let next = self.think_time(now);
        if next.is_none() {
            self.slow_path = self.begins_pass
                || self.think.is_some()
                || self.pairs.is_some()
                || self.trims.is_some()
                || self.order.is_some()
                || self.written.is_some()
                || self.zoned.is_some();
            if self.zoned.is_some() {
                return self.next_in_zones(now);
            }
        }
        next
    }

    fn think_time(&mut self, now: Nanos) -> Option<Next> {
        let in_flight = self.in_flight();
        let think = self.think.as_mut()?;
        match think.admit(now, in_flight) {
            Admission::Granted => {
                let idled = think.take_idled();
                if self.origin.job.pace.rate_ignores_thinktime {
                    self.pace.delay(idled);
                }
                None
            }
            Admission::Until(until) => Some(Next::Until(until)),
            Admission::AfterCycles(cycles) => Some(Next::Spin(cycles)),
            Admission::AfterAll => Some(Next::Blocked),
        }
    }

    fn issue_sync(&mut self, sync: Decision) -> Next {
        let op = Decision { sequence: self.sequence, checked: false, ..sync };
        self.sequence += 1;
        if sync.closing || self.files[sync.file as usize].is_done() {
            self.picker.retire(sync.file);
            self.slow_path = true;
        }
        Next::Issue(op)
    }

    fn issue_closing_sync(&mut self, file: u32, now: Nanos) -> Next {
        let pass = self.files[file as usize].pass;
        self.issue_sync(syncs::closing(&self.origin.job, file, pass, now))
    }

    fn issue_paired(&mut self, trim: Decision, now: Nanos) -> Next {
        let op = Decision { kind: OpKind::Write, sequence: self.sequence, intended: now, ..trim };
        self.sequence += 1;
        self.writes += 1;
        self.choose_trim(&op);
        self.retire_if_done(op.file);
        Next::Issue(op)
    }

    /// Records that an operation completed or failed, at `at` on the caller's clock.
    #[inline]
    pub fn complete(&mut self, op: &Decision, at: Nanos) {
        self.completed += 1;
        if self.slow_path {
            self.after_completion(op, at);
        }
    }

    /// Records that an operation has failed, before [`Self::complete`]: what is in the blocks of a failed write is unknown,
    /// so it is not read back.
    pub fn note_failure(&mut self, op: &Decision) {
        if self.reads_back && op.kind == OpKind::Write {
            self.failed_writes.insert((op.file, op.offset, op.pass));
        }
        self.note_failure_in_zones(op);
    }

    fn has_failed(&self, op: &Decision) -> bool {
        self.failed_writes.contains(&(op.file, op.offset, op.pass))
    }

    const fn in_flight(&self) -> u64 {
        self.sequence.saturating_sub(self.completed)
    }

    fn after_completion(&mut self, op: &Decision, at: Nanos) {
        if let Some(trace) = &mut self.trace.0 {
            return trace.complete(op, at);
        }
        self.release_overlapping(op);
        if let Some(zoned) = &self.zoned {
            zoned.completed(op);
        }
        if let Some(pairs) = &mut self.pairs {
            pairs.completed(op);
        }
        if let Some(trims) = &mut self.trims {
            trims.completed(op);
        }
        let last = self.in_flight() == 0;
        if let Some(think) = &mut self.think {
            think.completed();
            if last {
                think.all_completed(at);
            }
        }
    }

    /// Stops issuing data, for a job whose `runtime` has elapsed. What remains are the last writes of pairs and
    /// `end_fsync`, then [`Next::Done`].
    pub fn finish(&mut self) {
        if let Some(trace) = &mut self.trace.0 {
            return trace.finish();
        }
        self.close_fast_path();
        self.limits.stop();
        self.replay = self.replay.map(|replay| Replay { left: 0, reads: 0, ..replay });
        if let Some(trims) = &mut self.trims {
            trims.cancel();
        }
        if self.phase == IssuerPhase::Load {
            self.end_loop();
        }
    }

    /// Reports whether other workers write to the region of a file that this issuer reads back, so that reads may be
    /// torn.
    #[must_use]
    pub fn is_shared(&self, file: u32) -> bool {
        self.verifier.as_ref().is_some_and(|verifier| verifier.is_shared(file))
    }

    /// Returns the number of reads left in a read-back; zero for other issuers.
    #[must_use]
    pub fn to_read_back(&self) -> u64 {
        self.replay.map_or(0, |replay| replay.reads)
    }

    /// Returns the number of writes issued.
    #[must_use]
    pub fn writes(&self) -> u64 {
        if self.replay.is_some() { 0 } else { self.writes + self.fast_path.writes() }
    }

    /// Returns the nonce in the headers of verified blocks: that of the run, or the one that a job that only reads has
    /// found. `None` if blocks have no headers.
    #[must_use]
    pub fn nonce(&self) -> Option<u32> {
        self.verifier.as_ref().and_then(Verifier::nonce)
    }

    /// Returns the regions of the files, as indexed by decisions.
    #[must_use]
    pub fn regions(&self) -> &[FileExtent] {
        &self.origin.layout.files
    }

    /// Returns the maximum length of an operation, which is the size of buffers in bytes.
    #[must_use]
    pub fn most_bytes(&self) -> u32 {
        if let Some(trace) = &self.trace.0 {
            return trace.most_bytes();
        }
        let job = &self.origin.job;
        let sizes = &job.pattern.block_sizes;
        let kinds = [(OpKind::Read, &sizes.read), (OpKind::Write, &sizes.write), (OpKind::Trim, &sizes.trim)];
        let used = used_kinds(job, self.mix);
        kinds.into_iter().filter(|(kind, _)| used[kind.index()]).map(|(_, sizes)| sizes.max()).max().unwrap_or(0)
    }
}
