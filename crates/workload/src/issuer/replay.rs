//! Repeats decided writes as reads, for verification.

use job::{Direction, Engine, Job};
use units::Nanos;

use super::{Issuer, IssuerInputs, IssuerPhase};
use crate::decision::{Decision, Next};
use crate::offsets::Cursor;
use crate::verify::{Latest, PassRange};
use units::OpKind;

/// Whether reads may come from a cache that the job wants emptied. Mappings are of the page cache, whatever `direct` says.
pub(super) fn caches(job: &Job) -> bool {
    job.files.invalidate && (!job.engine.direct || job.engine.engine == Engine::Mmap)
}

/// Writes still to be read back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replay {
    pub(super) left: u64,
    /// How many reads are still to come: fewer where blocks were written several times.
    pub(super) reads: u64,
    /// Bytes that were read.
    pub(super) bytes: u64,
}

impl Issuer {
    /// An issuer that reads back and checks what this one has written since it last rested; `None` where there is
    /// nothing to check.
    ///
    /// No list of writes is kept: the decisions are made once more, and its writes come as reads.
    #[must_use]
    pub fn verify_pass(&self) -> Option<Self> {
        let before = self.since.as_ref().map_or(0, |since| since.writes);
        let writes = self.writes().saturating_sub(before);
        if !self.rests || self.replay.is_some() || writes == 0 {
            return None;
        }
        let mut issuer = match &self.since {
            Some(since) => (**since).clone(),
            None => {
                let IssuerInputs { job, worker, layout, seed } = &*self.origin;
                Self::loading(job, *worker, layout, *seed).ok()?
            }
        };
        let passes = self.possible_passes(&issuer);
        issuer.replay(writes);
        let latest = issuer.rules.may_overlap().then(|| issuer.rehearse());
        if let (Some(replay), Some((_, reads))) = (&mut issuer.replay, &latest) {
            replay.reads = *reads;
        }
        // Also where offsets repeat, and there is no pass to begin: caches hold what was written.
        issuer.invalidates = caches(&self.origin.job);
        issuer.go_anew();
        issuer.picker.succeed(&self.picker);
        if let Some(verifier) = &mut issuer.verifier {
            verifier.demand(passes, latest.map(|(latest, _)| latest));
        }
        Some(issuer)
    }

    /// Goes through the writes that are to be read back. Returns which of them were the last to their blocks, and how many
    /// reads it takes to read each block once.
    fn rehearse(&self) -> (Latest, u64) {
        let (mut issuer, mut latest, mut reads) = (self.clone(), Latest::default(), 0);
        let Some(verifier) = &self.verifier else { return (latest, reads) };
        loop {
            match issuer.replayed(Nanos::ZERO) {
                Next::Issue(op) | Next::IssueAnew(op) => reads += u64::from(verifier.note(&mut latest, &op)),
                Next::Close(_) => {}
                Next::Until(_) | Next::Blocked | Next::Done => return (latest, reads),
            }
        }
    }

    /// In which passes the blocks that were written since `start` may have been written last.
    fn possible_passes(&self, start: &Self) -> PassRange {
        let passes = |issuer: &Self| -> Vec<u32> { issuer.files.iter().map(|file| file.pass).collect() };
        let first = passes(start).into_iter().min().unwrap_or(0);
        PassRange { first, last: passes(self).into_iter().max().unwrap_or(first) }
    }

    /// Whether this is where to rest: at the end of a pass, and of all. Where no pass ends, loops without end are read
    /// back one by one.
    pub(super) fn rests_here(&self) -> bool {
        let has_passes = self.rules.has_passes();
        let through = has_passes && self.files.iter().all(Cursor::is_done);
        let in_between = !has_passes && self.limits.is_endless();
        self.rests && (through || in_between || self.limits.is_last_loop())
    }

    /// Goes on after a rest, in which `reader` has read back what was written; false where nothing is left to do.
    pub fn resume(&mut self, reader: Option<&Self>) -> bool {
        if self.phase != IssuerPhase::Resting {
            return false;
        }
        if let Some(reader) = reader {
            self.picker.succeed(&reader.picker);
            self.limits.read_back(reader.replay.map_or(0, |replay| replay.bytes));
        }
        if !self.next_loop() {
            return false;
        }
        self.since = None;
        self.since = Some(Box::new(self.clone()));
        true
    }

    pub(super) fn replay(&mut self, writes: u64) {
        self.replay = Some(Replay { left: writes, reads: writes, bytes: 0 });
        self.pace.rehearse();
        self.think = None;
        self.syncs = None;
        self.pairs = None;
        self.checks_reads = true;
        self.attention = true;
    }

    /// The next write, as a read.
    pub(super) fn replayed(&mut self, now: Nanos) -> Next {
        let pairs = self.origin.job.pattern.direction == Direction::TrimWrite;
        let written = if pairs { OpKind::Trim } else { OpKind::Write };
        loop {
            let left = self.replay.is_some_and(|replay| replay.left > 0);
            if !left || (self.phase != IssuerPhase::Load && !self.next_loop()) {
                return Next::Done;
            }
            match self.next_data(Nanos::MAX) {
                Some(Next::Issue(op)) if op.kind == written => {
                    let is_read = self.verifier.as_mut().is_none_or(|verifier| verifier.is_to_be_read(&op));
                    if let Some(replay) = &mut self.replay {
                        replay.left -= 1;
                        replay.reads = replay.reads.saturating_sub(u64::from(is_read));
                        replay.bytes += if is_read { u64::from(op.length) } else { 0 };
                    }
                    if is_read {
                        let read = Decision { kind: OpKind::Read, intended: now, ..op };
                        return self.marked(Next::Issue(read));
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
