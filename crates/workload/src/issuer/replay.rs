//! Going through decided writes again, to read back what they left.

use job::Direction;
use units::Nanos;

use super::{Issuer, Phase};
use crate::decision::{Decision, Next, OpKind};
use crate::mix::Mix;
use crate::offsets::Cursor;
use crate::verify::PassRange;

/// How many writes are still to be read back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replay {
    pub(super) left: u64,
}

impl Issuer {
    /// An issuer that reads back and checks what this one has written; `None` where there is nothing to check.
    ///
    /// No list of writes is kept: the decisions are made once more from the same seed, and its writes come as
    /// reads. Where every block is written once in each pass, the first pass is enough, since later ones touch
    /// the same blocks.
    #[must_use]
    pub fn verify_pass(&self) -> Option<Self> {
        let job = &self.origin.job;
        let writes = self.writes + self.lane.writes();
        if job.verify.method.is_none() || !job.verify.do_verify || self.replay.is_some() || writes == 0 {
            return None;
        }
        let once = self.rules.covers() && matches!(self.mix, Mix::Only(_));
        let mut again = (*self.origin).clone();
        if once {
            again.layout.size = None;
            again.layout.io_size = None;
            let extent = &mut again.job.extent;
            (extent.number_ios, extent.loops, extent.time_based) = (None, 1, false);
        }
        let mut issuer = Self::loading(&again.job, again.worker, &again.layout, again.seed).ok()?;
        issuer.replay(writes);
        issuer.go_anew();
        issuer.picker.succeed(&self.picker);
        let passes = self.possible_passes(once);
        if let Some(verifier) = &mut issuer.verifier {
            verifier.demand(passes);
        }
        Some(issuer)
    }

    /// In which passes the blocks that were written may have been written last.
    fn possible_passes(&self, once: bool) -> PassRange {
        let job = &self.origin.job;
        if job.grouping.numjobs > 1 && !job.files.filenames.is_empty() {
            // Clones write the same files, each at its own pass.
            return PassRange { first: 0, last: u32::MAX };
        }
        let last = self.files.iter().map(|file| file.pass).max().unwrap_or(0);
        let complete = |file: &Cursor| if file.is_done() { file.pass } else { file.pass.saturating_sub(1) };
        let first = if once { self.files.iter().map(complete).min().unwrap_or(0) } else { 0 };
        PassRange { first, last }
    }

    pub(super) fn replay(&mut self, writes: u64) {
        self.replay = Some(Replay { left: writes });
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
            if !left || (self.phase != Phase::Load && !self.next_loop()) {
                return Next::Done;
            }
            match self.next_data(Nanos::MAX) {
                Some(Next::Issue(op)) if op.kind == written => {
                    self.replay = self.replay.map(|replay| Replay { left: replay.left - 1 });
                    let read = Decision { kind: OpKind::Read, intended: now, ..op };
                    return self.marked(Next::Issue(read));
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
