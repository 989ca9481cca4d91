//! Trims of written blocks before they are verified (`trim_percentage`).

use std::collections::{BTreeSet, VecDeque};

use job::TrimBacklog;
use units::random::Random;
use units::{Nanos, OpKind};

use super::{Issuer, IssuerPhase};
use crate::decision::{Decision, Next};

/// Stream of the random numbers that choose the blocks.
const TRIM_STREAM: u64 = 0x7472_696d;

/// Chooses written blocks, trims them after a number of writes, and knows in a read-back which they are.
///
/// Chosen blocks are trimmed in the order of their writes. So a read-back, which repeats the choices, only needs the
/// number of trims, and no list of blocks is kept but that of the current backlog.
#[derive(Clone, Debug)]
pub(super) struct BacklogTrims {
    options: TrimBacklog,
    draws: Random,
    /// Writes since the last trims became due.
    writes: u64,
    /// Chosen writes that have not been trimmed, in order, with whether they have completed.
    chosen: VecDeque<(Decision, bool)>,
    /// Number of the first of `chosen` that are to be trimmed now.
    due: usize,
    /// Trims since the last read-back; in a read-back, those whose blocks have not been reached.
    trimmed: u64,
    /// File and offset of trimmed blocks that are being read.
    reading: BTreeSet<(u32, u64)>,
}

impl BacklogTrims {
    /// `seed` is that of the worker.
    pub(super) fn new(options: TrimBacklog, seed: u64) -> Self {
        let draws = Random::new(seed, TRIM_STREAM);
        let (chosen, reading) = (VecDeque::new(), BTreeSet::new());
        Self { options, draws, writes: 0, chosen, due: 0, trimmed: 0, reading }
    }

    fn is_chosen(&mut self) -> bool {
        self.draws.below(100) < u64::from(self.options.percentage)
    }

    fn written(&mut self, op: &Decision) {
        if self.is_chosen() {
            self.chosen.push_back((*op, false));
        }
        self.writes += 1;
        if self.writes >= self.options.backlog {
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
    pub(super) fn completed(&mut self, op: &Decision) {
        match op.kind {
            OpKind::Write => {
                if let Ok(place) = self.chosen.binary_search_by_key(&op.sequence, |(write, _)| write.sequence) {
                    self.chosen[place].1 = true;
                }
            }
            OpKind::Read => {
                self.reading.remove(&(op.file, op.offset));
            }
            _ => {}
        }
    }

    /// Trims nothing more of what has been written.
    pub(super) fn cancel(&mut self) {
        self.due = 0;
    }

    /// Begins again after a read-back: verified blocks are not trimmed.
    pub(super) fn begin_again(&mut self) {
        self.chosen.clear();
        (self.writes, self.due, self.trimmed) = (0, 0, 0);
    }

    /// Reports, for each write of a read-back in order, whether it is read.
    pub(super) fn is_to_be_read(&mut self, op: &Decision) -> bool {
        let is_trimmed = self.is_chosen() && self.trimmed > 0;
        if is_trimmed {
            self.trimmed -= 1;
            if !self.options.any_content {
                self.reading.insert((op.file, op.offset));
            }
        }
        !(is_trimmed && self.options.any_content)
    }
}

impl Issuer {
    /// Chooses whether a write is trimmed later.
    pub(super) fn choose_trim(&mut self, op: &Decision) {
        let is_write = op.kind == OpKind::Write && self.replay.is_none();
        if let Some(trims) = self.trims.as_mut().filter(|_| is_write) {
            trims.written(op);
        }
    }

    /// Returns the next trim that is due. Data operations do not wait for it, but the end of a pass or a backlog does.
    pub(super) fn due_trim(&mut self, now: Nanos) -> Option<Next> {
        let trims = self.trims.as_mut()?;
        let Some(write) = trims.ready() else {
            return (trims.due > 0 && self.phase != IssuerPhase::Load).then_some(Next::Blocked);
        };
        let op = Decision { kind: OpKind::Trim, sequence: self.sequence, intended: now, priority: 0, ..write };
        self.sequence += 1;
        if self.picker.is_limited() {
            self.retire_if_done(op.file);
        }
        Some(Next::Issue(op))
    }

    /// Makes this read-back expect the trims of `writer`.
    pub(super) fn expect_trims(&mut self, writer: &Self) {
        let (Some(trims), Some(trimmed)) = (&mut self.trims, &writer.trims) else { return };
        trims.trimmed = trimmed.trimmed;
        if let Some(replay) = self.replay.as_mut().filter(|_| trimmed.options.any_content) {
            replay.reads = replay.reads.saturating_sub(trimmed.trimmed);
        }
    }

    /// Reports whether a read is of a block that was trimmed.
    pub(super) fn is_read_of_trimmed(&self, op: &Decision) -> bool {
        let is_trimmed = |trims: &BacklogTrims| trims.reading.contains(&(op.file, op.offset));
        op.kind == OpKind::Read && self.trims.as_deref().is_some_and(is_trimmed)
    }
}
