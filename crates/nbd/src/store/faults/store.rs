//! A store with injected faults.

use std::io::IoSlice;
use std::ops::Range;
use std::os::fd::BorrowedFd;

use volume::RequestKind;

use super::{Fault, FaultKind, FaultRates, Faults, InjectedFaults, SECTOR_BYTES};
use crate::store::{Footprint, Operation, Pieces, Pool, Store, StoreCapabilities, StoreEnd, StoreProgress};
use nbd_wire::{Errno, Extent};

/// A store with injected faults: failed reads, writes and flushes, torn or lost writes, and corrupted reads.
pub struct FaultyStore {
    lower: Box<dyn Store>,
    faults: Faults,
    injected: InjectedFaults,
    marks: Vec<FaultMark>,
}

#[derive(Clone, Copy, Debug, Default)]
enum FaultMark {
    #[default]
    Nothing,
    /// A part of a torn write is in flight; it must fail when that is written.
    Torn,
    /// A read is in flight whose result will be corrupted.
    Reading { offset: u64, byte: u32, bit: u8 },
    /// A read has ended and returns a flipped bit.
    Corrupt { byte: u32, flipped: [u8; 1] },
}

impl FaultyStore {
    /// Wraps a store; ignores the faults that a store cannot have.
    #[must_use]
    pub fn new(lower: Box<dyn Store>, rates: FaultRates, seed: u64) -> Self {
        let faults = Faults::new(rates.in_store(), seed);
        Self { lower, faults, injected: InjectedFaults::default(), marks: Vec::new() }
    }

    fn mark(&mut self, slot: u32, mark: FaultMark) {
        let slot = slot as usize;
        self.marks.resize(self.marks.len().max(slot + 1), FaultMark::Nothing);
        self.marks[slot] = mark;
    }

    fn tear(&mut self, slot: u32, operation: Operation<&[u8]>, sectors: u32) -> StoreProgress {
        let Some(part) = torn(operation, sectors) else { return FAILED };
        match self.lower.start(slot, part) {
            StoreProgress::Ended(_) => FAILED,
            StoreProgress::Pending => {
                self.mark(slot, FaultMark::Torn);
                StoreProgress::Pending
            }
        }
    }

    fn corrupt(&mut self, slot: u32, operation: Operation<&[u8]>, byte: u32, bit: u8) -> StoreProgress {
        let progress = self.lower.start(slot, operation);
        let Operation::Read { offset, .. } = operation else { return progress };
        match progress {
            StoreProgress::Ended(Ok(())) => self.flip(slot, offset, byte, bit),
            StoreProgress::Ended(Err(_)) => {}
            StoreProgress::Pending => self.mark(slot, FaultMark::Reading { offset, byte, bit }),
        }
        progress
    }

    /// Flips a bit of the data of a completed read. The store's content stays as it is.
    fn flip(&mut self, slot: u32, offset: u64, byte: u32, bit: u8) {
        let mut slices = [IoSlice::new(&[])];
        let mut pieces = Pieces::new(&mut slices);
        self.lower.lend(slot, offset, byte + 1, byte, &mut pieces);
        let Some(&stored) = pieces.slices().iter().find_map(|piece| piece.first()) else { return };
        self.injected.count(FaultKind::Corrupt);
        self.mark(slot, FaultMark::Corrupt { byte, flipped: [stored ^ 1 << bit] });
    }

    /// Completes a pending operation; returns the result to report.
    fn complete(&mut self, slot: u32, result: Result<(), Errno>) -> Result<(), Errno> {
        let Some(mark) = self.marks.get_mut(slot as usize).map(std::mem::take) else { return result };
        match mark {
            FaultMark::Torn => Err(Errno::Io),
            FaultMark::Reading { offset, byte, bit } if result.is_ok() => {
                self.flip(slot, offset, byte, bit);
                result
            }
            _ => result,
        }
    }
}

const FAILED: StoreProgress = StoreProgress::Ended(Err(Errno::Io));

/// Returns the kind whose faults apply to an operation; zeroed ranges count as writes.
fn kind(operation: &Operation<&[u8]>) -> Option<RequestKind> {
    match operation {
        Operation::Read { .. } => Some(RequestKind::Read),
        Operation::Write { .. } | Operation::Zero { .. } => Some(RequestKind::Write),
        Operation::Trim { .. } => Some(RequestKind::Trim),
        Operation::Flush => Some(RequestKind::Flush),
        Operation::Cache { .. } => None,
    }
}

/// Returns the part of an operation that a torn write completes, up to a sector boundary; `None` if it is empty.
fn torn(operation: Operation<&[u8]>, sectors: u32) -> Option<Operation<&[u8]>> {
    let kept = |offset: u64| {
        let end = (offset / SECTOR_BYTES + u64::from(sectors)) * SECTOR_BYTES;
        end.checked_sub(offset).filter(|&kept| kept > 0)
    };
    match operation {
        Operation::Write { offset, data, durable } => {
            Some(Operation::Write { offset, data: &data[..data.len().min(kept(offset)? as usize)], durable })
        }
        Operation::Zero { offset, length, durable, allocated, fast } => {
            Some(Operation::Zero { offset, length: length.min(kept(offset)?), durable, allocated, fast })
        }
        _ => None,
    }
}

impl Store for FaultyStore {
    fn size(&self) -> u64 {
        self.lower.size()
    }

    fn abilities(&self) -> StoreCapabilities {
        self.lower.abilities()
    }

    fn footprint(&self) -> Footprint {
        self.lower.footprint()
    }

    fn keep_within(&mut self, pool: &Pool) {
        self.lower.keep_within(pool);
    }

    fn start(&mut self, slot: u32, operation: Operation<&[u8]>) -> StoreProgress {
        let Range { start, end } = operation.range();
        let Some(fault) = self.faults.next(kind(&operation), end - start) else {
            return self.lower.start(slot, operation);
        };
        // A corrupted read is counted once it has succeeded.
        if !matches!(fault, Fault::Corrupt { .. }) {
            self.injected.count(fault.kind());
        }
        match fault {
            Fault::Eio | Fault::FlushEio => FAILED,
            Fault::Enospc => StoreProgress::Ended(Err(Errno::NoSpace)),
            Fault::Torn { sectors } => self.tear(slot, operation, sectors),
            Fault::Lost => StoreProgress::Ended(Ok(())),
            Fault::Corrupt { byte, bit } => self.corrupt(slot, operation, byte, bit),
            Fault::Stall(_) | Fault::FlushStall(_) | Fault::Disconnect => self.lower.start(slot, operation),
        }
    }

    fn submit(&mut self) {
        self.lower.submit();
    }

    fn collect(&mut self, ended: &mut Vec<StoreEnd>) {
        let before = ended.len();
        self.lower.collect(ended);
        if !self.marks.is_empty() {
            for end in &mut ended[before..] {
                end.result = self.complete(end.slot, end.result);
            }
        }
    }

    fn signal(&self) -> Option<BorrowedFd<'_>> {
        self.lower.signal()
    }

    fn lend<'a>(&'a self, slot: u32, offset: u64, length: u32, from: u32, pieces: &mut Pieces<'_, 'a>) {
        let Some(FaultMark::Corrupt { byte, flipped }) = self.marks.get(slot as usize) else {
            return self.lower.lend(slot, offset, length, from, pieces);
        };
        let (mut from, byte) = (from, *byte);
        if from < byte {
            let (before, upto) = (pieces.bytes(), length.min(byte));
            self.lower.lend(slot, offset, upto, from, pieces);
            if pieces.bytes() - before < (upto - from) as usize {
                return;
            }
            from = upto;
        }
        if from == byte && byte < length {
            if !pieces.push(flipped) {
                return;
            }
            from = byte + 1;
        }
        if from < length {
            self.lower.lend(slot, offset, length, from, pieces);
        }
    }

    fn release(&mut self, slot: u32) {
        if let Some(mark) = self.marks.get_mut(slot as usize) {
            *mark = FaultMark::Nothing;
        }
        self.lower.release(slot);
    }

    fn set_faults(&mut self, rates: FaultRates) {
        self.faults.set_rates(rates.in_store());
    }

    fn injected(&self) -> InjectedFaults {
        self.injected
    }

    fn extents(&mut self, offset: u64, length: u64, most: usize) -> Result<Vec<Extent>, Errno> {
        self.lower.extents(offset, length, most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::MemoryStore;
    use crate::store::conformance::{self, Later, TestedStore, read};

    const SIZE: u64 = 1 << 18;

    #[test]
    fn conforms_without_faults() {
        let make = |seed| {
            let lower = Later::new(Box::new(MemoryStore::new(SIZE, u64::MAX)), seed);
            Box::new(FaultyStore::new(Box::new(lower), FaultRates::default(), seed)) as Box<dyn Store>
        };
        conformance::check(make, &TestedStore { content: vec![0; SIZE as usize], ..TestedStore::default() });
    }

    fn finish(store: &mut dyn Store, progress: StoreProgress) -> Result<(), Errno> {
        let mut ended = Vec::new();
        loop {
            match (progress, ended.pop()) {
                (StoreProgress::Ended(result), _) | (_, Some(StoreEnd { result, .. })) => return result,
                _ => {
                    store.submit();
                    store.collect(&mut ended);
                }
            }
        }
    }

    #[test]
    fn a_torn_write_leaves_a_prefix_of_sectors_and_fails() {
        let rates = FaultRates { torn: 1.0, ..FaultRates::default() };
        for (seed, offset) in (0..40).flat_map(|seed| [(seed, 4096), (seed, 4000)]) {
            let memory = Box::new(MemoryStore::new(SIZE, u64::MAX));
            let lower: Box<dyn Store> = if seed % 2 == 0 { memory } else { Box::new(Later::new(memory, seed)) };
            let mut store = FaultyStore::new(lower, rates, seed);
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
        let mut store = FaultyStore::new(
            Box::new(MemoryStore::new(SIZE, u64::MAX)),
            FaultRates { lost: 1.0, ..FaultRates::default() },
            1,
        );
        let write = Operation::Write { offset: 0, data: &[7; 4096][..], durable: true };
        assert_eq!(store.start(0, write), StoreProgress::Ended(Ok(())));
        assert_eq!(read(&mut store, 0, 8192).map(|bytes| bytes == vec![0; 8192]), Ok(true));
    }

    #[test]
    fn a_failed_operation_does_nothing() {
        let mut store = FaultyStore::new(
            Box::new(MemoryStore::new(SIZE, u64::MAX)),
            FaultRates { eio: 1.0, ..FaultRates::default() },
            1,
        );
        assert_eq!(store.start(0, Operation::Write { offset: 0, data: &[7; 4096], durable: false }), FAILED);
        assert_eq!(store.start(0, Operation::Read { offset: 0, length: 10 }), FAILED);
        assert_eq!(store.start(0, Operation::Flush), StoreProgress::Ended(Ok(())));
        assert_eq!(read(&mut *store.lower, 0, 4096), Ok(vec![0; 4096]));
        assert_eq!(store.injected().of(FaultKind::Eio), 2);
    }

    #[test]
    fn flushes_and_writes_fail_with_errors_of_their_own() {
        let rates = FaultRates { flush_eio: 1.0, enospc: 1.0, ..FaultRates::default() };
        let mut store = FaultyStore::new(Box::new(MemoryStore::new(SIZE, u64::MAX)), rates, 1);
        let write = Operation::Write { offset: 0, data: &[7; 4096][..], durable: true };
        let zero = Operation::Zero { offset: 0, length: 4096, durable: false, allocated: true, fast: false };
        let cache = Operation::Cache { offset: 0, length: 4096 };
        let outcomes = [write, zero, Operation::Flush, cache].map(|operation| store.start(0, operation));
        let no_space = StoreProgress::Ended(Err(Errno::NoSpace));
        assert_eq!(outcomes, [no_space, no_space, FAILED, StoreProgress::Ended(Ok(()))]);
        assert_eq!(read(&mut store, 0, 4096), Ok(vec![0; 4096]), "reads are unaffected");
        assert_eq!([FaultKind::Enospc, FaultKind::FlushEio].map(|kind| store.injected().of(kind)), [2, 1]);
    }

    /// Counts the bits in which two byte strings differ.
    fn differing_bits(one: &[u8], other: &[u8]) -> u32 {
        one.iter().zip(other).map(|(one, other)| (one ^ other).count_ones()).sum()
    }

    #[test]
    fn a_corrupted_read_returns_one_flipped_bit_and_leaves_the_store_unchanged() {
        let content: Vec<u8> = (0..SIZE).map(|at| (at % 251) as u8).collect();
        let wanted = &content[500..500 + 70_000];
        for seed in 0..40 {
            let mut memory = Box::new(MemoryStore::new(SIZE, u64::MAX));
            memory.start(0, Operation::Write { offset: 0, data: &content, durable: false });
            let lower: Box<dyn Store> = if seed % 2 == 0 { memory } else { Box::new(Later::new(memory, seed)) };
            let mut store = FaultyStore::new(lower, FaultRates { corrupt: 1.0, ..FaultRates::default() }, seed);
            let progress = store.start(3, Operation::Read { offset: 500, length: 70_000 });
            assert_eq!(finish(&mut store, progress), Ok(()));
            // Varies the capacity of the list, and leaves out the end of the read once.
            for most in [70_000, 69_000] {
                let mut lent = Vec::new();
                while lent.len() < most {
                    let mut slices = [IoSlice::new(&[]); 2];
                    let mut pieces = Pieces::new(&mut slices[..1 + lent.len() % 2]);
                    store.lend(3, 500, most as u32, lent.len() as u32, &mut pieces);
                    let more: Vec<u8> = pieces.slices().iter().flat_map(|piece| piece.iter().copied()).collect();
                    assert!(!more.is_empty(), "seed {seed}: nothing more after {} bytes", lent.len());
                    lent.extend(more);
                }
                let differing = differing_bits(&lent, wanted);
                assert!(differing == 1 || differing == 0 && most < 70_000, "seed {seed}: {differing} bits");
            }
            store.release(3);
            assert_eq!(store.injected().of(FaultKind::Corrupt), 1);
            store.set_faults(FaultRates::default());
            assert!(read(&mut store, 500, 70_000).unwrap() == wanted, "seed {seed}: the store has changed");
        }
    }

    #[test]
    fn the_fault_of_a_slot_ends_with_its_operation() {
        let lower = Box::new(Later::new(Box::new(MemoryStore::new(SIZE, u64::MAX)), 1));
        let mut store = FaultyStore::new(lower, FaultRates { corrupt: 1.0, ..FaultRates::default() }, 1);
        let progress = store.start(0, Operation::Read { offset: 0, length: 4096 });
        assert_eq!(finish(&mut store, progress), Ok(()));
        store.release(0);
        store.set_faults(FaultRates::default());
        let progress = store.start(0, Operation::Write { offset: 0, data: &[1; 4096], durable: false });
        assert_eq!(finish(&mut store, progress), Ok(()));
        let progress = store.start(0, Operation::Read { offset: 0, length: 4096 });
        assert_eq!(finish(&mut store, progress), Ok(()));
        let mut slices = [IoSlice::new(&[]); 4];
        let mut pieces = Pieces::new(&mut slices);
        store.lend(0, 0, 4096, 0, &mut pieces);
        assert!(pieces.slices().iter().all(|piece| piece.iter().all(|byte| *byte == 1)), "a mark was left");
    }
}
