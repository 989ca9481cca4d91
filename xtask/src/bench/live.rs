//! What it costs to be looked at: IOPS of the null engine with the run recorded, events written, metrics scraped every second
//! and the full screen drawn into a terminal of its own, against the same run with none of it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{BenchScratch, median, rounded};

/// Pairs of runs; what counts is the median of their ratios.
const PAIRS: usize = 15;
const SECONDS: u64 = 4;
/// At least so much of the IOPS has to be left.
const WANTED: f64 = 0.98;
const SCRAPE_EVERY: Duration = Duration::from_secs(1);

/// Measures with one worker, beside which a processor is free, and with as many as there are processors.
pub(super) fn run(fathom: &Path) -> Result<Value> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let mut kept = json!({ "unit": "IOPS with everything, without, and the median of the ratios", "pairs": PAIRS, "seconds": SECONDS });
    for workers in [1, cpus] {
        let pairs = (0..PAIRS).map(|round| pair(fathom, workers, round)).collect::<Result<Vec<_>>>()?;
        let column = |of: fn(&(f64, f64)) -> f64| rounded(median(pairs.iter().map(of).collect()));
        let ratio = column(|(with, without)| with / without);
        let met = if ratio >= WANTED { "met" } else { "MISSED" };
        println!("{workers} workers: {ratio:.4} of the IOPS is left (wanted >= {WANTED}: {met})");
        kept[format!("{workers} workers")] =
            json!({ "with": column(|pair| pair.0), "without": column(|pair| pair.1), "ratio": ratio });
    }
    kept["wanted"] = json!(format!("at least {WANTED} of the IOPS"));
    Ok(kept)
}

/// One run of each, in an order that changes: with everything, and without.
fn pair(fathom: &Path, workers: usize, round: usize) -> Result<(f64, f64)> {
    let scratch = BenchScratch::new()?;
    if round.is_multiple_of(2) {
        let with = looked_at(fathom, workers, &scratch.0)?;
        Ok((with, alone(fathom, workers)?))
    } else {
        let without = alone(fathom, workers)?;
        Ok((looked_at(fathom, workers, &scratch.0)?, without))
    }
}

fn job(workers: usize) -> [String; 2] {
    let load = "--name=n --ioengine=null --rw=randread --bs=4k --size=1g --iodepth=32 --time_based --group_reporting";
    [format!("{load} --numjobs={workers} --runtime={SECONDS}"), "--format json".to_owned()]
}

fn alone(fathom: &Path, workers: usize) -> Result<f64> {
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

fn looked_at(fathom: &Path, workers: usize, folder: &Path) -> Result<f64> {
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
    // util-linux: a terminal of its own, whose output goes nowhere.
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
    // Code 4 says that a run as short as this is not to be trusted alone.
    ensure!(matches!(status.code(), Some(0 | 4)), "with everything it ended with {status}: {text:.500}");
    ensure!(scraped * 2 >= SECONDS, "only {scraped} scrapes were answered");
    let lines = std::fs::read_to_string(&events)?.lines().count() as u64;
    ensure!(lines >= SECONDS, "only {lines} events were written");
    iops(&text)
}

/// Scrapes until the run is over. Returns how often it was answered.
fn scrape(child: &mut Child, port: u16) -> Result<u64> {
    let mut answered = 0;
    while child.try_wait()?.is_none() {
        std::thread::sleep(SCRAPE_EVERY);
        let mut text = String::new();
        if let Ok(mut client) = TcpStream::connect(("127.0.0.1", port)) {
            let asked =
                client.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").and_then(|()| client.read_to_string(&mut text));
            answered += u64::from(asked.is_ok() && text.contains("fathom_operations_total{"));
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
