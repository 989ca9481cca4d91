//! The conformance suite of stores: random operations against a byte array.
//!
//! A store that does not conform makes [`check`] panic with the seed, the operation and what was seen.

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
    /// What it holds at first, at least one byte.
    pub content: Vec<u8>,
    /// Each seed is one course of operations over a store of its own.
    pub seeds: Range<u64>,
    /// Operations in a course.
    pub steps: u32,
    /// How many operations are under way at once at most.
    pub slots: u32,
}

impl Default for TestedStore {
    /// Ten courses of 400 operations, 16 at once, over one byte.
    fn default() -> Self {
        Self { content: vec![0], seeds: 0..10, steps: 400, slots: 16 }
    }
}

/// Runs the suite over one store after the other, each made for its seed.
///
/// Operations under way at the same time share blocks and sectors, and now and then changes share bytes, of which any may
/// then win. Slots are used again, reads are lent late and in rows of few pieces.
///
/// # Panics
/// When a store does not conform.
pub fn check(mut make: impl FnMut(u64) -> Box<dyn Store>, subject: &TestedStore) {
    for seed in subject.seeds.clone() {
        let mut store = make(seed);
        run::ConformanceRun::new(store.as_mut(), subject, seed).go();
    }
}

/// Reads a range in slot 0, waiting for it.
///
/// # Errors
/// The store's.
///
/// # Panics
/// Where nothing is heard of the read for half a minute, or it ends short.
pub fn read(store: &mut dyn Store, offset: u64, length: u32) -> Result<Vec<u8>, Errno> {
    perform(store, 0, Operation::Read { offset, length })?;
    let bytes = lent(store, 0, offset, length, 8);
    store.release(0);
    Ok(bytes)
}

/// Carries out one operation on a store that has none under way.
///
/// # Errors
/// The store's.
///
/// # Panics
/// Where nothing is heard of it for half a minute.
pub fn perform(store: &mut dyn Store, slot: u32, operation: Operation<'_>) -> Result<(), Errno> {
    if let StoreProgress::Ended(result) = store.start(slot, operation) {
        return result;
    }
    let mut ended = Vec::new();
    await_ends(store, &mut ended);
    assert_eq!((ended.len(), ended[0].slot), (1, slot), "only one operation is under way: {ended:?}");
    ended[0].result
}

/// Waits until something has ended.
fn await_ends(store: &mut dyn Store, ended: &mut Vec<StoreEnd>) {
    for _ in 0..TRIES_MAX {
        store.submit();
        store.collect(ended);
        if !ended.is_empty() {
            return;
        }
        if let Some(signal) = store.signal() {
            let patience = Timespec { tv_sec: 30, tv_nsec: 0 };
            let heard = poll(&mut [PollFd::new(&signal, PollFlags::IN)], Some(&patience));
            assert_ne!(heard, Ok(0), "nothing was heard of an operation for {} s", patience.tv_sec);
        }
    }
    panic!("an operation never ended");
}

const TRIES_MAX: u32 = 10_000;

/// The bytes of a read that has ended, borrowed in rows of at most `room` pieces.
fn lent(store: &dyn Store, slot: u32, offset: u64, length: u32, room: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length as usize);
    while bytes.len() < length as usize {
        let mut slices = vec![IoSlice::new(&[]); room];
        let mut pieces = Pieces::new(&mut slices);
        store.lend(slot, offset, length, bytes.len() as u32, &mut pieces);
        let sum: usize = pieces.slices().iter().map(|slice| slice.len()).sum();
        assert_eq!(sum, pieces.bytes());
        assert!(sum > 0, "nothing is lent of {length} bytes at {offset} behind the first {}", bytes.len());
        pieces.slices().iter().for_each(|slice| bytes.extend_from_slice(slice));
    }
    assert_eq!(bytes.len(), length as usize, "more is lent than was read at {offset}");
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
    fn other_bytes_are_noticed() {
        check_over_zeroes(|| Box::new(PatternStore::new(Content::Random { seed: 1 }, 1 << 20)));
    }

    #[test]
    #[should_panic(expected = "NoSpace")]
    fn failures_without_a_reason_are_noticed() {
        check_over_zeroes(|| Box::new(MemoryStore::new(1 << 20, 1 << 18)));
    }
}
