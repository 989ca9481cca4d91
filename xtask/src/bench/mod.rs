//! Benchmarks: models (`sim`), the disk server compared with others (`serve`), the cost of observers (`live`) and of
//! capturing (`capture`), merging the results of ranks (`fleet`), and
//! Fathom compared with the installed fio in pairs. Both programs of a pair run the same command line one after the
//! other, so that a drifting machine affects both alike. The median of the ratios counts.

mod capture;
mod cases;
mod fleet;
mod live;
mod serve;
mod sim;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::scratch::ScratchDir;
use cases::{BenchCase, BenchFigure, CASES};

/// The figures of one run of one program.
struct BenchSample {
    iops: f64,
    user_ns_per_io: f64,
    system_ns_per_io: f64,
    wall_ms: f64,
}

/// A benchmark that is no comparison with fio.
type Bench = fn(&Path) -> Result<Value>;

const OTHER_BENCHES: [(&str, Bench); 5] =
    [("sim", sim::run), ("serve", serve::run), ("live", live::run), ("fleet", fleet::run), ("capture", capture::run)];

/// Runs the benchmarks whose names start with one of `wanted`, or all, and saves the results in `xtask/bench/`.
pub(crate) fn run(wanted: &[&str]) -> Result<()> {
    let is_known = |wanted: &str| {
        OTHER_BENCHES.iter().any(|(name, _)| *name == wanted) || CASES.iter().any(|case| case.name.starts_with(wanted))
    };
    if let Some(unknown) = wanted.iter().find(|wanted| !is_known(wanted)) {
        let names: Vec<&str> =
            OTHER_BENCHES.iter().map(|(name, _)| *name).chain(CASES.iter().map(|case| case.name)).collect();
        anyhow::bail!("`{unknown}` is no bench; there are {}", names.join(", "));
    }
    let root = crate::tidy::root()?;
    // As for other tasks, `FATHOM` names another build.
    let fathom = match std::env::var_os("FATHOM") {
        Some(path) => std::path::absolute(path)?,
        None => crate::scratch::build(&root, &["--profile", "dist"], "dist")?,
    };
    for (name, bench) in OTHER_BENCHES.iter().filter(|(name, _)| wanted.is_empty() || wanted.contains(name)) {
        save(&root, &format!("xtask/bench/{name}.json"), bench(&fathom)?)?;
    }
    if !wanted.is_empty() && wanted.iter().all(|name| OTHER_BENCHES.iter().any(|(known, _)| known == name)) {
        return Ok(());
    }
    let scratch = ScratchDir::new("bench")?;
    let text = std::fs::read_to_string(root.join("xtask/bench/fio.json")).unwrap_or_default();
    let mut saved = serde_json::from_str(&text).unwrap_or_else(|_| json!({}));
    for case in CASES.iter().filter(|case| wanted.is_empty() || wanted.iter().any(|name| case.name.starts_with(name))) {
        let outcome = measure(case, &fathom, &scratch)?;
        println!("{}", line(case, &outcome));
        saved[case.name] = outcome;
    }
    save(&root, "xtask/bench/fio.json", saved)
}

/// Saves results together with a description of the machine.
fn save(root: &Path, name: &str, mut results: Value) -> Result<()> {
    results["machine"] = machine();
    let path = root.join(name);
    std::fs::create_dir_all(root.join("xtask/bench"))?;
    std::fs::write(&path, format!("{results:#}\n"))?;
    println!("kept in {}", crate::tidy::relative(root, &path));
    Ok(())
}

fn measure(case: &BenchCase, fathom: &Path, scratch: &ScratchDir) -> Result<Value> {
    let file = scratch.0.join("data");
    if case.needs_file {
        prepare(&file, fathom)?;
    }
    let words: Vec<String> =
        case.arguments.split(' ').map(|word| word.replace("{file}", &file.display().to_string())).collect();
    let mut pairs = Vec::new();
    for round in 0..=case.pairs {
        let theirs = sample(Command::new("fio").args(&words), case)?;
        let ours = sample(Command::new(fathom).arg("fio").args(&words), case)?;
        if round > 0 {
            pairs.push((ours, theirs));
        }
    }
    let column =
        |value: &dyn Fn(&(BenchSample, BenchSample)) -> f64| rounded(median(pairs.iter().map(value).collect()));
    let both = |value: fn(&BenchSample) -> f64| [column(&|pair| value(&pair.0)), column(&|pair| value(&pair.1))];
    Ok(json!({
        "command": format!("fio {}", words.join(" ").replace(&file.display().to_string(), "FILE")),
        "pairs": case.pairs,
        "iops_ratio": column(&|(ours, theirs)| ours.iops / theirs.iops),
        "iops": both(|sample| sample.iops),
        "user_per_io_ratio": column(&|(ours, theirs)| ours.user_ns_per_io / theirs.user_ns_per_io),
        "user_ns_per_io": both(|sample| sample.user_ns_per_io),
        "system_ns_per_io": both(|sample| sample.system_ns_per_io),
        "wall_ms": both(|sample| sample.wall_ms),
    }))
}

/// Creates a file with data, and reads it into the page cache.
fn prepare(file: &Path, fathom: &Path) -> Result<()> {
    let filename = format!("--filename={}", file.display());
    let words = ["fio", "--name=fill", "--rw=write", "--bs=1m", "--size=1g", "--end_fsync=1", &filename];
    let status = Command::new(fathom).args(words).stdout(Stdio::null()).status()?;
    ensure!(status.success(), "filling {} failed", file.display());
    std::io::copy(&mut std::fs::File::open(file)?, &mut std::io::sink())?;
    Ok(())
}

fn sample(command: &mut Command, case: &BenchCase) -> Result<BenchSample> {
    let begun = Instant::now();
    let output = command.args(["--output-format=json", "--eta=never"]).output().context("running a peer")?;
    let wall_ms = begun.elapsed().as_secs_f64() * 1e3;
    ensure!(output.status.success(), "{}: {}", case.name, String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout)?;
    let document: Value = serde_json::from_str(&text[text.find('{').context("no JSON")?..])?;
    let job = &document["jobs"][0];
    let number = |value: &Value| value.as_f64().unwrap_or(0.0);
    let ios = number(&job["read"]["total_ios"]) + number(&job["write"]["total_ios"]);
    let cpu_ns = |percent: &Value| number(percent) / 100.0 * number(&job["job_runtime"]) * 1e6 / ios;
    Ok(BenchSample {
        iops: number(&job["read"]["iops"]) + number(&job["write"]["iops"]),
        user_ns_per_io: cpu_ns(&job["usr_cpu"]),
        system_ns_per_io: cpu_ns(&job["sys_cpu"]),
        wall_ms,
    })
}

fn line(case: &BenchCase, outcome: &Value) -> String {
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let verdicts: Vec<String> = case
        .targets
        .iter()
        .map(|target| {
            let (value, text) = match target.figure {
                BenchFigure::IopsRatio => (number(&outcome["iops_ratio"]), "of fio's IOPS"),
                BenchFigure::UserPerIoRatio => (number(&outcome["user_per_io_ratio"]), "of fio's user CPU per I/O"),
                BenchFigure::WallMillis => (number(&outcome["wall_ms"][0]), "ms from start to end"),
            };
            let met = if target.at_least { value >= target.value } else { value <= target.value };
            let sign = if target.at_least { ">=" } else { "<=" };
            format!("{value:.2} {text} (wanted {sign} {}: {})", target.value, if met { "met" } else { "MISSED" })
        })
        .collect();
    format!("{:<16} {}", case.name, verdicts.join("; "))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

fn machine() -> Value {
    let first = |path: &str, key: &str| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(key)).unwrap_or_default().to_owned();
        line.split_once(':').map_or(line.clone(), |(_, value)| value.trim().to_owned())
    };
    let fio = Command::new("fio").arg("--version").output().map(|output| output.stdout).unwrap_or_default();
    json!({
        "cpu": first("/proc/cpuinfo", "model name"),
        "cpus": std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
        "kernel": first("/proc/sys/kernel/osrelease", ""),
        "fio": String::from_utf8_lossy(&fio).trim(),
    })
}
