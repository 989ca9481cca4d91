//! Trims of written blocks before they are verified (`trim_percentage`).

use std::collections::{BTreeSet, VecDeque};

use job::TrimBacklog;
use units::random::Random;
use units::{Nanos, OpKind};

use super::Pattern;
use crate::decision::{Decision, Next};

/// Stream of the random numbers that choose the blocks.
const TRIM_STREAM: u64 = 0x7472_696d;

/// Chooses written blocks, and trims them after a number of writes.
///
/// Chosen blocks are trimmed in the order of their writes. So a read-back, which repeats the choices, only needs the
/// number of trims, and no list of blocks is kept but that of the current backlog.
#[derive(Clone, Debug)]
pub(in crate::issuer) struct BacklogTrims {
    choice: TrimChoice,
    /// Writes since the last trims became due.
    writes: u64,
    /// Chosen writes that have not been trimmed, in order, with whether they have completed.
    chosen: VecDeque<(Decision, bool)>,
    /// Number of the first of `chosen` that are to be trimmed now.
    due: usize,
    /// Trims since the last read-back.
    trimmed: u64,
}

#[derive(Clone, Debug)]
struct TrimChoice {
    options: TrimBacklog,
    draws: Random,
}

impl TrimChoice {
    fn is_chosen(&mut self) -> bool {
        self.draws.below(100) < u64::from(self.options.percentage)
    }
}

impl BacklogTrims {
    /// `seed` is that of the worker.
    pub(in crate::issuer) fn new(options: TrimBacklog, seed: u64) -> Self {
        let choice = TrimChoice { options, draws: Random::new(seed, TRIM_STREAM) };
        Self { choice, writes: 0, chosen: VecDeque::new(), due: 0, trimmed: 0 }
    }

    /// Chooses whether a write is trimmed later.
    pub(in crate::issuer) fn written(&mut self, op: &Decision) {
        if op.kind != OpKind::Write {
            return;
        }
        if self.choice.is_chosen() {
            self.chosen.push_back((*op, false));
        }
        self.writes += 1;
        if self.writes >= self.choice.options.backlog {
            (self.writes, self.due) = (0, self.chosen.len());
        }
    }

    /// Returns the next write to trim, if one is due and has completed.
    fn ready(&mut self) -> Option<Decision> {
        self.chosen.front().filter(|(_, completed)| *completed && self.due > 0)?;
        self.due -= 1;
        self.trimmed += 1;
        self.chosen.pop_front().map(|(write, _)| write)
    }

    /// Records that an operation has completed, whatever its outcome.
    pub(in crate::issuer) fn completed(&mut self, op: &Decision) {
        if op.kind == OpKind::Write
            && let Ok(place) = self.chosen.binary_search_by_key(&op.sequence, |(write, _)| write.sequence)
        {
            self.chosen[place].1 = true;
        }
    }

    /// Trims nothing more of what has been written.
    pub(in crate::issuer) fn cancel(&mut self) {
        self.due = 0;
    }

    /// Begins again after a read-back: verified blocks are not trimmed.
    pub(in crate::issuer) fn begin_again(&mut self) {
        self.chosen.clear();
        (self.writes, self.due, self.trimmed) = (0, 0, 0);
    }
}

impl Pattern {
    /// Returns the next trim that is due. Data operations do not wait for it, but the end of a pass or a backlog does.
    pub(in crate::issuer) fn due_trim(&mut self, now: Nanos) -> Option<Next> {
        let trims = self.parts.as_mut()?.trims.as_mut()?;
        let Some(write) = trims.ready() else {
            return (trims.due > 0 && !self.phase.is_within_loop()).then_some(Next::Blocked);
        };
        let op = Decision { kind: OpKind::Trim, sequence: self.sequence, intended: now, priority: 0, ..write };
        self.sequence += 1;
        self.retire_if_done(op.file);
        Some(Next::Issue(op))
    }
}

/// Knows in a read-back which blocks were trimmed.
#[derive(Clone, Debug)]
pub(in crate::issuer) struct TrimmedBlocks {
    choice: TrimChoice,
    /// Trims whose blocks have not been reached.
    left: u64,
    /// File and offset of trimmed blocks that are being read.
    reading: BTreeSet<(u32, u64)>,
}

impl TrimmedBlocks {
    /// `start` has the choices as they were at the start of the writes, and `end` the trims of these writes.
    pub(in crate::issuer) fn new(start: BacklogTrims, end: &BacklogTrims) -> Self {
        Self { choice: start.choice, left: end.trimmed, reading: BTreeSet::new() }
    }

    /// Returns the number of blocks that are not read.
    pub(in crate::issuer) fn skipped(&self) -> u64 {
        if self.choice.options.any_content { self.left } else { 0 }
    }

    /// Reports, for each write in order, whether it is read.
    pub(in crate::issuer) fn is_to_be_read(&mut self, op: &Decision) -> bool {
        let is_trimmed = self.choice.is_chosen() && self.left > 0;
        if is_trimmed {
            self.left -= 1;
            if !self.choice.options.any_content {
                self.reading.insert((op.file, op.offset));
            }
        }
        !(is_trimmed && self.choice.options.any_content)
    }

    /// Reports whether a read is of a block that was trimmed.
    pub(in crate::issuer) fn covers(&self, op: &Decision) -> bool {
        op.kind == OpKind::Read && self.reading.contains(&(op.file, op.offset))
    }

    pub(in crate::issuer) fn completed(&mut self, op: &Decision) {
        self.reading.remove(&(op.file, op.offset));
    }
}
