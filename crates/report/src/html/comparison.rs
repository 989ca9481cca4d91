//! The section of a comparison.

use analyse::compare::FigureComparison;
use results::compare::{ComparisonResult, ComparisonsResult};

use super::findings::micro;
use super::markup::Markup;
use super::table::HtmlTable;
use crate::compare::{ComparedLoad, RunTable, change_words, figure_words, side_name, verdict_words};
use crate::suite::shown;

const HEAD: [&str; 5] = ["figure", "baseline", "candidate", "change", "verdict"];

/// Writes a table for each job, and caveats.
pub(super) fn section(out: &mut Markup, document: &ComparisonResult) {
    out.leaf("h2", "", "Changes");
    tables(out, document);
}

fn tables(out: &mut Markup, document: &ComparisonResult) {
    for job in &document.comparison.jobs {
        let mut table = HtmlTable::new(&job.job, &HEAD, 1);
        for load in ComparedLoad::of(job) {
            table.rows.extend(load.rows.iter().map(|row| cells(load.name(), row)));
        }
        out.class("div", "card sheet", |out| table.write_narrow(out));
    }
}

/// Writes a row for each run, then a table of every figure for each.
pub(super) fn several(out: &mut Markup, document: &ComparisonsResult) {
    out.leaf("h2", "", "Changes");
    let RunTable { head, numbers, rows } = RunTable::of(document);
    // Words are in the first columns: the name of the run and its verdict.
    let (figures, words): (Vec<usize>, Vec<usize>) = (0..head.len()).partition(|at| numbers.contains(at));
    let order =
        |cells: &[String]| -> Vec<String> { words.iter().chain(&figures).map(|at| micro(&cells[*at])).collect() };
    let head: Vec<String> = order(&head);
    let names: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut table = HtmlTable::new("Each run against the first", &names, words.len());
    table.rows = rows.iter().map(|row| order(row)).collect();
    out.class("div", "card sheet", |out| table.write_narrow(out));
    for one in &document.comparisons {
        out.inside("details", &[], |out| {
            out.inside("summary", &[], |out| {
                out.text("Every figure of ");
                out.name(side_name(&one.candidate));
            });
            tables(out, one);
        });
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
