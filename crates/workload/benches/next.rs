//! Nanoseconds per decision: `cargo bench -p workload --bench next [NAME]`.
//!
//! A plain program instead of a harness: it prints the best of several runs, which other activity on the host disturbs
//! least.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "a benchmark reads the clock and prints")]

#[path = "../tests/common/mod.rs"]
mod common;

use std::hint::black_box;
use std::time::Instant;

use common::{issuer, one_file, rw, sizes};
use job::{BlockSizes, Distribution, Job};
use units::{Nanos, OpKind, PerKind, Rate};
use workload::{JobLayout, Next};

const DECISIONS: u32 = 4_000_000;
const RUNS: u32 = 5;
const GIB: u64 = 1 << 30;

fn main() {
    let wanted = std::env::args().nth(1).filter(|word| !word.starts_with('-')).unwrap_or_default();
    for (name, job, layout) in cases().into_iter().filter(|case| case.0.starts_with(&wanted)) {
        println!("{name:<28} {:6.2} ns", (0..RUNS).map(|_| decide(&job, &layout)).fold(f64::MAX, f64::min));
    }
    for (name, change) in payloads().into_iter().filter(|case| case.0.starts_with(&wanted)) {
        let mut job = rw("randwrite");
        change(&mut job);
        println!("{name:<28} {:6.2} GB/s", (0..RUNS).map(|_| fill(&job)).fold(0.0, f64::max));
    }
}

fn endless(word: &str, change: impl Fn(&mut Job)) -> Job {
    let mut job = rw(word);
    job.extent.time_based = true;
    change(&mut job);
    job
}

fn cases() -> Vec<(&'static str, Job, JobLayout)> {
    let zipf = || Distribution::Zipf { theta: 1.2, center: None };
    let plain = |word| endless(word, |_| {});
    vec![
        ("read", plain("read"), one_file(GIB)),
        ("randread, 1 GiB", plain("randread"), one_file(GIB)),
        ("randread, 1 GB", plain("randread"), one_file(1_000_000_000)),
        ("randread, 10 TiB", plain("randread"), one_file(10_240 * GIB)),
        ("randread norandommap", endless("randread", |job| job.pattern.norandommap = true), one_file(GIB)),
        ("randrw", plain("randrw"), one_file(GIB)),
        (
            "randread zipf",
            endless("randread", |job| {
                job.pattern.distribution = PerKind { read: zipf(), write: zipf(), trim: zipf() };
            }),
            one_file(GIB),
        ),
        (
            "randread bsrange, 1 GiB",
            endless("randread", |job| sizes(job, &BlockSizes::Range(4096, 65536))),
            one_file(GIB),
        ),
        (
            "randread rate_iops",
            endless("randread", |job| job.pace.rate_iops.read = Some(Rate::per_sec(1_000_000))),
            one_file(GIB),
        ),
        ("randread, 16 files", plain("randread"), common::files(&[GIB / 16; 16])),
    ]
}

fn decide(job: &Job, layout: &JobLayout) -> f64 {
    let mut issuer = issuer(job, layout, 1);
    let start = Instant::now();
    let mut issued = 0;
    let mut now = Nanos::ZERO;
    while issued < DECISIONS {
        match issuer.next(now) {
            Next::Issue(op) | Next::IssueAnew(op) => {
                issued += 1;
                issuer.complete(black_box(&op), now);
            }
            Next::Until(instant) => now = instant,
            other => panic!("{other:?}"),
        }
    }
    start.elapsed().as_nanos() as f64 / f64::from(DECISIONS)
}

type Change = fn(&mut Job);

fn payloads() -> [(&'static str, Change); 4] {
    [
        ("scramble_buffers", |_| {}),
        ("refill_buffers", |job| job.payload.refill_buffers = true),
        ("verify=crc32c", |job| job.verify.method = Some(job::VerifyMethod::Crc32c)),
        ("verify=md5", |job| job.verify.method = Some(job::VerifyMethod::Md5)),
    ]
}

fn fill(job: &Job) -> f64 {
    const WRITES: u32 = 50_000;
    let mut issuer = issuer(job, &one_file(GIB), 1);
    let mut buffer = vec![0; 4096];
    issuer.prepare(0, &mut buffer);
    let start = Instant::now();
    for _ in 0..WRITES {
        let Next::Issue(op) = issuer.next(Nanos::ZERO) else { panic!("a write") };
        debug_assert_eq!(op.kind, OpKind::Write);
        issuer.fill(&op, black_box(&mut buffer));
        issuer.complete(&op, Nanos::ZERO);
    }
    f64::from(WRITES) * 4096.0 / start.elapsed().as_nanos() as f64
}
