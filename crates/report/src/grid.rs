//! A grid of runs that differ in a few settings, as text, Markdown, CSV and JSON.

use analyse::{Code, Verdict};
use record::{DataKind, JobResult, Run};
use serde::Serialize;
use units::{Bytes, Nanos, count};

use crate::escape;

/// One run of a grid.
#[derive(Clone, Debug, Serialize)]
pub struct GridPoint {
    /// Names and values of its settings, in the order of the sweep options.
    pub settings: Vec<(String, String)>,
    /// The run.
    #[serde(flatten)]
    pub run: Run,
    /// Findings about the run.
    pub verdicts: Vec<Verdict>,
}

#[derive(Serialize)]
struct GridDocument<'a> {
    sweep: &'a [GridPoint],
}

const HEAD: [&str; 7] = ["IOPS", "bandwidth", "mean", "p50", "p99", "p99.9", "limit"];

/// Returns one row per kind of operation in a result of a point.
fn rows(points: &[GridPoint]) -> impl Iterator<Item = (&GridPoint, usize, &JobResult, DataKind)> {
    points.iter().flat_map(|point| {
        point.run.jobs.iter().enumerate().flat_map(move |(index, job)| {
            let used = job.result.kinds().filter(|(_, result)| result.ios > 0);
            used.map(move |(kind, _)| (point, index, job, kind))
        })
    })
}

fn table(points: &[GridPoint]) -> (Vec<String>, Vec<Vec<String>>) {
    let jobs = points.iter().any(|point| point.run.jobs.len() > 1);
    let kinds = rows(points).any(|(_, _, job, _)| job.result.kinds().filter(|(_, result)| result.ios > 0).count() > 1);
    let settings = points.first().map_or(&[][..], |point| &point.settings);
    let mut head: Vec<String> = settings.iter().map(|(name, _)| name.clone()).collect();
    head.extend(jobs.then(|| "job".to_owned()));
    head.extend(kinds.then(|| "kind".to_owned()));
    head.extend(HEAD.map(str::to_owned));
    let body = rows(points).map(|(point, index, job, kind)| {
        let mut cells: Vec<String> = point.settings.iter().map(|(_, value)| value.clone()).collect();
        cells.extend(jobs.then(|| job.name.clone()));
        cells.extend(kinds.then(|| kind.name().to_owned()));
        let result = job.result.kind(kind);
        let time = |ns: Option<u64>| ns.map_or_else(|| "-".to_owned(), |ns| Nanos::new(ns).to_string());
        let mean = (result.service.count > 0).then_some(result.service.mean_ns.round() as u64);
        cells.push(count(result.iops()));
        cells.push(format!("{}/s", Bytes::new(result.bytes_per_second() as u64)));
        cells.push(time(mean));
        cells.extend([50.0, 99.0, 99.9].map(|percent| time(result.service.percentile_ns(percent))));
        cells.push(limit(point, index));
        cells
    });
    (head, body.collect())
}

/// Describes the limit of a result in a few words.
fn limit(point: &GridPoint, job: usize) -> String {
    let verdict = point.verdicts.iter().find(|verdict| verdict.job == job);
    let Some(finding) = verdict.map(|verdict| &verdict.headline) else { return String::new() };
    match (finding.code, &finding.subject) {
        (Code::ModelHeldBack, Some(stage)) => stage.clone(),
        (Code::ModelNotReached, _) => "latency".to_owned(),
        (Code::RateKept, _) => "the requested rate".to_owned(),
        (Code::QueueTooShallow, _) => "queue depth".to_owned(),
        _ => String::new(),
    }
}

/// Returns the grid as text: settings on the left, results on the right.
#[must_use]
pub fn grid_text(points: &[GridPoint]) -> String {
    let (head, body) = table(points);
    let width =
        |column: usize| std::iter::once(&head).chain(&body).map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
            // Figures are aligned to the right; the last column is text.
            if column + 1 == row.len() { cell.clone() } else { format!("{cell:>width$}") }
        });
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    std::iter::once(&head).chain(&body).map(line).collect()
}

/// Returns the grid as JSON: `sweep` holds the points, each a run with its `settings`.
#[must_use]
pub fn grid_json(points: &[GridPoint]) -> String {
    crate::own::pretty(&GridDocument { sweep: points })
}

/// Returns CSV: the settings, then the columns of [`crate::csv`].
pub(crate) fn grid_csv(points: &[GridPoint]) -> String {
    let mut out = String::new();
    for (index, point) in points.iter().enumerate() {
        let names: Vec<String> = point.settings.iter().map(|(name, _)| escape::csv(name)).collect();
        let values: Vec<String> = point.settings.iter().map(|(_, value)| escape::csv(value)).collect();
        for (line, text) in crate::csv(&point.run).lines().enumerate() {
            let lead = if line == 0 { names.join(",") } else { values.join(",") };
            if line > 0 || index == 0 {
                out.push_str(&format!("{lead},{text}\n"));
            }
        }
    }
    out
}

/// Returns a Markdown table with the columns of [`grid_text`].
pub(crate) fn grid_markdown(points: &[GridPoint]) -> String {
    let (head, body) = table(points);
    let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let line = |cells: &[String]| row(&cells.iter().map(|cell| escape::markdown(cell)).collect::<Vec<_>>());
    let rule = vec!["--:".to_owned(); head.len()];
    let rows: String = body.iter().map(|row| line(row)).collect();
    format!("{}{}{rows}", line(&head), row(&rule))
}
