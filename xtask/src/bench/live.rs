//! The cost of observers: IOPS of the null engine with a saved run, events, metrics scraped every second and the full
//! screen on a pseudo-terminal, compared with the same run without them.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{median, rounded};
use crate::scratch::ScratchDir;

/// Pairs of runs; the median of their ratios counts.
const PAIRS: usize = 15;
const SECONDS: u64 = 4;
/// Minimum ratio of the IOPS.
const WANTED: f64 = 0.98;
const SCRAPE_EVERY: Duration = Duration::from_secs(1);

/// Measures with one worker, which leaves a processor for observers, and with a worker for each processor.
pub(super) fn run(fathom: &Path) -> Result<Value> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let mut results = json!({ "unit": "IOPS with everything, without, and the median of the ratios", "pairs": PAIRS, "seconds": SECONDS });
    for workers in [1, cpus] {
        let pairs = (0..PAIRS).map(|round| pair(fathom, workers, round)).collect::<Result<Vec<_>>>()?;
        let column = |of: fn(&(f64, f64)) -> f64| rounded(median(pairs.iter().map(of).collect()));
        let ratio = column(|(with, without)| with / without);
        let met = if ratio >= WANTED { "met" } else { "MISSED" };
        println!("{workers} workers: {ratio:.4} of the IOPS is left (wanted >= {WANTED}: {met})");
        results[format!("{workers} workers")] =
            json!({ "with": column(|pair| pair.0), "without": column(|pair| pair.1), "ratio": ratio });
    }
    results["wanted"] = json!(format!("at least {WANTED} of the IOPS"));
    Ok(results)
}

/// Runs with and without observers, in alternating order. Returns the IOPS of both.
fn pair(fathom: &Path, workers: usize, round: usize) -> Result<(f64, f64)> {
    let scratch = ScratchDir::new("bench")?;
    if round.is_multiple_of(2) {
        let with = observed(fathom, workers, &scratch.0)?;
        Ok((with, unobserved(fathom, workers)?))
    } else {
        let without = unobserved(fathom, workers)?;
        Ok((observed(fathom, workers, &scratch.0)?, without))
    }
}

fn job(workers: usize) -> [String; 2] {
    let load = "--name=n --ioengine=null --rw=randread --bs=4k --size=1g --iodepth=32 --time_based --group_reporting";
    [format!("{load} --numjobs={workers} --runtime={SECONDS}"), "--format json".to_owned()]
}

fn unobserved(fathom: &Path, workers: usize) -> Result<f64> {
    let words = job(workers).join(" ");
    let output = Command::new(fathom)
        .arg("run")
        .args(words.split(' '))
        .args(["--progress", "off", "--no-record"])
        .stdin(Stdio::null())
        .output()?;
    ensure!(matches!(output.status.code(), Some(0 | 4)), "{}", String::from_utf8_lossy(&output.stderr));
    iops(&String::from_utf8_lossy(&output.stdout))
}

fn observed(fathom: &Path, workers: usize, folder: &Path) -> Result<f64> {
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let (result, events) = (folder.join("result.json"), folder.join("events.jsonl"));
    let command = format!(
        "stty cols 120 rows 40; TERM=xterm-256color FATHOM_HOME={} {} run {} --live --metrics 127.0.0.1:{port} --events {} > {}",
        folder.display(),
        fathom.display(),
        job(workers).join(" "),
        events.display(),
        result.display()
    );
    // `script` of util-linux provides a pseudo-terminal, whose output is discarded.
    let mut child = Command::new("script")
        .args(["-qefc", &command, "/dev/null"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("cannot start `script` of util-linux")?;
    let scraped = scrape(&mut child, port)?;
    let status = child.wait()?;
    let text = std::fs::read_to_string(&result).unwrap_or_default();
    // Exit code 4: so short a run alone is not trustworthy.
    ensure!(matches!(status.code(), Some(0 | 4)), "with everything it ended with {status}: {text:.500}");
    ensure!(scraped * 2 >= SECONDS, "only {scraped} scrapes were answered");
    let lines = std::fs::read_to_string(&events)?.lines().count() as u64;
    ensure!(lines >= SECONDS, "only {lines} events were written");
    iops(&text)
}

/// Scrapes until the run ends. Returns the number of answers.
fn scrape(child: &mut Child, port: u16) -> Result<u64> {
    let mut answered = 0;
    while child.try_wait()?.is_none() {
        std::thread::sleep(SCRAPE_EVERY);
        let mut text = String::new();
        if let Ok(mut client) = TcpStream::connect(("127.0.0.1", port)) {
            let received =
                client.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").and_then(|()| client.read_to_string(&mut text));
            answered += u64::from(received.is_ok() && text.contains("fathom_operations_total{"));
        }
    }
    Ok(answered)
}

fn iops(text: &str) -> Result<f64> {
    let document: Value = serde_json::from_str(text).context("the run left no document")?;
    let result = &document["jobs"][0]["result"]["read"];
    let number = |key: &str| result[key].as_f64().with_context(|| format!("the document has no {key}"));
    Ok(number("ios")? / number("runtime_ns")? * 1e9)
}
