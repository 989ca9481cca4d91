//! Named workloads, which are converted to needs with the arithmetic shown.

use units::{Bytes, Nanos, Place, Problem, ProblemCode, grouped, suggestion};
use volume::catalogue::{QuantityKind, quantity};

use crate::need::Need;

/// A need with its derivation, one line per step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Derived {
    /// The resulting need.
    pub need: Need,
    /// Steps: `checkpoint: 140 GiB / (30 min × 5 %) = 1.56 GiB/s`.
    pub lines: Vec<String>,
    /// Why the measured load is not the need.
    pub doubt: Option<LoadDoubt>,
}

/// Why a measured load says nothing about what the application needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadDoubt {
    /// It ran at a limit, and may need more: the limit, as a clause.
    Ceiling(String),
    /// The figures are averages since boot.
    SinceBoot,
}

/// A key of a workload: name, kind of quantity, default, meaning.
type Key = (&'static str, QuantityKind, &'static str, &'static str);

/// A named workload.
pub struct Workload {
    /// Name of the workload.
    pub name: &'static str,
    /// Description for users.
    pub about: &'static str,
    /// Keys with their defaults.
    pub keys: &'static [Key],
    need: fn(&[f64]) -> Derived,
}

/// All named workloads.
pub const ALL: [Workload; 6] = [
    Workload {
        name: "oltp",
        about: "database: random reads and writes of pages",
        keys: &[
            ("tps", QuantityKind::Count, "500", "transactions per second"),
            ("reads", QuantityKind::Count, "14", "pages read per transaction"),
            ("writes", QuantityKind::Count, "6", "pages written per transaction"),
            ("page", QuantityKind::Size, "8KiB", "page size"),
            ("latency", QuantityKind::Duration, "2ms", "maximum mean latency per page"),
            ("data", QuantityKind::Size, "500GiB", "database size"),
        ],
        need: oltp,
    },
    Workload {
        name: "checkpoint-writes",
        about: "training: periodic sequential writes of the model state",
        keys: &[
            ("model", QuantityKind::Size, "140GiB", "checkpoint size"),
            ("interval", QuantityKind::Duration, "30min", "time between checkpoints"),
            ("share", QuantityKind::Share, "5%", "fraction of the interval for writing"),
            ("kept", QuantityKind::Count, "3", "checkpoints kept"),
        ],
        need: checkpoint,
    },
    Workload {
        name: "dataloader",
        about: "training: random reads of samples by workers",
        keys: &[
            ("samples", QuantityKind::Count, "20000", "samples per second"),
            ("bytes", QuantityKind::Size, "128KiB", "sample size"),
            ("workers", QuantityKind::Count, "16", "workers with one sample in flight each"),
            ("dataset", QuantityKind::Size, "1TiB", "dataset size"),
        ],
        need: dataloader,
    },
    Workload {
        name: "model-weights",
        about: "inference: many machines load one model at startup",
        keys: &[
            ("size", QuantityKind::Size, "140GiB", "model size"),
            ("replicas", QuantityKind::Count, "8", "machines loading it"),
            ("time", QuantityKind::Duration, "2min", "maximum load time"),
        ],
        need: weights,
    },
    Workload {
        name: "streaming",
        about: "many concurrent sequential readers",
        keys: &[
            ("streams", QuantityKind::Count, "100", "concurrent readers"),
            ("rate", QuantityKind::Throughput, "1MB/s", "throughput per reader"),
            ("data", QuantityKind::Size, "1TiB", "size of all data"),
        ],
        need: streaming,
    },
    Workload {
        name: "boot",
        about: "booting machines: small random reads",
        keys: &[
            ("read", QuantityKind::Size, "1GiB", "bytes read per boot"),
            ("block", QuantityKind::Size, "32KiB", "read size"),
            ("time", QuantityKind::Duration, "30s", "maximum boot time"),
            ("size", QuantityKind::Size, "20GiB", "volume size"),
        ],
        need: boot,
    },
];

/// Derives a need from `NAME[,key=value]...`.
///
/// # Errors
///
/// Returns all errors of the text.
pub fn derive(text: &str) -> Result<Derived, Vec<Problem>> {
    let name = text.split(',').next().unwrap_or_default();
    let Some(workload) = ALL.iter().find(|workload| workload.name == name.trim()) else {
        let names = ALL.map(|workload| workload.name);
        let remedy = suggestion(name.trim(), names.into_iter(), || format!("use one of {}", names.join(", ")));
        let message = format!("unknown workload `{name}`");
        return Err(vec![error(message).help(remedy).at(Place::of_text("--workload", text, 0..name.len()))]);
    };
    let (mut given, mut errors) = (vec![None; workload.keys.len()], Vec::new());
    let mut at = name.len() + 1;
    for pair in text.split(',').skip(1) {
        let place = Place::of_text("--workload", text, at..at + pair.len());
        at += pair.len() + 1;
        match value(workload, pair) {
            Ok((index, _)) if given[index].is_some() => {
                let message = format!("duplicate key `{}`", workload.keys[index].0);
                errors.push(error(message).at(place).help("specify it once"));
            }
            Ok((index, value)) => given[index] = Some(value),
            Err(problem) => errors.push(problem.at(place)),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let default = |(key, given): (&Key, Option<f64>)| given.or_else(|| quantity(key.2, key.1).ok()).unwrap_or(1.0);
    let values: Vec<f64> = workload.keys.iter().zip(given).map(default).collect();
    Ok((workload.need)(&values))
}

fn error(what: String) -> Problem {
    Problem::error(ProblemCode::Plan, what)
}

fn value(workload: &Workload, pair: &str) -> Result<(usize, f64), Problem> {
    let names = || workload.keys.iter().map(|key| key.0);
    let listed = || format!("{} accepts {}", workload.name, names().collect::<Vec<_>>().join(", "));
    let (key, value) =
        pair.split_once('=').ok_or_else(|| error(format!("`{pair}` is not key=value")).help(listed()))?;
    let index = names().position(|known| known == key.trim()).ok_or_else(|| {
        error(format!("{} has no key `{}`", workload.name, key.trim())).help(suggestion(key.trim(), names(), listed))
    })?;
    let (name, measure, default, meaning) = workload.keys[index];
    let example = format!("{name} is the {meaning}, for example {name}={default}");
    let value = quantity(value, measure).map_err(|problem| problem.of(name).help(example.as_str()))?;
    // A workload needs a rate above zero.
    if value <= 0.0 && name != "writes" && name != "reads" {
        return Err(error(format!("`{pair}`: must be greater than 0")).help(example));
    }
    Ok((index, value))
}

fn bytes(value: f64) -> String {
    Bytes::new(value.round() as u64).to_string()
}

fn time(ns: f64) -> String {
    Nanos::new(ns as u64).to_string()
}

fn whole(value: f64) -> String {
    grouped(value.round() as u64)
}

/// Returns the block size for a sample or a page and the number of parts: parts are at most 1 MiB.
fn block(bytes: f64) -> (u32, f64) {
    let most = f64::from(1_u32 << 20);
    let parts = (bytes / most).ceil().max(1.0);
    let block = (bytes / parts / 512.0).ceil().max(1.0) * 512.0;
    (block as u32, parts)
}

fn oltp(values: &[f64]) -> Derived {
    let &[tps, reads, writes, page, latency, data] = values else { return unreachable_need() };
    let pages = (reads + writes).max(1.0);
    let iops = tps * pages;
    let (block, parts) = block(page);
    let [read, written, all, total] = [reads, writes, pages, iops].map(whole);
    let lines = vec![
        format!("{} transactions/s × ({read} reads + {written} writes) = {total} IOPS", whole(tps)),
        format!("{read} of {all} pages are reads = {:.0}% reads, {} each", 100.0 * reads / pages, bytes(page)),
        format!("mean latency of at most {}", time(latency)),
    ];
    let need = Need {
        iops: Some(iops * parts),
        block: Some(block),
        read_share: reads / pages,
        mean: Some(Nanos::new(latency as u64)),
        capacity: Some(data as u64),
        ..Need::default()
    };
    Derived { need, lines, doubt: None }
}

fn checkpoint(values: &[f64]) -> Derived {
    let &[model, interval, share, kept] = values else { return unreachable_need() };
    let seconds = interval / 1e9 * share;
    let rate = model / seconds;
    let lines = vec![
        format!("{} in {:.0}% of {} = {seconds:.1} s: {}/s", bytes(model), 100.0 * share, time(interval), bytes(rate)),
        format!("{} checkpoints of {} = {}", whole(kept), bytes(model), bytes(kept * model)),
        "sequential writes of 1 MiB".to_owned(),
    ];
    let need = Need {
        bytes_per_sec: Some(rate),
        block: Some(1 << 20),
        read_share: 0.0,
        sequential: true,
        capacity: Some((kept * model) as u64),
        ..Need::default()
    };
    Derived { need, lines, doubt: None }
}

fn dataloader(values: &[f64]) -> Derived {
    let &[samples, sample, workers, dataset] = values else { return unreachable_need() };
    let (block, parts) = block(sample);
    let iops = samples * parts;
    let latency = workers * parts / iops;
    let mut lines = vec![
        format!("{} samples/s × {} = {}/s", whole(samples), bytes(sample), bytes(samples * sample)),
        format!(
            "{} workers with one sample in flight each sustain this at a mean latency of {}",
            whole(workers),
            time(latency * 1e9)
        ),
    ];
    if parts > 1.0 {
        lines.push(format!("each sample is read in {} requests of {}", whole(parts), bytes(f64::from(block))));
    }
    let need = Need {
        iops: Some(iops),
        block: Some(block),
        mean: Some(Nanos::from_secs_f64(latency)),
        capacity: Some(dataset as u64),
        ..Need::default()
    };
    Derived { need, lines, doubt: None }
}

fn weights(values: &[f64]) -> Derived {
    let &[size, replicas, within, ..] = values else { return unreachable_need() };
    let rate = size / (within / 1e9);
    let lines = vec![
        format!("{} in {} = {}/s per machine", bytes(size), time(within), bytes(rate)),
        format!("{} concurrent machines = {}/s from one volume", whole(replicas), bytes(rate * replicas)),
    ];
    let need = Need {
        bytes_per_sec: Some(rate),
        block: Some(1 << 20),
        sequential: true,
        capacity: Some(size as u64),
        machines: replicas.clamp(1.0, 1e9) as u32,
        shared: true,
        ..Need::default()
    };
    Derived { need, lines, doubt: None }
}

fn streaming(values: &[f64]) -> Derived {
    let &[streams, rate, data] = values else { return unreachable_need() };
    let lines = vec![
        format!("{} streams × {}/s = {}/s", whole(streams), bytes(rate), bytes(streams * rate)),
        "interleaved streams amount to random 1 MiB reads".to_owned(),
    ];
    let need = Need {
        bytes_per_sec: Some(streams * rate),
        block: Some(1 << 20),
        capacity: Some(data as u64),
        ..Need::default()
    };
    Derived { need, lines, doubt: None }
}

fn boot(values: &[f64]) -> Derived {
    let &[read, request, within, size] = values else { return unreachable_need() };
    let (block, _) = block(request);
    let rate = read / (within / 1e9);
    let iops = rate / f64::from(block);
    let lines = vec![format!(
        "{} in {} = {}/s, {} reads/s of {}",
        bytes(read),
        time(within),
        bytes(rate),
        whole(iops),
        bytes(f64::from(block))
    )];
    let need = Need { bytes_per_sec: Some(rate), block: Some(block), capacity: Some(size as u64), ..Need::default() };
    Derived { need, lines, doubt: None }
}

/// Unreachable: every workload gets as many values as it has keys.
fn unreachable_need() -> Derived {
    Derived { need: Need::default(), lines: Vec::new(), doubt: None }
}
