//! What kind of load a trace is, in one line.

use trace::{PerOperation, RunProfile, SizeProfile, TraceFinding};
use units::{Bytes, Nanos, count, percent, significant};

use trace::TraceStudy;

use super::requests;

/// Fraction that counts as nearly all.
const NEARLY_ALL: f64 = 0.95;
/// Least mean size in bytes of requests that are called large.
const LARGE_BYTES: f64 = 65_536.0;

/// Returns the kind of load: `a transactional database: random reads of 8 KiB (65.0%), …`.
pub(crate) fn summary(report: &TraceStudy) -> String {
    let totals = &report.profile.totals;
    if totals.requests.total() == 0 {
        return "no requests".to_owned();
    }
    let (reads, writes) = (totals.requests.read, totals.requests.write);
    let of_data = (reads + writes).max(1) as f64;
    let (sizes, sequential) = (&report.profile.sizes, &report.profile.sequential);
    let sides =
        [("reads", reads, &sizes.read, &sequential.reads), ("writes", writes, &sizes.write, &sequential.writes)];
    let mut parts: Vec<String> = sides
        .into_iter()
        .filter(|(_, requests, ..)| *requests as f64 / of_data > 1.0 - NEARLY_ALL)
        .map(|(name, requests, sizes, runs)| side(report, name, requests, (sizes, runs)))
        .collect();
    let PerOperation { flush, discard, write_zeroes, other, .. } = totals.requests;
    for (name, requests) in [("flushes", flush), ("discards", discard), ("zeroing", write_zeroes), ("others", other)] {
        let fraction = requests as f64 / totals.requests.total() as f64;
        if fraction >= 0.01 {
            parts.push(format!("{name} ({})", percent(fraction)));
        }
    }
    let parts = joined(&parts);
    match class(report) {
        Some(class) => format!("like {class}: {parts}"),
        None => parts,
    }
}

/// Describes reads or writes: `random reads of 8 KiB (65.0%)`.
fn side(report: &TraceStudy, name: &str, requests: u64, (sizes, runs): (&SizeProfile, &RunProfile)) -> String {
    let order = match runs.continuing_fraction() {
        fraction if fraction >= 0.8 => "sequential",
        fraction if fraction <= 0.2 => "random",
        _ => "partly sequential",
    };
    let (low, high) = (sizes.quantile(0.1).unwrap_or(0), sizes.quantile(0.9).unwrap_or(0));
    let size =
        if low == high { Bytes::new(low).to_string() } else { format!("{} to {}", Bytes::new(low), Bytes::new(high)) };
    let fraction = requests as f64 / report.profile.totals.requests.total() as f64;
    format!("{order} {name} of {size} ({})", percent(fraction))
}

/// Joins parts with commas and a last "and".
fn joined(parts: &[String]) -> String {
    match parts {
        [] => "no reads and writes".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Returns the kind of program that has such a load, if one is typical.
fn class(report: &TraceStudy) -> Option<&'static str> {
    let profile = &report.profile;
    let has_log = report.findings.iter().any(|finding| matches!(finding, TraceFinding::LogWrites { .. }));
    let (reads, writes) = (&profile.sequential.reads, &profile.sequential.writes);
    let mean = |runs: &RunProfile| runs.bytes as f64 / runs.requests.max(1) as f64;
    let (read_bytes, all) = (reads.bytes as f64, (reads.bytes + writes.bytes).max(1) as f64);
    let is_random =
        |runs: &RunProfile| runs.requests >= 100 && runs.continuing_fraction() <= 0.3 && mean(runs) < LARGE_BYTES;
    let is_stream = |runs: &RunProfile| {
        runs.requests >= 100 && runs.continuing_bytes as f64 >= 0.8 * runs.bytes as f64 && mean(runs) >= LARGE_BYTES
    };
    match () {
        () if is_stream(reads) && read_bytes >= 0.8 * all => Some("a scan or a backup"),
        () if is_stream(writes) && read_bytes <= 0.2 * all && !has_log => Some("an ingest or a restore"),
        () if is_random(reads) && is_stream(writes) => Some("a log-structured store"),
        () if has_log && (is_random(reads) || writes.continuing_fraction() < 0.95) => Some("a transactional database"),
        () => None,
    }
}

/// Returns the rates: `20.0k IOPS and 211 MiB/s for 15.0 s, up to 1.0 times that in a second, 1.9 in flight`.
pub(crate) fn rates(report: &TraceStudy) -> String {
    let profile = &report.profile;
    let (number, bytes) = (profile.totals.requests.total(), profile.totals.bytes.total());
    let time = Nanos::new(profile.totals.issue_duration_ns);
    let (Some(iops), Some(bytes_per_second)) = (report.per_second(number), report.per_second(bytes)) else {
        let place = if number > 1 { " at one instant" } else { "" };
        return format!("{}{place}", requests(number));
    };
    let mut text = format!("{} IOPS and {}/s for {time}", count(iops), Bytes::new(bytes_per_second as u64));
    let peak = profile.arrivals.windows.iter().find(|window| window.width_ns == 1_000_000_000);
    if let Some(window) = peak {
        text += &format!("; up to {} IOPS in a second", count(window.requests_max as f64));
    }
    if let Some(depth) = profile.depth.and_then(|depth| depth.depth) {
        text += &format!("; {} in flight on average", significant(depth.mean, 2));
    }
    text
}
