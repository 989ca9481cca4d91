//! Compares the 7,200 rpm drive with measured figures, in closed loops over a whole system.

use std::collections::VecDeque;

use units::{Bytes, Nanos, random::Random};
use volume::{Attachment, Behaviour, HardDisk, Request, RequestKind, Spec, System};

const SIZE: u64 = 1_000_000_000_000;
const BLOCK: u32 = 4096;
const SEED: u64 = 20_270_318;

fn system(drive: HardDisk, seed: u64) -> System {
    let spec = Spec {
        striping: None,
        name: "hdd/7200rpm".into(),
        title: "hard disk".into(),
        size: Bytes::new(SIZE),
        host: "machine".into(),
        limits: Vec::new(),
        stations: Vec::new(),
        behaviour: Behaviour::Drive(drive),
        buffering: volume::Buffering::default(),
        price: None,
        unknown_limits: Vec::new(),
        notes: Vec::new(),
    };
    System::new(&[Attachment { spec, volume: "disk".into() }], seed)
}

/// Results of a closed loop.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    latencies: Vec<u64>,
    elapsed: Nanos,
}

impl Outcome {
    fn iops(&self) -> f64 {
        self.latencies.len() as f64 / self.elapsed.secs_f64()
    }

    fn mean_ms(&self) -> f64 {
        self.latencies.iter().sum::<u64>() as f64 / self.latencies.len() as f64 / 1e6
    }

    fn max_ms(&self) -> f64 {
        self.latencies.iter().copied().max().unwrap_or(0) as f64 / 1e6
    }

    fn percentile_ms(&self, percent: f64) -> f64 {
        let mut sorted = self.latencies.clone();
        sorted.sort_unstable();
        sorted[((sorted.len() as f64 * percent / 100.0) as usize).min(sorted.len() - 1)] as f64 / 1e6
    }
}

/// Keeps `depth` requests outstanding for `secs` seconds of virtual time.
fn closed(drive: HardDisk, seed: u64, depth: u32, secs: u64, mut ask: impl FnMut(u32) -> Request) -> Outcome {
    let mut system = system(drive, seed);
    let mut began = vec![Nanos::ZERO; depth as usize];
    for id in 0..depth {
        system.arrive(Nanos::ZERO, 0, ask(id));
    }
    let end = Nanos::from_secs(secs);
    let mut latencies = Vec::new();
    while let Some((now, id)) = system.next_done(end) {
        latencies.push(now.since(began[id as usize]).get());
        began[id as usize] = now;
        system.arrive(now, 0, ask(id));
    }
    Outcome { latencies, elapsed: end }
}

fn random_blocks(kind: RequestKind, seed: u64) -> impl FnMut(u32) -> Request {
    let mut random = Random::new(seed, 1);
    move |id| Request { id, kind, offset: random.below(SIZE / u64::from(BLOCK)) * u64::from(BLOCK), length: BLOCK }
}

fn random(kind: RequestKind, depth: u32, secs: u64) -> Outcome {
    closed(HardDisk::sata_7200rpm(), SEED, depth, secs, random_blocks(kind, SEED))
}

/// Returns requests that each begin where the previous one ended.
fn one_after_another(kind: RequestKind, start: u64, length: u32) -> impl FnMut(u32) -> Request {
    let mut offset = start;
    move |id| {
        let request = Request { id, kind, offset, length };
        offset += u64::from(length);
        request
    }
}

#[track_caller]
fn close(what: &str, found: f64, expected: f64, percent: f64) {
    let off = (found / expected - 1.0) * 100.0;
    assert!(off.abs() <= percent, "{what}: {found:.3} instead of {expected} ({off:+.2} %), seed {SEED}");
}

#[test]
fn random_reads_gain_from_every_thread() {
    for (threads, iops, percent) in
        [(1, 80.0, 1.0), (2, 95.0, 1.5), (4, 111.4, 1.5), (6, 122.0, 1.5), (8, 130.1, 1.5), (10, 137.0, 1.0)]
    {
        let outcome = random(RequestKind::Read, threads, 1_800);
        close(&format!("IOPS of {threads}"), outcome.iops(), iops, percent);
        close(&format!("mean of {threads}"), outcome.mean_ms(), f64::from(threads) / iops * 1e3, percent);
    }
}

#[test]
fn one_read_takes_a_seek_and_half_a_turn() {
    close("mean", random(RequestKind::Read, 1, 1_800).mean_ms(), 12.5, 1.0);
}

#[test]
fn ten_readers_wait_73_ms_on_average_and_most_of_a_second_at_worst() {
    let outcome = random(RequestKind::Read, 10, 1_800);
    close("mean", outcome.mean_ms(), 73.0, 1.0);
    for (percent, ms) in [(50.0, 52.8), (99.0, 318.0), (99.9, 491.0)] {
        close(&format!("p{percent}"), outcome.percentile_ms(percent), ms, 5.0);
    }
}

#[test]
fn ten_readers_see_waits_of_0_9_s_within_half_an_hour() {
    let worst =
        |seed| closed(HardDisk::sata_7200rpm(), seed, 10, 1_800, random_blocks(RequestKind::Read, seed)).max_ms();
    let worst: Vec<f64> = (SEED..SEED + 8).map(worst).collect();
    assert!(worst.iter().all(|ms| (750.0..1300.0).contains(ms)), "seeds from {SEED}: {worst:?}");
    close("mean of the longest waits", worst.iter().sum::<f64>() / 8.0, 979.0, 6.0);
}

#[test]
fn a_full_queue_of_reads_is_as_fast_as_cached_writes() {
    close("IOPS of 32", random(RequestKind::Read, 32, 1_800).iops(), 181.3, 1.0);
}

#[test]
fn read_iops_follow_a_power_of_the_threads_without_a_knee() {
    for threads in [1, 2, 3, 5, 8, 12, 16, 20, 24, 28, 32] {
        let law = 80.26 * f64::from(threads).powf(0.2342);
        close(&format!("IOPS of {threads}"), random(RequestKind::Read, threads, 1_800).iops(), law, 1.2);
    }
}

#[test]
fn random_writes_are_flat_from_the_first_second() {
    for threads in 1..=10 {
        let outcome = random(RequestKind::Write, threads, 60);
        close(&format!("IOPS of {threads}"), outcome.iops(), 181.3, 1.5);
        close(&format!("mean of {threads}"), outcome.mean_ms(), 5.52 * f64::from(threads), 1.5);
    }
    let worst = random(RequestKind::Write, 10, 60).max_ms();
    assert!(worst < 120.0, "no write starves: they are admitted in turn ({worst} ms)");
}

#[test]
fn an_empty_cache_fills_at_interface_speed() {
    let drive = HardDisk { cache_slots: 16_384, cache_full_at_start: false, ..HardDisk::sata_7200rpm() };
    let outcome = closed(drive, SEED, 1, 60, random_blocks(RequestKind::Write, SEED));
    let fast = outcome.latencies.iter().take_while(|&&ns| ns < 1_000_000).count();
    assert!((16_384..16_450).contains(&fast), "{fast}");
    close("IOPS afterwards", (outcome.latencies.len() - fast) as f64 / 59.8, 181.3, 1.5);
}

#[test]
fn without_its_cache_a_drive_writes_as_it_reads() {
    for threads in [1, 10] {
        let drive = HardDisk { write_cache: false, ..HardDisk::sata_7200rpm() };
        let outcome = closed(drive, SEED, threads, 600, random_blocks(RequestKind::Write, SEED));
        close("IOPS", outcome.iops(), random(RequestKind::Read, threads, 600).iops(), 0.5);
    }
}

#[test]
fn streams_run_at_the_rate_of_their_zone() {
    for (start, rate) in [(0, 150e6), (SIZE / 2, 116.2e6), (SIZE - (1 << 30) * 2, 75e6)] {
        for kind in [RequestKind::Read, RequestKind::Write] {
            for (depth, length) in [(1, 4096), (1, 131_072), (8, 4096), (4, 1 << 20)] {
                let ask = one_after_another(kind, start, length);
                let outcome = closed(HardDisk::sata_7200rpm(), SEED, depth, 10, ask);
                let what = format!("{kind:?} of {length} at {start}, depth {depth}");
                close(&what, outcome.iops() * f64::from(length), rate, 1.5);
            }
        }
    }
}

#[test]
fn uncached_writes_one_after_another_lose_a_turn_each() {
    let drive = HardDisk { write_cache: false, ..HardDisk::sata_7200rpm() };
    let outcome = closed(drive, SEED, 1, 60, one_after_another(RequestKind::Write, 0, BLOCK));
    close("IOPS", outcome.iops(), 120.0, 1.0);
}

#[test]
fn a_maximum_age_bounds_waits_and_ageing_shortens_the_tail() {
    let bounded = HardDisk { max_age: Some(Nanos::from_millis(400)), ..HardDisk::sata_7200rpm() };
    let outcome = closed(bounded, SEED, 10, 1_800, random_blocks(RequestKind::Read, SEED));
    close("IOPS with a bound", outcome.iops(), 136.9, 1.0);
    assert!((400.0..450.0).contains(&outcome.max_ms()), "{}", outcome.max_ms());
    let ageing = HardDisk { age_weight: 0.02, ..HardDisk::sata_7200rpm() };
    let outcome = closed(ageing, SEED, 10, 1_800, random_blocks(RequestKind::Read, SEED));
    close("IOPS with ageing", outcome.iops(), 136.6, 1.0);
    assert!(outcome.max_ms() < 500.0, "{}", outcome.max_ms());
}

#[test]
fn a_flush_waits_for_cached_writes_and_completes_at_once_without_any() {
    let drive = HardDisk { cache_full_at_start: false, ..HardDisk::sata_7200rpm() };
    let mut system = system(drive, SEED);
    let request = |id, kind, offset| Request { id, kind, offset, length: BLOCK };
    system.arrive(Nanos::ZERO, 0, request(0, RequestKind::Flush, 0));
    assert!(system.next_done(Nanos::from_micros(10)).is_some_and(|(_, id)| id == 0));
    for id in 1..=8 {
        system.arrive(Nanos::from_millis(1), 0, request(id, RequestKind::Write, u64::from(id) * SIZE / 10));
    }
    system.arrive(Nanos::from_millis(1), 0, request(9, RequestKind::Flush, 0));
    let mut done = Vec::new();
    while let Some((at, id)) = system.next_done(Nanos::MAX) {
        done.push((id, at.millis()));
    }
    assert!(done[..8].iter().all(|&(_, ms)| ms == 1), "{done:?}");
    assert!(done[8].0 == 9 && (20..120).contains(&done[8].1), "{done:?}");
}

#[test]
fn a_flush_does_not_wait_for_a_write_of_no_bytes_that_was_under_the_head() {
    let drive = HardDisk { cache_full_at_start: false, ..HardDisk::sata_7200rpm() };
    let mut system = system(drive, SEED);
    let write = |id, offset, length| Request { id, kind: RequestKind::Write, offset, length };
    system.arrive(Nanos::ZERO, 0, write(0, 0, BLOCK));
    system.arrive(Nanos::ZERO, 0, write(1, u64::from(BLOCK), 0));
    system.arrive(Nanos::ZERO, 0, Request { id: 2, kind: RequestKind::Flush, offset: 0, length: 0 });
    let done: Vec<u32> = std::iter::from_fn(|| system.next_done(Nanos::MAX)).map(|(_, id)| id).collect();
    assert_eq!(done, [1, 0, 2]);
}

#[test]
fn trims_cost_the_interface_alone() {
    let trim = |id| Request { id, kind: RequestKind::Trim, offset: 0, length: 1 << 30 };
    let outcome = closed(HardDisk::sata_7200rpm(), SEED, 1, 1, trim);
    assert!(outcome.latencies.iter().all(|&ns| ns == 5_000), "{:?}", outcome.latencies.first());
}

#[test]
fn reads_precede_cached_writes_until_the_cache_is_full() {
    let mixed = |slots| {
        let cache_bytes = Bytes::new(4 * Bytes::GIB);
        let drive =
            HardDisk { cache_slots: slots, cache_bytes, cache_full_at_start: false, ..HardDisk::sata_7200rpm() };
        let mut reads = random_blocks(RequestKind::Read, SEED);
        let mut writes = random_blocks(RequestKind::Write, SEED + 1);
        // Six readers and one writer without pauses.
        closed(drive, SEED, 7, 10, move |id| if id < 6 { reads(id) } else { writes(id) })
    };
    let (roomy, short) = (mixed(u32::MAX), mixed(32));
    let slow = |outcome: &Outcome| outcome.latencies.iter().filter(|&&ns| ns > 1_000_000).count() as f64 / 10.0;
    close("reads beside a cache with room", slow(&roomy), 122.0, 5.0);
    assert!(slow(&short) > 150.0, "reads and writes share the head: {}", slow(&short));
}

#[test]
fn every_request_completes_once_in_any_mix() {
    let mut random = Random::new(SEED, 3);
    for round in 0..200_u32 {
        let drive = HardDisk {
            write_cache: random.below(4) > 0,
            cache_slots: 1 + random.below(40) as u32,
            cache_bytes: Bytes::new(random.below(1 << 20)),
            cache_full_at_start: random.below(2) > 0,
            sched_window: 1 + random.below(40) as u32,
            max_age: (random.below(2) > 0).then(|| Nanos::from_millis(random.below(300))),
            age_weight: random.below(3) as f64 * 0.02,
            readahead: Bytes::new(random.below(3) * 65_536),
            write_settle: Nanos::from_micros(random.below(2) * 500),
            ..HardDisk::sata_7200rpm()
        };
        let mut system = system(drive, SEED + u64::from(round));
        let (mut asked, mut done) = (0, vec![0; 1_000]);
        let mut now = Nanos::ZERO;
        let mut take = |system: &mut System, until| {
            let mut last = Nanos::ZERO;
            while let Some((at, id)) = system.next_done(until) {
                assert!(at >= last, "completions in order of time, seed {SEED}, round {round}");
                last = at;
                done[id as usize] += 1;
            }
        };
        while asked < 1_000 {
            for _ in 0..random.below(60).min(1_000 - u64::from(asked)) {
                let kind = RequestKind::ALL[[0, 0, 0, 1, 1, 1, 2, 3][random.below(8) as usize]];
                let near = random.below(2) > 0;
                let offset = if near { random.below(64) * 4096 } else { random.below(SIZE / 512) * 512 };
                let length = if kind == RequestKind::Flush { 0 } else { 512 << random.below(10) };
                system.arrive(now, 0, Request { id: asked, kind, offset, length });
                asked += 1;
            }
            now += Nanos::from_micros(random.below(300_000));
            take(&mut system, now);
        }
        take(&mut system, Nanos::MAX);
        assert!(done.iter().all(|&times| times == 1), "seed {SEED}, round {round}: {done:?}");
        assert_eq!(system.next_event(), None, "seed {SEED}, round {round}");
    }
}

#[test]
fn equal_seeds_give_equal_runs_and_others_differ() {
    let run = |seed| closed(HardDisk::sata_7200rpm(), seed, 10, 60, random_blocks(RequestKind::Read, SEED));
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn a_run_is_the_same_to_the_nanosecond_in_every_build() {
    let outcome = closed(HardDisk::sata_7200rpm(), 1, 10, 600, random_blocks(RequestKind::Read, 1));
    let sum: u64 = outcome.latencies.iter().sum();
    assert_eq!((outcome.latencies.len(), sum), (82_358, 5_999_199_192_977));
}

#[test]
fn a_host_that_responds_within_the_overhead_takes_part_in_the_choice() {
    // Ten readers with 50 µs between completion and next request.
    let mut system = system(HardDisk::sata_7200rpm(), SEED);
    let mut ask = random_blocks(RequestKind::Read, SEED);
    let mut later: VecDeque<(Nanos, Request)> = (0..10).map(|id| (Nanos::ZERO, ask(id))).collect();
    let (end, mut count) = (Nanos::from_secs(600), 0_u32);
    loop {
        let next = later.front().map_or(Nanos::MAX, |(at, _)| *at);
        if let Some((now, id)) = system.next_done(next.min(end)) {
            later.push_back((now + Nanos::from_micros(50), ask(id)));
            count += 1;
        } else if let Some((at, request)) = later.pop_front().filter(|(at, _)| *at <= end) {
            system.arrive(at, 0, request);
        } else {
            break;
        }
    }
    close("IOPS", f64::from(count) / 600.0, 137.0, 1.0);
}
