//! Millions of requests per second that are characterized: `cargo bench -p trace --bench characterize [NAME]`.
//!
//! `job` finds a job for each load instead. `whole day` characterizes 100 million requests, which are not kept, and prints the peak of the memory.
//!
//! A plain program instead of a harness: it prints the best of several runs, which other activity on the host disturbs
//! least.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "a benchmark reads the clock and prints")]

use std::hint::black_box;
use std::time::Instant;

use trace::{Characterizer, JobSynthesizer, TraceOperation, TraceRequest};
use units::random::Random;

const REQUESTS: usize = 4_000_000;
const RUNS: u32 = 5;

fn main() {
    let wanted = std::env::args().nth(1).filter(|word| !word.starts_with('-')).unwrap_or_default();
    if wanted == "whole day" {
        return whole_day();
    }
    let for_job = wanted == "job";
    let runs = if wanted.is_empty() || for_job { RUNS } else { 3 * RUNS };
    for (name, load) in LOADS.iter().filter(|load| for_job || load.0.starts_with(&wanted)) {
        let mut random = Random::new(7, 0);
        let requests: Vec<TraceRequest> = (0..REQUESTS as u64).map(|n| load(n, &mut random)).collect();
        let best = (0..runs)
            .map(|_| if for_job { synthesize(&requests) } else { analyse(&requests) })
            .fold(f64::MAX, f64::min);
        println!("{name:<36} {:6.1} ns per request, {:5.2} M requests/s", best, 1e3 / best);
    }
}

fn analyse(requests: &[TraceRequest]) -> f64 {
    let start = Instant::now();
    let mut characterizer = Characterizer::new();
    requests.iter().for_each(|request| characterizer.add(black_box(request)));
    black_box(characterizer.finish());
    start.elapsed().as_nanos() as f64 / requests.len() as f64
}

fn synthesize(requests: &[TraceRequest]) -> f64 {
    let start = Instant::now();
    let mut synthesizer = JobSynthesizer::new();
    requests.iter().for_each(|request| synthesizer.add(black_box(request)));
    black_box(synthesizer.finish().1.is_ok());
    start.elapsed().as_nanos() as f64 / requests.len() as f64
}

fn whole_day() {
    const DAY: u64 = 100_000_000;
    let (mut random, mut characterizer) = (Random::new(7, 0), Characterizer::new());
    let start = Instant::now();
    (0..DAY).for_each(|n| characterizer.add(&one_day(n, &mut random)));
    let profile = characterizer.finish();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("unknown");
    let requests = profile.totals.requests.total();
    println!("{requests} requests in {:.1} s with their making; memory: {peak}", start.elapsed().as_secs_f64());
}

type Load = fn(u64, &mut Random) -> TraceRequest;

/// Loads with their requests by number.
const LOADS: [(&str, Load); 7] = [
    ("database, 8 KiB, 100 GB, depth 8", database),
    ("small, 4 KiB, 40 MB, depth 8", small),
    ("log, 4 KiB, one stream", |n, _| TraceRequest {
        operation: TraceOperation::Write,
        is_sync: true,
        ..base(n * 50_000, n * 4096, 4096, 30_000)
    }),
    ("one day, 1,157 per second", one_day),
    ("16 blocks each, 64 KiB, 60 MB", |n, random| TraceRequest {
        offset: random.below(1000) << 16,
        length: 1 << 16,
        ..database(n, random)
    }),
    ("16 blocks each, 64 KiB, 1 TB", |n, random| TraceRequest {
        offset: random.below(1 << 24) << 16,
        length: 1 << 16,
        ..database(n, random)
    }),
    ("backup, 128 KiB, sequential", |n, random| base(n * 200_000, n << 17, 1 << 17, 400_000 + random.below(400_000))),
];

fn base(issued_ns: u64, offset: u64, length: u32, service_ns: u64) -> TraceRequest {
    TraceRequest { issued_ns, offset, length, service_ns: Some(service_ns), ..TraceRequest::default() }
}

fn database(n: u64, random: &mut Random) -> TraceRequest {
    let offset = if random.below(5) == 0 { (1 << 40) + n * 8192 } else { random.below(12_000_000) * 8192 };
    TraceRequest {
        operation: if random.below(3) == 0 { TraceOperation::Write } else { TraceOperation::Read },
        queued_ns: Some(random.below(20_000)),
        process: random.below(12) as u16,
        ..base(n * 25_000 + random.below(25_000), offset, 8192, 100_000 + random.below(200_000))
    }
}

fn small(n: u64, random: &mut Random) -> TraceRequest {
    TraceRequest { offset: random.below(10_000) * 4096, length: 4096, ..database(n, random) }
}

fn one_day(n: u64, random: &mut Random) -> TraceRequest {
    TraceRequest { issued_ns: n * 864_000 + random.below(864_000), ..database(n, random) }
}
