//! The section of a comparison.

use analyse::compare::FigureComparison;
use results::compare::ComparisonResult;

use super::findings::micro;
use super::markup::Markup;
use super::table::HtmlTable;
use crate::compare::{ComparedLoad, change_words, figure_words, verdict_words};
use crate::suite::shown;

const HEAD: [&str; 5] = ["figure", "baseline", "candidate", "change", "verdict"];

/// Writes a table for each job, and caveats.
pub(super) fn section(out: &mut Markup, document: &ComparisonResult) {
    out.leaf("h2", "", "Changes");
    for job in &document.comparison.jobs {
        let mut table = HtmlTable::new(&job.job, &HEAD, 1);
        for load in ComparedLoad::of(job) {
            table.rows.extend(load.rows.iter().map(|row| cells(load.name(), row)));
        }
        out.class("div", "card sheet", |out| table.write(out));
    }
}

fn cells(kind: &str, row: &FigureComparison) -> Vec<String> {
    let (word, hint) = verdict_words(row.judgement);
    let value = |value| micro(&shown(row.figure, value, None));
    vec![
        format!("{kind}, {}", figure_words(row.figure.quantity)),
        value(row.baseline),
        value(row.candidate),
        row.change.as_ref().map_or_else(|| "needs repeats".to_owned(), change_words),
        if hint.is_empty() { word.to_owned() } else { format!("{word}: {}", micro(&hint)) },
    ]
}
