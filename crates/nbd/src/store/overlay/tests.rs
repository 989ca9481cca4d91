use super::*;
use crate::store::conformance::{self, Later, TestedStore, perform, read};
use crate::store::faults::{FaultRates, FaultyStore};
use crate::store::{Content, MemoryStore, PatternStore};

const RANDOM: Content = Content::Random { seed: 11 };

/// Returns an image with data and holes, and its content.
fn image(size: u64) -> (MemoryStore, Vec<u8>) {
    let mut image = MemoryStore::new(size, u64::MAX);
    let mut pattern = PatternStore::new(RANDOM, size);
    let mut content = vec![0; size as usize];
    for at in (0..size).step_by(3 * BLOCK_BYTES as usize) {
        let data = read(&mut pattern, at, (size - at).min(BLOCK_BYTES + 4096) as u32).unwrap();
        content[at as usize..][..data.len()].copy_from_slice(&data);
        perform(&mut image, 0, Operation::Write { offset: at, data: &data, durable: false }).unwrap();
    }
    (image, content)
}

#[test]
fn conforms_over_synchronous_and_asynchronous_images() {
    for size in [1, 70_000, 1 << 20] {
        let content = image(size).1;
        let subject = TestedStore { content, ..TestedStore::default() };
        conformance::check(|_| Box::new(Overlay::new(Box::new(image(size).0), u64::MAX)), &subject);
        let later = |seed| Box::new(Later::new(Box::new(image(size).0), seed));
        conformance::check(|seed| Box::new(Overlay::new(later(seed), u64::MAX)), &subject);
    }
}

#[test]
fn an_overlay_over_an_overlay_conforms() {
    let (_, content) = image(300_000);
    let make = |seed| {
        let lower = Overlay::new(Box::new(Later::new(Box::new(image(300_000).0), seed)), u64::MAX);
        Box::new(Overlay::new(Box::new(lower), u64::MAX)) as Box<dyn Store>
    };
    conformance::check(make, &TestedStore { content, ..TestedStore::default() });
}

#[test]
fn two_writes_that_wait_for_one_block_are_both_made() {
    let below = Later::new(Box::new(PatternStore::new(RANDOM, 1 << 20)), 1);
    let mut overlay = Overlay::new(Box::new(below), u64::MAX);
    let write = |offset, data: &'static [u8]| Operation::Write { offset, data, durable: false };
    assert_eq!(overlay.start(0, write(0, &[1; 100])), StoreProgress::Pending);
    assert_eq!(overlay.start(1, write(100, &[2; 100])), StoreProgress::Pending);
    assert_eq!(overlay.fetches.iter().flatten().count(), 1, "the block is fetched once");
    let mut ended = Vec::new();
    while ended.len() < 2 {
        overlay.collect(&mut ended);
    }
    assert_eq!(read(&mut overlay, 0, 200).unwrap(), [[1; 100], [2; 100]].concat());
}

#[test]
fn a_failed_fetch_fails_the_change_and_leaves_the_block_in_the_lower_store() {
    let rates = FaultRates { eio: 1.0, ..FaultRates::default() };
    for later in [false, true] {
        let image: Box<dyn Store> = Box::new(FaultyStore::new(Box::new(MemoryStore::new(1 << 20, u64::MAX)), rates, 1));
        let below = if later { Box::new(Later::new(image, 1)) } else { image };
        let mut overlay = Overlay::new(below, u64::MAX);
        let part = Operation::Write { offset: 5, data: &[1; 100][..], durable: false };
        assert_eq!(perform(&mut overlay, 3, part), Err(Errno::Io));
        assert_eq!(read(&mut overlay, 0, 10), Err(Errno::Io));
        let whole = Operation::Write { offset: 0, data: &[1; BLOCK_BYTES as usize][..], durable: false };
        assert_eq!(perform(&mut overlay, 3, whole), Ok(()));
        assert_eq!(read(&mut overlay, 0, 10), Ok(vec![1; 10]));
    }
}

#[test]
fn changes_beyond_the_limit_fail_and_old_data_stays_readable() {
    let below = Later::new(Box::new(PatternStore::new(RANDOM, 1 << 20)), 1);
    let mut overlay = Overlay::new(Box::new(below), BLOCK_BYTES + 8192);
    let before = read(&mut overlay, 0, 1 << 20).unwrap();
    let write = |at| Operation::Write { offset: at * BLOCK_BYTES + 9, data: &[1; 10][..], durable: false };
    assert_eq!(perform(&mut overlay, 0, write(0)), Ok(()));
    assert_eq!(perform(&mut overlay, 0, write(1)), Err(Errno::NoSpace));
    assert_eq!(read(&mut overlay, 100, 1 << 19).unwrap(), before[100..][..1 << 19]);
}

#[test]
fn trims_a_tebibyte_at_once() {
    let mut overlay = Overlay::new(Box::new(PatternStore::new(RANDOM, 1 << 40)), 1 << 20);
    assert_eq!(perform(&mut overlay, 0, Operation::Trim { offset: 5, length: (1 << 40) - 5, durable: false }), Ok(()));
    assert_eq!(read(&mut overlay, 1 << 39, 9), Ok(vec![0; 9]));
    let extents = overlay.extents(0, 1 << 40, 10).unwrap();
    assert_eq!(extents.iter().map(|extent| extent.hole).collect::<Vec<_>>(), [false, true]);
}
