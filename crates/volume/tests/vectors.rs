//! Computes every limit in the seed documents and the providers' documents from the catalogue, with the document's
//! rounding. `docs/seeds.md` lists those that contradict their own document, with the reason.

use std::fmt::Write;

use volume::catalogue::{ResolvedVolume, no_files, resolve_all};
use volume::spec::{Burst, CountedUnit, Limit};
use volume::{RequestKind, Spec};

/// A published cell.
struct Vector<'a> {
    id: &'a str,
    ask: &'a str,
    quantity: &'a str,
    printed: &'a str,
    verdict: &'a str,
    why: &'a str,
}

fn vectors(text: &str) -> Vec<Vector<'_>> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let read = |line| {
        let mut parts = str::split(line, " | ");
        let mut next = || parts.next().unwrap_or("");
        Vector { id: next(), ask: next(), quantity: next(), printed: next(), verdict: next(), why: next() }
    };
    lines.map(read).collect()
}

fn seeds() -> Vec<Vector<'static>> {
    vectors(include_str!("vectors/seeds.txt"))
}

fn resolve(ask: &str) -> ResolvedVolume {
    let resolved = resolve_all(&[ask], &no_files);
    resolved.unwrap_or_else(|problems| panic!("{ask}: {}", problems[0])).remove(0)
}

fn is_bytes(limit: &&Limit) -> bool {
    limit.counted == CountedUnit::Bytes
}

fn kind(quantity: &str) -> RequestKind {
    if quantity.starts_with("write") { RequestKind::Write } else { RequestKind::Read }
}

/// Returns the lowest rate of some limits for requests of one kind and length.
fn least<'a>(limits: impl Iterator<Item = &'a Limit>, kind: RequestKind, length: u32) -> f64 {
    limits.filter_map(|limit| limit.requests_per_sec(kind, length)).fold(f64::INFINITY, f64::min)
}

/// No limit on bytes counts more of it than there is.
const MIB: u32 = 1 << 20;

fn unit(quantity: &str) -> f64 {
    match () {
        () if quantity.contains("mibps") => 1_048_576.0,
        () if quantity.contains("gibps") => 1_073_741_824.0,
        () if quantity.contains("mbps") => 1e6,
        () => 1.0,
    }
}

/// Returns the sustained rate for `read_iops`, `write_mbps` and so on; with a block size, all limits count.
fn rate(spec: &Spec, quantity: &str) -> f64 {
    let (name, block) = match quantity.split_once('@') {
        Some((name, block)) => (name, block.parse().expect("a block size")),
        None => (quantity, 0),
    };
    let kind = kind(name);
    match (name.contains("iops"), block) {
        (true, 0) => least(spec.limits.iter().filter(|limit| !is_bytes(limit)), kind, 4096),
        (true, block) => least(spec.limits.iter(), kind, block),
        (false, 0) => least(spec.limits.iter().filter(is_bytes), kind, MIB) * f64::from(MIB) / unit(name),
        (false, block) => least(spec.limits.iter(), kind, block) * f64::from(block) / unit(name),
    }
}

/// Returns the rate that remains for writes beside a rate of reads (in operations or MB).
fn beside(spec: &Spec, quantity: &str, reads: f64) -> f64 {
    let (name, block) = quantity.split_once('@').unwrap_or((quantity, "1"));
    let block: u32 = block.parse().expect("a block size");
    let reads = reads * unit(name);
    let left = spec.limits.iter().filter_map(|limit| {
        let writes = limit.requests_per_sec(RequestKind::Write, block)?;
        let spent = limit.requests_per_sec(RequestKind::Read, block).map_or(0.0, |most| reads / most);
        (name.contains("iops") || is_bytes(&limit)).then_some(writes * (1.0 - spent))
    });
    left.fold(f64::INFINITY, f64::min) / unit(name)
}

/// Returns the bucket of credits, base rate and peak rate of a limit on bytes or on operations.
fn burst(spec: &Spec, bytes: bool) -> (f64, f64, f64) {
    let mut found = (f64::NAN, f64::NAN, f64::INFINITY);
    for limit in spec.limits.iter().filter(|limit| is_bytes(limit) == bytes) {
        let rate = limit.rate.read.expect("reads are limited") as f64;
        match limit.burst {
            Burst::Credits { most, .. } => (found.0, found.1) = (most as f64, rate),
            Burst::Jitter(_) => found.2 = found.2.min(rate),
        }
    }
    found
}

/// Returns the hours for reading a volume once, with a full bucket at the start.
fn scan_hours(spec: &Spec) -> f64 {
    let (credits, base, peak) = burst(spec, true);
    let size = spec.size.get() as f64;
    let bursting = if credits.is_nan() { f64::INFINITY } else { credits / (peak - base) };
    let fast = (peak * bursting).min(size);
    (fast / peak + if fast < size { (size - fast) / base } else { 0.0 }) / 3600.0
}

/// Parses the number in `3,000 IOPS` or `140 MiB/s`.
fn figure(text: &str) -> f64 {
    let digits: String = text.chars().take_while(|c| !c.is_whitespace()).filter(|c| *c != ',').collect();
    digits.parse().unwrap_or(f64::NAN)
}

fn key(volume: &ResolvedVolume, which: &str, name: &str) -> f64 {
    let key = volume.about.keys.iter().find(|key| key.name == name).expect("the key");
    let (least, most) = key.range.split_once(" to ").unwrap_or(("", ""));
    figure(match which {
        "key_min" => least,
        "key_max" => most,
        _ => &key.value,
    })
}

/// Returns the least whole number of GB that reaches a rate.
fn least_gb(ask: &str, quantity: &str, wanted: f64) -> f64 {
    let (mut below, mut enough) = (0_u32, 65_536_u32);
    while enough - below > 1 {
        let middle = u32::midpoint(below, enough);
        let reached = rate(&resolve(&format!("{ask},size={middle}GB")).spec, quantity) >= wanted;
        (below, enough) = if reached { (below, middle) } else { (middle, enough) };
    }
    f64::from(enough)
}

fn station_iops(spec: &Spec) -> f64 {
    let rates = spec.stations.iter().map(|station| f64::from(station.servers) * 1024e9 / station.service_fixed as f64);
    rates.fold(f64::INFINITY, f64::min)
}

fn measure(ask: &str, quantity: &str) -> f64 {
    let parts: Vec<&str> = quantity.split(':').collect();
    if let ["least_gb", what, wanted] = parts[..] {
        return least_gb(ask, what, wanted.parse().expect("a rate"));
    }
    let volume = resolve(ask);
    let spec = &volume.spec;
    let gb = spec.size.get() as f64 / 1e9;
    let price = || spec.price.as_ref().map_or(f64::NAN, |price| price.per_month);
    match parts[..] {
        [which, name] if which.starts_with("key_") => key(&volume, which, name),
        [which, name] if which.starts_with("limit_") => {
            let limit = spec.limits.iter().find(|limit| limit.name == name).expect("the limit");
            limit.rate.read.or(limit.rate.write).expect("a rate") as f64 / unit(which)
        }
        [what, "beside", reads] => beside(spec, what, reads.parse().expect("a rate")),
        ["exact_gb", iops] => figure(iops) / (rate(&resolve(&format!("{ask},size=100GB")).spec, "read_iops") / 100.0),
        ["price_per", what] => price() / rate(spec, what),
        ["latency_ms", what] => {
            let (depth, block) = what.split_once('@').expect("a depth and a block");
            figure(depth) * 1e3 / rate(spec, &format!("read_iops@{block}"))
        }
        ["price"] => price(),
        ["price_per_gb"] => price() / gb,
        ["station_iops"] => station_iops(spec),
        ["burst_iops"] => burst(spec, false).2,
        ["burst_mbps"] => burst(spec, true).2 / 1e6,
        ["burst_mibps"] => burst(spec, true).2 / 1_048_576.0,
        ["bucket_ops"] => burst(spec, false).0,
        ["bucket_mb"] => burst(spec, true).0 / 1e6,
        ["burst_s"] => Some(burst(spec, false)).map_or(0.0, |(most, base, peak)| most / (peak - base)),
        ["refill_s"] => burst(spec, false).0 / burst(spec, false).1,
        ["scan_hours"] => scan_hours(spec),
        ["breakeven_kb"] => rate(spec, "read_mbps") * 1e3 / rate(spec, "read_iops"),
        [what] if what.starts_with("units@") => {
            let block = figure(&what["units@".len()..]) as u32;
            let limit = spec.limits.iter().find(|limit| !is_bytes(limit)).expect("a limit on operations");
            limit.rate.read.expect("a rate") as f64
                / limit.requests_per_sec(RequestKind::Read, block).expect("it counts")
        }
        [what] if what.ends_with("_per_gb") => rate(spec, &what[..what.len() - "_per_gb".len()]) / gb,
        [what] => rate(spec, what),
        _ => panic!("no quantity {quantity}"),
    }
}

/// Evaluates a quantity with trailing arithmetic: `price*12/720`.
fn value(vector: &Vector) -> f64 {
    let end = vector.quantity.find(['*', '/']).unwrap_or(vector.quantity.len());
    let mut value = measure(vector.ask, &vector.quantity[..end]);
    let mut rest = &vector.quantity[end..];
    while let Some(operator) = rest.chars().next() {
        let end = rest[1..].find(['*', '/']).map_or(rest.len(), |at| at + 1);
        let factor = figure(&rest[1..end]);
        value = if operator == '*' { value * factor } else { value / factor };
        rest = &rest[end..];
    }
    value
}

/// Reports whether a value equals the printed one with the document's rounding.
fn agrees(vector: &Vector, value: f64) -> bool {
    let printed = figure(vector.printed);
    let decimals = vector.printed.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let step = 10_f64.powi(-(decimals as i32));
    // Rates are whole operations and bytes per second.
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * b.abs().max(1e-3);
    match vector.verdict {
        "exact" | "given" => near(value, printed),
        "rounded" => (value - printed).abs() <= step * 0.500_001,
        "truncated" => near((value / step).floor() * step, printed),
        "ceiled" => near((value / step).ceil() * step, printed),
        "whole" => near(value, printed.floor()),
        "coarse" => (value / printed - 1.0).abs() <= 0.001,
        "approx" => (value / printed - 1.0).abs() <= 0.025,
        other => panic!("{}: no verdict {other}", vector.id),
    }
}

fn check(vectors: &[Vector]) {
    let mut wrong = String::new();
    for vector in vectors {
        let value = value(vector);
        let good = match vector.verdict {
            "mismatch" => !agrees(&Vector { verdict: "rounded", ..*vector }, value) && !vector.why.is_empty(),
            _ => agrees(vector, value),
        };
        if !good {
            let Vector { id, ask, quantity, printed, verdict, .. } = vector;
            let _ = writeln!(wrong, "{id}: {ask} {quantity} is {value}, printed {printed} ({verdict})");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn the_catalogue_reproduces_every_limit_of_the_seed_documents() {
    let seeds = seeds();
    assert!(seeds.len() > 400);
    check(&seeds);
}

#[test]
fn the_catalogue_reproduces_every_example_of_the_providers() {
    check(&vectors(include_str!("vectors/providers.txt")));
}

/// Returns the table of contradictions in `docs/seeds.md`.
fn contradictions() -> String {
    let mut table = "| cell | printed | by the rules | why |\n|---|---|---|---|\n".to_owned();
    for vector in seeds().iter().filter(|vector| vector.verdict == "mismatch") {
        let value = (value(vector) * 1e4).round() / 1e4;
        let _ = writeln!(table, "| `{}` | {} | {value} | {} |", vector.id, vector.printed, vector.why);
    }
    table
}

/// Statements outside the documents' tables of limits, with the values that follow from their other figures.
const STATEMENTS: [(&str, &str, f64, &str); 7] = [
    ("000, headline", "2,000 IOPS", 1.0 / 0.002, "fio's default depth is 1, and the document reckons with 2 ms"),
    (
        "000, depth for 350,000 IOPS",
        "640+",
        350_000.0 * 0.002,
        "IOPS x 2 ms, as in its other rows; 640 are for 320,000",
    ),
    (
        "002, IOPS of a channel",
        "187,500 IOPS",
        25_000.0 / 0.133,
        "(100 MB / 4 KB) / 0.133 as written; 187,500 is with 0.1333",
    ),
    ("002, latency of a drive", "12.5 ms", 8.5 + 4.17, "the seek of 8.5 ms and half a turn of 4.17 ms"),
    ("003, number of jobs", "12 jobs", 12.0 * 12.0, "12 sections, and `numjobs=12` in `[global]`"),
    ("003, in flight for each disk", "8 OIO", 12.0 * 8.0, "`iodepth=8` of each of the 12 jobs of a disk"),
    ("003, latency", "574 us", 570.3, "fio's output below it; 574 us are 1,158 in flight, of 1,152 that there are"),
];

fn statements() -> String {
    let mut table = "| where | printed | follows | why |\n|---|---|---|---|\n".to_owned();
    for (place, printed, follows, why) in STATEMENTS {
        let _ = writeln!(table, "| {place} | {printed} | {} | {why} |", (follows * 100.0).round() / 100.0);
    }
    table
}

#[test]
fn documented_contradictions_are_complete() {
    let page = include_str!("../../../docs/seeds.md");
    let statements = statements();
    assert!(page.contains(&statements), "docs/seeds.md should have this table:\n{statements}");
    let table = contradictions();
    assert!(page.contains(&table), "docs/seeds.md should have this table:\n{table}");
}
