//! The cost of a capture by each of its sources: IOPS of a loop device over memory while it is captured, compared with the
//! same load without a capture. Needs root.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{median, rounded};
use crate::scratch::ScratchDir;

/// Pairs of runs; the median of their ratios counts.
const PAIRS: usize = 9;
const SECONDS: u64 = 2;
/// Minimum ratio of the IOPS, and minimum IOPS of a load for which it is wanted.
const WANTED: f64 = 0.95;
const IOPS: f64 = 50_000.0;
const SOURCES: [&str; 2] = ["bpf", "tracefs"];
const DEVICE_MIB: u64 = 512;

/// Loads that keep all processors busy: threads that wait for each request as those of a database do, with more and with
/// less work per request, and a queue.
const LOADS: [(&str, &str); 3] = [
    ("8 threads, 64 KiB", "--ioengine=psync --thread --numjobs=8 --group_reporting --bs=64k"),
    ("8 threads", "--ioengine=psync --thread --numjobs=8 --group_reporting"),
    ("queue depth 32", "--ioengine=libaio --iodepth=32"),
];

pub(super) fn run(fathom: &Path) -> Result<Value> {
    let disk = LoopDisk::new()?;
    let mut results = json!({
        "unit": "IOPS with and without a capture, and the median of the ratios",
        "load": "fio, random reads and writes (70:30) of 4 KiB or as named, on a loop device over memory",
        "pairs": PAIRS,
        "seconds": SECONDS,
        "wanted": format!("at least {WANTED} of the IOPS, no lost event, at {IOPS} IOPS or more"),
    });
    for (name, words) in LOADS {
        load(&disk.path, words)?;
        for source in SOURCES {
            let pair = |round| pair(fathom, source, &disk.path, words, round);
            let pairs = (0..PAIRS).map(pair).collect::<Result<Vec<_>>>()?;
            results[name][source] = summary(&format!("{name}, {source}"), &pairs);
        }
    }
    Ok(results)
}

/// Prints and returns the medians of pairs.
fn summary(name: &str, pairs: &[BenchPair]) -> Value {
    let column = |of: fn(&BenchPair) -> f64| rounded(median(pairs.iter().map(of).collect()));
    let ratio = column(|pair| pair.with / pair.without);
    let (with, lost) = (column(|pair| pair.with), pairs.iter().map(|pair| pair.lost).sum::<u64>());
    let met = if ratio >= WANTED && lost == 0 && with >= IOPS { "met" } else { "MISSED" };
    println!("{name}: {ratio:.3} of the IOPS is left at {with:.0} IOPS, {lost} lost (wanted >= {WANTED}: {met})");
    json!({
        "with": with,
        "without": column(|pair| pair.without),
        "ratio": ratio,
        "lost_events": lost,
        "requests": pairs.iter().map(|pair| pair.requests).sum::<u64>(),
        "bytes_per_request": column(|pair| pair.bytes_per_request),
    })
}

struct BenchPair {
    with: f64,
    without: f64,
    lost: u64,
    requests: u64,
    bytes_per_request: f64,
}

/// Runs a load with and without a capture, in alternating order.
fn pair(fathom: &Path, source: &str, device: &Path, words: &str, round: usize) -> Result<BenchPair> {
    let before = if round.is_multiple_of(2) { Some(load(device, words)?) } else { None };
    let scratch = ScratchDir::new("bench")?;
    let mut capture = Command::new(fathom);
    capture.arg("capture").arg(device).args(["--format", "json", "--progress", "off", "--source", source, "-o"]);
    capture.arg(scratch.0.join("a.trace"));
    let child = capture.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().context("starting the capture")?;
    std::thread::sleep(Duration::from_millis(300));
    let with = load(device, words);
    let id = child.id().to_string();
    ensure!(Command::new("kill").args(["-INT", &id]).status()?.success(), "the capture ended early");
    let output = child.wait_with_output()?;
    let document: Value = serde_json::from_slice(&output.stdout).context("the capture left no document")?;
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let lost = number(&document["lost_events"]);
    ensure!(lost > 0 || document["is_trustworthy"] == true, "the counters differ: {}", document["kernel_counters"]);
    let requests = number(&document["requests"]);
    Ok(BenchPair {
        with: with?,
        without: match before {
            Some(iops) => iops,
            None => load(device, words)?,
        },
        lost,
        requests,
        bytes_per_request: number(&document["file"]["bytes"]) as f64 / requests.max(1) as f64,
    })
}

/// Runs a load and returns its IOPS.
fn load(device: &Path, words: &str) -> Result<f64> {
    let mut fio = Command::new("fio");
    fio.args(["--name=a", "--direct=1", "--rw=randrw", "--rwmixread=70", "--bs=4k", "--norandommap", "--time_based"]);
    fio.arg(format!("--runtime={SECONDS}")).arg(format!("--filename={}", device.display()));
    let output = fio.args(words.split(' ')).args(["--output-format=json", "--eta=never"]).output()?;
    ensure!(output.status.success(), "fio: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout)?;
    let document: Value = serde_json::from_str(&text[text.find('{').context("no JSON")?..])?;
    let iops = |kind: &str| document["jobs"][0][kind]["iops"].as_f64().unwrap_or(0.0);
    Ok(iops("read") + iops("write"))
}

/// A loop device over a file in memory.
struct LoopDisk {
    path: PathBuf,
    file: PathBuf,
}

impl LoopDisk {
    fn new() -> Result<Self> {
        let file = PathBuf::from(format!("/dev/shm/fathom-bench-{}", std::process::id()));
        File::create(&file)?.set_len(DEVICE_MIB << 20)?;
        let output = Command::new("losetup").args(["--find", "--show"]).arg(&file).output()?;
        let path = String::from_utf8_lossy(&output.stdout).trim().into();
        let disk = Self { path, file };
        ensure!(output.status.success(), "losetup: {}", String::from_utf8_lossy(&output.stderr));
        Ok(disk)
    }
}

impl Drop for LoopDisk {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            let _ = Command::new("losetup").arg("--detach").arg(&self.path).status();
        }
        let _ = std::fs::remove_file(&self.file);
    }
}
