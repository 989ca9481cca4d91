//! The table of latencies in a job's report.

use record::{JobResult, LatencyStats, Measured};
use units::Nanos;

/// Width of a column of percentiles.
const COLUMN: usize = 9;

/// Width of the column `mean ± deviation`.
const MEAN: usize = 19;

const PERCENTILES: [(f64, &str); 6] =
    [(50.0, "p50"), (99.0, "p99"), (99.9, "p99.9"), (95.0, "p95"), (99.99, "p99.99"), (90.0, "p90")];

/// Returns the lines of the table, with labels of `indent` characters; empty if no latencies were recorded. The slowest
/// operations are marked if their latencies are assumed.
pub(super) fn table(job: &JobResult, width: usize, indent: usize, is_assumed: bool) -> Vec<String> {
    let rows = rows(&job.result);
    if rows.is_empty() {
        return Vec::new();
    }
    let percentiles = columns(width - indent - MEAN - COLUMN);
    let mut head = format!("{:indent$}{:>MEAN$}", "", "mean ± deviation");
    percentiles.iter().for_each(|(_, name)| head.push_str(&format!("{name:>COLUMN$}")));
    head.push_str(&format!("{:>COLUMN$}", "max"));
    let mut lines = vec![head];
    lines.extend(rows.iter().map(|(label, latency)| row(label, latency, job, (&percentiles, is_assumed), indent)));
    lines
}

/// Returns the percentiles that fit, in ascending order. [`PERCENTILES`] is in order of importance.
fn columns(room: usize) -> Vec<(f64, &'static str)> {
    let mut chosen = PERCENTILES[..(room / COLUMN).clamp(1, PERCENTILES.len())].to_vec();
    chosen.sort_by(|a, b| a.0.total_cmp(&b.0));
    chosen
}

/// Returns the service times of each kind, total latencies where only these are known or have percentiles, response times,
/// if any, and the times of syncs.
pub(crate) fn rows(result: &Measured) -> Vec<(String, &LatencyStats)> {
    let several = result.kinds().filter(|(_, kind)| kind.ios > 0).count() > 1;
    let mut rows = Vec::new();
    for (kind, done) in result.kinds() {
        let label = |what: &str| if several { format!("{} {what}", kind.name()) } else { what.to_owned() };
        rows.push((label("service"), &done.service));
        rows.extend(done.total_instead().map(|total| (label("latency"), total)));
        rows.push((label("response"), &done.response));
    }
    rows.push(("sync".to_owned(), &result.sync));
    rows.retain(|(_, latency)| latency.count > 0);
    rows
}

fn row(
    label: &str,
    latency: &LatencyStats,
    job: &JobResult,
    (percentiles, is_assumed): (&[(f64, &str)], bool),
    indent: usize,
) -> String {
    let time = |ns: Option<f64>| ns.map_or_else(|| "-".to_owned(), |ns| Nanos::new(ns.round() as u64).to_string());
    let known = job.known_latency(latency);
    let mean = format!("{} ± {}", time(known.mean_ns), time(known.stddev_ns));
    let mut line = format!("  {label:<width$}{mean:>MEAN$}", width = indent - 2);
    for (percent, _) in percentiles {
        let value = crate::words::modelled_percentile(*percent, latency.percentile(*percent), is_assumed);
        line.push_str(&format!("{value:>COLUMN$}"));
    }
    let most = time(known.max_ns.map(|ns| ns as f64));
    line.push_str(&format!("{:>COLUMN$}", if is_assumed && most != "-" { format!("~{most}") } else { most }));
    line
}
