//! Conformance suite of stores: random operations against a byte array.
//!
//! [`check`] panics with the seed, the operation and the observation if a store does not conform.

#[cfg(test)]
mod later;
mod run;
mod work;

use std::io::IoSlice;
use std::ops::Range;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{Operation, Pieces, Store, StoreEnd, StoreProgress};
use nbd_wire::Errno;

#[cfg(test)]
pub(crate) use later::Later;

/// Properties of the store under test.
#[derive(Clone, Debug)]
pub struct TestedStore {
    /// Initial content, at least one byte.
    pub content: Vec<u8>,
    /// Seeds; each gives a sequence of operations on a new store.
    pub seeds: Range<u64>,
    /// Operations per sequence.
    pub steps: u32,
    /// Maximum number of operations in flight.
    pub slots: u32,
}

impl Default for TestedStore {
    /// Ten sequences of 400 operations, 16 at once, on one byte.
    fn default() -> Self {
        Self { content: vec![0], seeds: 0..10, steps: 400, slots: 16 }
    }
}

/// Runs the suite on a store made for each seed.
///
/// Concurrent operations share blocks and sectors; some changes share bytes, of which any may win. Slots are reused,
/// and reads are lent late and in few pieces.
///
/// # Panics
/// When a store does not conform.
pub fn check(mut make: impl FnMut(u64) -> Box<dyn Store>, subject: &TestedStore) {
    for seed in subject.seeds.clone() {
        let mut store = make(seed);
        run::ConformanceRun::new(store.as_mut(), subject, seed).run();
    }
}

/// Reads a range in slot 0 and waits for it.
///
/// # Errors
/// The error of the store.
///
/// # Panics
/// When the read does not end within five minutes or returns too few bytes.
pub fn read(store: &mut dyn Store, offset: u64, length: u32) -> Result<Vec<u8>, Errno> {
    perform(store, 0, Operation::Read { offset, length })?;
    let bytes = lent(store, 0, offset..offset + u64::from(length), 8);
    store.release(0);
    Ok(bytes)
}

/// Executes an operation on a store with none in flight.
///
/// # Errors
/// The error of the store.
///
/// # Panics
/// When it does not end within five minutes.
pub fn perform(store: &mut dyn Store, slot: u32, operation: Operation<&[u8]>) -> Result<(), Errno> {
    if let StoreProgress::Ended(result) = store.start(slot, operation) {
        return result;
    }
    let mut ended = Vec::new();
    await_ends(store, &mut ended);
    assert_eq!((ended.len(), ended[0].slot), (1, slot), "only one operation is in flight: {ended:?}");
    ended[0].result
}

/// Waits until an operation has ended.
fn await_ends(store: &mut dyn Store, ended: &mut Vec<StoreEnd>) {
    for _ in 0..TRIES_MAX {
        store.submit();
        store.collect(ended);
        if !ended.is_empty() {
            return;
        }
        if let Some(signal) = store.signal() {
            let timeout = Timespec { tv_sec: 300, tv_nsec: 0 };
            let polled = poll(&mut [PollFd::new(&signal, PollFlags::IN)], Some(&timeout));
            assert_ne!(polled, Ok(0), "an operation did not end within {} s", timeout.tv_sec);
        }
    }
    panic!("an operation never ended");
}

const TRIES_MAX: u32 = 10_000;

/// Returns the data of a completed read, borrowed in at most `capacity` pieces at a time.
fn lent(store: &dyn Store, slot: u32, range: Range<u64>, capacity: usize) -> Vec<u8> {
    let (offset, length) = (range.start, (range.end - range.start) as u32);
    let mut bytes = Vec::with_capacity(length as usize);
    while bytes.len() < length as usize {
        let mut slices = vec![IoSlice::new(&[]); capacity];
        let mut pieces = Pieces::new(&mut slices);
        store.lend(slot, offset, length, bytes.len() as u32, &mut pieces);
        let sum: usize = pieces.slices().iter().map(|slice| slice.len()).sum();
        assert_eq!(sum, pieces.bytes());
        assert!(sum > 0, "of {length} bytes at {offset}, nothing is lent after the first {}", bytes.len());
        pieces.slices().iter().for_each(|slice| bytes.extend_from_slice(slice));
    }
    assert_eq!(bytes.len(), length as usize, "the read at {offset} lent too much");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Content, MemoryStore, PatternStore};

    fn check_over_zeroes(make: fn() -> Box<dyn Store>) {
        check(|_| make(), &TestedStore { content: vec![0; 1 << 20], ..TestedStore::default() });
    }

    #[test]
    #[should_panic(expected = "seed 0: a wrong byte")]
    fn detects_wrong_bytes() {
        check_over_zeroes(|| Box::new(PatternStore::new(Content::Random { seed: 1 }, 1 << 20)));
    }

    #[test]
    #[should_panic(expected = "NoSpace")]
    fn detects_unexpected_failures() {
        check_over_zeroes(|| Box::new(MemoryStore::new(1 << 20, 1 << 18)));
    }
}
