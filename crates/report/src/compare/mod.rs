//! Two runs side by side, for people and programs. The last line is the answer.

mod answer;
mod tables;
mod text;
mod words;

use analyse::compare::{Comparison, ComparisonSettings, FigureComparison, JobComparison};
use record::{DataKind, FigureQuantity, Run};
use serde::Serialize;

pub use tables::{csv, markdown};
pub(crate) use text::names;
pub use text::text;
pub use words::refusal;
pub(crate) use words::{caution_notes, change_words, figure_words, mismatch_words, more_words, verdict_words};

use crate::civil;
use crate::text::asked;

/// Which form of the document this is.
const SCHEMA: u32 = 1;
/// Block size from which throughput is the headline.
pub(crate) const LARGE_BYTES: f64 = 65_536.0;

/// A run by its name, and what it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NamedRun {
    /// The name it was asked for by, or its id.
    pub name: String,
    /// What its first job asked for.
    pub load: String,
    /// When it began, on the clock of its host; `None` in virtual time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began: Option<String>,
}

impl NamedRun {
    /// What a run is called by.
    #[must_use]
    pub fn of(name: &str, run: &Run) -> Self {
        let load = match &run.jobs[..] {
            [] => "no results".to_owned(),
            [job] => asked(job),
            [first, others @ ..] => format!("{}, and {} more", asked(first), others.len()),
        };
        let virtual_time = run.model.as_ref().is_some_and(|model| model.virtual_time);
        let dated = !virtual_time && run.started_unix_ms > 0;
        let began = dated.then(|| civil::iso(civil::local(run.started_unix_ms, run.utc_offset_s)));
        Self { name: name.to_owned(), load, began }
    }
}

/// A comparison with the names of what was compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparisonDocument {
    schema: u32,
    /// The runs that were compared with.
    pub baseline: Vec<NamedRun>,
    /// The runs that were compared.
    pub candidate: Vec<NamedRun>,
    /// How they were compared.
    pub options: ComparisonSettings,
    /// What came of it.
    #[serde(flatten)]
    pub comparison: Comparison,
    /// The same in a sentence.
    pub answer: String,
}

impl ComparisonDocument {
    /// What came of comparing these.
    #[must_use]
    pub fn new(
        baseline: Vec<NamedRun>,
        candidate: Vec<NamedRun>,
        options: ComparisonSettings,
        comparison: Comparison,
    ) -> Self {
        let answer = answer::answer(&comparison, options.threshold_percent);
        Self { schema: SCHEMA, baseline, candidate, options, comparison, answer }
    }
}

/// One JSON document on several lines.
#[must_use]
pub fn json(document: &ComparisonDocument) -> String {
    let mut text = serde_json::to_string_pretty(document).unwrap_or_default();
    text.push('\n');
    text
}

/// Figures of one kind of operation, in one table.
pub(crate) struct ComparedLoad<'a> {
    kind: Option<DataKind>,
    pub(crate) rows: Vec<&'a FigureComparison>,
}

impl<'a> ComparedLoad<'a> {
    /// The kinds of a job in their order. Where blocks have one size, operations and bytes a second are the same twice:
    /// the one that people speak of stays.
    pub(crate) fn of(job: &'a JobComparison) -> Vec<Self> {
        let kinds = job.figures.chunk_by(|a, b| a.figure.kind == b.figure.kind);
        kinds.map(|rows| Self { kind: rows[0].figure.kind, rows: without_twins(rows) }).collect()
    }

    /// The figure that stands for all: throughput, or under a rate that was kept the mean response.
    fn headline(&self) -> Option<&'a FigureComparison> {
        let throughput = self.rows.iter().find(|row| !row.figure.quantity.is_latency()).or(self.rows.first())?;
        let response = self.rows.iter().find(|row| row.figure.quantity == FigureQuantity::ResponseMean);
        let kept = throughput.judgement == analyse::compare::Judgement::Same;
        Some(response.filter(|_| kept).unwrap_or(throughput))
    }

    /// `reads`.
    pub(crate) fn name(&self) -> &'static str {
        match self.kind {
            Some(DataKind::Read) => "reads",
            Some(DataKind::Write) => "writes",
            Some(DataKind::Trim) => "trims",
            None => "all together",
        }
    }
}

fn without_twins(rows: &[FigureComparison]) -> Vec<&FigureComparison> {
    let of = |quantity| rows.iter().find(|row| row.figure.quantity == quantity);
    let left_out = match (of(FigureQuantity::Iops), of(FigureQuantity::BytesPerSecond)) {
        (Some(iops), Some(bytes)) if are_twins(iops, bytes) => {
            let large = bytes.baseline / iops.baseline.max(f64::MIN_POSITIVE) >= LARGE_BYTES;
            Some(if large { FigureQuantity::Iops } else { FigureQuantity::BytesPerSecond })
        }
        _ => None,
    };
    // Under a rate it is the response that has a course; an undecided service time only hides it.
    let is_hidden = |row: &FigureComparison| {
        let (quantity, percent) = (row.figure.quantity, row.figure.quantity.percent());
        let told = |other: &FigureComparison| other.figure.quantity.is_response() && other.change.is_some();
        row.change.is_none() && !quantity.is_response() && percent.is_some() && rows.iter().any(told)
    };
    rows.iter().filter(|row| Some(row.figure.quantity) != left_out && !is_hidden(row)).collect()
}

fn are_twins(a: &FigureComparison, b: &FigureComparison) -> bool {
    let ratio = |row: &FigureComparison| row.candidate / row.baseline;
    (ratio(a) - ratio(b)).abs() < 1e-6
}
