//! Suite results as text and Markdown: a table, the conditions of its figures, and findings.

use analyse::Severity;
use record::{Figure, FigureOf, FigureQuantity};
use results::answer::{Action, Answer, Outcome};
use results::suite::{MeasureUnit, Published, SuiteOutcome, SuiteResult, SuiteRow, SuiteStep};
use units::{Bytes, Nanos, count, percent, significant};

use crate::answer::AnswerText;
use crate::sheet::{Sheet, SheetStyle, Tone};

/// Deviation from the expected value above which a difference is highlighted.
pub(crate) const NEAR: f64 = 0.05;

/// Returns the name of a figure, as used in tables.
pub(crate) fn figure_name(figure: Figure) -> String {
    let kind = if figure.of == FigureOf::All { "total" } else { figure.of.name() };
    let what = match figure.quantity {
        FigureQuantity::Iops => "IOPS".to_owned(),
        FigureQuantity::BytesPerSecond => "rate".to_owned(),
        time => {
            let which = time.percent().map_or_else(|| "mean".to_owned(), |percent| format!("p{percent}"));
            if time.is_response() { format!("response {which}") } else { which }
        }
    };
    format!("{kind} {what}")
}

/// Formats the value of a figure in the unit of its published value.
pub(crate) fn shown(figure: Figure, value: f64, unit: Option<MeasureUnit>) -> String {
    match (figure.quantity, unit) {
        (FigureQuantity::Iops, _) => count(value),
        (FigureQuantity::BytesPerSecond, Some(unit)) => {
            format!("{} {}", significant(value / unit.factor(), 3), unit.name())
        }
        (FigureQuantity::BytesPerSecond, None) => format!("{}/s", Bytes::new(value.round() as u64)),
        _ => Nanos::new(value.round() as u64).to_string(),
    }
}

/// Formats the value as published: `400 MB/s`, `2.7-3.2 ms`, `< 10 ms`.
pub(crate) fn printed(published: &Published) -> String {
    let number = |value: f64| match published.unit {
        MeasureUnit::Iops => count(value),
        unit => {
            let text = format!("{:.2}", value / unit.factor());
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    };
    let unit = if published.unit == MeasureUnit::Iops { String::new() } else { format!(" {}", published.unit.name()) };
    let value = number(published.value);
    match (published.below, published.to) {
        (true, _) => format!("< {value}{unit}"),
        (false, Some(to)) => format!("{value}-{}{unit}", number(to)),
        (false, None) => format!("{value}{unit}"),
    }
}

/// Formats the deviation of a figure from its expected value.
fn difference(row: &SuiteRow) -> String {
    let bounded = row.published.as_ref().is_some_and(|published| published.below || published.to.is_some());
    match row.difference() {
        None => "-".to_owned(),
        Some(0.0) if bounded => "within".to_owned(),
        Some(share) => signed(share),
    }
}

/// Formats a signed percentage, `-1.7%`, without a sign if it rounds to zero.
fn signed(share: f64) -> String {
    let text = format!("{:+.1}%", share * 100.0);
    if matches!(text.as_str(), "+0.0%" | "-0.0%") { "0.0%".to_owned() } else { text }
}

/// Column headings, and for each row its cells and the deviation of its figure from the expected value.
pub(crate) type Table = (Vec<&'static str>, Vec<(Vec<String>, Option<f64>)>);

pub(crate) fn table(document: &SuiteResult) -> Table {
    let rows = || document.steps.iter().flat_map(|step| &step.rows);
    let published = rows().any(|row| row.published.is_some());
    let compared = rows().any(|row| row.difference().is_some());
    let mut head = vec!["step", "figure"];
    head.extend(document.target.is_some().then_some("measured"));
    head.extend(document.on.is_some().then_some("modelled"));
    head.extend(published.then_some("published"));
    head.extend(compared.then_some("difference"));
    let cells = |step: &SuiteStep, row: &SuiteRow, first: bool| {
        let unit = row.published.as_ref().map(|published| published.unit);
        let value = |value: Option<f64>, outcome: Option<&SuiteOutcome>| match (value, outcome) {
            (Some(value), _) => shown(row.figure, value, unit),
            (None, Some(SuiteOutcome::Failed(_))) => "failed".to_owned(),
            (None, _) => "-".to_owned(),
        };
        let mut cells = vec![if first { step.name.clone() } else { String::new() }, figure_name(row.figure)];
        cells.extend(document.target.is_some().then(|| value(row.measured, step.measured.as_ref())));
        cells.extend(document.on.is_some().then(|| value(row.modelled, step.modelled.as_ref())));
        let printed = || row.published.as_ref().map_or_else(|| "-".to_owned(), self::printed);
        cells.extend(published.then(printed));
        cells.extend(compared.then(|| difference(row)));
        (cells, row.difference())
    };
    let of_step = |step: &SuiteStep| -> Vec<_> {
        step.rows.iter().enumerate().map(|(index, row)| cells(step, row, index == 0)).collect()
    };
    (head, document.steps.iter().flat_map(of_step).collect())
}

/// Returns the conditions of published figures and the reasons for large deviations, each with the steps concerned.
pub(crate) fn footnotes(document: &SuiteResult) -> Vec<(&'static str, String)> {
    let mut notes: Vec<(&'static str, String, Vec<&str>)> = Vec::new();
    let mut note = |label, text: &str, step| match notes.iter_mut().find(|known| known.0 == label && known.1 == text) {
        Some((_, _, steps)) if steps.contains(&step) => {}
        Some((_, _, steps)) => steps.push(step),
        None => notes.push((label, text.to_owned(), vec![step])),
    };
    for step in &document.steps {
        for row in &step.rows {
            let Some(published) = &row.published else { continue };
            note("published", &published.conditions, step.name.as_str());
            let far = row.difference().is_some_and(|difference| difference.abs() > NEAR);
            if let Some(apart) = published.apart.as_ref().filter(|_| far) {
                note("apart", apart, step.name.as_str());
            }
        }
    }
    let of_all = document.steps.iter().filter(|step| step.rows.iter().any(|row| row.published.is_some())).count();
    let text = |(label, text, steps): (&'static str, String, Vec<&str>)| {
        let steps = if steps.len() == of_all { String::new() } else { format!("{}: ", steps.join(", ")) };
        (label, format!("{steps}{text}"))
    };
    notes.into_iter().map(text).collect()
}

/// A finding and the steps that have it.
struct SharedFinding {
    steps: Vec<String>,
    severity: Severity,
    /// Text of the first step.
    text: String,
    /// Whether the texts of other steps have other figures.
    varies: bool,
}

/// Returns each step's most important finding, and all its warnings. Steps with the same finding are listed together,
/// with the figures of the first.
pub(crate) fn findings(document: &SuiteResult) -> Vec<(String, Severity, String)> {
    let mut all: Vec<SharedFinding> = Vec::new();
    for (step, severity, text) in found(document) {
        match all.iter_mut().find(|known| known.severity == severity && is_alike(severity, &known.text, &text)) {
            Some(known) => {
                known.varies |= known.text != text;
                known.steps.push(step);
            }
            None => all.push(SharedFinding { steps: vec![step], severity, text, varies: false }),
        }
    }
    let merged = |SharedFinding { steps, severity, text, varies }: SharedFinding| {
        let whose = if varies { format!(" (Figures of {}.)", steps[0]) } else { String::new() };
        (steps.join(", "), severity, format!("{text}{whose}"))
    };
    all.into_iter().map(merged).collect()
}

/// Reports whether two texts state the same finding with other figures. Advice must end in the same remedy; texts of
/// severity `Distrust` must be identical.
fn is_alike(severity: Severity, one: &str, other: &str) -> bool {
    let remedy = |text: &str| text.rsplit_once(". ").map(|(_, remedy)| remedy.to_owned());
    let same_end = severity == Severity::Info || remedy(one) == remedy(other);
    one == other || (severity < Severity::Distrust && lead(one) == lead(other) && same_end)
}

/// Returns the words before the first punctuation mark, without figures.
fn lead(text: &str) -> Vec<&str> {
    let end = text.find(": ").or_else(|| text.find(". ")).unwrap_or(text.len());
    text[..end].split(' ').filter(|word| !word.contains(|letter: char| letter.is_ascii_digit())).collect()
}

/// Returns the findings to print, with the names of their steps.
fn found(document: &SuiteResult) -> Vec<(String, Severity, String)> {
    let mut out: Vec<(String, Severity, String)> = Vec::new();
    let both = document.target.is_some() && document.on.is_some();
    for step in &document.steps {
        for (outcome, of_model) in [(&step.measured, false), (&step.modelled, true)] {
            let name = if both && of_model { format!("{}, modelled", step.name) } else { step.name.clone() };
            match outcome {
                None => {}
                Some(SuiteOutcome::Failed(reason)) => {
                    out.push((name, Severity::Distrust, format!("failed: {reason}")));
                }
                Some(outcome) => {
                    let is_printed = |index: usize, severity| index == 0 || severity >= Severity::Warning;
                    let printed = outcome.findings().iter().enumerate();
                    let printed = printed.filter(|(index, finding)| is_printed(*index, finding.severity));
                    out.extend(printed.map(|(_, finding)| (name.clone(), finding.severity, finding.text.clone())));
                }
            }
        }
    }
    out
}

/// Returns facts about a suite's run, as labels and texts.
pub(crate) fn facts(document: &SuiteResult) -> Vec<(&'static str, String)> {
    let used = |bytes: Option<u64>| format!("{} of it", Bytes::new(bytes.unwrap_or_default()));
    let mut facts = Vec::new();
    let mut fact = |label, text| facts.push((label, text));
    // Volume names are long, so details follow on the next line.
    if let Some(target) = &document.target {
        fact("measured on", target.clone());
        fact("", used(document.target_bytes));
    }
    if let Some(volume) = &document.on {
        let drained = if document.drained { ", its burst credits used up" } else { "" };
        fact("modelled on", volume.clone());
        fact("", format!("{}{drained}", used(document.volume_bytes)));
    }
    if document.scale != 1.0 {
        fact(
            "scale",
            format!("{}: times, and sizes unless --size is given, are scaled by this factor", document.scale),
        );
    }
    if let Some(rounds) = document.rounds.filter(|rounds| rounds.done > 0) {
        let (done, most) = (rounds.done, rounds.most);
        let state = match rounds.steady {
            true => "steady: the figures are means of the last five".to_owned(),
            false if done >= most => "not steady: the figures are means of the last five".to_owned(),
            false => "not steady yet".to_owned(),
        };
        fact("rounds", format!("{done} of at most {most}, {state}"));
    }
    fact("source", format!("{}, {}", document.source, document.date));
    facts
}

/// Answers how the figures compare with the published ones, or what was measured.
pub(crate) fn answer(document: &SuiteResult) -> Answer {
    let rows = || document.steps.iter().flat_map(|step| step.rows.iter().map(move |row| (step, row)));
    let compared: Vec<(f64, String)> = rows()
        .filter_map(|(step, row)| Some((row.difference()?, format!("{} of {}", figure_name(row.figure), step.name))))
        .collect();
    let near = compared.iter().filter(|(difference, _)| difference.abs() <= NEAR).count();
    let most = compared.iter().max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
    let reason = |step: &SuiteStep| {
        [&step.measured, &step.modelled].into_iter().flatten().find_map(|outcome| match outcome {
            SuiteOutcome::Failed(reason) => {
                Some(reason.strip_prefix(&format!("{}: ", step.name)).unwrap_or(reason).to_owned())
            }
            SuiteOutcome::Done { .. } => None,
        })
    };
    let failed: Vec<(&str, String)> =
        document.steps.iter().filter_map(|step| Some((step.name.as_str(), reason(step)?))).collect();
    let failed = match failed.as_slice() {
        [] => String::new(),
        [(name, reason)] => format!("Step {name} failed: {reason}. "),
        [(name, reason), others @ ..] => format!("{} steps failed, first {name}: {reason}. ", others.len() + 1),
    };
    let (outcome, verdict) = match most {
        None => (
            Outcome::Neutral,
            format!(
                "{} of {} steps of {} are done; no published figures to compare with.",
                document.steps.len(),
                document.of_steps,
                document.suite
            ),
        ),
        Some((difference, of)) => (
            if near == compared.len() { Outcome::Good } else { Outcome::Neutral },
            format!(
                "{near} of {} figures are within {} of the published ones; {of} is furthest off, {}.",
                compared.len(),
                percent(NEAR),
                signed(*difference)
            ),
        ),
    };
    let outcome = if failed.is_empty() { outcome } else { Outcome::Bad };
    let rest = match document.finished {
        true => Vec::new(),
        false => {
            let (done, all) = (document.steps.len(), document.of_steps);
            vec![Action::from(format!("Run the same command again to continue: {done} of {all} steps are done."))]
        }
    };
    let on = document.target.iter().map(|target| format!("measured on {target}"));
    let on = on.chain(document.on.iter().map(|volume| format!("modelled on {volume}")));
    let source = format!("published by {}, {}; seed {}", document.source, document.date, document.seed);
    Answer { outcome, verdict: failed + &verdict, actions: rest, basis: on.chain([source]).collect() }
}

/// Returns the results as text for a terminal.
#[must_use]
pub fn text(document: &SuiteResult, style: SheetStyle) -> String {
    let mut sheet = Sheet::new(style.readable(), INDENT);
    answer(document).write(&mut sheet);
    sheet.gap();
    print_table(&mut sheet, &table(document));
    if !style.details {
        let findings = units::counted(findings(document).len() as u64, "finding");
        sheet.gap();
        sheet.aside(0, &format!("Conditions and {findings}: --details"));
        return sheet.finish();
    }
    sheet.gap();
    let name = sheet.strong(&document.suite);
    sheet.line(&format!("{name}  {}", document.title));
    facts(document).iter().for_each(|(label, text)| sheet.field(label, text));
    let notes = footnotes(document);
    if !notes.is_empty() {
        sheet.gap();
    }
    notes.iter().for_each(|(label, text)| sheet.field(label, text));
    for (step, severity, text) in findings(document) {
        let tone = crate::text::tone_of(severity);
        sheet.gap();
        sheet.led(0, &format!("{step}:"), tone, &format!(" {text}"));
    }
    sheet.finish()
}

/// Column in which values begin.
const INDENT: usize = 15;

fn print_table(sheet: &mut Sheet, (head, body): &Table) {
    let width = |column: usize| {
        let cells = body.iter().map(|(cells, _)| cells[column].chars().count());
        cells.chain([head[column].len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let padded = |(column, cell): (usize, &str)| {
        let width = widths[column];
        // Words are aligned to the left, figures to the right.
        if column < 2 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
    };
    let cells: Vec<String> = head.iter().copied().enumerate().map(padded).collect();
    let line = sheet.faint(cells.join("  ").trim_end());
    sheet.line(&line);
    for (row, difference) in body {
        let mut cells: Vec<String> = row.iter().map(String::as_str).enumerate().map(padded).collect();
        if let (Some(last), Some(difference)) = (cells.last_mut(), difference) {
            let tone = if difference.abs() > NEAR { Tone::Odd } else { Tone::Good };
            *last = sheet.tone(tone, last);
        }
        sheet.line(&cells.join("  "));
    }
}

/// Returns the results as Markdown, with a table and lists.
#[must_use]
pub fn markdown(document: &SuiteResult) -> String {
    let escaped = crate::escape::markdown;
    let mut out = format!("# {}: {}\n", escaped(&document.suite), escaped(&document.title));
    for (label, text) in facts(document) {
        match label {
            "" => out.push_str(&format!(", {}", escaped(&text))),
            label => out.push_str(&format!("\n* {label}: {}", escaped(&text))),
        }
    }
    out.push_str(&format!("\n* seed: {}\n", document.seed));
    let (head, body) = table(document);
    let rule: Vec<&str> = (0..head.len()).map(|column| if column < 2 { "---" } else { "--:" }).collect();
    out.push_str(&format!("\n| {} |\n|{}|\n", head.join(" | "), rule.join("|")));
    for (cells, _) in body {
        let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    let lists = [
        footnotes(document).into_iter().map(|(label, text)| (label.to_owned(), text)).collect::<Vec<_>>(),
        findings(document).into_iter().map(|(step, _, text)| (step, text)).collect(),
    ];
    for list in lists.iter().filter(|list| !list.is_empty()) {
        out.push('\n');
        for (lead, text) in list {
            out.push_str(&format!("* **{}**: {}\n", escaped(lead), escaped(text)));
        }
    }
    if !document.finished {
        out.push_str(&format!("\nNot finished: {} of {} steps are done.\n", document.steps.len(), document.of_steps));
    }
    out
}
