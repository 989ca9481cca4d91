//! A sequence of operations on one store.

use std::ops::Range;

use units::random::Random;

use super::work::{TestedWork, range, read_of};
use super::{TestedStore, await_ends, lent};
use crate::store::{Operation, Store, StoreEnd, StoreProgress};
use nbd_wire::Errno;

struct Active {
    work: TestedWork,
    stage: ConformanceStage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ConformanceStage {
    InFlight,
    /// A read that has ended and is not checked yet.
    Completed,
    /// A read of the content that a trim has left.
    ReadingTrimmed,
    /// A change that competes with others for the same bytes.
    Contest,
}

/// Unchanged bytes to check around competing changes.
const NEIGHBOURS: usize = 70_000;

fn spans(works: &[TestedWork]) -> Vec<Range<usize>> {
    works.iter().map(TestedWork::bytes).collect()
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

    pub(super) fn run(mut self) {
        for _ in 0..self.steps {
            match self.random.below(32) {
                0..4 => self.collect(),
                4..8 => self.lend_any(),
                8..12 => self.check_extents(),
                12 => self.contest(),
                _ => self.start_any(),
            }
        }
        self.drain();
        self.check_content();
    }

    fn start_any(&mut self) {
        let work = TestedWork::any(&mut self.random, self.model.len() as u64);
        let free = self.active.iter().position(Option::is_none);
        let alone = !self.active.iter().flatten().any(|active| active.work.disturbs(&work));
        match free {
            Some(slot) if alone => self.start(slot, work, ConformanceStage::InFlight),
            Some(_) => self.collect(),
            None => self.drain(),
        }
    }

    fn start(&mut self, slot: usize, work: TestedWork, stage: ConformanceStage) {
        let progress = match stage {
            ConformanceStage::ReadingTrimmed => {
                self.store.start(slot as u32, read_of(&work.range()).map(Vec::as_slice))
            }
            _ => self.store.start(slot as u32, work.map(Vec::as_slice)),
        };
        self.active[slot] = Some(Active { work, stage });
        if let StoreProgress::Ended(result) = progress {
            self.end(slot, result);
        }
    }

    /// Starts overlapping changes: then every byte must come from one of those that cover it, and no other byte may
    /// change.
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
        let from = works.iter().map(|work| work.bytes().start).min().unwrap_or(0).saturating_sub(NEIGHBOURS);
        let to = works.iter().map(|work| work.bytes().end).max().unwrap_or(0).saturating_add(NEIGHBOURS).min(size);
        let found = super::read(self.store, from as u64, (to - from) as u32).expect("written data can be read");
        for (at, byte) in (from..to).zip(found) {
            let mut candidates = works.iter().filter_map(|work| work.byte(at)).peekable();
            let lost = candidates.peek().is_none();
            let known = candidates.any(|candidate| candidate == byte) || (lost && self.model[at] == byte);
            assert!(known, "seed {}: {byte} at {at} was never written: {:?}", self.seed, spans(&works));
            self.model[at] = byte;
        }
    }

    fn collect(&mut self) {
        self.store.submit();
        self.store.collect(&mut self.ended);
        self.process_ends();
    }

    fn process_ends(&mut self) {
        for StoreEnd { slot, result } in std::mem::take(&mut self.ended) {
            self.end(slot as usize, result);
        }
    }

    /// Waits for all operations in flight and checks all reads.
    fn drain(&mut self) {
        while self.active.iter().flatten().any(|active| active.stage != ConformanceStage::Completed) {
            await_ends(self.store, &mut self.ended);
            self.process_ends();
        }
        (0..self.active.len()).for_each(|slot| self.lend(slot));
    }

    fn end(&mut self, slot: usize, result: Result<(), Errno>) {
        let seed = self.seed;
        let Some(Active { work, stage }) = self.active[slot].take() else {
            panic!("seed {seed}: slot {slot} ended with {result:?} without an operation in flight");
        };
        if result.is_err() {
            return assert!(self.may_fail(&work, result), "seed {seed}: {result:?} for {work:?}");
        }
        let writes = self.store.abilities().write;
        assert!(writes || !work.changes(), "seed {seed}: a read-only store was changed");
        match &work {
            _ if stage == ConformanceStage::Contest => {}
            Operation::Trim { .. } if stage == ConformanceStage::ReadingTrimmed => self.adopt(slot, &work),
            Operation::Read { .. } => self.active[slot] = Some(Active { work, stage: ConformanceStage::Completed }),
            Operation::Write { data, .. } => self.model[work.bytes()].copy_from_slice(data),
            Operation::Zero { .. } => self.model[work.bytes()].fill(0),
            Operation::Trim { .. } => self.start(slot, work, ConformanceStage::ReadingTrimmed),
            Operation::Flush | Operation::Cache { .. } => {}
        }
    }

    fn may_fail(&self, work: &TestedWork, result: Result<(), Errno>) -> bool {
        let abilities = self.store.abilities();
        match (result, work) {
            (Err(Errno::NotPermitted), _) => work.changes() && !abilities.write,
            (Err(Errno::NotSupported), Operation::Zero { fast, .. }) => *fast,
            (Err(Errno::NotSupported), Operation::Trim { .. }) => !abilities.trim,
            _ => false,
        }
    }

    /// Copies to the model what a trim has left: the old content or zeroes, byte by byte.
    fn adopt(&mut self, slot: usize, work: &TestedWork) {
        let found = lent(self.store, slot as u32, work.range(), 3);
        self.store.release(slot as u32);
        let model = &mut self.model[work.bytes()];
        let odd = found.iter().zip(&*model).position(|(found, before)| found != before && *found != 0);
        assert_eq!(odd, None, "seed {}: after a trim, a byte is neither zero nor unchanged: {work:?}", self.seed);
        model.copy_from_slice(&found);
    }

    fn lend_any(&mut self) {
        let slot = self.random.below(self.active.len() as u64) as usize;
        self.lend(slot);
    }

    /// Checks the read in a slot, if there is one.
    fn lend(&mut self, slot: usize) {
        let Some(Active { work, .. }) = self.active[slot].take_if(|active| active.stage == ConformanceStage::Completed)
        else {
            return;
        };
        let capacity = 1 + self.random.below(4) as usize;
        let found = lent(self.store, slot as u32, work.range(), capacity);
        self.store.release(slot as u32);
        let model = &self.model[work.bytes()];
        let wrong = found.iter().zip(model).position(|(found, wanted)| found != wanted);
        assert_eq!(wrong, None, "seed {}: a wrong byte in {work:?}", self.seed);
    }

    /// Checks that extents reported as zero are zero, outside the ranges of operations in flight.
    fn check_extents(&mut self) {
        let range = range(&mut self.random, self.model.len() as u64);
        if self.active.iter().flatten().any(|active| active.work.disturbs(&read_of(&range))) {
            return;
        }
        let most = 1 + self.random.below(5) as usize;
        let extents =
            self.store.extents(range.start, range.end - range.start, most).expect("all stores know their extents");
        let seed = self.seed;
        assert!((1..=most).contains(&extents.len()), "seed {seed}: {} extents of at most {most}", extents.len());
        let mut rest = &self.model[range.start as usize..range.end as usize];
        for extent in extents {
            let inside = extent.length > 0 && extent.length <= rest.len() as u64;
            assert!(inside, "seed {seed}: {extent:?} exceeds {range:?}");
            let (bytes, after) = rest.split_at(extent.length as usize);
            let zero = bytes.iter().all(|&byte| byte == 0);
            assert!(zero || !extent.zero, "seed {seed}: {extent:?} is not zero, within {range:?}");
            rest = after;
        }
    }

    fn check_content(&mut self) {
        for offset in (0..self.model.len()).step_by(100_000) {
            let length = (self.model.len() - offset).min(100_000) as u32;
            self.start(0, TestedWork::Read { offset: offset as u64, length }, ConformanceStage::InFlight);
            self.drain();
        }
    }
}
