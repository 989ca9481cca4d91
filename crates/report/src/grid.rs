//! A grid of runs that differ in a few settings, as text, Markdown, CSV and JSON.

use analyse::{Code, Verdict};
use record::{DataKind, JobResult, MissingItems, Run, ShardRecord};
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos, Problem, ProblemCode, count};

use crate::answer::{Answer, Outcome};
use crate::escape;
use crate::sheet::{Sheet, SheetStyle};

/// A grid, or a shard of one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct GridDocument {
    /// Command line, one argument per element.
    pub command_line: Vec<String>,
    /// The shard; `None` for a whole grid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardRecord>,
    /// Points that no shard has; `None` if there are all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingItems>,
    /// The points, in the order of the settings.
    #[serde(rename = "sweep")]
    pub points: Vec<GridPoint>,
}

/// One run of a grid.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "StoredPoint")]
pub struct GridPoint {
    /// Names and values of its settings, in the order of the sweep options.
    pub settings: Vec<(String, String)>,
    #[serde(flatten)]
    pub run: Run,
    /// Findings about the run.
    pub verdicts: Vec<Verdict>,
}

/// A point as stored. It is judged again, because another version may have written it.
#[derive(Deserialize)]
struct StoredPoint {
    settings: Vec<(String, String)>,
    #[serde(flatten)]
    run: Run,
}

impl From<StoredPoint> for GridPoint {
    fn from(StoredPoint { settings, run }: StoredPoint) -> Self {
        let text = |text: &str| units::printable(text).into_owned();
        let settings = settings.iter().map(|(key, value)| (text(key), text(value))).collect();
        Self::new(settings, record::printable(run))
    }
}

impl GridPoint {
    /// Judges the run of some settings.
    #[must_use]
    pub fn new(settings: Vec<(String, String)>, run: Run) -> Self {
        Self { verdicts: analyse::analyse(&run), settings, run }
    }

    /// Returns the settings as `key=value`, separated by blanks.
    #[must_use]
    pub fn label(&self) -> String {
        assignments(&self.settings)
    }
}

/// Returns settings as `key=value`, separated by blanks.
#[must_use]
pub fn assignments(settings: &[(String, String)]) -> String {
    settings.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
}

/// Version of the document's layout.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct GridEnvelope<'a> {
    /// Layout version; its key identifies the document.
    fathom_grid: u32,
    version: &'static str,
    #[serde(flatten)]
    document: &'a GridDocument,
}

#[derive(Deserialize)]
struct VersionedGrid {
    fathom_grid: u32,
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
pub fn text(document: &GridDocument, style: SheetStyle) -> String {
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
fn answer(document: &GridDocument) -> Option<Answer> {
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
    let limit = limit.map_or_else(String::new, |limit| format!(" ({limit})"));
    let rest = last.map_or_else(String::new, |last| format!("; {}", words(last)));
    Some(Answer::new(Outcome::Neutral, format!("{}{limit}{rest}.", words(best))))
}

/// Returns the grid as JSON: `sweep` holds the points, each a run with its `settings`.
#[must_use]
pub fn json(document: &GridDocument) -> String {
    crate::own::pretty(&GridEnvelope { fathom_grid: SCHEMA, version: env!("CARGO_PKG_VERSION"), document })
}

/// Parses the output of [`json`]. Runs are judged again.
///
/// # Errors
///
/// Returns an error if the text is not such a document, or has a later layout version.
pub fn read(text: &str) -> Result<GridDocument, Problem> {
    let VersionedGrid { fathom_grid } = crate::own::parsed(text)?;
    if fathom_grid > SCHEMA {
        return Err(crate::own::too_new(fathom_grid, SCHEMA));
    }
    let document: GridDocument = crate::own::parsed(text)?;
    let names = |point: &GridPoint| point.settings.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    if let Some(other) = document.points.iter().find(|point| names(point) != names(&document.points[0])) {
        let (first, other) = (names(&document.points[0]).join(", "), names(other).join(", "));
        let what = format!("its points have different settings: `{first}` and `{other}`");
        return Err(Problem::error(ProblemCode::UnreadableInput, what).help("write the grid again"));
    }
    if let Some(newer) = document.points.iter().find(|point| point.run.schema > record::SCHEMA) {
        return Err(crate::own::too_new(newer.run.schema, record::SCHEMA));
    }
    Ok(document)
}

/// Returns CSV: the settings, then the columns of [`crate::csv`].
pub(crate) fn csv(document: &GridDocument) -> String {
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
pub(crate) fn markdown(document: &GridDocument) -> String {
    let (head, body) = table(&document.points);
    let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let line = |cells: &[String]| row(&cells.iter().map(|cell| escape::markdown(cell)).collect::<Vec<_>>());
    let rule = vec!["--:".to_owned(); head.len()];
    let rows: String = body.iter().map(|row| line(row)).collect();
    let missing: String = document.missing.iter().map(|missing| format!("\n{missing}\n")).collect();
    format!("{}{}{rows}{missing}", line(&head), row(&rule))
}
