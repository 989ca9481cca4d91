//! A grid of runs that differ in a few settings, as text, Markdown and CSV.

use analyse::Code;
use record::{DataKind, JobResult};
use results::grid::{GridPoint, GridResult};
use units::{Bytes, Nanos, count};

use crate::answer::AnswerText;
use crate::escape;
use crate::sheet::{Sheet, SheetStyle};
use results::answer::{Answer, Outcome};

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
        // Under a rate, operations also wait for a place in the queue.
        let latency = result.in_blocks();
        let mean = (latency.count > 0).then_some(latency.mean_ns.round() as u64);
        cells.push(count(result.iops()));
        cells.push(format!("{}/s", Bytes::new(result.bytes_per_second() as u64)));
        cells.push(time(mean));
        cells.extend([50.0, 99.0, 99.9].map(|percent| crate::words::percentile(latency.percentile(percent))));
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

/// Maximum width of an aligned column in characters.
const WIDTH_MAX: usize = 200;

/// Returns the grid as text: settings on the left, results on the right, then what is missing.
#[must_use]
pub fn text(document: &GridResult, style: SheetStyle) -> String {
    let (head, body) = table(&document.points);
    let width =
        |column: usize| std::iter::once(&head).chain(&body).map(|row| row[column].chars().count()).max().unwrap_or(0);
    // Formatting panics above a width of 65,535.
    let widths: Vec<usize> = (0..head.len()).map(|column| width(column).min(WIDTH_MAX)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
            // Figures are aligned to the right; the last column is text.
            if column + 1 == row.len() { cell.clone() } else { format!("{cell:>width$}") }
        });
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    let missing = document.missing.iter().map(|missing| format!("\n{missing}\n"));
    let mut sheet = Sheet::new(style.readable(), 0);
    if let Some(answer) = answer(document) {
        answer.write(&mut sheet);
        sheet.gap();
    }
    sheet.finish() + &std::iter::once(&head).chain(&body).map(line).chain(missing).collect::<String>()
}

/// Answers which point is fastest, and from which one on there is no more to gain.
fn answer(document: &GridResult) -> Option<Answer> {
    /// Fraction of the highest rate that counts as all of it.
    const NEARLY: f64 = 0.98;
    let rate = |point: &GridPoint| {
        point.run.jobs.iter().flat_map(|job| job.result.kinds().map(|(_, kind)| kind.iops())).sum::<f64>()
    };
    let latency = |point: &GridPoint| {
        let kinds = point.run.jobs.iter().flat_map(|job| job.result.kinds().map(|(_, kind)| kind.in_blocks()));
        let (sum, count) = kinds.fold((0.0, 0), |(sum, count), latency| {
            (sum + latency.mean_ns * latency.count as f64, count + latency.count)
        });
        (count > 0).then(|| format!(" at {}", Nanos::new((sum / count as f64).round() as u64)))
    };
    let most = document.points.iter().map(&rate).fold(0.0, f64::max);
    let best = document.points.iter().find(|point| rate(point) >= NEARLY * most && most > 0.0)?;
    let last = document.points.last().filter(|last| last.label() != best.label());
    let words = |point: &GridPoint| {
        format!("{} gives {} IOPS{}", point.label(), count(rate(point)), latency(point).unwrap_or_default())
    };
    let limit = Some(limit(best, 0)).filter(|limit| !limit.is_empty());
    let limit = limit.map_or_else(String::new, |limit| format!(" (limit: {limit})"));
    let rest = last.map_or_else(String::new, |last| format!("; {}", words(last)));
    Some(Answer::new(Outcome::Neutral, format!("{}{limit}{rest}.", words(best))))
}

/// Returns CSV: the settings, then the columns of [`crate::csv`].
pub(crate) fn csv(document: &GridResult) -> String {
    let mut out = String::new();
    for (index, point) in document.points.iter().enumerate() {
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

/// Returns a Markdown table with the columns of [`text`].
pub(crate) fn markdown(document: &GridResult) -> String {
    let (head, body) = table(&document.points);
    let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let line = |cells: &[String]| row(&cells.iter().map(|cell| escape::markdown(cell)).collect::<Vec<_>>());
    let rule = vec!["--:".to_owned(); head.len()];
    let rows: String = body.iter().map(|row| line(row)).collect();
    let missing: String = document.missing.iter().map(|missing| format!("\n{missing}\n")).collect();
    format!("{}{}{rows}{missing}", line(&head), row(&rule))
}

#[cfg(test)]
mod tests {
    use record::{MissingItems, Run};
    use results::sweep::SweepResult;

    use super::*;

    #[test]
    fn what_is_missing_is_said_in_all_formats() {
        let missing = Some(MissingItems { shards: vec![1], count: 2, items: 2, of: 3, ..MissingItems::default() });
        let grid = GridResult { missing: missing.clone(), ..GridResult::default() };
        let said = "2 of 3 points are missing: shard 1 of 2 is missing";
        for text in [text(&grid, SheetStyle::default()), markdown(&grid), crate::html::grid_page(&grid)] {
            assert!(text.contains(said), "{text}");
        }
        let sweep = SweepResult { missing, ..SweepResult::default() };
        let style = SheetStyle { width: 100, ..SheetStyle::default() };
        assert!(crate::sweep::text(&sweep, style).contains(said));
        assert!(crate::html::page(&[crate::html::PageSubject::Sweep(&sweep)]).contains(said));
    }

    /// A width above 65,535 panicked.
    #[test]
    fn a_long_setting_does_not_widen_its_column_without_limit() {
        let point = GridPoint::new(vec![("x".repeat(100_000), String::new())], Run::default());
        let grid = GridResult { points: vec![point.clone(), point], ..GridResult::default() };
        assert!(!text(&grid, SheetStyle::default()).is_empty());
    }
}
