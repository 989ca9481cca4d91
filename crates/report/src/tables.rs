//! Tables as CSV, Markdown and OpenMetrics. A row is one kind of operation of one result, or its syncs.

use std::borrow::Cow;

use analyse::Verdict;
use record::{DirectionResult, JobResult, KnownTransfers, LatencyStats, Measured, Run};
use results::openmetrics::of_runs::{BANDWIDTH, BYTES, ERRORS, IOPS, OPERATIONS, PERCENTILES, RESPONSE, SERVICE};
use results::openmetrics::{Metric, OpenMetrics, label};
use units::{Bytes, Nanos, count};

use crate::{escape, words};

/// A row: a result, and one of its kinds of operations or its syncs, with their name.
type Row<'a> = (&'a JobResult, &'static str, Cow<'a, DirectionResult>);

fn rows(run: &Run) -> impl Iterator<Item = Row<'_>> {
    run.jobs.iter().flat_map(|job| {
        let kinds = job.result.used_kinds().map(move |(kind, result)| (job, kind.name(), Cow::Borrowed(result)));
        kinds.chain(syncs(&job.result).map(|result| (job, "sync", Cow::Owned(result))))
    })
}

/// Returns the syncs of a result as operations without bytes; `None` without syncs.
fn syncs(result: &Measured) -> Option<DirectionResult> {
    (result.sync.count > 0).then(|| DirectionResult {
        ios: result.sync.count,
        runtime_ns: result.elapsed_ns(),
        service: result.sync.clone(),
        ..DirectionResult::default()
    })
}

/// A run and, if there are several, its name.
type Among<'a> = (Option<&'a str>, &'a Run);

fn named<'a>(runs: &[ReportedRun<'a>]) -> Vec<Among<'a>> {
    runs.iter().map(|shown| ((runs.len() > 1).then_some(shown.name), shown.run)).collect()
}

/// Returns CSV with a header. Column names contain the units; values that were not measured are empty.
#[must_use]
pub fn csv(run: &Run) -> String {
    csv_rows(&[(None, run)])
}

/// Returns CSV of several runs, whose names are the first column.
pub(crate) fn csv_of(runs: &[ReportedRun<'_>]) -> String {
    csv_rows(&named(runs))
}

fn csv_rows(runs: &[Among<'_>]) -> String {
    let mut out = String::from(if runs.iter().any(|(name, _)| name.is_some()) { "run," } else { "" });
    out.push_str("job,group,workers,kind,ios,bytes,runtime_s,iops,bytes_per_s");
    for latency in ["service", "response"] {
        out.push_str(&format!(",{latency}_mean_ns,{latency}_stddev_ns"));
        PERCENTILES.iter().for_each(|percent| out.push_str(&format!(",{latency}_p{percent}_ns")));
        out.push_str(&format!(",{latency}_max_ns"));
    }
    out.push_str(",error\n");
    for (name, run) in runs {
        for row in rows(run) {
            out.push_str(&name.map_or_else(String::new, |name| format!("{},", escape::csv(name))));
            csv_row(&mut out, row);
        }
    }
    out
}

fn csv_row(out: &mut String, (job, kind, result): Row<'_>) {
    let known = job.known_transfers(&result);
    let fixed =
        |value: Option<f64>, decimals: usize| value.map_or_else(String::new, |value| format!("{value:.decimals$}"));
    let whole = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    let mut fields = vec![
        escape::csv(&job.name),
        job.group.to_string(),
        job.workers.to_string(),
        kind.to_owned(),
        whole(known.ios),
        whole(known.bytes),
        fixed(known.runtime_ns.map(|ns| ns as f64 / 1e9), 3),
        fixed(known.iops, 1),
        fixed(known.bytes_per_second, 0),
    ];
    for latency in [&result.service, &result.response] {
        let known = job.known_latency(latency);
        fields.extend([fixed(known.mean_ns, 0), fixed(known.stddev_ns, 0)]);
        // A lower bound is no value.
        let exact = |percent: &f64| latency.percentile(*percent).filter(|percentile| !percentile.at_least);
        fields.extend(PERCENTILES.iter().map(|percent| whole(exact(percent).map(|percentile| percentile.ns))));
        fields.push(whole(known.max_ns));
    }
    fields.push(job.error.to_string());
    out.push_str(&fields.join(","));
    out.push('\n');
}

/// Returns a Markdown table, followed by the verdicts.
#[must_use]
pub fn markdown(run: &Run, verdicts: &[Verdict]) -> String {
    let mut out = String::from(
        "| job | kind | IOPS | bandwidth | latency | mean | p50 | p95 | p99 | p99.9 | max |\n\
         |---|---|--:|--:|---|--:|--:|--:|--:|--:|--:|\n",
    );
    for row in rows(run) {
        let result = &row.2;
        let total = result.total_instead();
        if total.is_none() || result.service.count > 0 {
            markdown_row(&mut out, &row, "service", &result.service);
        }
        if let Some(total) = total {
            markdown_row(&mut out, &row, "latency", total);
        }
        if result.response.count > 0 {
            markdown_row(&mut out, &row, "response", &result.response);
        }
    }
    for (job, verified) in run.jobs.iter().filter_map(|job| Some((job, job.verified.as_ref()?))) {
        out.push_str(&format!(
            "\n**{}**: {}\n",
            escape::markdown(&job.name),
            escape::markdown(&words::verified(verified))
        ));
    }
    for (job, replay) in run.jobs.iter().filter_map(|job| Some((job, job.replay.as_ref()?))) {
        let lines = std::iter::once(words::replay(replay)).chain(words::replay_notes(replay));
        let text = lines.collect::<Vec<_>>().join("; ");
        out.push_str(&format!("\n**{}**: {}\n", escape::markdown(&job.name), escape::markdown(&text)));
    }
    for verdict in verdicts {
        if let Some(job) = run.jobs.get(verdict.job) {
            let finding = words::finding(&verdict.headline, job);
            out.push_str(&format!("\n**{}**: {}\n", escape::markdown(&job.name), escape::markdown(&finding)));
        }
    }
    out
}

/// Returns Markdown of several runs, one section each.
pub(crate) fn markdown_of(runs: &[ReportedRun<'_>]) -> String {
    let section = |shown: &ReportedRun<'_>| {
        let table = markdown(shown.run, shown.verdicts);
        if runs.len() > 1 { format!("## {}\n\n{table}", escape::markdown(shown.name)) } else { table }
    };
    runs.iter().map(section).collect::<Vec<_>>().join("\n")
}

fn markdown_row(out: &mut String, (job, kind, result): &Row<'_>, name: &str, latency: &LatencyStats) {
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let time = |ns: Option<u64>| or_dash(ns.map(|ns| Nanos::new(ns).to_string()));
    let (transfers, times) = (job.known_transfers(result), job.known_latency(latency));
    let mut cells = vec![
        escape::markdown(&job.name),
        (*kind).to_owned(),
        or_dash(transfers.iops.map(count)),
        or_dash(transfers.bytes_per_second.map(|bytes| format!("{}/s", Bytes::new(bytes as u64)))),
        name.to_owned(),
        time(times.mean_ns.map(|ns| ns as u64)),
    ];
    cells.extend(PERCENTILES[..4].iter().map(|&percent| words::percentile(latency.percentile(percent))));
    cells.push(time(times.max_ns));
    out.push_str(&format!("| {} |\n", cells.join(" | ")));
}

/// Returns OpenMetrics text with job, group and kind as labels, and the worker's number if several workers have the
/// same name.
#[must_use]
pub fn open_metrics(run: &Run) -> String {
    metrics(&[(None, run)])
}

/// Returns OpenMetrics text of several runs, with their names as labels.
pub(crate) fn open_metrics_of(runs: &[ReportedRun<'_>]) -> String {
    metrics(&named(runs))
}

/// A row with the labels of its figures.
type Labelled<'a> = (String, Row<'a>);

fn metrics(runs: &[Among<'_>]) -> String {
    let mut out = OpenMetrics::default();
    let all: Vec<Labelled<'_>> =
        runs.iter().flat_map(|among| rows(among.1).map(move |row| (labels(*among, &row), row))).collect();
    type Figure = fn(&KnownTransfers) -> Option<f64>;
    let figures: [(Metric, Figure); 4] = [
        (OPERATIONS, |known| known.ios.map(|ios| ios as f64)),
        (BYTES, |known| known.bytes.map(|bytes| bytes as f64)),
        (IOPS, |known| known.iops),
        (BANDWIDTH, |known| known.bytes_per_second),
    ];
    for (metric, figure) in figures {
        out.family(metric);
        for (labels, (job, _, result)) in &all {
            figure(&job.known_transfers(result)).iter().for_each(|value| out.sample(labels, *value));
        }
    }
    summary(&mut out, &all, SERVICE, |result| &result.service);
    summary(&mut out, &all, RESPONSE, |result| &result.response);
    out.family(ERRORS);
    for among in runs {
        among.1.jobs.iter().for_each(|job| out.sample(&labels_of_job(*among, job), job.result.errors as f64));
    }
    out.finish()
}

fn summary(out: &mut OpenMetrics, all: &[Labelled<'_>], metric: Metric, pick: fn(&DirectionResult) -> &LatencyStats) {
    let counted: Vec<&Labelled<'_>> = all.iter().filter(|(_, row)| pick(&row.2).count > 0).collect();
    if counted.is_empty() {
        return;
    }
    out.family(metric);
    for (labels, row) in counted {
        let (job, _, result) = row;
        let latency = pick(result);
        let exact = |percent: f64| latency.percentile(percent).filter(|percentile| !percentile.at_least);
        let known = |percent: f64| exact(percent).map(|percentile| (percent, percentile.ns as f64 / 1e9));
        let quantiles = PERCENTILES.into_iter().filter_map(known);
        match (job.known_transfers(result).ios, job.known_latency(latency).mean_ns) {
            (Some(_), Some(_)) => out.summary(labels, quantiles, latency.sum_ns() / 1e9, latency.count),
            _ => out.quantiles(labels, quantiles),
        }
    }
}

fn labels(among: Among<'_>, (job, kind, _): &Row<'_>) -> String {
    format!("{},{}", labels_of_job(among, job), label("kind", kind))
}

fn labels_of_job((name, run): Among<'_>, job: &JobResult) -> String {
    let same = |other: &&JobResult| other.name == job.name && other.group == job.group;
    let worker =
        if run.jobs.iter().filter(same).count() > 1 { format!(",worker=\"{}\"", job.number) } else { String::new() };
    let run = name.map_or_else(String::new, |name| format!("{},", label("run", name)));
    format!("{run}{},group=\"{}\"{worker}", label("job", &job.name), job.group)
}

/// A run with the context that its record lacks.
#[derive(Clone, Copy, Debug)]
pub struct ReportedRun<'a> {
    /// Name, to distinguish the run from others.
    pub name: &'a str,
    /// Record of the run.
    pub run: &'a Run,
    /// Findings about the run.
    pub verdicts: &'a [Verdict],
    /// Text of the job file, if it was saved.
    pub written: Option<&'a str>,
}
