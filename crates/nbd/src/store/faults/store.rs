//! A store that goes wrong.

use std::os::fd::BorrowedFd;

use volume::Kind;

use super::{Fault, Faults, Rates, SECTOR_BYTES};
use crate::store::{Abilities, Ended, Extent, Footprint, Operation, Pieces, Pool, Progress, Store};
use crate::wire::Errno;

/// A store of which some reads and writes fail and some writes are torn or lost.
pub struct Faulty {
    below: Box<dyn Store>,
    faults: Faults,
    /// By slot, whether a torn write is under way that has to fail when its part is written.
    torn: Vec<bool>,
}

impl Faulty {
    /// A store with those of the faults that a store can have.
    #[must_use]
    pub fn new(below: Box<dyn Store>, rates: Rates, seed: u64) -> Self {
        Self { below, faults: Faults::new(rates.in_store(), seed), torn: Vec::new() }
    }

    fn tear(&mut self, slot: u32, operation: Operation<'_>, sectors: u32) -> Progress {
        let Some(part) = torn(operation, sectors) else { return FAILED };
        match self.below.start(slot, part) {
            Progress::Ended(_) => FAILED,
            Progress::Pending => {
                let slot = slot as usize;
                self.torn.resize(self.torn.len().max(slot + 1), false);
                self.torn[slot] = true;
                Progress::Pending
            }
        }
    }
}

const FAILED: Progress = Progress::Ended(Err(Errno::Io));

/// What kind of operation a fault befalls; ranges that become zero are written.
fn kind(operation: &Operation<'_>) -> (Kind, u64) {
    match *operation {
        Operation::Read { length, .. } => (Kind::Read, u64::from(length)),
        Operation::Write { data, .. } => (Kind::Write, data.len() as u64),
        Operation::Zero { length, .. } => (Kind::Write, length),
        Operation::Trim { length, .. } => (Kind::Trim, length),
        Operation::Flush | Operation::Cache { .. } => (Kind::Flush, 0),
    }
}

/// The part of an operation that a tear lets through, up to the end of a sector of the store; `None` where it is nothing.
fn torn(operation: Operation<'_>, sectors: u32) -> Option<Operation<'_>> {
    let upto = |offset: u64| (offset / SECTOR_BYTES + u64::from(sectors)) * SECTOR_BYTES;
    match operation {
        Operation::Write { offset, data, durable } => {
            let kept = upto(offset).checked_sub(offset).filter(|&kept| kept > 0)?;
            Some(Operation::Write { offset, data: &data[..data.len().min(kept as usize)], durable })
        }
        Operation::Zero { offset, length, durable, allocated, fast } => {
            let kept = upto(offset).checked_sub(offset).filter(|&kept| kept > 0)?;
            Some(Operation::Zero { offset, length: length.min(kept), durable, allocated, fast })
        }
        _ => None,
    }
}

impl Store for Faulty {
    fn size(&self) -> u64 {
        self.below.size()
    }

    fn abilities(&self) -> Abilities {
        self.below.abilities()
    }

    fn footprint(&self) -> Footprint {
        self.below.footprint()
    }

    fn keep_within(&mut self, pool: &Pool) {
        self.below.keep_within(pool);
    }

    fn start(&mut self, slot: u32, operation: Operation<'_>) -> Progress {
        let (kind, length) = kind(&operation);
        match self.faults.next(kind, length) {
            Some(Fault::Eio) => FAILED,
            Some(Fault::Torn { sectors }) => self.tear(slot, operation, sectors),
            Some(Fault::Lost) => Progress::Ended(Ok(())),
            Some(Fault::Stall(_) | Fault::Disconnect) | None => self.below.start(slot, operation),
        }
    }

    fn submit(&mut self) {
        self.below.submit();
    }

    fn collect(&mut self, ended: &mut Vec<Ended>) {
        let before = ended.len();
        self.below.collect(ended);
        for end in &mut ended[before..] {
            if self.torn.get_mut(end.slot as usize).is_some_and(std::mem::take) {
                end.result = Err(Errno::Io);
            }
        }
    }

    fn signal(&self) -> Option<BorrowedFd<'_>> {
        self.below.signal()
    }

    fn lend<'a>(&'a self, slot: u32, offset: u64, length: u32, from: u32, pieces: &mut Pieces<'_, 'a>) {
        self.below.lend(slot, offset, length, from, pieces);
    }

    fn release(&mut self, slot: u32) {
        self.below.release(slot);
    }

    fn extents(&mut self, offset: u64, length: u64, most: usize) -> Result<Vec<Extent>, Errno> {
        self.below.extents(offset, length, most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Memory;
    use crate::store::conformance::{self, Later, Subject, read};

    const SIZE: u64 = 1 << 18;

    #[test]
    fn conforms_without_faults() {
        let make = |seed| {
            let below = Later::new(Box::new(Memory::new(SIZE, u64::MAX)), seed);
            Box::new(Faulty::new(Box::new(below), Rates::default(), seed)) as Box<dyn Store>
        };
        conformance::check(make, &Subject { content: vec![0; SIZE as usize], ..Subject::default() });
    }

    fn finish(store: &mut dyn Store, progress: Progress) -> Result<(), Errno> {
        let mut ended = Vec::new();
        loop {
            match (progress, ended.pop()) {
                (Progress::Ended(result), _) | (_, Some(Ended { result, .. })) => return result,
                _ => {
                    store.submit();
                    store.collect(&mut ended);
                }
            }
        }
    }

    #[test]
    fn a_torn_write_leaves_a_prefix_of_sectors_and_fails() {
        let rates = Rates { torn: 1.0, ..Rates::default() };
        for (seed, offset) in (0..40).flat_map(|seed| [(seed, 4096), (seed, 4000)]) {
            let memory = Box::new(Memory::new(SIZE, u64::MAX));
            let below: Box<dyn Store> = if seed % 2 == 0 { memory } else { Box::new(Later::new(memory, seed)) };
            let mut store = Faulty::new(below, rates, seed);
            let progress = store.start(0, Operation::Write { offset, data: &[7; 4096], durable: false });
            assert_eq!(finish(&mut store, progress), Err(Errno::Io));
            let bytes = read(&mut store, 0, 16384).unwrap();
            let kept = bytes.iter().filter(|&&byte| byte == 7).count();
            assert!(bytes[offset as usize..][..kept].iter().all(|&byte| byte == 7), "seed {seed}: not a prefix");
            let end = offset as usize + kept;
            assert!(kept < 4096 && (kept == 0 || end.is_multiple_of(512)), "seed {seed}: {kept} bytes at {offset}");
        }
    }

    #[test]
    fn a_lost_write_succeeds_and_changes_nothing() {
        let mut store = Faulty::new(Box::new(Memory::new(SIZE, u64::MAX)), Rates { lost: 1.0, ..Rates::default() }, 1);
        let write = Operation::Write { offset: 0, data: &[7; 4096], durable: true };
        assert_eq!(store.start(0, write), Progress::Ended(Ok(())));
        assert_eq!(read(&mut store, 0, 8192).map(|bytes| bytes == vec![0; 8192]), Ok(true));
    }

    #[test]
    fn a_failed_operation_does_nothing() {
        let mut store = Faulty::new(Box::new(Memory::new(SIZE, u64::MAX)), Rates { eio: 1.0, ..Rates::default() }, 1);
        assert_eq!(store.start(0, Operation::Write { offset: 0, data: &[7; 4096], durable: false }), FAILED);
        assert_eq!(store.start(0, Operation::Read { offset: 0, length: 10 }), FAILED);
        assert_eq!(store.start(0, Operation::Flush), Progress::Ended(Ok(())));
        assert_eq!(read(&mut *store.below, 0, 4096), Ok(vec![0; 4096]));
    }
}
