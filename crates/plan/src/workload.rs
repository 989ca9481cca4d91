//! Named workloads, which are converted to needs with the arithmetic shown.

use units::{Bytes, Nanos, Place, Problem, ProblemCode, grouped, suggestion};
use volume::catalogue::{QuantityKind, quantity};

use crate::need::Need;

/// A need with its derivation, one line per step.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// The resulting need.
    pub need: Need,
    /// Steps: `checkpoint: 140 GiB / (30 min × 5 %) = 1.56 GiB/s`.
    pub lines: Vec<String>,
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
        about: "a database: random reads and writes of pages",
        keys: &[
            ("tps", QuantityKind::Count, "500", "transactions a second"),
            ("reads", QuantityKind::Count, "14", "pages read by each"),
            ("writes", QuantityKind::Count, "6", "pages written by each"),
            ("page", QuantityKind::Size, "8KiB", "bytes of a page"),
            ("latency", QuantityKind::Duration, "2ms", "the longest mean latency of a page"),
            ("data", QuantityKind::Size, "500GiB", "bytes of the database"),
        ],
        need: oltp,
    },
    Workload {
        name: "checkpoint-writes",
        about: "training: the model's state written now and then, sequentially",
        keys: &[
            ("model", QuantityKind::Size, "140GiB", "bytes of a checkpoint"),
            ("interval", QuantityKind::Duration, "30min", "from one checkpoint to the next"),
            ("share", QuantityKind::Share, "5%", "how much of that time writing may take"),
            ("kept", QuantityKind::Count, "3", "checkpoints that are kept"),
        ],
        need: checkpoint,
    },
    Workload {
        name: "dataloader",
        about: "training: samples read at random by workers",
        keys: &[
            ("samples", QuantityKind::Count, "20000", "samples a second"),
            ("bytes", QuantityKind::Size, "128KiB", "bytes of a sample"),
            ("workers", QuantityKind::Count, "16", "workers, each with one sample in flight"),
            ("dataset", QuantityKind::Size, "1TiB", "bytes of all samples"),
        ],
        need: dataloader,
    },
    Workload {
        name: "model-weights",
        about: "inference: one model read by many machines when they start",
        keys: &[
            ("size", QuantityKind::Size, "140GiB", "bytes of the model"),
            ("replicas", QuantityKind::Count, "8", "machines that read it"),
            ("time", QuantityKind::Duration, "2min", "how long loading may take"),
        ],
        need: weights,
    },
    Workload {
        name: "streaming",
        about: "many readers, each from front to back",
        keys: &[
            ("streams", QuantityKind::Count, "100", "readers at a time"),
            ("rate", QuantityKind::Throughput, "1MB/s", "bytes a second of each"),
            ("data", QuantityKind::Size, "1TiB", "bytes of all that may be read"),
        ],
        need: streaming,
    },
    Workload {
        name: "boot",
        about: "machines that start: small random reads",
        keys: &[
            ("read", QuantityKind::Size, "1GiB", "bytes read while starting"),
            ("block", QuantityKind::Size, "32KiB", "bytes of one read"),
            ("time", QuantityKind::Duration, "30s", "how long starting may take"),
            ("size", QuantityKind::Size, "20GiB", "bytes of the volume"),
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
        let remedy = suggestion(name.trim(), names.into_iter(), || format!("there are {}", names.join(", ")));
        let message = format!("there is no workload `{name}`");
        return Err(vec![error(message).help(remedy).at(Place::of_text("--workload", text, 0..name.len()))]);
    };
    let (mut given, mut errors) = (vec![None; workload.keys.len()], Vec::new());
    let mut at = name.len() + 1;
    for pair in text.split(',').skip(1) {
        let place = Place::of_text("--workload", text, at..at + pair.len());
        at += pair.len() + 1;
        match value(workload, pair) {
            Ok((index, _)) if given[index].is_some() => {
                let message = format!("`{}` is given twice", workload.keys[index].0);
                errors.push(error(message).at(place).help("give it once"));
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
    let listed = || format!("{} takes {}", workload.name, names().collect::<Vec<_>>().join(", "));
    let (key, value) =
        pair.split_once('=').ok_or_else(|| error(format!("`{pair}` is not of the form key=value")).help(listed()))?;
    let index = names().position(|known| known == key.trim()).ok_or_else(|| {
        error(format!("{} has no key `{}`", workload.name, key.trim())).help(suggestion(key.trim(), names(), listed))
    })?;
    let (name, measure, default, meaning) = workload.keys[index];
    let example = format!("write {meaning}, as in {name}={default}");
    let value = quantity(value, measure).map_err(|problem| problem.of(name).help(example.as_str()))?;
    // A workload needs a rate above zero.
    if value <= 0.0 && name != "writes" && name != "reads" {
        return Err(error(format!("`{pair}` is nothing")).help(example));
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
        format!("{read} reads of {all} pages = {:.0} % reads, of {} each", 100.0 * reads / pages, bytes(page)),
        format!("each within {} on average", time(latency)),
    ];
    let need = Need {
        iops: Some(iops * parts),
        block: Some(block),
        read_share: reads / pages,
        mean: Some(Nanos::new(latency as u64)),
        capacity: Some(data as u64),
        ..Need::default()
    };
    Derived { need, lines }
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
    Derived { need, lines }
}

fn dataloader(values: &[f64]) -> Derived {
    let &[samples, sample, workers, dataset] = values else { return unreachable_need() };
    let (block, parts) = block(sample);
    let iops = samples * parts;
    let latency = workers * parts / iops;
    let mut lines = vec![
        format!("{} samples/s × {} = {}/s", whole(samples), bytes(sample), bytes(samples * sample)),
        format!(
            "{} workers with a sample in flight each keep up if one takes {} on average",
            whole(workers),
            time(latency * 1e9)
        ),
    ];
    if parts > 1.0 {
        lines.push(format!("a sample is read in {} parts of {}", whole(parts), bytes(f64::from(block))));
    }
    let need = Need {
        iops: Some(iops),
        block: Some(block),
        mean: Some(Nanos::from_secs_f64(latency)),
        capacity: Some(dataset as u64),
        ..Need::default()
    };
    Derived { need, lines }
}

fn weights(values: &[f64]) -> Derived {
    let &[size, replicas, within, ..] = values else { return unreachable_need() };
    let rate = size / (within / 1e9);
    let lines = vec![
        format!("{} in {} = {}/s for each machine", bytes(size), time(within), bytes(rate)),
        format!("{} machines at a time = {}/s from one volume", whole(replicas), bytes(rate * replicas)),
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
    Derived { need, lines }
}

fn streaming(values: &[f64]) -> Derived {
    let &[streams, rate, data] = values else { return unreachable_need() };
    let lines = vec![
        format!("{} streams × {}/s = {}/s", whole(streams), bytes(rate), bytes(streams * rate)),
        "together they read 1 MiB here and 1 MiB there: random reads".to_owned(),
    ];
    let need = Need {
        bytes_per_sec: Some(streams * rate),
        block: Some(1 << 20),
        capacity: Some(data as u64),
        ..Need::default()
    };
    Derived { need, lines }
}

fn boot(values: &[f64]) -> Derived {
    let &[read, request, within, size] = values else { return unreachable_need() };
    let (block, _) = block(request);
    let rate = read / (within / 1e9);
    let iops = rate / f64::from(block);
    let lines = vec![format!(
        "{} in {} = {}/s, {} reads of {} a second",
        bytes(read),
        time(within),
        bytes(rate),
        whole(iops),
        bytes(f64::from(block))
    )];
    let need = Need { bytes_per_sec: Some(rate), block: Some(block), capacity: Some(size as u64), ..Need::default() };
    Derived { need, lines }
}

/// Unreachable: every workload gets as many values as it has keys.
fn unreachable_need() -> Derived {
    Derived { need: Need::default(), lines: Vec::new() }
}
