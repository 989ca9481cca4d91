//! Requests per second of the format: `cargo bench -p trace --bench format [NAME]`.
//!
//! A plain program instead of a harness: it prints the best of several runs, which other activity on the host disturbs
//! least.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "a benchmark reads the clock and prints")]

#[path = "../tests/common/mod.rs"]
mod common;

use std::hint::black_box;
use std::time::Instant;

use trace::{TraceReader, TraceRequest, TraceStep, TraceWriterOptions};

const REQUESTS: usize = 1_000_000;
const RUNS: u32 = 5;

type Load = fn(usize, u64) -> Vec<TraceRequest>;

fn main() {
    let wanted = std::env::args().nth(1).filter(|word| !word.starts_with('-')).unwrap_or_default();
    let loads: [(&str, Load); 3] =
        [("database", common::database), ("sequential", common::sequential), ("uniform", common::uniform)];
    for (name, load) in loads.into_iter().filter(|load| load.0.starts_with(&wanted)) {
        let requests = load(REQUESTS, 1);
        let bytes = write(&requests);
        let encode = best(|| assert_eq!(black_box(write(black_box(&requests))).len(), bytes.len()));
        let decode = best(|| assert_eq!(read(black_box(&bytes)), REQUESTS));
        let size = bytes.len() as f64 / REQUESTS as f64;
        println!("{name:<12} {size:5.2} bytes per request, writes {encode:5.1} M/s, reads {decode:5.1} M/s");
    }
}

fn write(requests: &[TraceRequest]) -> Vec<u8> {
    common::write(requests, TraceWriterOptions::default())
}

/// As a program would: blocks go out and their buffer is used again.
fn read(bytes: &[u8]) -> usize {
    let mut reader = TraceReader::new();
    let (mut requests, mut count) = (Vec::new(), 0);
    let mut pieces = bytes.chunks(1 << 16);
    loop {
        match reader.next(&mut requests) {
            Ok(TraceStep::NeedsInput(_)) => match pieces.next() {
                Some(piece) => reader.feed(piece),
                None => reader.end_input(),
            },
            Ok(TraceStep::Requests) => {
                count += black_box(&requests).len();
                requests.clear();
            }
            Err(damage) => panic!("{damage:?}"),
            Ok(TraceStep::End(_)) => return count,
        }
    }
}

/// Returns the best rate in millions of requests per second.
fn best(mut run: impl FnMut()) -> f64 {
    let seconds = (0..RUNS).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    });
    REQUESTS as f64 / 1e6 / seconds.fold(f64::MAX, f64::min)
}
