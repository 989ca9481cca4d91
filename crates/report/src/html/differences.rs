//! Figures of several runs side by side.

use analyse::compare;
use record::{Figure, FigureOf, FigureQuantity, FigureValue};
use units::count;

use super::ReportedRun;
use super::findings::micro;
use super::headline::{rate, time};
use super::markup::Markup;
use super::part::SectionPart;
use super::table::HtmlTable;
use crate::chart::isolated;
use crate::compare::{is_in_label, words_of_sides};
use crate::suite::figure_name;

/// Relative difference below which values count as the same.
const SAME: f64 = 0.005;

/// Writes a table for each job that several runs have.
pub(super) fn section(out: &mut Markup, runs: &[ReportedRun<'_>], parts: &[SectionPart<'_>]) {
    out.leaf("h2", "", "Differences");
    let first = runs.first().map_or("", |shown| shown.name);
    out.class("p", "hint", |out| {
        out.text("Each run against ");
        out.name(first);
        out.text(". `fathom compare` tests whether runs are comparable and differences are significant.");
    });
    for (name, lines) in other_conditions(runs) {
        out.class("div", "card sheet", |out| {
            out.class("p", "hint", |out| {
                out.name(&name);
                out.text(" differs from the first run in more than its name says:");
            });
            out.inside("ul", &[], |out| lines.iter().for_each(|line| out.inside("li", &[], |out| out.name(line))));
        });
    }
    for part in parts.iter().filter(|part| part.is_overlay()) {
        let table = table(part);
        out.class("div", "card sheet", |out| table.write_narrow(out));
    }
}

/// Returns the conditions of each run that differ from those of the first run.
fn other_conditions(runs: &[ReportedRun<'_>]) -> Vec<(String, Vec<String>)> {
    let Some((first, others)) = runs.split_first() else { return Vec::new() };
    let lines = |shown: &ReportedRun<'_>| {
        let found = compare::mismatches(first.run, shown.run, &compare::pairs(first.run, shown.run));
        let found = found.iter().filter(|one| !is_in_label(one, shown.name));
        let words = |one| micro(&words_of_sides(one, [first.name, shown.name]));
        (isolated(shown.name), found.map(words).collect::<Vec<_>>())
    };
    others.iter().map(lines).filter(|(_, lines)| !lines.is_empty()).collect()
}

fn table(part: &SectionPart<'_>) -> HtmlTable {
    let names = part.members.iter().map(|member| member.name);
    let head: Vec<&str> = std::iter::once("figure").chain(names).collect();
    let mut table = HtmlTable::new(part.called(), &head, 1);
    let all = FigureOf::ALL.into_iter().filter(|of| *of != FigureOf::All);
    for figure in all.flat_map(|of| FigureQuantity::STANDARD.map(|quantity| Figure { of, quantity })) {
        let values: Vec<Option<FigureValue>> = part.members.iter().map(|member| figure.of_result(member.job)).collect();
        if values.iter().any(Option::is_some) {
            let cells = values.iter().enumerate().map(|(number, value)| cell(figure, values[0], *value, number));
            table.rows.push(std::iter::once(figure_name(figure)).chain(cells).collect());
        }
    }
    table
}

/// Formats a value and, from the second run on, its difference from the first.
fn cell(figure: Figure, first: Option<FigureValue>, value: Option<FigureValue>, number: usize) -> String {
    let Some(FigureValue { value, at_least }) = value else { return "-".to_owned() };
    let shown = match figure.quantity {
        FigureQuantity::Iops => count(value),
        FigureQuantity::BytesPerSecond => rate(value),
        _ if at_least => format!("\u{2265} {}", time(value)),
        _ => time(value),
    };
    let exact = first.filter(|first| !first.at_least && !at_least).map(|first| first.value);
    match exact.filter(|first| number > 0 && *first > 0.0) {
        Some(first) => format!("{shown}, {}", words(value / first - 1.0)),
        None => shown,
    }
}

/// Describes a relative change: `12% higher`, `the same`.
fn words(change: f64) -> String {
    if change.abs() < SAME {
        return "the same".to_owned();
    }
    let word = if change < 0.0 { "lower" } else { "higher" };
    if change >= 1.0 {
        return format!("{} times", units::significant(change + 1.0, 2));
    }
    format!("{}% {word}", units::significant(change.abs() * 100.0, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_described_in_words() {
        let texts = [-0.034, 0.001, 0.12, 11.0].map(words);
        assert_eq!(texts, ["3.4% lower", "the same", "12% higher", "12 times"]);
    }
}
