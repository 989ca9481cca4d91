//! Speed of models, in modelled operations per second on one core, and of sweeps on all cores.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use trace::{TraceInfo, TraceOperation, TraceRequest, TraceWriter, TraceWriterOptions};
use units::random::Random;

use super::rounded;
use crate::scratch::ScratchDir;

/// A simulation and its target.
struct SimCase {
    name: &'static str,
    volume: &'static str,
    arguments: &'static str,
    /// Minimum of modelled operations per second of processor time, in millions.
    least_million_per_s: f64,
}

const HYPERDISK: &str = "gcp/hyperdisk-balanced,size=1TiB,iops=160000,throughput=2400MiB/s";

/// The name by which arguments of cases refer to the trace of [`trace_of_database`].
const TRACE: &str = "database.trace";

const CASES: [SimCase; 5] = [
    SimCase {
        name: "hyperdisk",
        volume: HYPERDISK,
        arguments: "--name=a --rw=randread --iodepth=256 --runtime=60 --time_based",
        least_million_per_s: 10.0,
    },
    SimCase {
        name: "drive",
        volume: "hdd/7200rpm",
        arguments: "--name=a --rw=randread --iodepth=10 --runtime=8h --time_based",
        least_million_per_s: 2.0,
    },
    SimCase {
        name: "many workers",
        volume: HYPERDISK,
        arguments: "--name=a --rw=randread --iodepth=8 --numjobs=144 --group_reporting --runtime=30 --time_based",
        least_million_per_s: 0.0,
    },
    SimCase { name: "replay", volume: HYPERDISK, arguments: "--replay database.trace", least_million_per_s: 3.0 },
    SimCase {
        name: "replay, closed",
        volume: HYPERDISK,
        arguments: "--replay database.trace --replay-loop closed",
        least_million_per_s: 0.0,
    },
];

/// Runs of each case; the median counts.
const ROUNDS: usize = 7;

/// Runs all cases and returns their outcomes by name.
pub(super) fn run(fathom: &Path) -> Result<Value> {
    let mut results = json!({});
    let scratch = ScratchDir::new("bench-sim")?;
    let trace = scratch.0.join(TRACE);
    std::fs::write(&trace, trace_of_database())?;
    for case in &CASES {
        let line = format!("--on {} {}", case.volume, case.arguments);
        let words = line.replace(TRACE, &trace.display().to_string());
        let mut samples = (0..ROUNDS).map(|_| sample(fathom, &words)).collect::<Result<Vec<_>>>()?;
        samples.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (operations, seconds) = samples[ROUNDS / 2];
        let rate = operations / seconds / 1e6;
        println!("{:<14} {rate:6.2} M modelled operations/s (at least {})", case.name, case.least_million_per_s);
        results[case.name] = json!({
            "command": format!("fathom sim {line}"),
            "million_operations_per_s": rounded(rate),
            "wanted": case.least_million_per_s,
            "operations": operations,
            "seconds": rounded(seconds),
            "rounds": ROUNDS,
        });
    }
    results["sweep"] = sweep(fathom)?;
    Ok(results)
}

/// Returns a trace of 4 million requests at 50,000 per second: reads and writes of 8 KiB, a sequential log, and syncs.
fn trace_of_database() -> Vec<u8> {
    const REQUESTS: u64 = 4_000_000;
    let mut random = Random::new(1, 1);
    let processes = (0..8).map(|process| format!("db{process}")).collect();
    let devices = vec![("sda".to_owned(), None)];
    let info = TraceInfo { source: "cargo xtask bench sim".into(), devices, processes, ..TraceInfo::default() };
    let mut writer = TraceWriter::new(info, TraceWriterOptions::default());
    let (mut at, mut log) = (0, 0);
    for _ in 0..REQUESTS {
        at += random.below(40_000);
        let request = TraceRequest {
            issued_ns: at,
            service_ns: Some(200_000 + random.below(300_000)),
            offset: random.below(10 << 17) << 13,
            length: 8192,
            process: random.below(8) as u16,
            ..TraceRequest::default()
        };
        let request = match random.below(100) {
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
    writer.finish()
}

/// Runs a simulation. Returns its operations and its duration in seconds.
fn sample(fathom: &Path, line: &str) -> Result<(f64, f64)> {
    let started = Instant::now();
    let words = line.split(' ').chain(["--format", "json"]);
    let output = Command::new(fathom).arg("sim").args(words).stdin(Stdio::null()).output()?;
    let seconds = started.elapsed().as_secs_f64();
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let run: Value = serde_json::from_slice(&output.stdout)?;
    let jobs = run["jobs"].as_array().context("a run has jobs")?;
    let of = |job: &Value, kind: &str| job["result"][kind]["ios"].as_f64().unwrap_or(0.0);
    let syncs = |job: &Value| job["result"]["sync"]["count"].as_f64().unwrap_or(0.0);
    Ok((jobs.iter().map(|job| of(job, "read") + of(job, "write") + syncs(job)).sum(), seconds))
}

/// Measures a sweep of 64 points on all processors and on one.
fn sweep(fathom: &Path) -> Result<Value> {
    let words =
        ["--on", HYPERDISK, "--name=a", "--rw=randread", "--runtime=2", "--time_based", "--vary", "iodepth=4..256/4"];
    let together = time(Command::new(fathom).arg("sim").args(words))?;
    let one = time(Command::new("taskset").args(["-c", "0"]).arg(fathom).arg("sim").args(words))?;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    println!("sweep          64 points: {together:.2} s on {processors} processors, {one:.2} s on one");
    Ok(json!({
        "command": format!("fathom sim {}", words.join(" ")),
        "processors": processors,
        "seconds": rounded(together),
        "seconds_on_one_processor": rounded(one),
    }))
}

/// Returns how long a command takes, in seconds.
fn time(command: &mut Command) -> Result<f64> {
    let started = Instant::now();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    ensure!(status.success(), "{command:?} failed");
    Ok(started.elapsed().as_secs_f64())
}
