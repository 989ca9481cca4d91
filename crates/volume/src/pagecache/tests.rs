use super::*;
use std::collections::BTreeSet;
use units::random::Random;

const MIB: u64 = 1 << 20;

fn cache(memory: u64) -> PageCache {
    PageCache::new(PageCacheSettings { memory: Bytes::new(memory), ..PageCacheSettings::default() })
}

fn stream(advice: AccessAdvice) -> ReadaheadStream {
    ReadaheadStream::new(0, 1 << 28, 32, advice)
}

fn transfers(cache: &mut PageCache) -> Vec<DeviceTransfer> {
    std::iter::from_fn(|| cache.next_transfer()).collect()
}

fn finish(cache: &mut PageCache, transfer: &DeviceTransfer) -> Vec<(u32, WakeReason)> {
    let mut resumed = Vec::new();
    cache.finish(transfer.id, Nanos::ZERO, &mut resumed);
    resumed.iter().map(|resumed| (resumed.op, resumed.why)).collect()
}

fn write(cache: &mut PageCache, op: u32, bytes: Range<u64>) -> CacheStep {
    cache.write(op, 0, bytes, None, WriteAdmission::Closed { now: Nanos::ZERO })
}

/// Executes all transfers until there are none, and returns the bytes written.
fn settle(cache: &mut PageCache) -> u64 {
    let mut written = 0;
    while let Some(transfer) = cache.next_transfer() {
        written += if transfer.kind == RequestKind::Write { u64::from(transfer.length) } else { 0 };
        finish(cache, &transfer);
    }
    written
}

#[test]
fn readers_of_one_page_share_a_transfer_and_resume_in_order() {
    let mut cache = cache(MIB);
    let mut reader = stream(AccessAdvice::Random);
    for op in 0..3 {
        assert_eq!(cache.read(op, 0, 7..9, &mut reader, Read::default()), CacheStep::Waits(7));
    }
    let asked = transfers(&mut cache);
    assert_eq!(asked, [DeviceTransfer { id: 0, device: 0, kind: RequestKind::Read, offset: 7 * 4096, length: 8192 }]);
    assert_eq!(
        finish(&mut cache, &asked[0]),
        [(0, WakeReason::Arrived), (1, WakeReason::Arrived), (2, WakeReason::Arrived)]
    );
    assert_eq!(cache.read(0, 0, 7..9, &mut reader, Read::default()), CacheStep::Done);
    assert_eq!(cache.counts().read_hits, 1);
}

#[test]
fn large_reads_are_split_and_skip_cached_pages() {
    let mut cache = cache(64 * MIB);
    let mut reader = stream(AccessAdvice::Random);
    assert_eq!(write(&mut cache, 0, 320 * 4096..321 * 4096), CacheStep::Done);
    cache.read(0, 0, 0..1024, &mut reader, Read::default());
    let lengths: Vec<u32> = transfers(&mut cache).iter().map(|transfer| transfer.length / 4096).collect();
    assert_eq!(lengths, [320, 320, 320, 63]);
}

#[test]
fn write_back_starts_at_the_background_threshold_and_writers_wait_at_the_limit() {
    // 2560 pages: background write-back begins above 256, writers wait at 512.
    let mut cache = cache(10 * MIB);
    for page in 0..256 {
        assert_eq!(write(&mut cache, 0, page * 4096..(page + 1) * 4096), CacheStep::Done);
    }
    assert_eq!(cache.next_transfer(), None);
    for page in 256..512 {
        assert_eq!(write(&mut cache, 0, page * 4096..(page + 1) * 4096), CacheStep::Done);
    }
    assert_eq!(cache.unwritten(), Bytes::new(2 * MIB));
    assert_eq!(write(&mut cache, 5, 512 * 4096..513 * 4096), CacheStep::Waits(512));
    assert_eq!(write(&mut cache, 6, 0..4096), CacheStep::Waits(0));
    let asked = transfers(&mut cache);
    assert_eq!((asked[0].offset, asked[0].length, asked[0].kind), (0, 257 * 4096, RequestKind::Write));
    assert_eq!(finish(&mut cache, &asked[0]), [(5, WakeReason::Admitted)]);
    let open = WriteAdmission::Open { now: Nanos::ZERO };
    assert_eq!(cache.write(5, 0, 512 * 4096..513 * 4096, None, open), CacheStep::Done);
    let mut resumed = Vec::new();
    cache.admit(Nanos::ZERO, &mut resumed);
    assert_eq!(resumed, [Resumed { op: 6, why: WakeReason::Admitted }]);
}

#[test]
fn a_page_dirtied_during_write_back_is_written_again() {
    let mut cache = cache(10 * MIB);
    write(&mut cache, 0, 0..4096);
    assert!(!cache.sync(9, 0, 0..1));
    let first = transfers(&mut cache);
    write(&mut cache, 0, 0..4096);
    assert_eq!(finish(&mut cache, &first[0]), [(9, WakeReason::Synced)], "the second write came after the sync");
    assert!(!cache.sync(9, 0, 0..1));
    assert_eq!(transfers(&mut cache).len(), 1);
}

#[test]
fn a_sync_writes_its_range_and_waits_for_writes_in_flight() {
    let mut cache = cache(100 * MIB);
    for page in [1, 2, 3, 1000, 5000] {
        write(&mut cache, 0, page * 4096..(page + 1) * 4096);
    }
    assert!(!cache.sync(1, 0, 1000..1001));
    assert!(!cache.sync(2, 0, 0..2000));
    assert!(!cache.sync(3, 0, 1000..1001));
    let asked = transfers(&mut cache);
    assert_eq!(asked.iter().map(|transfer| transfer.offset / 4096).collect::<Vec<_>>(), [1000, 1]);
    assert_eq!(finish(&mut cache, &asked[1]), []);
    assert_eq!(
        finish(&mut cache, &asked[0]),
        [(1, WakeReason::Synced), (2, WakeReason::Synced), (3, WakeReason::Synced)]
    );
    assert!(cache.sync(1, 0, 0..2000));
    assert_eq!(cache.unwritten(), Bytes::new(4096), "page 5000 is not in the range");
}

#[test]
fn partial_page_writes_read_the_page_first() {
    let mut cache = cache(10 * MIB);
    assert_eq!(write(&mut cache, 4, 512..1024), CacheStep::Waits(0));
    let asked = transfers(&mut cache);
    assert_eq!((asked[0].kind, asked[0].length), (RequestKind::Read, 4096));
    assert_eq!(finish(&mut cache, &asked[0]), [(4, WakeReason::Arrived)]);
    assert_eq!(cache.write(4, 0, 512..1024, Some(0), WriteAdmission::Open { now: Nanos::ZERO }), CacheStep::Done);
    assert_eq!(write(&mut cache, 4, 512..1024), CacheStep::Done);
}

#[test]
fn trimmed_pages_are_dropped_and_invalidated_ones_stay_if_dirty() {
    let mut cache = cache(10 * MIB);
    write(&mut cache, 0, 0..4 * 4096);
    cache.drop_clean(0, 0..1 << 40);
    assert_eq!(cache.held_bytes(), Bytes::new(4 * 4096));
    cache.discard(0, 1..3);
    assert_eq!((cache.held_bytes(), cache.unwritten()), (Bytes::new(2 * 4096), Bytes::new(2 * 4096)));
    assert!(!cache.sync(0, 0, 0..4));
    assert_eq!(settle(&mut cache), 2 * 4096);
}

#[test]
fn expired_pages_are_written_once() {
    let mut cache = cache(100 * MIB);
    write(&mut cache, 0, 0..4096);
    cache.look_for_expired(Nanos::from_secs(29));
    assert_eq!(cache.next_transfer(), None);
    cache.look_for_expired(Nanos::from_secs(30));
    assert_eq!(settle(&mut cache), 4096);
    assert!(!cache.has_dirty());
}

#[test]
fn random_operations_on_little_memory_lose_no_byte_and_no_waiter() {
    for seed in 0..20 {
        let mut random = units::random::Random::new(seed, 0);
        let mut cache = cache(2 * MIB);
        let mut reader = stream(AccessAdvice::Normal);
        // For each operation in flight: its kind (read, write or sync) and the pages it waits for.
        let mut waiting: std::collections::BTreeMap<u32, (u32, Range<u64>)> = std::collections::BTreeMap::new();
        let mut flying: Vec<DeviceTransfer> = Vec::new();
        let (mut ended, mut resumed, mut begun) = (0, Vec::new(), 0);
        let now = Nanos::ZERO;
        while ended < 20_000 {
            if waiting.len() < 32 && begun < 20_000 {
                let op = (0..32).find(|op| !waiting.contains_key(op)).unwrap();
                let start = random.below(1000);
                let pages = start..start + 1 + random.below(40);
                let kind = random.below(20) as u32;
                begun += 1;
                let step = match kind {
                    0 => {
                        if cache.sync(op, 0, pages.clone()) {
                            CacheStep::Done
                        } else {
                            CacheStep::Waits(0)
                        }
                    }
                    1..9 => cache.read(op, 0, pages.clone(), &mut reader, Read::default()),
                    _ => write(&mut cache, op, pages.start * 4096 + 512 * random.below(2)..pages.end * 4096),
                };
                match step {
                    CacheStep::Done => ended += 1,
                    CacheStep::Waits(page) => drop(waiting.insert(op, (kind, page.max(pages.start)..pages.end))),
                }
            }
            flying.extend(std::iter::from_fn(|| cache.next_transfer()));
            if (waiting.len() == 32 || begun == 20_000 || random.below(2) == 0) && !flying.is_empty() {
                let transfer = flying.swap_remove(random.below(flying.len() as u64) as usize);
                cache.finish(transfer.id, now, &mut resumed);
            }
            while let Some(Resumed { op, why }) = resumed.pop() {
                let (kind, pages) = waiting.remove(&op).unwrap_or_else(|| panic!("seed {seed}: {op} does not wait"));
                let step = match kind {
                    0 => CacheStep::Done,
                    1..9 => cache.read(op, 0, pages.clone(), &mut reader, Read::default()),
                    _ => cache.write(op, 0, pages.start * 4096..pages.end * 4096, None, WriteAdmission::Open { now }),
                };
                match step {
                    CacheStep::Done => ended += 1,
                    CacheStep::Waits(page) => drop(waiting.insert(op, (kind, page.max(pages.start)..pages.end))),
                }
                if why == WakeReason::Admitted {
                    cache.admit(now, &mut resumed);
                }
            }
            assert!(!flying.is_empty() || waiting.is_empty() || cache.queued.front().is_some(), "seed {seed}: stuck");
        }
        assert!(waiting.is_empty());
        if !cache.sync(0, 0, 0..1 << 30) {
            flying.extend(std::iter::from_fn(|| cache.next_transfer()));
            flying.iter().for_each(|transfer| drop(finish(&mut cache, transfer)));
            settle(&mut cache);
        }
        assert_eq!(cache.unwritten(), Bytes::new(0), "seed {seed}");
        assert!(cache.held_bytes() <= Bytes::new(3 * MIB), "{}", cache.held_bytes());
    }
}

#[test]
fn dirty_pages_agree_with_a_set() {
    let seed = 11;
    let mut random = Random::new(seed, 0);
    let (mut dirty, mut set) = (DirtyPages::default(), BTreeSet::new());
    for step in 0..100_000 {
        let key = random.below(2000);
        if random.below(2) == 0 {
            dirty.insert(key);
            set.insert(key);
        } else {
            dirty.remove(key);
            set.remove(&key);
        }
        let (from, to) = (random.below(2100), random.below(2100));
        let expected = if from < to { set.range(from..to).next().copied() } else { None };
        assert_eq!(dirty.first(from, to), expected, "seed {seed}, step {step}");
    }
    assert_eq!(dirty.words.values().map(|bits| bits.count_ones() as usize).sum::<usize>(), set.len());
}
