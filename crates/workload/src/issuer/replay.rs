//! Repeats writes as reads, for verification.
//!
//! What is read back is computed again, not remembered: after each pass, writes are generated once more from the same
//! random numbers, as reads. Where writes may overlap (`norandommap`), they are generated once before, so that the last
//! write to each block is known.

use job::{Direction, EngineKind, Job};
use units::{Nanos, OpKind};

use super::{Issuer, IssuerInputs, IssuerPhase};
use crate::decision::{Decision, Next};
use crate::offsets::Cursor;
use crate::verify::{LatestWrites, PassRange};

/// Reports whether reads may come from a cache that the job invalidates. Mappings use the page cache even with
/// `direct`.
pub(super) fn caches(job: &Job) -> bool {
    job.files.invalidate && (!job.engine.direct || job.engine.kind == EngineKind::Mmap)
}

/// Writes still to be read back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replay {
    pub(super) left: u64,
    /// Reads left: fewer than `left` where blocks were written several times.
    pub(super) reads: u64,
    /// Bytes read so far.
    pub(super) bytes: u64,
}

impl Issuer {
    /// Returns an issuer that reads back and checks what this one has written since the last read-back; `None` if there
    /// is nothing to check.
    ///
    /// No list of writes is kept: the new issuer repeats the decisions and turns writes into reads.
    #[must_use]
    pub fn verify_pass(&self) -> Option<Self> {
        let before = self.checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.writes);
        let writes = self.writes().saturating_sub(before);
        if !self.reads_back || self.replay.is_some() || writes == 0 {
            return None;
        }
        if self.zoned.is_some() {
            return self.verify_pass_in_zones();
        }
        let mut issuer = match &self.checkpoint {
            Some(checkpoint) => (**checkpoint).clone(),
            None => {
                let IssuerInputs { job, worker, layout, seed } = &*self.origin;
                Self::for_load(job, *worker, layout, *seed).ok()?
            }
        };
        let passes = self.possible_passes(&issuer);
        issuer.replay(writes);
        issuer.failed_writes.clone_from(&self.failed_writes);
        let latest = issuer.rules.may_overlap().then(|| issuer.scan_writes());
        if let (Some(replay), Some((_, reads))) = (&mut issuer.replay, &latest) {
            replay.reads = *reads;
        }
        issuer.expect_trims(self);
        // Also where offsets repeat and passes have no start: caches hold what was written.
        issuer.invalidates = caches(&self.origin.job);
        issuer.mark_pass_start();
        issuer.picker.take_over(&self.picker);
        if let Some(verifier) = &mut issuer.verifier {
            verifier.expect(passes, latest.map(|(latest, _)| latest));
        }
        if !self.failed_writes.is_empty() {
            // A trim or a later write may have replaced what the failed one left.
            let mut reads = 0;
            issuer.for_each_read(|_| reads += 1);
            issuer.replay.iter_mut().for_each(|replay| replay.reads = reads);
        }
        Some(issuer)
    }

    /// Repeats the writes to be read back. Returns the last write to each block, and the number of reads that read each
    /// block once.
    fn scan_writes(&self) -> (LatestWrites, u64) {
        let (mut latest, mut reads) = (LatestWrites::default(), 0);
        let Some(verifier) = &self.verifier else { return (latest, reads) };
        self.for_each_read(|op| match self.has_failed(op) {
            true => verifier.fail(&mut latest, op),
            false => reads += u64::from(verifier.record(&mut latest, op)),
        });
        (latest, reads)
    }

    /// Repeats what is left of a read-back, without changing this issuer.
    fn for_each_read(&self, mut visit: impl FnMut(&Decision)) {
        let mut issuer = self.clone();
        loop {
            match issuer.replayed(Nanos::ZERO) {
                Next::Issue(op) | Next::IssueAnew(op) => visit(&op),
                Next::Close(_) | Next::Renew(_) | Next::Spin(_) | Next::Command(_) => {}
                Next::Until(_) | Next::Blocked | Next::Done => return,
            }
        }
    }

    /// Returns the passes in which blocks written since `start` may have been written last.
    pub(super) fn possible_passes(&self, start: &Self) -> PassRange {
        let first = start.files.iter().map(|file| file.pass).min().unwrap_or(0);
        PassRange { first, last: self.files.iter().map(|file| file.pass).max().unwrap_or(first) }
    }

    /// Reports whether writes are read back here: at the end of a pass and of the job. Where no pass ends, endless
    /// loops are read back one by one.
    pub(super) fn read_back_is_due(&self) -> bool {
        let has_passes = self.rules.has_passes();
        let through = has_passes && self.files.iter().all(Cursor::is_done);
        let in_between = !has_passes && self.limits.is_endless();
        let is_full = self.writes >= self.backlog_full_at;
        let is_removed = self.limits.renews_files();
        self.reads_back
            && (through || in_between || is_full || is_removed || self.zoned.is_some() || self.limits.is_last_loop())
    }

    /// Continues after `reader` has read back the last pass. Returns false if the job has ended.
    pub fn resume(&mut self, reader: Option<&Self>) -> bool {
        let is_within = self.phase == IssuerPhase::BacklogFull;
        if self.phase != IssuerPhase::ReadBack && !is_within {
            return false;
        }
        if let Some(reader) = reader {
            self.picker.take_over(&reader.picker);
            self.limits.read_back(reader.replay.map_or(0, |replay| replay.bytes));
        }
        if is_within {
            self.phase = IssuerPhase::Load;
        } else if !self.next_loop() {
            return false;
        }
        if let Some(zoned) = &mut self.zoned {
            zoned.forget_written();
        }
        self.backlog_full_at = self.writes.saturating_add(self.backlog);
        self.failed_writes.clear();
        if let Some(trims) = &mut self.trims {
            trims.begin_again();
        }
        self.checkpoint = None;
        self.checkpoint = Some(Box::new(self.clone()));
        true
    }

    pub(super) fn replay(&mut self, writes: u64) {
        self.replay = Some(Replay { left: writes, reads: writes, bytes: 0 });
        self.backlog_full_at = u64::MAX;
        self.pace.start_at_zero();
        self.think = None;
        self.syncs = None;
        self.pairs = None;
        self.checks_reads = true;
        self.slow_path = true;
    }

    /// Returns the next write as a read.
    pub(super) fn replayed(&mut self, now: Nanos) -> Next {
        if let Some(next) = self.replayed_in_zones(now) {
            return next;
        }
        let pairs = self.origin.job.pattern.direction == Direction::TrimWrite;
        let written = if pairs { OpKind::Trim } else { OpKind::Write };
        loop {
            let left = self.replay.is_some_and(|replay| replay.left > 0);
            if !left || (self.phase != IssuerPhase::Load && !self.next_loop()) {
                return Next::Done;
            }
            match self.next_data(Nanos::MAX) {
                Some(Next::Issue(op)) if op.kind == written => {
                    // Where writes overlap, a later one may have written the block.
                    let has_failed = !self.rules.may_overlap() && self.has_failed(&op);
                    let is_read = self.verifier.as_mut().is_none_or(|verifier| verifier.is_to_be_read(&op));
                    let is_read = is_read && self.trims.as_mut().is_none_or(|trims| trims.is_to_be_read(&op));
                    let is_read = is_read && !has_failed;
                    if let Some(replay) = &mut self.replay {
                        replay.left -= 1;
                        replay.reads = replay.reads.saturating_sub(u64::from(is_read));
                        replay.bytes += if is_read { u64::from(op.length) } else { 0 };
                    }
                    if is_read {
                        let read = Decision { kind: OpKind::Read, intended: now, ..op };
                        return self.mark(Next::Issue(read));
                    }
                    self.completed += 1;
                }
                Some(_) => self.completed += 1,
                None => self.end_loop(),
            }
            if let Some(file) = self.picker.take_retired() {
                return Next::Close(file);
            }
        }
    }
}
