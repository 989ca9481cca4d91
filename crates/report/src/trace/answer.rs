//! The answer of a trace: which kind of load it is, and what it needs.

use trace::TraceStudy;
use units::{Bytes, Nanos, count};

use super::{advice, rates, requests, statement, summary, warnings, window_words};
use crate::escape::{shell, terminal};
use crate::words::capitalized;
use results::answer::{Action, Answer, Outcome};

/// Maximum number of findings whose advice is named.
const ADVISED: usize = 2;

/// Returns the kind of load, its rates and its peak, with what follows from them.
pub(crate) fn answer(report: &TraceStudy) -> Answer {
    let warnings = warnings(report);
    let is_incomplete = warnings.iter().any(|warning| warning.is_incomplete);
    let outcome = if is_incomplete { Outcome::Unknown } else { Outcome::Neutral };
    let peak = peak(report).map_or_else(String::new, |peak| format!(" {peak}"));
    let total = report.profile.totals.requests.total();
    let issued = if total > 0 { format!(" It issues {}.", rates(report)) } else { String::new() };
    let verdict = format!("{}.{issued}{peak}", capitalized(&summary(report)));
    let advised = report.findings.iter().take(ADVISED);
    let mut actions: Vec<Action> =
        advised.map(|finding| Action::from(format!("{} {}", statement(finding), advice(finding)))).collect();
    // A name that has to be quoted is not worth a command.
    if total > 0 && shell(&report.name) == report.name {
        let command = format!("fathom plan --from {}", report.name);
        actions.push(Action { what: "Find a volume for it:".to_owned(), command: Some(command) });
    }
    let info = &report.condition.info;
    let lost = info.lost.filter(|lost| *lost == 0).map_or("", |_| ", none lost");
    let window = window_words(report).map_or_else(String::new, |window| format!(", {window}"));
    let read = format!(
        "{}: {}{lost}, format {}{window}",
        terminal(&report.name, false),
        requests(total),
        report.condition.format.name()
    );
    let warnings = warnings.into_iter().map(|warning| warning.text);
    Answer { outcome, verdict, actions, basis: std::iter::once(read).chain(warnings).collect() }
}

/// Returns the demand of the busiest tenth of a second, if it is far above the mean.
fn peak(report: &TraceStudy) -> Option<String> {
    const WIDTH_NS: u64 = 100_000_000;
    const FAR: f64 = 1.5;
    let window = report.profile.arrivals.windows.iter().find(|window| window.width_ns == WIDTH_NS)?;
    let per_second = 1e9 / WIDTH_NS as f64;
    let iops = window.requests_max as f64 * per_second;
    let bytes = Bytes::new((window.bytes_max as f64 * per_second) as u64);
    (window.peak_to_mean > FAR)
        .then(|| format!("Its busiest {} needs {} IOPS or {bytes}/s.", Nanos::new(WIDTH_NS), count(iops)))
}
