//! The section of a search for the knee.

use analyse::knee::Curve;
use results::sweep::{Sweep, SweepAdvice, SweepResult};
use units::{count, percent};

use super::charts::knee;
use super::common::warn_of_missing;
use super::findings::{micro, split};
use super::headline::time;
use super::markup::Markup;
use super::table::HtmlTable;
use crate::escape::shell_line;
use crate::sweep::{advice_words, caveats, facts, headline};

/// Maximum number of curves whose results are in the title.
const NAMED: usize = 4;

/// Returns the result in one sentence.
pub(super) fn title(document: &SweepResult) -> String {
    match document.sweeps.as_slice() {
        [only] => split(&headline(only)).0.to_owned(),
        [] => "No search was run".to_owned(),
        few if few.len() <= NAMED => {
            let each = few.iter().map(|sweep| match &sweep.fit.curve {
                Curve::Knee(knee) => {
                    let (depth, rate) = (units::requests_in_flight(knee.depth.value), count(knee.xmax.value));
                    format!("{}: the knee is at depth {depth}, {rate} IOPS", sweep.label())
                }
                _ => format!("{}: no knee", sweep.label()),
            });
            each.collect::<Vec<_>>().join("; ")
        }
        all => format!("{} searches for the knee of {}", all.len(), all[0].target),
    }
}

/// Returns the name of the section in the navigation.
pub(super) fn name(document: &SweepResult) -> String {
    document.sweeps.first().map_or_else(|| "sweep".to_owned(), |sweep| sweep.target.clone())
}

/// Returns target, load and engine of the search.
pub(super) fn about(document: &SweepResult) -> String {
    let Some(first) = document.sweeps.first() else { return String::new() };
    let time = if first.virtual_time { ", simulated" } else { "" };
    format!("{}: {} by {}{time}, seed {}", first.target, first.load, first.engine, document.seed)
}

/// Writes each curve, then charts and probes of all. The name is omitted if the section is `alone` on its page.
pub(super) fn section(out: &mut Markup, document: &SweepResult, alone: bool) {
    let sweeps: Vec<&Sweep> = document.sweeps.iter().collect();
    if !alone {
        out.inside("h2", &[], |out| out.name(&name(document)));
    }
    document.missing.iter().for_each(|missing| warn_of_missing(out, missing));
    for sweep in &sweeps {
        found(out, sweep, sweeps.len() > 1, alone);
    }
    let [heading, title] = if alone { ["h2", "h3"] } else { ["h3", "h4"] };
    out.leaf(heading, "", "Charts");
    out.class("div", "figures thirds", |out| knee::views(&sweeps).iter().for_each(|view| view.write(out, title)));
    out.leaf(heading, "", "Every probe");
    out.class("div", "card sheet tall", |out| probes(&sweeps).write(out));
    if !document.command_line.is_empty() {
        out.leaf(heading, "", "Command to repeat it");
        out.leaf("pre", "", &shell_line(&document.command_line));
    }
}

fn found(out: &mut Markup, sweep: &Sweep, is_named: bool, alone: bool) {
    let caveats = caveats(sweep);
    out.class("div", &format!("card verdict {}", if caveats.is_empty() { "info" } else { "warning" }), |out| {
        if is_named {
            out.class(if alone { "h2" } else { "h3" }, "name", |out| out.name(&sweep.label()));
        }
        // The answer of the page has it otherwise.
        if is_named || !alone {
            out.leaf("p", "lead", &micro(&headline(sweep)));
        }
        out.class("dl", "facts", |out| {
            for (name, text) in facts(sweep) {
                out.leaf("dt", "", name);
                out.leaf("dd", "", &micro(&text));
            }
        });
        caveats.iter().for_each(|text| out.leaf("p", "", &micro(text)));
        if let Some(advice) = sweep.advice.as_ref().filter(|_| is_named || !alone) {
            advised(out, advice);
        }
    });
}

fn advised(out: &mut Markup, advice: &SweepAdvice) {
    out.leaf("p", "remedy", &micro(&advice_words(advice)));
    if let Some(line) = &advice.fio {
        out.leaf("pre", "", line);
    }
}

fn probes(sweeps: &[&Sweep]) -> HtmlTable {
    let head = ["depth", "seconds", "IOPS", "±", "mean latency", "counts"];
    let mut table = HtmlTable::new("In order of execution", &head, 1);
    for taken in sweeps.iter().flat_map(|sweep| &sweep.probes) {
        let (probe, reading) = (&taken.probe, &taken.reading);
        let counts = match (taken.burst, taken.disturbed) {
            (true, _) => "no: burst",
            (_, true) => "no: disturbed",
            _ => "yes",
        };
        table.rows.push(vec![
            probe.depth.to_string(),
            units::significant(probe.seconds, 3),
            count(reading.iops),
            percent(1.96 * reading.error),
            time(reading.latency_ns),
            counts.to_owned(),
        ]);
    }
    table
}
