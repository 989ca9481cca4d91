//! The issuer: decides the operations of one worker.
//!
//! [`Issuer::new`] chooses by the job: [`Fast`] for uniform operations, [`Pattern`] for any others, [`Zoned`] for those
//! of `zonemode=zbd`, [`Replay`] for a trace, and [`ReadBack`] for reads that check the writes of one of the others. What
//! only some jobs need (syncs, think time, priorities, trims, overlapping writes) are [`pattern::Parts`] of the pattern.
//!
//! What changes during a run is the [`pattern::Phase`] of the pattern. Each operation leaves the phase in which the next
//! one finds it: `Load` as a rule, `Sync` if one is due, `BacklogFull` or `LoopEnd` if it was the last before a read-back
//! or of its loop. Before a data operation, phases other than `Load` are passed one after another: `LoopEnd` issues the
//! syncs at the end, then becomes `ReadBack` if something is to be read back, `LoopStart` if there is another loop, or
//! `Done`; `LoopStart` renews files, issues the sync that was still due, and becomes `Load`, or `PassStart` if caches are
//! invalidated before the first operation. In `ReadBack` and `BacklogFull` the issuer waits until [`Issuer::resume`]:
//! meanwhile the caller runs the issuer that [`Issuer::verify_pass`] has returned.

mod build;
mod data;
mod fast;
mod pattern;
mod read_back;
mod zoned;

pub use build::map_bytes;

use std::sync::Arc;

use job::Job;
use units::{Nanos, OpKind, Problem};

use crate::decision::{Decision, FileExtent, Next, WorkerIndex, ZoneTask};
use crate::files::JobLayout;
use crate::mix::Mix;
use crate::operations::Operations;
use crate::replay::{ReplayOutcome, TraceBytes, TraceReplay};
use crate::verify::{Checked, Mismatch, Verifier, VerifyState, WriteOrigin};
use crate::zones::ZoneTable;
use fast::Fast;
use pattern::{Pattern, Phase};
use read_back::ReadBack;
use zoned::Zoned;

/// Decides the operations of one worker, one at a time.
///
/// The same job, worker, layout and seed yield the same decisions on every target, and under a rate the same instants.
/// The caller passes each issued decision to [`Issuer::complete`] once, whatever its outcome.
#[derive(Debug)]
// The tag is compared twice for each operation. In unused values of a field it takes two more instructions each time.
#[repr(u8)]
#[expect(clippy::large_enum_variant, reason = "another pointer costs 3% of the instructions of a fast operation")]
pub enum Issuer {
    /// Uniform operations.
    Fast(Fast),
    Pattern(Box<Pattern>),
    /// A pattern in zones.
    Zoned(Box<Zoned>),
    /// A trace.
    Replay(Box<Replay>),
    /// Checked reads of what a pattern has written.
    ReadBack(Box<ReadBack>),
}

/// The replay of a trace, which takes the place of the job's pattern.
#[derive(Debug)]
pub struct Replay {
    trace: TraceReplay,
    pattern: Pattern,
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
    pub fn new(job: &Job, worker: WorkerIndex, layout: &JobLayout, seed: u64) -> Result<Self, Problem> {
        let mut pattern = Pattern::new(job, worker, layout, seed)?;
        let written = job.pattern.direction.writes() && pattern.mix != Mix::Only(OpKind::Read);
        if job.verify.only && job.verify.method.is_some() && written {
            return Ok(Self::ReadBack(Box::new(ReadBack::new(pattern, u64::MAX))));
        }
        if !Operations::of(job).includes_any_of(pattern.mix) {
            pattern.phase = Phase::Done;
        }
        Ok(match pattern.uniform_operation() {
            Some(template) => Self::Fast(Fast::new(pattern, template)),
            None => Self::Pattern(Box::new(pattern)),
        })
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
    ) -> Result<Self, Problem> {
        let trace = TraceReplay::new(job, &layout.files, bytes)?;
        Ok(Self::Replay(Box::new(Replay { trace, pattern: Pattern::new(job, worker, layout, seed)? })))
    }

    /// Makes an issuer that has decided nothing yet work in zones, if its job does (`zonemode=zbd`): in those of `tables`,
    /// one for each file, which all workers of a run share.
    #[must_use]
    pub fn in_zones(self, tables: Vec<Arc<ZoneTable>>) -> Self {
        let Some(zoned) = self.pattern().data.inputs.job.pattern.zoned else { return self };
        let pattern = match self {
            Self::Fast(fast) => fast.pattern,
            Self::Pattern(pattern) => *pattern,
            Self::ReadBack(mut reader) => {
                reader.pattern.leave_order_to_zones();
                return Self::ReadBack(reader);
            }
            other => return other,
        };
        Self::Zoned(Box::new(Zoned::new(pattern, &zoned, tables)))
    }

    /// Makes an issuer that has decided nothing yet end its checked reads where `state` shows that no write had completed.
    ///
    /// Where `state` is of this job, by Fathom and with the same seed, `verify_only` also requires that each block is of
    /// the last write to it.
    #[must_use]
    pub fn checking_only_written(self, state: VerifyState) -> Self {
        match self {
            Self::ReadBack(mut reader) => {
                let of_earlier_run = state.origin.and_then(|origin| reader.of_earlier_run(&state, origin));
                match of_earlier_run {
                    Some(exact) => *reader = exact,
                    None => reader.pattern.check_only_written(state),
                }
                Self::ReadBack(reader)
            }
            Self::Fast(mut fast) if fast.pattern.checks_reads => {
                fast.pattern.check_only_written(state);
                Self::Pattern(Box::new(fast.pattern))
            }
            Self::Pattern(mut pattern) if pattern.checks_reads => {
                pattern.check_only_written(state);
                Self::Pattern(pattern)
            }
            other => other,
        }
    }

    /// Decides what to do at `now`, which must not run backwards.
    #[inline(always)]
    pub fn next(&mut self, now: Nanos) -> Next {
        match self {
            Self::Fast(fast) if fast.is_running() => Next::Issue(fast.next_in_run(now)),
            Self::Pattern(pattern) => pattern.next(now),
            _ => self.next_of_any_kind(now),
        }
    }

    #[inline(never)]
    fn next_of_any_kind(&mut self, now: Nanos) -> Next {
        match self {
            Self::Fast(fast) => fast.next(now),
            Self::Pattern(pattern) => pattern.next(now),
            Self::Zoned(zoned) => zoned.next(now),
            Self::Replay(replay) => replay.trace.next(now),
            Self::ReadBack(reader) => reader.next(now),
        }
    }

    /// Records that an operation completed or failed, at `at` on the caller's clock.
    #[inline]
    pub fn complete(&mut self, op: &Decision, at: Nanos) {
        match self {
            Self::Fast(fast) => fast.pattern.completed += 1,
            Self::Pattern(pattern) if pattern.parts.is_none() => pattern.completed += 1,
            _ => self.complete_with_parts(op, at),
        }
    }

    #[inline(never)]
    fn complete_with_parts(&mut self, op: &Decision, at: Nanos) {
        match self {
            Self::Fast(_) => {}
            Self::Pattern(pattern) => pattern.complete(op, at),
            Self::Zoned(zoned) => zoned.complete(op, at),
            Self::Replay(replay) => replay.trace.complete(op, at),
            Self::ReadBack(reader) => reader.complete(op),
        }
    }

    /// Records that an operation has failed, before [`Self::complete`]: what is in the blocks of a failed write is unknown,
    /// so it is not read back.
    pub fn note_failure(&mut self, op: &Decision) {
        match self {
            Self::Zoned(zoned) => zoned.note_failure(op),
            _ => self.pattern_mut().note_failure(op),
        }
    }

    /// Stops issuing data, for a job whose `runtime` has elapsed. What remains are the last writes of pairs and
    /// `end_fsync`, then [`Next::Done`].
    pub fn finish(&mut self) {
        match self {
            Self::Fast(fast) => fast.finish(),
            Self::Pattern(pattern) => pattern.finish(),
            Self::Zoned(zoned) => zoned.pattern.finish(),
            Self::Replay(replay) => replay.trace.finish(),
            Self::ReadBack(reader) => reader.finish(),
        }
    }

    /// Returns an issuer that reads back and checks what this one has written since the last read-back; `None` if there
    /// is nothing to check.
    ///
    /// No list of writes is kept: the new issuer repeats the decisions and turns writes into reads.
    #[must_use]
    pub fn verify_pass(&self) -> Option<Self> {
        let writer = self.pattern();
        let unverified = writer.unverified.as_ref()?;
        let writes = self.writes().saturating_sub(unverified.start.as_ref().map_or(0, |start| start.writes));
        let reader = (writes > 0).then(|| ReadBack::of(writer, unverified, writes))??;
        Some(Self::ReadBack(Box::new(reader)))
    }

    /// Continues after `reader` has read back the last pass. Returns false if the job has ended.
    pub fn resume(&mut self, reader: Option<&Self>) -> bool {
        let read = if let Some(Self::ReadBack(reader)) = reader { Some(reader.position()) } else { None };
        self.pattern_mut().resume(read)
    }

    fn pattern(&self) -> &Pattern {
        match self {
            Self::Fast(fast) => &fast.pattern,
            Self::Pattern(pattern) => pattern,
            Self::Zoned(zoned) => &zoned.pattern,
            Self::Replay(replay) => &replay.pattern,
            Self::ReadBack(reader) => &reader.pattern,
        }
    }

    fn pattern_mut(&mut self) -> &mut Pattern {
        match self {
            Self::Fast(fast) => &mut fast.pattern,
            Self::Pattern(pattern) => pattern,
            Self::Zoned(zoned) => &mut zoned.pattern,
            Self::Replay(replay) => &mut replay.pattern,
            Self::ReadBack(reader) => &mut reader.pattern,
        }
    }

    /// Fills a new buffer once, before its first use. `number` differs between the worker's buffers.
    pub fn prepare(&self, number: u32, buffer: &mut [u8]) {
        self.pattern().data.payload.prepare(u64::from(number), buffer);
    }

    /// Fills a prepared buffer of exactly `op.length` bytes for the write `op`, or with what the read `op` must return.
    #[inline]
    pub fn fill(&self, op: &Decision, buffer: &mut [u8]) {
        match self {
            Self::ReadBack(reader) => reader.fill(op, buffer),
            _ => self.pattern().data.fill(op, buffer),
        }
    }

    /// Checks the data of `op`, a read with `checked` set.
    ///
    /// # Errors
    ///
    /// Returns the first block that is not what was written.
    pub fn check(&mut self, op: &Decision, data: &[u8]) -> Result<Checked, Mismatch> {
        match self {
            Self::ReadBack(reader) => reader.check(op, data),
            _ => self.pattern_mut().data.check(op, data),
        }
    }

    /// Returns offset and length of each range of the trim that was decided last, whose length is that of all of them;
    /// none if trims have one range.
    #[inline]
    #[must_use]
    pub fn trim_ranges(&self) -> &[(u64, u32)] {
        let ranges = self.pattern().parts.as_ref().and_then(|parts| parts.ranges.as_ref());
        ranges.map_or(&[], |ranges| &ranges.last)
    }

    /// Reports whether other workers write to the region of a file that this issuer reads back, so that reads may be
    /// torn.
    #[must_use]
    pub fn is_shared(&self, file: u32) -> bool {
        self.pattern().data.verifier.as_ref().is_some_and(|verifier| verifier.is_shared(file))
    }

    /// Returns the number of reads left in a read-back; zero for other issuers.
    #[must_use]
    pub fn to_read_back(&self) -> u64 {
        if let Self::ReadBack(reader) = self { reader.reads } else { 0 }
    }

    /// Returns the number of writes issued.
    #[must_use]
    pub fn writes(&self) -> u64 {
        match self {
            Self::Fast(fast) => fast.pattern.writes + fast.run_writes(),
            Self::Pattern(pattern) => pattern.writes,
            Self::Zoned(zoned) => zoned.pattern.writes,
            Self::Replay(_) | Self::ReadBack(_) => 0,
        }
    }

    /// Returns the nonce in the headers of verified blocks: that of the run, or the one that a job that only reads has
    /// found. `None` if blocks have no headers.
    #[must_use]
    pub fn nonce(&self) -> Option<u32> {
        self.pattern().data.verifier.as_ref().and_then(Verifier::nonce)
    }

    /// Returns what the decisions and blocks of this issuer depend on beside its job.
    #[must_use]
    pub fn write_origin(&self) -> WriteOrigin {
        self.pattern().data.write_origin()
    }

    /// Returns the regions of the files, as indexed by decisions.
    #[must_use]
    pub fn regions(&self) -> &[FileExtent] {
        &self.pattern().data.inputs.layout.files
    }

    /// Returns the maximum length of an operation, which is the size of buffers in bytes.
    #[must_use]
    pub fn most_bytes(&self) -> u32 {
        match self {
            Self::Replay(replay) => replay.trace.most_bytes(),
            _ => build::most_bytes(&self.pattern().data.inputs.job),
        }
    }

    /// Returns how the replay of a trace has gone so far; `None` if the job replays none.
    #[must_use]
    pub fn replay_outcome(&self) -> Option<ReplayOutcome> {
        if let Self::Replay(replay) = self { Some(replay.trace.outcome()) } else { None }
    }

    /// Records the result of a command: the write pointer, or `None` if it has failed.
    pub fn zone_commanded(&mut self, task: &ZoneTask, pointer: Option<u64>) {
        if let Self::Zoned(zoned) = self {
            zoned.commanded(task, pointer);
        }
    }

    /// Reports whether the worker ended early, because no zone that it may write became free.
    #[must_use]
    pub fn waited_in_vain(&self) -> bool {
        if let Self::Zoned(zoned) = self { zoned.gave_up } else { false }
    }

    #[must_use]
    pub fn zone_resets(&self) -> u64 {
        if let Self::Zoned(zoned) = self { zoned.resets } else { 0 }
    }
}
