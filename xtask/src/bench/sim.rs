//! How fast models are, in modelled operations a second of one core, and sweeps on all of them.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

/// A simulation and what it is to reach.
struct SimCase {
    name: &'static str,
    words: &'static [&'static str],
    /// Modelled operations a second of processor time, in millions, at least.
    least_million_per_s: f64,
}

const HYPERDISK: &str = "gcp/hyperdisk-balanced,size=1TiB,iops=160000,throughput=2400MiB/s";

const CASES: [SimCase; 3] = [
    SimCase {
        name: "hyperdisk",
        words: &["--on", HYPERDISK, "--name=a", "--rw=randread", "--iodepth=256", "--runtime=60", "--time_based"],
        least_million_per_s: 10.0,
    },
    SimCase {
        name: "drive",
        words: &["--on", "hdd/7200rpm", "--name=a", "--rw=randread", "--iodepth=10", "--runtime=8h", "--time_based"],
        least_million_per_s: 2.0,
    },
    SimCase {
        name: "many workers",
        words: &[
            "--on",
            HYPERDISK,
            "--name=a",
            "--rw=randread",
            "--iodepth=8",
            "--numjobs=144",
            "--group_reporting",
            "--runtime=30",
            "--time_based",
        ],
        least_million_per_s: 0.0,
    },
];

/// How often each case is run; the median counts.
const ROUNDS: usize = 7;

/// Runs all cases and returns their outcomes by name.
pub(super) fn run(fathom: &Path) -> Result<Value> {
    let mut kept = json!({});
    for case in &CASES {
        let mut samples = Vec::new();
        for _ in 0..ROUNDS {
            samples.push(sample(fathom, case.words)?);
        }
        samples.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (operations, seconds) = samples[ROUNDS / 2];
        let rate = operations / seconds / 1e6;
        println!("{:<14} {rate:6.2} M modelled operations/s (at least {})", case.name, case.least_million_per_s);
        kept[case.name] = json!({
            "command": format!("fathom sim {}", case.words.join(" ")),
            "million_operations_per_s": (rate * 1e3).round() / 1e3,
            "wanted": case.least_million_per_s,
            "operations": operations,
            "seconds": (seconds * 1e3).round() / 1e3,
            "rounds": ROUNDS,
        });
    }
    kept["sweep"] = sweep(fathom)?;
    Ok(kept)
}

/// Operations, and seconds from start to end.
fn sample(fathom: &Path, words: &[&str]) -> Result<(f64, f64)> {
    let started = Instant::now();
    let output =
        Command::new(fathom).arg("sim").args(words).args(["--format", "json"]).stdin(Stdio::null()).output()?;
    let seconds = started.elapsed().as_secs_f64();
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let run: Value = serde_json::from_slice(&output.stdout)?;
    let jobs = run["jobs"].as_array().context("a run has jobs")?;
    let of = |job: &Value, kind: &str| job["result"][kind]["ios"].as_f64().unwrap_or(0.0);
    Ok((jobs.iter().map(|job| of(job, "read") + of(job, "write")).sum(), seconds))
}

/// 64 points on all processors against the same points one after the other.
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
        "seconds": (together * 1e3).round() / 1e3,
        "seconds_on_one_processor": (one * 1e3).round() / 1e3,
    }))
}

fn time(command: &mut Command) -> Result<f64> {
    let started = Instant::now();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    ensure!(status.success(), "{command:?} failed");
    Ok(started.elapsed().as_secs_f64())
}
