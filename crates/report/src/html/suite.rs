//! The section of a suite.

use results::suite::{SuiteResult, SuiteRow};

use super::charts::published;
use super::findings::micro;
use super::markup::Markup;
use super::table::HtmlTable;
use crate::escape::shell_line;
use crate::suite::{self, NEAR};

/// Returns the title: how many figures are close to published ones.
pub(super) fn title(document: &SuiteResult) -> String {
    let rows = document.steps.iter().flat_map(|step| &step.rows).filter(|row| row.published.is_some());
    let apart: Vec<f64> = rows.filter_map(SuiteRow::difference).collect();
    let near = apart.iter().filter(|apart| apart.abs() <= NEAR).count();
    let whole = if document.finished { String::new() } else { ", so far".to_owned() };
    match apart.len() {
        0 => format!("{}: {} steps{whole}", document.title, document.steps.len()),
        all => format!("{near} of {all} figures are within 5% of what was published{whole}"),
    }
}

/// Returns the names of the suite and its targets.
pub(super) fn about(document: &SuiteResult) -> String {
    let places = [("measured on", &document.target), ("modelled on", &document.on)];
    let targets: Vec<String> =
        places.iter().filter_map(|(how, what)| Some(format!("{how} {}", what.as_ref()?))).collect();
    format!("{}: {}", document.title, targets.join(", "))
}

/// Returns a table of all figures.
fn table(document: &SuiteResult) -> HtmlTable {
    let (head, rows) = suite::table(document);
    let mut table = HtmlTable::new("Each figure of each step", &head, 2);
    table.rows = rows.into_iter().map(|(cells, _)| cells.iter().map(|cell| micro(cell)).collect()).collect();
    table
}

/// Writes charts, table, notes and findings.
pub(super) fn section(out: &mut Markup, document: &SuiteResult, alone: bool) {
    if !alone {
        out.inside("h2", &[], |out| out.name(&document.title));
    }
    let [heading, title] = if alone { ["h2", "h3"] } else { ["h3", "h4"] };
    let charts = published::differences(document);
    if !charts.is_empty() {
        out.leaf(heading, "", "Against published figures");
        out.class("div", "figures thirds", |out| charts.iter().for_each(|chart| chart.write(out, title)));
    }
    out.leaf(heading, "", "Figures");
    out.class("div", "card sheet", |out| table(document).write(out));
    let notes = suite::footnotes(document);
    list(out, notes.iter().map(|(label, text)| (*label, text.as_str())));
    out.leaf(heading, "", "Findings");
    out.class("ul", "also", |out| {
        for (step, severity, text) in suite::findings(document) {
            let (class, word) = super::findings::tone(severity);
            out.class("li", &format!("card {class}"), |out| {
                out.leaf("span", "badge", word);
                out.inside(title, &[], |out| out.name(&step));
                out.leaf("p", "", &micro(&text));
            });
        }
    });
    out.leaf(heading, "", "How it was measured");
    let facts = suite::facts(document);
    list(out, facts.iter().map(|(label, text)| (*label, text.as_str())));
    list(out, document.preconditions.iter().map(|text| ("before it began", text.as_str())));
    if !document.command_line.is_empty() {
        out.leaf("pre", "", &shell_line(&document.command_line));
    }
}

fn list<'a>(out: &mut Markup, entries: impl Iterator<Item = (&'a str, &'a str)>) {
    let entries: Vec<(&str, &str)> = entries.collect();
    if entries.is_empty() {
        return;
    }
    out.class("dl", "facts", |out| out.facts(entries.iter().map(|(label, text)| (*label, micro(text)))));
}
