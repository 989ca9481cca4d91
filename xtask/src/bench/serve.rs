//! The cost of requests for the disk server, compared with nbdkit and qemu-storage-daemon: processor time of the server
//! per random 4 KiB read of fio's nbd engine over a Unix socket, and IOPS; the first writes to memory; and how closely
//! a served volume follows its model when latency is the bottleneck.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{median, rounded};
use crate::scratch::ScratchDir;

/// In the last case server and client share a processor. With one request in flight neither waits for the processor,
/// and waking another processor, most of a request's cost on virtual machines, costs nothing.
const CASES: [(&str, u32, &[&str]); 4] =
    [("depth 1", 1, &[]), ("depth 16", 16, &[]), ("depth 64", 64, &[]), ("depth 1, one processor", 1, ON_ONE)];
const ON_ONE: &[&str] = &["taskset", "-c", "0"];
/// Rounds, each of which measures all servers in turn; medians of the ratios within a round count.
const ROUNDS: usize = 7;
const SECONDS: &str = "2";
const SIZE_BYTES: &str = "536870912";
/// A volume whose limits are never reached, so that only the model itself costs time.
const MODEL: &str = "custom,size=512MiB,iops=10000000,throughput=100GB/s,latency=1us";
/// Maximum ratio to nbdkit's processor time.
const WANTED: f64 = 0.5;
/// A volume limited by latency: a closed loop has IOPS of depth / latency.
const LATENCY_BOUND: &str = "custom,size=512MiB,latency=1ms";
const LATENCY_SECS: f64 = 1e-3;
const LATENCY_DEPTHS: [u32; 3] = [1, 8, 64];
/// Size of the first writes, in random blocks of 4 KiB.
const FIRST_WRITES_BYTES: &str = "67108864";

/// Figures of fio and of the server's process for one job.
struct ServeMeasurement {
    /// Processor time of the server per operation, in microseconds.
    cost_us: f64,
    iops: f64,
    /// Median latency from issue, in microseconds.
    p50_us: f64,
}

/// A server under measurement, killed on drop.
struct BenchServer {
    name: &'static str,
    child: Child,
    uri: String,
}

impl BenchServer {
    fn start(name: &'static str, mut command: Command, uri: String, socket: &Path) -> Result<Self> {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let child = child.with_context(|| format!("cannot start {name}"))?;
        let server = Self { name, child, uri };
        let began = Instant::now();
        while !socket.exists() {
            ensure!(began.elapsed() < Duration::from_secs(10), "{name} does not listen at {}", socket.display());
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// Returns the used processor time in seconds: fields 14 and 15 of `/proc/PID/stat`, in hundredths of a second.
    fn cpu_seconds(&self) -> Result<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let (_, fields) = stat.rsplit_once(')').context("the name of a process is in brackets")?;
        let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
        Ok(ticks.sum::<Result<f64, _>>()? / 100.0)
    }

    /// Measures random reads.
    fn reads(&self, depth: u32, words: &[&str]) -> Result<ServeMeasurement> {
        self.load("read", &["--rw=randread", "--time_based", &format!("--runtime={SECONDS}")], depth, words)
    }

    /// Measures random writes, each to another block.
    fn writes(&self, depth: u32) -> Result<ServeMeasurement> {
        self.load("write", &["--rw=randwrite", &format!("--io_size={FIRST_WRITES_BYTES}")], depth, &[])
    }

    fn load(&self, kind: &str, job: &[&str], depth: u32, words: &[&str]) -> Result<ServeMeasurement> {
        let before = self.cpu_seconds()?;
        let output = command(words, "fio")
            .args(["--name=cost", "--ioengine=nbd", "--bs=4k", "--thread", "--output-format=json"])
            .args([&format!("--uri={}", self.uri), &format!("--iodepth={depth}"), &format!("--size={SIZE_BYTES}")])
            .args(job)
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        ensure!(output.status.success(), "fio and {}: {}", self.name, String::from_utf8_lossy(&output.stderr));
        // fio's engine prints a greeting before the document.
        let document: Value = serde_json::from_str(&text[text.find('{').context("fio gave no document")?..])?;
        let done = &document["jobs"][0][kind];
        let figure = |value: &Value, what: &'static str| value.as_f64().context(what);
        let operations = figure(&done["total_ios"], "operations")?;
        Ok(ServeMeasurement {
            cost_us: (self.cpu_seconds()? - before) / operations * 1e6,
            iops: figure(&done["iops"], "IOPS")?,
            p50_us: figure(&done["clat_ns"]["percentile"]["50.000000"], "a median")? / 1e3,
        })
    }
}

impl Drop for BenchServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Measures all servers at all depths. Returns medians and ratios.
pub(super) fn run(fathom: &Path) -> Result<Value> {
    let scratch = ScratchDir::new("bench")?;
    let mut results = json!({ "unit": "processor time of the server in us for a 4 KiB read", "rounds": ROUNDS });
    for (case, depth, words) in CASES {
        let servers = servers(fathom, &scratch.0, words)?;
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            rounds.push(servers.iter().map(|server| server.reads(depth, words)).collect::<Result<Vec<_>>>()?);
        }
        let outcome = outcome(&servers, &rounds);
        println!("{case}: {outcome}");
        results[case] = outcome;
    }
    results["first writes"] = first_writes(fathom, &scratch.0)?;
    println!("first writes: {}", results["first writes"]);
    results["1 ms"] = latency_bound(fathom, &scratch.0)?;
    println!("1 ms: {}", results["1 ms"]);
    results["wanted"] = json!(format!(
        "beyond depth 1 at most {WANTED} of nbdkit and less than qemu-storage-daemon; at depth 1 at least nbdkit's IOPS"
    ));
    Ok(results)
}

/// Returns a command that runs a program under a prefix such as `taskset`.
fn command(words: &[&str], program: impl AsRef<OsStr>) -> Command {
    let Some((&first, others)) = words.split_first() else { return Command::new(program) };
    let mut command = Command::new(first);
    command.args(others).arg(program);
    command
}

/// Starts all servers, first Fathom without and with a model.
fn servers(fathom: &Path, folder: &Path, words: &[&str]) -> Result<Vec<BenchServer>> {
    // Servers that were killed have left their sockets.
    let socket = |name: &str| {
        let path = folder.join(name);
        let _ = std::fs::remove_file(&path);
        path
    };
    let uri = |export: &str, socket: &Path| format!("nbd+unix:///{export}?socket={}", socket.display());
    let mut servers = Vec::new();
    for (name, file, what) in
        [("fathom", "plain", ["--size", "512MiB"].as_slice()), ("fathom with a model", "model", &[MODEL])]
    {
        let at = socket(file);
        let mut command = self::command(words, fathom);
        command.arg("serve").args(what).arg("--socket").arg(&at);
        servers.push(BenchServer::start(name, command, uri("", &at), &at)?);
    }
    let at = socket("nbdkit");
    let mut command = self::command(words, "nbdkit");
    command.arg("-f").arg("-U").arg(&at).args(["memory", SIZE_BYTES]);
    servers.push(BenchServer::start("nbdkit memory", command, uri("", &at), &at)?);
    let at = socket("qemu");
    let mut command = self::command(words, "qemu-storage-daemon");
    command.args(["--blockdev", &format!("driver=null-co,node-name=n0,size={SIZE_BYTES}")]);
    command.args(["--nbd-server", &format!("addr.type=unix,addr.path={}", at.display())]);
    command.args(["--export", "type=nbd,id=e,node-name=n0,name=x"]);
    servers.push(BenchServer::start("qemu-storage-daemon null-co", command, uri("x", &at), &at)?);
    Ok(servers)
}

/// Returns medians, and medians of the ratios of Fathom to the others.
fn outcome(servers: &[BenchServer], rounds: &[Vec<ServeMeasurement>]) -> Value {
    let mut results = json!({});
    for (index, server) in servers.iter().enumerate() {
        results[server.name] = json!(rounded(median(rounds.iter().map(|round| round[index].cost_us).collect())));
    }
    for (ours, theirs) in [(0, 2), (1, 2), (0, 3), (1, 3)] {
        let ratio = median(rounds.iter().map(|round| round[ours].cost_us / round[theirs].cost_us).collect());
        results[format!("{} / {}", servers[ours].name, servers[theirs].name)] = json!(rounded(ratio));
    }
    for ours in [0, 1] {
        let ratio = median(rounds.iter().map(|round| round[ours].iops / round[2].iops).collect());
        results[format!("IOPS of {} / {}", servers[ours].name, servers[2].name)] = json!(rounded(ratio));
    }
    results
}

/// Measures random writes to unwritten memory of new servers, and the same writes again.
fn first_writes(fathom: &Path, folder: &Path) -> Result<Value> {
    // Fathom and nbdkit, each first and later.
    let mut rounds: Vec<[f64; 4]> = Vec::new();
    for _ in 0..ROUNDS {
        let servers = servers(fathom, folder, &[])?;
        let (ours, theirs) = (&servers[0], &servers[2]);
        let mut iops = [0.0; 4];
        for (figure, server) in iops.iter_mut().zip([ours, ours, theirs, theirs]) {
            *figure = server.writes(16)?.iops;
        }
        rounds.push(iops);
    }
    let figure = |value: fn(&[f64; 4]) -> f64| rounded(median(rounds.iter().map(value).collect()));
    Ok(json!({
        "unit": "IOPS of random 4 KiB writes at depth 16",
        "fathom": figure(|iops| iops[0]),
        "fathom, later": figure(|iops| iops[1]),
        "nbdkit memory": figure(|iops| iops[2]),
        "nbdkit memory, later": figure(|iops| iops[3]),
        "fathom / nbdkit memory": figure(|iops| iops[0] / iops[2]),
        "wanted": "at least as many as nbdkit",
    }))
}

/// Measures IOPS and median latency of a closed loop relative to the model.
fn latency_bound(fathom: &Path, folder: &Path) -> Result<Value> {
    let mut results = json!({ "unit": "IOPS and median latency over those of the model, without and with --spin" });
    for (spin, words) in [("", [].as_slice()), (", --spin", &["--spin"])] {
        let server = modelled(fathom, folder, words)?;
        for depth in LATENCY_DEPTHS {
            let runs = (0..ROUNDS).map(|_| server.reads(depth, &[])).collect::<Result<Vec<_>>>()?;
            let iops = median(runs.iter().map(|run| run.iops * LATENCY_SECS / f64::from(depth)).collect());
            let p50 = median(runs.iter().map(|run| run.p50_us / 1e6 / LATENCY_SECS).collect());
            results[format!("depth {depth}{spin}")] = json!([rounded(iops), rounded(p50)]);
        }
    }
    results["wanted"] = json!("from 0.97 to 1.03");
    Ok(results)
}

/// Starts a server of the volume limited by latency.
fn modelled(fathom: &Path, folder: &Path, words: &[&str]) -> Result<BenchServer> {
    let at = folder.join("latency");
    let _ = std::fs::remove_file(&at);
    let mut command = Command::new(fathom);
    command.args(["serve", LATENCY_BOUND]).args(words).arg("--socket").arg(&at);
    BenchServer::start("fathom", command, format!("nbd+unix:///?socket={}", at.display()), &at)
}
