//! Replayed requests per second in virtual time: `cargo bench -p sim --bench replay [VOLUME]`.
//!
//! A plain program instead of a harness: it prints the best of several runs in processor time, which other activity on
//! the host disturbs least. The time includes the scan of the trace before the run, and decoding it twice.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "a benchmark reads the clock and prints")]

use std::sync::Arc;

use job::{Dialect, EmptySource, InjectedOptions, parse_job_arguments};
use runner::{NullObserver, RunOptions, Runner, Seeds, TraceFiles, Uninterrupted};
use trace::{TraceInfo, TraceOperation, TraceRequest, TraceWriter, TraceWriterOptions};
use units::random::Random;

#[path = "../tests/model.rs"]
mod model;

use model::{MemoryTraces, model};

const REQUESTS: u64 = 4_000_000;
const RUNS: u32 = 5;

/// Returns the trace of a database: 50,000 requests per second of 8 KiB, with syncs and a sequential log.
fn database() -> Arc<[u8]> {
    let mut random = Random::new(1, 1);
    let devices = vec![("sda".to_owned(), None)];
    let processes = (0..8).map(|process| format!("db{process}")).collect();
    let info = TraceInfo { source: "bench".into(), devices, processes, ..TraceInfo::default() };
    let mut writer = TraceWriter::new(info, TraceWriterOptions::default());
    let (mut at, mut log) = (0, 0);
    for _ in 0..REQUESTS {
        at += random.below(40_000);
        let draw = random.below(100);
        let request = TraceRequest {
            issued_ns: at,
            service_ns: Some(200_000 + random.below(300_000)),
            offset: random.below(10 << 30 >> 13) << 13,
            length: 8192,
            process: random.below(8) as u16,
            ..TraceRequest::default()
        };
        let request = match draw {
            0..70 => request,
            70..90 => TraceRequest { operation: TraceOperation::Write, ..request },
            90..98 => {
                log = (log + 4096) % (1 << 30);
                TraceRequest { operation: TraceOperation::Write, offset: (20 << 30) + log, length: 4096, ..request }
            }
            _ => TraceRequest { operation: TraceOperation::Flush, offset: 0, length: 0, ..request },
        };
        writer.push(&request);
    }
    writer.finish().into()
}

fn main() {
    let volume = std::env::args().nth(1).filter(|word| !word.starts_with('-'));
    let volume = volume.unwrap_or_else(|| "gcp/hyperdisk-balanced,size=1TiB,iops=160000,throughput=2400MiB/s".into());
    let trace = database();
    println!("{:.2} bytes per request", trace.len() as f64 / REQUESTS as f64);
    let traces = Arc::new(MemoryTraces([("t".to_owned(), trace)].into()));
    for words in [&[][..], &["--replay_loop=closed"], &["--speed=max", "--iodepth=64"]] {
        let seconds = (0..RUNS).map(|_| once(&traces, &volume, words)).fold(f64::MAX, f64::min);
        println!("{:<28} {:5.2} M requests/s", words.join(" "), REQUESTS as f64 / 1e6 / seconds);
    }
}

/// Returns the seconds of a replay, from the job to the record.
fn once(traces: &Arc<MemoryTraces>, volume: &str, words: &[&str]) -> f64 {
    let words: Vec<String> = ["--replay=t"].iter().chain(words).map(|word| (*word).to_owned()).collect();
    let before = [("ioengine", "model"), ("volume", volume)].map(|(name, value)| (name.to_owned(), value.to_owned()));
    let around = InjectedOptions { before: before.into(), after: Vec::new() };
    let plan = parse_job_arguments(&words, &[], &around, Dialect::Strict, &EmptySource).into_result().expect("a job").0;
    let runner = model().with_traces(Arc::clone(traces) as Arc<dyn TraceFiles>);
    let start = processor_seconds();
    let prepared = runner.prepare(&plan, Seeds::fixed(1)).expect("a plan that can run");
    let completed = prepared.run(&RunOptions::default(), &Uninterrupted, &mut NullObserver).expect("a run");
    let outcome = completed.workers[0].replay.clone().unwrap_or_default();
    assert_eq!((outcome.issued, outcome.error), (REQUESTS, None));
    processor_seconds() - start
}

/// Returns the processor time of this thread.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ns = text.split(' ').next().and_then(|ns| ns.parse::<f64>().ok());
    ns.expect("the kernel counts processor time") / 1e9
}
