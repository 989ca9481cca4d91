//! Repeats writes as reads, for verification.
//!
//! What is read back is computed again, not remembered: after each pass, writes are generated once more from the same
//! random numbers, as reads. Where writes may overlap (`norandommap`), they are generated once before, so that the last
//! write to each block is known.

use std::collections::{BTreeSet, VecDeque};

use job::{Direction, EngineKind, Job};
use units::{Nanos, OpKind};

use super::data::IssuerInputs;
use super::pattern::{Parts, Pattern, TrimmedBlocks, UnverifiedWrites};
use crate::decision::{Decision, Next};
use crate::picker::Picker;
use crate::verify::{Checked, LatestWrites, Mismatch, PassRange, VerifyState, WriteOrigin};

/// Maximum number of writes of an earlier run whose last one per block is determined, for its memory.
const EXACT_WRITES_MAX: u64 = 1 << 24;

/// Reads what a pattern has written, or would have.
#[derive(Clone, Debug)]
pub struct ReadBack {
    /// Its decisions are repeated.
    pub(super) pattern: Pattern,
    /// Writes still to be read back.
    pub(super) left: u64,
    /// Reads left: fewer than `left` where blocks were written several times.
    pub(super) reads: u64,
    /// Bytes read so far.
    pub(super) bytes: u64,
    /// Whether the next read begins a pass.
    begins_pass: bool,
    /// Kind of the operations that are repeated: in pairs, each trim stands for its write.
    repeats: OpKind,
    /// The writes that are left, if they cannot be repeated.
    listed: Option<VecDeque<Decision>>,
    failed: BTreeSet<(u32, u64, u32)>,
    trimmed: Option<TrimmedBlocks>,
}

impl ReadBack {
    /// Reads so many writes of the pattern from where it is.
    pub(super) fn new(mut pattern: Pattern, writes: u64) -> Self {
        pattern.pace.start_at_zero();
        pattern.checks_reads = true;
        pattern.unverified = None;
        if let Some(parts) = &mut pattern.parts {
            (parts.think, parts.syncs, parts.pairs, parts.trims) = (None, None, None, None);
        }
        let pairs = pattern.data.inputs.job.pattern.direction == Direction::TrimWrite;
        Self {
            pattern,
            left: writes,
            reads: writes,
            bytes: 0,
            begins_pass: false,
            repeats: if pairs { OpKind::Trim } else { OpKind::Write },
            listed: None,
            failed: BTreeSet::new(),
            trimmed: None,
        }
    }

    /// Returns what reads back the writes of an earlier run of this job, by the state that it saved: each block must be
    /// of the last write to it. Writes that may have been in flight are not required. Returns `None` if the writes are
    /// not those of this job.
    pub(super) fn of_earlier_run(&self, state: &VerifyState, origin: WriteOrigin) -> Option<Self> {
        let data = &self.pattern.data;
        let is_paired = data.inputs.job.pattern.direction == Direction::TrimWrite;
        let is_large = state.issued > EXACT_WRITES_MAX;
        if is_paired || is_large || origin.seed != data.write_origin().seed {
            return None;
        }
        let mut pattern = self.pattern.clone();
        let may_overlap = pattern.rules.may_overlap();
        let verifier = pattern.data.verifier.as_mut()?;
        verifier.set_nonce(origin.nonce);
        verifier.numbered = may_overlap && verifier.shows_writes();
        let order = verifier.numbered.then(Default::default);
        pattern.parts = Parts { order, ..pattern.parts.map_or_else(Parts::default, |parts| *parts) }.boxed();
        let mut reader = Self::new(pattern, state.issued);
        let verifier = reader.pattern.data.verifier.as_ref()?;
        let (mut latest, mut issued) = (LatestWrites::default(), 0);
        let (mut recent, depth) = (VecDeque::new(), state.depth.max(1) as usize);
        reader.for_each_read(|op| {
            match &state.synced {
                // A later write that no sync covers may have replaced the block or not.
                synced if state.synced_only && !synced.as_ref().is_some_and(|it| it.covers(issued, op)) => {
                    verifier.doubt(&mut latest, op);
                }
                _ => drop(verifier.record(&mut latest, op)),
            }
            issued += 1;
            if recent.len() == depth {
                recent.pop_front();
            }
            recent.push_back(*op);
        });
        if issued < state.issued {
            return None;
        }
        let is_pending = |op: &&Decision| !state.completed.contains(&(u64::from(op.file), op.offset));
        for op in recent.iter().filter(|_| !state.synced_only).filter(is_pending) {
            verifier.doubt(&mut latest, op);
        }
        reader.pattern.data.verifier.as_mut()?.expect_exactly(latest);
        Some(reader)
    }

    /// Returns where it is in the files, and the bytes read so far.
    pub(super) const fn position(&self) -> (&Picker, u64) {
        (&self.pattern.picker, self.bytes)
    }

    /// Returns what reads back and checks the last `writes` of `writer`; `None` if there is nothing to check.
    pub(super) fn of(writer: &Pattern, unverified: &UnverifiedWrites, writes: u64) -> Option<Self> {
        let mut reader = match &unverified.listed {
            Some(listed) if listed.is_empty() => return None,
            Some(listed) => Self::listed(writer.clone(), listed),
            None => Self::repeating(writer, unverified, writes)?,
        };
        reader.pattern.picker.take_over(&writer.picker);
        Some(reader)
    }

    /// Reads listed writes.
    fn listed(writer: Pattern, listed: &[Decision]) -> Self {
        let passes = writer.possible_passes(&writer);
        let mut reader = Self::new(writer, listed.len() as u64);
        reader.listed = Some(listed.iter().copied().collect());
        reader.begins_pass = caches(&reader.pattern.data.inputs.job);
        reader.pattern.data.verifier.iter_mut().for_each(|verifier| verifier.expect(passes, None));
        reader
    }

    /// Reads the last writes by repeating them.
    fn repeating(writer: &Pattern, unverified: &UnverifiedWrites, writes: u64) -> Option<Self> {
        let mut start = match &unverified.start {
            Some(start) => start.clone(),
            None => {
                let IssuerInputs { job, worker, layout, seed } = &*writer.data.inputs;
                Pattern::new(job, *worker, layout, *seed).ok()?
            }
        };
        let passes = start.possible_passes(writer);
        let trims = start.parts.as_mut().and_then(|parts| parts.trims.take());
        let mut reader = Self::new(start, writes);
        reader.failed.clone_from(&unverified.failed);
        let latest = reader.pattern.rules.may_overlap().then(|| reader.scan_writes());
        if let Some((_, reads)) = &latest {
            reader.reads = *reads;
        }
        if let (Some(start), Some(end)) = (trims, writer.parts.as_ref().and_then(|parts| parts.trims.as_ref())) {
            let trimmed = reader.trimmed.insert(TrimmedBlocks::new(start, end));
            reader.reads = reader.reads.saturating_sub(trimmed.skipped());
        }
        // Also where offsets repeat and passes have no start: caches hold what was written.
        reader.pattern.invalidates = caches(&writer.data.inputs.job);
        reader.pattern.phase = reader.pattern.start_of_pass();
        if let Some(verifier) = &mut reader.pattern.data.verifier {
            verifier.expect(passes, latest.map(|(latest, _)| latest));
        }
        if !reader.failed.is_empty() {
            // A trim or a later write may have replaced what the failed one left.
            let mut reads = 0;
            reader.for_each_read(|_| reads += 1);
            reader.reads = reads;
        }
        Some(reader)
    }

    /// Repeats the writes to be read back. Returns the last write to each block, and the number of reads that read each
    /// block once.
    fn scan_writes(&self) -> (LatestWrites, u64) {
        let (mut latest, mut reads) = (LatestWrites::default(), 0);
        let Some(verifier) = &self.pattern.data.verifier else { return (latest, reads) };
        self.for_each_read(|op| match self.has_failed(op) {
            true => verifier.fail(&mut latest, op),
            false => reads += u64::from(verifier.record(&mut latest, op)),
        });
        (latest, reads)
    }

    /// Repeats what is left, without changing this one.
    pub(super) fn for_each_read(&self, mut visit: impl FnMut(&Decision)) {
        let mut reader = self.clone();
        loop {
            match reader.next(Nanos::ZERO) {
                Next::Issue(op) | Next::IssueAnew(op) => visit(&op),
                Next::Close(_) | Next::Renew(_) | Next::Spin(_) | Next::Command(_) => {}
                Next::Until(_) | Next::Blocked | Next::Done => return,
            }
        }
    }

    fn has_failed(&self, op: &Decision) -> bool {
        self.failed.contains(&(op.file, op.offset, op.pass))
    }

    /// Returns the next write as a read.
    pub(super) fn next(&mut self, now: Nanos) -> Next {
        loop {
            if let Some(file) = self.pattern.picker.take_retired() {
                return Next::Close(file);
            }
            if self.left == 0 {
                return Next::Done;
            }
            if let Some(op) = self.listed.as_mut().and_then(VecDeque::pop_front) {
                self.count(&op, true);
                return self.read(&op, now);
            }
            let pattern = &mut self.pattern;
            if !pattern.phase.is_within_loop() {
                if !pattern.next_loop(None) {
                    return Next::Done;
                }
                pattern.phase = pattern.start_of_loop();
            }
            let Some(next) = pattern.next_data(Nanos::MAX) else {
                pattern.end_loop();
                continue;
            };
            self.begins_pass |= matches!(next, Next::IssueAnew(_));
            if let Some(op) = next.operation().filter(|op| op.kind == self.repeats)
                && self.is_to_be_read(op)
            {
                return self.read(op, now);
            }
        }
    }

    /// Counts a write that was repeated, and reports whether it is read.
    fn is_to_be_read(&mut self, op: &Decision) -> bool {
        // Where writes overlap, a later one may have written the block.
        let has_failed = !self.pattern.rules.may_overlap() && self.has_failed(op);
        let is_read = self.pattern.data.verifier.as_mut().is_none_or(|verifier| verifier.is_to_be_read(op));
        let is_read = is_read && self.trimmed.as_mut().is_none_or(|trimmed| trimmed.is_to_be_read(op));
        self.count(op, is_read && !has_failed);
        is_read && !has_failed
    }

    fn count(&mut self, op: &Decision, is_read: bool) {
        self.left -= 1;
        if is_read {
            self.reads = self.reads.saturating_sub(1);
            self.bytes += u64::from(op.length);
        }
    }

    fn read(&mut self, write: &Decision, now: Nanos) -> Next {
        let op = Decision { kind: OpKind::Read, intended: now, checked: true, ..*write };
        let next = if std::mem::take(&mut self.begins_pass) { Next::IssueAnew(op) } else { Next::Issue(op) };
        if self.pattern.is_beyond_written(&next) {
            self.finish();
            return Next::Done;
        }
        next
    }

    pub(super) fn finish(&mut self) {
        (self.left, self.reads) = (0, 0);
    }

    pub(super) fn complete(&mut self, op: &Decision) {
        if let Some(trimmed) = &mut self.trimmed {
            trimmed.completed(op);
        }
    }

    /// Fills a buffer with what a read of these blocks must return.
    pub(super) fn fill(&self, op: &Decision, buffer: &mut [u8]) {
        match &self.trimmed {
            Some(trimmed) if trimmed.covers(op) => buffer.fill(0),
            _ => self.pattern.data.fill(op, buffer),
        }
    }

    pub(super) fn check(&mut self, op: &Decision, data: &[u8]) -> Result<Checked, Mismatch> {
        let is_trimmed = self.trimmed.as_ref().is_some_and(|trimmed| trimmed.covers(op));
        match &mut self.pattern.data.verifier {
            Some(verifier) if is_trimmed => verifier.check_trimmed(op, data),
            _ => self.pattern.data.check(op, data),
        }
    }
}

impl Pattern {
    /// Returns the passes in which blocks that `writer` has written since this start may have been written last.
    fn possible_passes(&self, writer: &Self) -> PassRange {
        let first = self.files.iter().map(|file| file.pass).min().unwrap_or(0);
        PassRange { first, last: writer.files.iter().map(|file| file.pass).max().unwrap_or(first) }
    }
}

/// Reports whether reads may come from a cache that the job invalidates. Mappings use the page cache even with
/// `direct`.
fn caches(job: &Job) -> bool {
    job.files.invalidate && (!job.engine.direct || job.engine.kind == EngineKind::Mmap)
}
