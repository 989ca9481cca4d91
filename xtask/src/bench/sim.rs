//! Speed of models, in modelled operations per second on one core, and of sweeps on all cores.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::rounded;

/// A simulation and its target.
struct SimCase {
    name: &'static str,
    volume: &'static str,
    arguments: &'static str,
    /// Minimum of modelled operations per second of processor time, in millions.
    least_million_per_s: f64,
}

const HYPERDISK: &str = "gcp/hyperdisk-balanced,size=1TiB,iops=160000,throughput=2400MiB/s";

const CASES: [SimCase; 3] = [
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
];

/// Runs of each case; the median counts.
const ROUNDS: usize = 7;

/// Runs all cases and returns their outcomes by name.
pub(super) fn run(fathom: &Path) -> Result<Value> {
    let mut results = json!({});
    for case in &CASES {
        let line = format!("--on {} {}", case.volume, case.arguments);
        let mut samples = (0..ROUNDS).map(|_| sample(fathom, &line)).collect::<Result<Vec<_>>>()?;
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
    Ok((jobs.iter().map(|job| of(job, "read") + of(job, "write")).sum(), seconds))
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
