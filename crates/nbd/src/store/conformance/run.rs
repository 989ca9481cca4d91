//! One sequence of operations on one store.

use std::ops::Range;

use units::random::Random;

use super::work::{TestedWork, WorkKind};
use super::{TestedStore, await_ends, lent};
use crate::store::{Operation, Store, StoreEnd, StoreProgress};
use nbd_wire::Errno;

/// An operation that has a slot.
struct Active {
    work: TestedWork,
    stage: ConformanceStage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ConformanceStage {
    UnderWay,
    /// A read that has ended and is not lent yet.
    Held,
    /// What a trim has left is being read.
    Looking,
    /// A change that is told apart from others over the same bytes by what it leaves.
    Contest,
}

/// Bytes around changed ranges that must stay the same.
const NEIGHBOURS: usize = 70_000;

fn spans(works: &[TestedWork]) -> Vec<Range<usize>> {
    works.iter().map(TestedWork::range).collect()
}

pub(super) struct ConformanceRun<'s> {
    store: &'s mut dyn Store,
    model: Vec<u8>,
    random: Random,
    active: Vec<Option<Active>>,
    ended: Vec<StoreEnd>,
    steps: u32,
    seed: u64,
}

impl<'s> ConformanceRun<'s> {
    pub(super) fn new(store: &'s mut dyn Store, subject: &TestedStore, seed: u64) -> Self {
        assert_eq!(store.size(), subject.content.len() as u64);
        let active = (0..subject.slots).map(|_| None).collect();
        let random = Random::new(seed, 0);
        let model = subject.content.clone();
        Self { store, model, random, active, ended: Vec::new(), steps: subject.steps, seed }
    }

    pub(super) fn go(mut self) {
        for _ in 0..self.steps {
            match self.random.below(32) {
                0..4 => self.look_for_ends(),
                4..8 => self.lend_any(),
                8..12 => self.check_extents(),
                12 => self.contest(),
                _ => self.start_any(),
            }
        }
        self.drain();
        self.check_everything();
    }

    fn start_any(&mut self) {
        let work = TestedWork::any(&mut self.random, self.model.len() as u64);
        let free = self.active.iter().position(Option::is_none);
        let alone = !self.active.iter().flatten().any(|active| active.work.disturbs(&work));
        match free {
            Some(slot) if alone => self.start(slot, work, ConformanceStage::UnderWay),
            Some(_) => self.look_for_ends(),
            None => self.drain(),
        }
    }

    fn start(&mut self, slot: usize, work: TestedWork, stage: ConformanceStage) {
        let look = Operation::Read { offset: work.offset, length: work.length as u32 };
        let operation = if stage == ConformanceStage::Looking { look } else { work.operation() };
        let progress = self.store.start(slot as u32, operation);
        self.active[slot] = Some(Active { work, stage });
        if let StoreProgress::Ended(result) = progress {
            self.end(slot, result);
        }
    }

    /// Lets changes overlap: every byte then is that of one of those over it, and no other byte has changed.
    fn contest(&mut self) {
        let size = self.model.len();
        if !self.store.abilities().write || size < 2 {
            return;
        }
        self.drain();
        let works = TestedWork::contest(&mut self.random, size as u64);
        for (slot, work) in works.iter().enumerate().take(self.active.len()) {
            self.start(slot, work.clone(), ConformanceStage::Contest);
        }
        self.drain();
        let from = works.iter().map(|work| work.range().start).min().unwrap_or(0).saturating_sub(NEIGHBOURS);
        let to = works.iter().map(|work| work.range().end).max().unwrap_or(0).saturating_add(NEIGHBOURS).min(size);
        let found = super::read(self.store, from as u64, (to - from) as u32).expect("what was written can be read");
        for (at, byte) in (from..to).zip(found) {
            let mut candidates = works.iter().filter_map(|work| work.byte(at)).peekable();
            let lost = candidates.peek().is_none();
            let known = candidates.any(|candidate| candidate == byte) || (lost && self.model[at] == byte);
            assert!(known, "seed {}: {byte} at {at} was never written: {:?}", self.seed, spans(&works));
            self.model[at] = byte;
        }
    }

    fn look_for_ends(&mut self) {
        self.store.submit();
        self.store.collect(&mut self.ended);
        self.take_ends();
    }

    fn take_ends(&mut self) {
        for StoreEnd { slot, result } in std::mem::take(&mut self.ended) {
            self.end(slot as usize, result);
        }
    }

    /// Waits for all that is under way, and looks at what was read.
    fn drain(&mut self) {
        while self.active.iter().flatten().any(|active| active.stage != ConformanceStage::Held) {
            await_ends(self.store, &mut self.ended);
            self.take_ends();
        }
        (0..self.active.len()).for_each(|slot| self.lend(slot));
    }

    fn end(&mut self, slot: usize, result: Result<(), Errno>) {
        let seed = self.seed;
        let Some(Active { work, stage }) = self.active[slot].take() else {
            panic!("seed {seed}: slot {slot} ended with {result:?} and nothing is under way there");
        };
        if result.is_err() {
            return assert!(self.may_fail(&work, result), "seed {seed}: {result:?} for {:?}", work.operation());
        }
        let writes = self.store.abilities().write;
        assert!(writes || !work.changes(), "seed {seed}: what cannot be written was written");
        match work.kind {
            _ if stage == ConformanceStage::Contest => {}
            WorkKind::Trim if stage == ConformanceStage::Looking => self.adopt(slot, &work),
            WorkKind::Read => self.active[slot] = Some(Active { work, stage: ConformanceStage::Held }),
            WorkKind::Write(ref data) => self.model[work.range()].copy_from_slice(data),
            WorkKind::Zero { .. } => self.model[work.range()].fill(0),
            WorkKind::Trim => self.start(slot, work, ConformanceStage::Looking),
            WorkKind::Flush | WorkKind::Cache => {}
        }
    }

    fn may_fail(&self, work: &TestedWork, result: Result<(), Errno>) -> bool {
        let abilities = self.store.abilities();
        match (result, &work.kind) {
            (Err(Errno::NotPermitted), _) => work.changes() && !abilities.write,
            (Err(Errno::NotSupported), WorkKind::Zero { fast, .. }) => *fast,
            (Err(Errno::NotSupported), WorkKind::Trim) => !abilities.trim,
            _ => false,
        }
    }

    /// Takes over what a trim has left, which is what was there or zeroes.
    fn adopt(&mut self, slot: usize, work: &TestedWork) {
        let found = lent(self.store, slot as u32, work.offset, work.length as u32, 3);
        self.store.release(slot as u32);
        let model = &mut self.model[work.range()];
        let odd = found.iter().zip(&*model).position(|(found, before)| found != before && *found != 0);
        assert_eq!(odd, None, "seed {}: neither zero nor what was there after a trim: {work:?}", self.seed);
        model.copy_from_slice(&found);
    }

    fn lend_any(&mut self) {
        let slot = self.random.below(self.active.len() as u64) as usize;
        self.lend(slot);
    }

    /// Looks at what was read, if it was.
    fn lend(&mut self, slot: usize) {
        let Some(Active { work, .. }) = self.active[slot].take_if(|active| active.stage == ConformanceStage::Held)
        else {
            return;
        };
        let room = 1 + self.random.below(4) as usize;
        let found = lent(self.store, slot as u32, work.offset, work.length as u32, room);
        self.store.release(slot as u32);
        let model = &self.model[work.range()];
        let wrong = found.iter().zip(model).position(|(found, wanted)| found != wanted);
        assert_eq!(wrong, None, "seed {}: a wrong byte in {:?}", self.seed, work.operation());
    }

    /// What is told to be zero is zero. Ranges of operations under way are left out.
    fn check_extents(&mut self) {
        let mut range = TestedWork::any(&mut self.random, self.model.len() as u64);
        range.kind = WorkKind::Read;
        if self.active.iter().flatten().any(|active| active.work.disturbs(&range)) {
            return;
        }
        let most = 1 + self.random.below(5) as usize;
        let extents = self.store.extents(range.offset, range.length, most).expect("all stores know their extents");
        let seed = self.seed;
        assert!((1..=most).contains(&extents.len()), "seed {seed}: {} extents of at most {most}", extents.len());
        let mut rest = &self.model[range.range()];
        for extent in extents {
            let inside = extent.length > 0 && extent.length <= rest.len() as u64;
            assert!(inside, "seed {seed}: {extent:?} leaves {} bytes at {}", range.length, range.offset);
            let (bytes, after) = rest.split_at(extent.length as usize);
            let zero = bytes.iter().all(|&byte| byte == 0);
            assert!(zero || !extent.zero, "seed {seed}: {extent:?} is not zero, within {range:?}");
            rest = after;
        }
    }

    fn check_everything(&mut self) {
        for offset in (0..self.model.len()).step_by(100_000) {
            let length = (self.model.len() - offset).min(100_000);
            let work =
                TestedWork { kind: WorkKind::Read, offset: offset as u64, length: length as u64, durable: false };
            self.start(0, work, ConformanceStage::UnderWay);
            self.drain();
        }
    }
}
