//! Comparisons of runs as text, Markdown and CSV.

mod answer;
mod several;
mod tables;
mod text;
mod words;

use analyse::compare::{Comparison, ComparisonSettings, FigureComparison, JobComparison};
use record::{FigureOf, FigureQuantity, FigureStatistic, Run};
use results::compare::{ComparisonResult, NamedRun};

pub use several::result as several;
pub(crate) use several::{
    RunTable, csv as several_csv, markdown as several_markdown, name as side_name, text as several_text,
};
pub use tables::{csv, markdown};
pub(crate) use text::names;
pub use text::text;
pub(crate) use words::{change_words, figure_words, is_in_label, more_words, verdict_words, words_of_sides};
pub use words::{labels, refusal, refusal_of_repeats};

use crate::civil;
use crate::text::parameters;
use crate::words::{LARGE_BYTES, tail_is_assumed};

/// Describes a run.
#[must_use]
pub fn named(name: &str, run: &Run) -> NamedRun {
    let load = match &run.jobs[..] {
        [] => "no results".to_owned(),
        [job] => parameters(job),
        [first, others @ ..] => format!("{}, and {} more", parameters(first), others.len()),
    };
    let virtual_time = run.model.as_ref().is_some_and(|model| model.virtual_time);
    let dated = !virtual_time && run.started_unix_ms > 0;
    let began = dated.then(|| civil::iso(civil::local(run.started_unix_ms, run.utc_offset_s)));
    NamedRun { name: name.to_owned(), label: None, load, tail_assumed: tail_is_assumed(run), began }
}

/// Returns the document of a comparison.
#[must_use]
pub fn result(
    baseline: Vec<NamedRun>,
    candidate: Vec<NamedRun>,
    options: ComparisonSettings,
    comparison: Comparison,
) -> ComparisonResult {
    let answer = answer::answer(&comparison, &baseline, &candidate, options.threshold_percent);
    ComparisonResult { schema: ComparisonResult::SCHEMA, baseline, candidate, options, comparison, answer }
}

/// The figures of one kind of operation in a job, printed as one table.
pub(crate) struct ComparedLoad<'a> {
    of: FigureOf,
    pub(crate) rows: Vec<&'a FigureComparison>,
}

impl<'a> ComparedLoad<'a> {
    /// Returns the kinds of a job in order. If all blocks have one size, IOPS and throughput change alike, and only the
    /// more common of the two is kept.
    pub(crate) fn of(job: &'a JobComparison) -> Vec<Self> {
        let kinds = job.figures.chunk_by(|a, b| a.figure.of == b.figure.of);
        kinds.map(|rows| Self { of: rows[0].figure.of, rows: printed_rows(rows) }).collect()
    }

    /// Returns the figure that decides: throughput, or the mean response if a requested rate was sustained.
    fn headline(&self) -> Option<&'a FigureComparison> {
        let throughput = self.rows.iter().find(|row| !row.figure.quantity.is_latency()).or(self.rows.first())?;
        let response =
            self.rows.iter().find(|row| row.figure.quantity == FigureQuantity::Response(FigureStatistic::Mean));
        let kept = throughput.judgement == analyse::compare::Judgement::Same;
        Some(response.filter(|_| kept).unwrap_or(throughput))
    }

    /// Returns the plural of the operations: `reads`.
    pub(crate) fn name(&self) -> &'static str {
        words::plural(self.of)
    }
}

fn printed_rows(rows: &[FigureComparison]) -> Vec<&FigureComparison> {
    let of = |quantity| rows.iter().find(|row| row.figure.quantity == quantity);
    let ratio = |row: &FigureComparison| row.candidate / row.baseline;
    let omitted = match (of(FigureQuantity::Iops), of(FigureQuantity::BytesPerSecond)) {
        (Some(iops), Some(bytes)) if (ratio(iops) - ratio(bytes)).abs() < 1e-6 => {
            let large = bytes.baseline / iops.baseline.max(f64::MIN_POSITIVE) >= LARGE_BYTES;
            Some(if large { FigureQuantity::Iops } else { FigureQuantity::BytesPerSecond })
        }
        _ => None,
    };
    // Under a rate, the changes are those of response times; undecided percentiles of other latencies would distract.
    let is_hidden = |row: &FigureComparison| {
        let (quantity, percent) = (row.figure.quantity, row.figure.quantity.percent());
        let decided = |other: &FigureComparison| other.figure.quantity.is_response() && other.change.is_some();
        row.change.is_none() && !quantity.is_response() && percent.is_some() && rows.iter().any(decided)
    };
    rows.iter().filter(|row| Some(row.figure.quantity) != omitted && !is_hidden(row)).collect()
}
