//! The result of a gate as text and Markdown, one line per assertion.

use analyse::gate::{Bound, GateOutcome};
use results::compare::NamedRun;
use results::gate::{GateCheck, GateResult};

use super::{bound, measured};
use crate::answer::AnswerText;
use crate::compare::names;
use crate::escape::{markdown as escaped, markdown_code};
use crate::page::{Page, PageBlock, PagePart};
use crate::sheet::{Sheet, SheetStyle, Tone};

/// Maximum width of a column.
const COLUMN_MAX: usize = 44;

/// Returns the result as text.
#[must_use]
pub fn text(document: &GateResult, style: SheetStyle) -> String {
    let mut page = Sheet::new(style.readable(), 0);
    document.answer.write(&mut page);
    page.gap();
    let widths = widths(&document.checks);
    document.checks.iter().for_each(|check| line(&mut page, check, widths));
    if style.details {
        document.distrust.iter().for_each(|reason| page.led(0, "Do not trust:", Tone::Bad, &format!(" {reason}")));
    }
    if !document.checks.is_empty() {
        page.gap();
    }
    names(&mut page, "run", &document.runs);
    names(&mut page, "baseline", &document.baseline);
    page.finish()
}

/// Returns the widths of the assertion, the measured value and the bound.
fn widths(checks: &[GateCheck]) -> [usize; 3] {
    let most =
        |cell: fn(&GateCheck) -> String| checks.iter().map(|check| cell(check).chars().count()).max().unwrap_or(0);
    [most(|check| check.text.clone()), most(super::measured), most(of_baseline)].map(|width| width.min(COLUMN_MAX))
}

/// Formats a bound relative to the baseline; empty for other bounds.
fn of_baseline(check: &GateCheck) -> String {
    match check.expectation.bound {
        Bound::OfBaseline(_) => bound(check),
        Bound::Value(_) => String::new(),
    }
}

const fn sign(check: &GateCheck) -> (&'static str, Tone) {
    match (check.judged.outcome, check.passed) {
        (GateOutcome::WithinNoise, true) => ("~", Tone::Odd),
        (GateOutcome::Unknown(_), _) => ("?", Tone::Bad),
        (_, true) => ("✓", Tone::Good),
        (_, false) => ("✗", Tone::Bad),
    }
}

fn line(page: &mut Sheet, check: &GateCheck, [text, measured, bound]: [usize; 3]) {
    let (sign, tone) = sign(check);
    let value = format!("{:>measured$}", super::measured(check));
    let value = if check.passed { value } else { page.tone(tone, &value) };
    let of = if bound == 0 { String::new() } else { format!("  {:>bound$}", of_baseline(check)) };
    let row = format!("{} {:<text$}  {value}{of}", page.tone(tone, sign), check.text);
    let used = 2 + text.max(check.text.chars().count()) + 2 + measured + of.chars().count() + 2;
    if used + check.words.chars().count() <= page.width() {
        page.line(&format!("{row}  {}", page.faint(&check.words)));
    } else {
        page.line(&row);
        page.aside(2, &check.words);
    }
}

/// Returns the result as a page.
pub(crate) fn page(document: &GateResult) -> Page {
    let row = |check: &GateCheck| {
        let outcome = match (check.judged.outcome, check.passed) {
            (GateOutcome::WithinNoise, true) => "within noise",
            (GateOutcome::Unknown(_), _) => "cannot tell",
            (_, true) => "pass",
            (_, false) => "fail",
        };
        vec![check.text.clone(), outcome.to_owned(), measured(check), bound(check), check.words.clone()]
    };
    let head = ["assertion", "outcome", "measured", "bound", "remark"];
    let checks = PageBlock::table(&head, &[2, 3], document.checks.iter().map(row).collect());
    let name = |run: &NamedRun| vec![run.name.clone(), run.load.clone(), run.began.clone().unwrap_or_default()];
    let runs = document.runs.iter().chain(&document.baseline).map(name).collect();
    let mut parts = vec![PagePart::new("assertions", "Assertions", vec![checks])];
    if !document.distrust.is_empty() {
        let blocks = vec![PageBlock::List(document.distrust.clone())];
        parts.push(PagePart::new("distrust", "Why the figures are unreliable", blocks));
    }
    parts.push(PagePart::new("runs", "Runs", vec![PageBlock::table(&["run", "load", "started"], &[], runs)]));
    Page { brand: "Fathom gate", answer: document.answer.clone(), about: String::new(), parts }
}

/// Returns the result as Markdown, for pages such as GitHub's job summary.
#[must_use]
pub fn markdown(document: &GateResult) -> String {
    let sign = if document.passed { "✅" } else { "❌" };
    let mut out = format!("### {sign} {}\n\n", escaped(&document.answer.verdict));
    out.push_str("| | expected | measured | bound | |\n|---|---|--:|--:|---|\n");
    for check in &document.checks {
        let sign = match (check.judged.outcome, check.passed) {
            (GateOutcome::WithinNoise, true) => "➖",
            (_, true) => "✅",
            (_, false) => "❌",
        };
        let expected = markdown_code(&check.text);
        let cells = [sign, &expected, &measured(check), &bound(check), &escaped(&check.words)];
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    for (label, runs) in [("Run", &document.runs), ("Baseline", &document.baseline)] {
        for run in runs {
            out.push_str(&format!("\n{label}: {}, {}\n", markdown_code(&run.name), escaped(&run.load)));
        }
    }
    let differences = document.differences.iter().map(|difference| format!("not the same: {difference}"));
    for note in differences.chain(document.distrust.iter().map(|reason| format!("unreliable: {reason}"))) {
        out.push_str(&format!("\n* {}\n", escaped(&note)));
    }
    out
}
