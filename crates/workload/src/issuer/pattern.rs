//! The operations of a pattern, in passes and loops.

mod overlap;
mod pairs;
mod ranges;
mod trims;
mod written;

use std::collections::BTreeSet;

use units::random::Random;
use units::{Nanos, OpKind};

use super::data::Data;
use crate::decision::{Decision, Next};
use crate::limits::Limits;
use crate::mix::Mix;
use crate::offsets::{Cursor, OffsetRules};
use crate::pace::Pace;
use crate::picker::Picker;
use crate::priorities::Priorities;
use crate::syncs::{self, SyncSchedule};
use crate::think::{Admission, Think};
use overlap::OverlappingWrites;
pub(super) use pairs::PendingTrims;
pub(super) use ranges::TrimRanges;
pub(super) use trims::{BacklogTrims, TrimmedBlocks};
use written::WrittenBefore;

/// Decides the operations of a job's pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub(super) phase: Phase,
    pub(super) mix: Mix,
    pub(super) pace: Pace,
    pub(super) limits: Limits,
    pub(super) files: Vec<Cursor>,
    pub(super) rules: OffsetRules,
    pub(super) picker: Picker,
    pub(super) streams: Streams,
    /// Operations decided.
    pub(super) sequence: u64,
    /// Completed operations; `sequence` minus this is in flight.
    pub(super) completed: u64,
    pub(super) writes: u64,
    /// Number of the first operation of the current loop.
    pub(super) loop_start: u64,
    /// Whether the current loop began within a pass over the files, so that it may continue with the next pass.
    pub(super) within_pass: bool,
    /// Whether caches of the files are invalidated before each further pass.
    pub(super) invalidates: bool,
    pub(super) checks_reads: bool,
    pub(super) parts: Option<Box<Parts>>,
    /// Present if writes are read back.
    pub(super) unverified: Option<Box<UnverifiedWrites>>,
    pub(super) data: Data,
}

/// What a job does next, beside waiting for its pace.
#[derive(Clone, Copy, Debug)]
pub(super) enum Phase {
    /// Data operations are issued.
    Load,
    /// Likewise, and the first of them begins a pass, before which caches are invalidated.
    PassStart,
    /// This sync precedes the next data operation.
    Sync(Decision),
    /// A loop begins. The files from `next_file` on are renewed, then the sync is issued that was due before.
    LoopStart { next_file: Option<u32>, sync: Option<Decision> },
    /// A loop has ended. Once all operations have completed, the files from `next_file` on are synced. A sync that was
    /// due is issued if there is another loop, else dropped.
    LoopEnd { next_file: u32, sync: Option<Decision> },
    /// A pass has ended, and is read back before [`super::Issuer::resume`].
    ReadBack { sync: Option<Decision> },
    /// As many writes as `verify_backlog` have not been read back: likewise, within a pass.
    BacklogFull { sync: Option<Decision> },
    /// The job has ended.
    Done,
}

impl Phase {
    /// Reports whether data operations follow, without the end of a loop or a read-back before them.
    pub(super) const fn is_within_loop(&self) -> bool {
        matches!(self, Self::Load | Self::PassStart | Self::Sync(_) | Self::LoopStart { .. })
    }
}

/// Independent random numbers for independent choices, so that a change of one choice does not affect the others.
#[derive(Clone, Debug)]
pub(super) struct Streams {
    pub(super) kinds: Random,
    pub(super) places: Random,
    pub(super) files: Random,
}

/// What only some jobs need. Without any, nothing but the phase has to be looked at before a data operation.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    pub(super) syncs: Option<SyncSchedule>,
    pub(super) think: Option<Think>,
    pub(super) priorities: Option<Priorities>,
    pub(super) ranges: Option<TrimRanges>,
    pub(super) pairs: Option<PendingTrims>,
    pub(super) trims: Option<BacklogTrims>,
    /// Present if overlapping writes are verified: they are numbered and do not overtake each other.
    pub(super) order: Option<OverlappingWrites>,
    /// What an earlier job had written, if only that is checked.
    pub(super) written: Option<WrittenBefore>,
}

impl Parts {
    /// Returns the parts, unless there are none.
    pub(super) fn boxed(self) -> Option<Box<Self>> {
        let Self { syncs, think, priorities, ranges, pairs, trims, order, written } = &self;
        let has_any = syncs.is_some() || think.is_some() || priorities.is_some() || ranges.is_some();
        let has_any = has_any || pairs.is_some() || trims.is_some() || order.is_some() || written.is_some();
        has_any.then(|| Box::new(self))
    }
}

/// The writes since the last read-back.
#[derive(Clone, Debug)]
pub(super) struct UnverifiedWrites {
    /// Number of writes after which they are read back within a pass; `u64::MAX` for the end of the pass.
    pub(super) backlog: u64,
    /// Number of all writes at which that is the case.
    pub(super) full_at: u64,
    /// File, offset, and pass or number of those that failed.
    pub(super) failed: BTreeSet<(u32, u64, u32)>,
    /// The pattern as it was after the last read-back, from which to repeat its decisions; `None` before the first.
    pub(super) start: Option<Pattern>,
    /// The writes, if they cannot be repeated.
    pub(super) listed: Option<Vec<Decision>>,
}

impl Pattern {
    #[inline(never)]
    pub(super) fn next(&mut self, now: Nanos) -> Next {
        loop {
            let is_plain = matches!(self.phase, Phase::Load) && self.parts.is_none() && !self.picker.is_limited();
            if !is_plain && let Some(next) = self.before_data(now) {
                return next;
            }
            match self.next_data(now) {
                Some(next) if self.parts.is_some() => return self.hold(next),
                Some(next) => return next,
                None => self.end_loop(),
            }
        }
    }

    /// Returns the next data operation; `None` at the end of a pass.
    #[inline(always)]
    pub(super) fn next_data(&mut self, now: Nanos) -> Option<Next> {
        let (kind, intended) = match self.pace.turn(self.mix, &mut self.streams.kinds, now) {
            Ok(turn) => turn,
            Err(until) => return Some(Next::Until(until)),
        };
        let (file, offset, mut length) = self.place(kind)?;
        if kind == OpKind::Trim && self.parts.is_some() {
            length = self.add_ranges(file, offset, length);
        }
        Some(self.issue(kind, intended, file, offset, length))
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

    #[inline(always)]
    pub(super) fn issue(&mut self, kind: OpKind, intended: Nanos, file: u32, offset: u64, length: u32) -> Next {
        let begins_pass = matches!(self.phase, Phase::PassStart);
        let (pass, sequence, checked) = (self.files[file as usize].pass, self.sequence, self.checks_reads);
        let (priority, closing) = (0, false);
        let mut op = Decision { intended, offset, sequence, length, file, pass, kind, priority, checked, closing };
        self.sequence += 1;
        self.pace.spend(kind, length);
        if kind == OpKind::Write {
            self.writes += 1;
        }
        let sync = if self.parts.is_some() { self.pass_parts(&mut op) } else { None };
        if self.picker.is_limited() {
            self.retire_if_done(file);
        }
        let is_full = self.unverified.as_ref().is_some_and(|unverified| self.writes >= unverified.full_at);
        let ends_loop = self.limits.spend(length);
        // Written only if it changes: with its sync, a phase is longer than a decision.
        if ends_loop || is_full || begins_pass || sync.is_some() {
            self.phase = match sync {
                sync if ends_loop => Phase::LoopEnd { next_file: 0, sync },
                sync if is_full => Phase::BacklogFull { sync },
                Some(sync) => Phase::Sync(sync),
                None => Phase::Load,
            };
        }
        if begins_pass { Next::IssueAnew(op) } else { Next::Issue(op) }
    }

    /// Completes a decision by the parts of the job, and returns the sync that follows it.
    #[inline(never)]
    fn pass_parts(&mut self, op: &mut Decision) -> Option<Decision> {
        let parts = self.parts.as_deref_mut()?;
        if let Some(order) = &mut parts.order {
            op.pass = order.next_number();
        }
        if let Some(priorities) = &mut parts.priorities {
            op.priority = priorities.draw(op.kind, op.length);
        }
        if let Some(think) = &mut parts.think {
            think.issued();
        }
        if let Some(pairs) = &mut parts.pairs {
            pairs.waiting.push_back((*op, false));
        }
        if let Some(trims) = &mut parts.trims {
            trims.written(op);
        }
        parts.syncs.as_mut()?.after(op)
    }

    /// Closes a file at the end of its pass, before another one is opened.
    pub(super) fn retire_if_done(&mut self, file: u32) {
        if self.files[file as usize].is_done() {
            self.picker.retire(file);
        }
    }

    /// Returns what must happen before the next data operation, if anything.
    #[cold]
    pub(super) fn before_data(&mut self, now: Nanos) -> Option<Next> {
        if let Some(file) = self.picker.take_retired() {
            return Some(Next::Close(file));
        }
        if self.parts.is_some()
            && let Some(next) = self.due_write(now).or_else(|| self.due_trim(now)).or_else(|| self.held())
        {
            return Some(next);
        }
        loop {
            match self.phase {
                Phase::Load | Phase::PassStart => return self.think_time(now),
                Phase::Sync(sync) => {
                    self.phase = Phase::Load;
                    return Some(self.issue_sync(Decision { intended: now, ..sync }));
                }
                Phase::LoopStart { next_file: Some(_), .. } if self.in_flight() > 0 => return Some(Next::Blocked),
                Phase::LoopStart { next_file: Some(file), sync } => {
                    let next_file = Some(file + 1).filter(|&next| (next as usize) < self.files.len());
                    self.phase = Phase::LoopStart { next_file, sync };
                    return Some(Next::Renew(file));
                }
                Phase::LoopStart { next_file: None, sync } => {
                    self.phase = self.start_of_loop();
                    if let Some(sync) = sync {
                        return Some(self.issue_sync(Decision { intended: now, ..sync }));
                    }
                }
                Phase::LoopEnd { next_file, sync } => {
                    if let Some(next) = self.close_loop(next_file, sync, now) {
                        return Some(next);
                    }
                }
                Phase::ReadBack { .. } | Phase::BacklogFull { .. } | Phase::Done => return Some(Next::Done),
            }
        }
    }

    fn think_time(&mut self, now: Nanos) -> Option<Next> {
        let in_flight = self.in_flight();
        let think = self.parts.as_mut()?.think.as_mut()?;
        match think.admit(now, in_flight) {
            Admission::Granted => {
                let idled = think.take_idled();
                if self.data.inputs.job.pace.rate_ignores_thinktime {
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
        }
        Next::Issue(op)
    }

    /// Returns the operation, or what to do instead of it: wait if it overlaps a write in flight, or end if it reads what
    /// was not written.
    pub(super) fn hold(&mut self, next: Next) -> Next {
        if self.is_beyond_written(&next) { Next::Done } else { self.hold_overlapping(next) }
    }

    /// Begins another pass if the job has several in a loop. A `fresh` pass without room for any operation is the last:
    /// the next one would have none either.
    #[cold]
    pub(super) fn begin_pass(&mut self, fresh: bool) -> bool {
        if fresh {
            self.limits.stop();
        }
        let least = self.files.first().map_or(1, Cursor::least);
        let goes_on = self.limits.begins_pass(least) || std::mem::take(&mut self.within_pass);
        if fresh || !goes_on {
            return false;
        }
        self.renew_cursors();
        self.phase = self.start_of_pass();
        true
    }

    fn renew_cursors(&mut self) {
        for file in &mut self.files {
            file.next_pass(&self.rules);
        }
        self.picker.restart();
    }

    pub(super) const fn start_of_pass(&self) -> Phase {
        if self.invalidates { Phase::PassStart } else { Phase::Load }
    }

    pub(super) const fn start_of_loop(&self) -> Phase {
        if self.within_pass { Phase::Load } else { self.start_of_pass() }
    }

    #[cold]
    pub(super) fn end_loop(&mut self) {
        self.phase = Phase::LoopEnd { next_file: 0, sync: None };
    }

    /// Ends a loop and begins the next one, if any.
    fn close_loop(&mut self, next_file: u32, sync: Option<Decision>, now: Nanos) -> Option<Next> {
        let pairs = self.parts.as_ref().and_then(|parts| parts.pairs.as_ref());
        if pairs.is_some_and(|pairs| !pairs.waiting.is_empty()) {
            return Some(Next::Blocked);
        }
        if self.syncs_at_end() && (next_file as usize) < self.files.len() {
            if self.in_flight() > 0 {
                return Some(Next::Blocked);
            }
            self.phase = Phase::LoopEnd { next_file: next_file + 1, sync };
            let pass = self.files[next_file as usize].pass;
            let closing = syncs::closing(&self.data.inputs.job, next_file, pass, now);
            return Some(self.issue_sync(closing));
        }
        if self.read_back_is_due() {
            self.phase = Phase::ReadBack { sync };
            return Some(Next::Done);
        }
        self.next_loop(sync);
        None
    }

    /// Begins the next loop, before whose first operation `sync` is due. Returns false, and ends the job, if there is no
    /// other loop.
    pub(super) fn next_loop(&mut self, sync: Option<Decision>) -> bool {
        // A loop in which there was no room for any operation is the last: the next one would have none either.
        let restarts = self.limits.restarts();
        let was_empty = std::mem::replace(&mut self.loop_start, self.sequence) == self.sequence;
        if was_empty || !self.limits.next_loop() {
            self.phase = Phase::Done;
            return false;
        }
        self.within_pass = !restarts && !self.files.iter().all(Cursor::is_done);
        if !self.within_pass {
            self.renew_cursors();
        }
        self.phase = Phase::LoopStart { next_file: self.limits.renews_files().then_some(0), sync };
        true
    }

    /// Reports whether the current loop ends with syncs.
    fn syncs_at_end(&self) -> bool {
        let job = &self.data.inputs.job;
        let sync = &job.sync;
        let last = self.limits.is_last_loop();
        let wanted =
            ((sync.end_fsync || sync.end_syncfs) && !self.limits.is_endless()) || (sync.fsync_on_close && last);
        wanted && job.pattern.direction.writes() && self.writes > 0
    }

    /// Reports whether writes are read back here: at the end of a pass and of the job. Where no pass ends, endless
    /// loops are read back one by one.
    fn read_back_is_due(&self) -> bool {
        let Some(unverified) = &self.unverified else { return false };
        let has_passes = self.rules.has_passes();
        let through = has_passes && self.files.iter().all(Cursor::is_done);
        let in_between = !has_passes && self.limits.is_endless();
        let is_full = self.writes >= unverified.full_at;
        let is_removed = self.limits.renews_files();
        through || in_between || is_full || is_removed || unverified.listed.is_some() || self.limits.is_last_loop()
    }

    /// Continues after the last writes were read back, up to this file and so many bytes. Returns false if the job has
    /// ended.
    pub(super) fn resume(&mut self, read: Option<(&Picker, u64)>) -> bool {
        let phase = self.phase;
        let (Phase::BacklogFull { sync } | Phase::ReadBack { sync }) = phase else { return false };
        if let Some((picker, bytes)) = read {
            self.picker.take_over(picker);
            self.limits.read_back(bytes);
        }
        if matches!(phase, Phase::BacklogFull { .. }) {
            self.phase = sync.map_or(Phase::Load, Phase::Sync);
        } else if !self.next_loop(sync) {
            return false;
        }
        if let Some(trims) = self.parts.as_mut().and_then(|parts| parts.trims.as_mut()) {
            trims.begin_again();
        }
        if let Some(mut unverified) = self.unverified.take() {
            unverified.full_at = self.writes.saturating_add(unverified.backlog);
            unverified.failed.clear();
            unverified.listed.iter_mut().for_each(Vec::clear);
            unverified.start = Some(self.clone());
            self.unverified = Some(unverified);
        }
        true
    }

    /// Stops issuing data.
    pub(super) fn finish(&mut self) {
        self.limits.stop();
        if let Some(trims) = self.parts.as_mut().and_then(|parts| parts.trims.as_mut()) {
            trims.cancel();
        }
        if self.phase.is_within_loop() {
            self.end_loop();
        }
    }

    #[inline]
    pub(super) fn complete(&mut self, op: &Decision, at: Nanos) {
        self.completed += 1;
        if self.parts.is_some() {
            self.complete_parts(op, at);
        }
    }

    fn complete_parts(&mut self, op: &Decision, at: Nanos) {
        let is_last = self.in_flight() == 0;
        let Some(parts) = &mut self.parts else { return };
        // In a pair only the write ends the wait, since it goes to the same place after the trim.
        if op.kind == OpKind::Write || (op.kind == OpKind::Trim && parts.pairs.is_none()) {
            parts.order.iter_mut().for_each(|order| order.completed(op));
        }
        parts.pairs.iter_mut().for_each(|pairs| pairs.completed(op));
        parts.trims.iter_mut().for_each(|trims| trims.completed(op));
        if let Some(think) = &mut parts.think {
            think.completed();
            if is_last {
                think.all_completed(at);
            }
        }
    }

    /// Records that an operation has failed: what is in the blocks of a failed write is unknown, so it is not read back.
    pub(super) fn note_failure(&mut self, op: &Decision) {
        if let Some(unverified) = self.unverified.as_mut().filter(|_| op.kind == OpKind::Write) {
            unverified.failed.insert((op.file, op.offset, op.pass));
        }
    }

    pub(super) const fn in_flight(&self) -> u64 {
        self.sequence.saturating_sub(self.completed)
    }
}
