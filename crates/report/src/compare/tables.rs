//! A comparison as CSV and Markdown, with one row per figure.

use analyse::compare::{FigureComparison, Judgement, More};
use results::compare::{ComparisonResult, NamedRun};

use super::ComparedLoad;
use super::words::{change_words, figure_words, verdict_words};
use crate::answer::AnswerText;
use crate::escape::{csv as quoted, markdown as escaped, markdown_code};
use crate::suite::shown;

pub(super) const CSV_HEAD: &str =
    "job,kind,figure,baseline,candidate,change_percent,low_percent,high_percent,verdict,more_seconds,more_runs";

/// Returns CSV with a header: operations per second, bytes per second and nanoseconds; changes in per cent.
#[must_use]
pub fn csv(document: &ComparisonResult) -> String {
    format!("{CSV_HEAD}\n{}", csv_rows(document).iter().map(|row| format!("{row}\n")).collect::<String>())
}

/// Returns a line of CSV for each figure.
pub(super) fn csv_rows(document: &ComparisonResult) -> Vec<String> {
    let mut out = Vec::new();
    for job in &document.comparison.jobs {
        for row in &job.figures {
            let kind = row.figure.of.name();
            let name = row.figure.to_string();
            let figure = name.split_once('.').map_or(name.as_str(), |(_, figure)| figure);
            let cells = [
                quoted(&job.job),
                kind.to_owned(),
                figure.to_owned(),
                row.baseline.to_string(),
                row.candidate.to_string(),
            ];
            out.push(format!("{},{}", cells.join(","), verdict_cells(row).join(",")));
        }
    }
    out
}

fn verdict_cells(row: &FigureComparison) -> [String; 6] {
    let of = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let change = row.change;
    let (seconds, runs) = match row.judgement {
        Judgement::Undecided { more: Some(More::Seconds(seconds)) } => (seconds.to_string(), String::new()),
        Judgement::Undecided { more: Some(More::Repeats(runs)) } => (String::new(), runs.to_string()),
        _ => Default::default(),
    };
    [
        of(change.map(|change| change.percent)),
        of(change.map(|change| change.low_percent)),
        of(change.map(|change| change.high_percent)),
        verdict_words(row.judgement).0.to_owned(),
        seconds,
        runs,
    ]
}

/// Returns Markdown: the answer, then a table.
#[must_use]
pub fn markdown(document: &ComparisonResult) -> String {
    let mut out = document.answer.markdown();
    for (label, runs) in [("Baseline", &document.baseline), ("Candidate", &document.candidate)] {
        for NamedRun { name, load, .. } in runs {
            out.push_str(&format!("{label}: {}, {}  \n", markdown_code(name), escaped(load)));
        }
    }
    out.push_str(
        "\n| job | kind | figure | baseline | candidate | change | verdict |\n|---|---|---|--:|--:|--:|---|\n",
    );
    for job in &document.comparison.jobs {
        for load in ComparedLoad::of(job) {
            for row in &load.rows {
                out.push_str(&format!("| {} |\n", markdown_cells(&job.job, load.name(), row).join(" | ")));
            }
        }
    }
    out
}

pub(super) fn markdown_cells(job: &str, kind: &str, row: &FigureComparison) -> [String; 7] {
    let (word, hint) = verdict_words(row.judgement);
    let word = match row.judgement {
        Judgement::Better | Judgement::Worse => format!("**{word}**"),
        _ if hint.is_empty() => word.to_owned(),
        _ => format!("{word}: {hint}"),
    };
    let change = row.change.as_ref().map_or_else(|| "?".to_owned(), change_words);
    let value = |value| shown(row.figure, value, None);
    [
        escaped(job),
        kind.to_owned(),
        figure_words(row.figure.quantity),
        value(row.baseline),
        value(row.candidate),
        change,
        word,
    ]
}
