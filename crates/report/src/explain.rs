//! Explanations of figures from any source, as text, Markdown and JSON.

use analyse::{ActiveIntervals, Evidence, EvidenceSource, EvidenceUnit, Explanation, Finding, Quantity};
use results::explain::{ExplainDocument, Explained, ExplainedFinding, ExplainedInput, ExplainedSubject};
use results::stored::pretty;
use units::{Bytes, Nanos, count, percent, significant};

use crate::answer::AnswerText;
use crate::escape;
use crate::page::{Page, PageBlock, PagePart};
use crate::sheet::{Sheet, SheetStyle, Tone};
use crate::text::tone_of;
use crate::words::{self, Origin, SentenceContext, severity_name};
use results::answer::Answer;

/// Returns the explanations as text. Findings are in order of importance, each with its code and evidence.
pub(crate) fn explain_text(explained: &[Explained], style: SheetStyle) -> String {
    let mut page = ExplainPage { sheet: Sheet::new(style.readable(), 0) };
    for (index, one) in explained.iter().enumerate() {
        if index > 0 {
            page.sheet.gap();
        }
        page.answers(one, explained.len() > 1);
        if style.details {
            page.sheet.gap();
            page.input(one);
        }
    }
    page.sheet.finish()
}

fn origin(one: &Explained) -> Origin<'_> {
    Origin { kind: one.kind, volume: one.expected.as_deref() }
}

/// Returns the answer about one subject, named if there are several.
fn answer(one: &Explained, explanation: &Explanation) -> Answer {
    words::explain_answer(explanation, origin(one))
}

/// Column of the figures below an answer.
const FIGURES: &str = "          ";

/// Busy fraction from which a device beside the explained one is named apart from idle ones.
const BUSY: f64 = 0.05;

struct ExplainPage {
    sheet: Sheet,
}

impl ExplainPage {
    /// Appends the answers about one input, each with its figures, and other devices in one line.
    fn answers(&mut self, one: &Explained, with_name: bool) {
        if with_name {
            self.sheet.paragraph(&escape::markdown(&one.input), Some(Tone::Strong));
        }
        let (explained, others): (Vec<&Explanation>, Vec<&Explanation>) =
            one.explanations.iter().partition(|explanation| !explanation.only_figures);
        for (index, explanation) in explained.iter().enumerate() {
            if index > 0 {
                self.sheet.gap();
            }
            let with_subject = explained.len() > 1 && !explanation.subject.is_empty();
            if with_subject {
                self.sheet.line(&self.sheet.strong(&explanation.subject));
            }
            answer(one, explanation).write(&mut self.sheet);
            let glance = at_a_glance(explanation);
            if !glance.is_empty() {
                self.sheet.gap();
                self.sheet.wrapped(FIGURES, &glance);
            }
        }
        self.others(&others, &one.idle);
        if !self.sheet.shows_details() {
            let count: usize = explained.iter().map(|explanation| explanation.findings.len()).sum();
            let findings = match count {
                0 => "More".to_owned(),
                count => units::counted(count as u64, "finding"),
            };
            self.sheet.line(&self.sheet.faint(&format!("{FIGURES}{findings}: --details")));
        }
    }

    /// Appends the devices that are not explained: busy ones with their figures, idle ones by name.
    fn others(&mut self, others: &[&Explanation], idle_names: &[String]) {
        let busy_share = |one: &Explanation| {
            one.figures.iter().find(|figure| figure.quantity == Quantity::BusyShare).map_or(0.0, |figure| figure.value)
        };
        let (busy, idle): (Vec<&Explanation>, Vec<&Explanation>) =
            others.iter().partition(|one| busy_share(one) >= BUSY);
        for one in &busy {
            self.sheet.wrapped(FIGURES, &format!("{}: {}", one.subject, at_a_glance(one)));
        }
        let nearly_idle = idle.iter().map(|one| one.subject.as_str());
        let names: Vec<&str> = nearly_idle.chain(idle_names.iter().map(String::as_str)).collect();
        match names.len() {
            0 => {}
            1 => self.sheet.wrapped(FIGURES, &format!("Idle: {}.", names[0])),
            count => self.sheet.wrapped(FIGURES, &format!("{count} idle devices: {}.", names.join(", "))),
        }
    }

    fn input(&mut self, one: &Explained) {
        let against = one.expected.as_ref().map_or_else(String::new, |volume| format!(", against {volume}"));
        for (index, explanation) in one.explanations.iter().enumerate() {
            if index > 0 {
                self.sheet.gap();
            }
            let against = if explanation.only_figures { "" } else { &against };
            let title = format!("{}{}{against}", one.input, subject_suffix(explanation));
            self.sheet.paragraph(&title, Some(Tone::Strong));
            let glance = at_a_glance(explanation);
            if !glance.is_empty() {
                self.sheet.wrapped("  ", &glance);
            }
            // What was replayed has remarks only.
            if explanation.findings.is_empty() && !explanation.only_figures && one.kind != "trace" {
                self.sheet.line(&format!("  {}", nothing_found(one, explanation)));
            }
            explanation.findings.iter().for_each(|finding| self.finding(finding, explanation.into()));
            for note in &explanation.notes {
                self.sheet.led(2, "note", Tone::Faint, &format!(": {note}"));
            }
        }
    }

    fn finding(&mut self, finding: &Finding, about: SentenceContext<'_>) {
        let name = severity_name(finding.severity);
        let words = words::finding(finding, about);
        self.sheet.led(2, name, tone_of(finding.severity), &format!(": {words}"));
        let figures = match figures(finding) {
            known if known.is_empty() => finding.code.name().to_owned(),
            known => format!("{}: {known}", finding.code.name()),
        };
        self.sheet.hung(["    "; 2], self.sheet.width() - 4, &figures, Some(Tone::Faint));
        for setting in words::settings(finding) {
            self.sheet.hung(["    - ", "      "], self.sheet.width() - 6, &words::setting_line(&setting), None);
        }
    }
}

/// Returns `: SUBJECT`, or nothing if the input has only one subject.
fn subject_suffix(explanation: &Explanation) -> String {
    if explanation.subject.is_empty() {
        return String::new();
    }
    format!(": {}", escape::markdown(&explanation.subject))
}

fn nothing_found(one: &Explained, explanation: &Explanation) -> &'static str {
    let is = |quantity| explanation.figures.iter().any(|figure| figure.quantity == quantity);
    let is_of_transfers = is(Quantity::Iops) || is(Quantity::BytesPerSecondTold) || is(Quantity::LatencyMean);
    match one.expected {
        _ if !is_of_transfers && (is(Quantity::SyncMean) || is(Quantity::SyncP99)) => {
            "Only syncs were measured, so the limit of reads and writes is unknown."
        }
        Some(_) if !is(Quantity::LatencyMean) => "No finding: without a mean latency, the limit is unknown.",
        Some(_) => "No problems found.",
        None => "No finding; --volume VOLUME names the limit.",
    }
}

/// Returns the main figures: `109k IOPS, 436 MiB/s, 169 us each, 18.3 of 32 in flight, busy for 99.2% of the time`. Those of
/// some intervals are followed by those over all.
fn at_a_glance(explanation: &Explanation) -> String {
    let figures = glance(explanation, 1.0);
    let Some(ActiveIntervals { active, all, share }) = explanation.active else { return figures };
    let over_all = glance(explanation, share);
    format!("{figures}, in the {active} of {all} intervals with requests; over all of them {over_all}")
}

/// Returns the main figures, over the whole time if `share` of it is that of the figures.
fn glance(explanation: &Explanation, share: f64) -> String {
    let figure = |quantity| explanation.figures.iter().find(|one| one.quantity == quantity).map(|one| one.value);
    let rate = |quantity| figure(quantity).map(|value| value * share);
    let in_flight = match (rate(Quantity::InFlightAchieved), figure(Quantity::InFlightPossible)) {
        (Some(value), Some(of)) if of != value => {
            Some(format!("{} of {} in flight", significant(value, 3), significant(of, 3)))
        }
        (Some(value), _) => Some(format!("{} in flight", significant(value, 3))),
        (None, possible) => possible.map(|of| format!("at most {} in flight", significant(of, 3))),
    };
    let time = |ns: f64| Nanos::new(ns.round() as u64).to_string();
    let syncs = match (figure(Quantity::SyncMean), figure(Quantity::SyncP99)) {
        (Some(mean), Some(p99)) => Some(format!("syncs of {} (p99 {})", time(mean), time(p99))),
        (Some(mean), None) => Some(format!("syncs of {}", time(mean))),
        (None, p99) => p99.map(|p99| format!("syncs with a p99 of {}", time(p99))),
    };
    let in_syncs = rate(Quantity::SyncsInFlight).map(|value| format!("{} in syncs", significant(value, 3)));
    let parts = [
        rate(Quantity::Iops).map(|value| format!("{} IOPS", count(value))),
        rate(Quantity::BytesPerSecondTold).map(|value| format!("{}/s", Bytes::new(value as u64))),
        figure(Quantity::LatencyMean)
            .filter(|_| share == 1.0)
            .map(|value| format!("{} each", Nanos::new(value.round() as u64))),
        in_flight,
        in_syncs,
        rate(Quantity::BusyShare).map(|value| format!("busy for {} of the time", percent(value))),
        syncs,
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Returns the evidence: `24.1k IOPS (counted), 1.31 ms latency mean (printed)`.
fn figures(finding: &Finding) -> String {
    let each = |evidence: &Evidence| {
        format!("{} {} ({})", quantity_name(evidence.quantity), value(evidence), source_name(evidence.source))
    };
    finding.evidence.iter().map(each).collect::<Vec<_>>().join(", ")
}

/// Returns the name of a quantity as in JSON, with blanks for underscores.
pub(crate) fn quantity_name(quantity: Quantity) -> String {
    let name = serde_json::to_value(quantity).ok().and_then(|name| name.as_str().map(str::to_owned));
    name.unwrap_or_default().replace('_', " ").replace("iops", "IOPS").replace("cpus", "CPUs")
}

/// Formats the value of a figure with its unit.
pub(crate) fn value(evidence: &Evidence) -> String {
    let value = evidence.value;
    match evidence.unit {
        EvidenceUnit::Count => significant(value, 4),
        EvidenceUnit::PerSecond => count(value),
        EvidenceUnit::BytesPerSecond => format!("{}/s", scaled(value, &BYTES)),
        // Contradicting printed times differ only in their last digits.
        EvidenceUnit::Nanoseconds if matches!(evidence.quantity, Quantity::TimeTold | Quantity::TimeMade) => {
            format!("{:.2} us", value / 1e3)
        }
        EvidenceUnit::Nanoseconds => scaled(value, &TIMES),
        EvidenceUnit::Share => percent(value),
        EvidenceUnit::Bytes => scaled(value, &BYTES),
        EvidenceUnit::Factor => format!("{}x", significant(value, 3)),
        EvidenceUnit::ErrorNumber => format!("{value}"),
    }
}

const BYTES: [(f64, &str); 5] =
    [(1_099_511_627_776.0, "TiB"), (1_073_741_824.0, "GiB"), (1_048_576.0, "MiB"), (1024.0, "KiB"), (1.0, "B")];
const TIMES: [(f64, &str); 4] = [(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")];

/// Formats five significant digits: evidence is more precise than sentences.
fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    let fitting = units.iter().find(|(unit, _)| value >= *unit).or_else(|| units.last());
    fitting.map_or_else(String::new, |(unit, name)| format!("{} {name}", significant(value / unit, 5)))
}

/// Returns the name of a figure's source.
pub(crate) const fn source_name(source: EvidenceSource) -> &'static str {
    match source {
        EvidenceSource::Job => "job's options",
        EvidenceSource::Counters => "counted",
        EvidenceSource::Histogram => "histogram",
        EvidenceSource::Intervals => "intervals",
        EvidenceSource::ProcessorTime => "CPU time",
        EvidenceSource::PageCache => "page cache",
        EvidenceSource::DiskCounters => "disk counters",
        EvidenceSource::Files => "file system",
        EvidenceSource::LittlesLaw => "Little's law",
        EvidenceSource::Host => "host",
        EvidenceSource::Model => "model",
        EvidenceSource::Printed => "printed",
        EvidenceSource::Iostat => "iostat",
        EvidenceSource::Sar => "sar",
        EvidenceSource::Claim => "claimed",
        EvidenceSource::Estimate => "estimated",
        EvidenceSource::Documentation => "its documentation",
    }
}

fn subject<'a>(one: &'a Explained, explanation: &'a Explanation) -> ExplainedSubject<'a> {
    let worded = |finding| {
        let (text, settings) = (words::finding(finding, explanation), words::settings(finding));
        ExplainedFinding { finding, text, settings }
    };
    ExplainedSubject {
        subject: &explanation.subject,
        answer: (!explanation.only_figures).then(|| answer(one, explanation)),
        figures: &explanation.figures,
        active: explanation.active,
        findings: explanation.findings.iter().map(worded).collect(),
        notes: &explanation.notes,
        change: explanation.change.as_ref(),
    }
}

/// Returns the explanations as JSON: findings as data, each with its sentence.
pub(crate) fn explain_json(explained: &[Explained]) -> String {
    let inputs = explained.iter().map(|one| {
        let subjects = one.explanations.iter().map(|explanation| subject(one, explanation)).collect();
        ExplainedInput { explained: one, subjects }
    });
    pretty(&ExplainDocument { schema: ExplainDocument::SCHEMA, inputs: inputs.collect() })
}

/// Returns the explanations as a page, one part per job or device.
pub(crate) fn explain_page(explained: &[Explained]) -> Page {
    let all = || explained.iter().flat_map(|one| one.explanations.iter().map(move |explanation| (one, explanation)));
    let answered: Vec<(String, Answer)> = all()
        .filter(|(_, explanation)| !explanation.only_figures)
        .map(|(one, explanation)| (title(one, explanation), answer(one, explanation)))
        .collect();
    let answer = match answered.as_slice() {
        [(_, answer)] => answer.clone(),
        several => Answer::of_several(several.to_vec()),
    };
    let volumes: Vec<&str> = explained.iter().filter_map(|one| one.expected.as_deref()).collect();
    let about = volumes.first().map_or_else(String::new, |volume| format!("Compared with {volume}"));
    let parts = all().enumerate().map(|(index, (one, explanation))| part(index, one, explanation)).collect();
    Page { brand: "Fathom explain", answer, about, parts }
}

/// Returns the input and its job or device.
fn title(one: &Explained, explanation: &Explanation) -> String {
    match explanation.subject.as_str() {
        "" => one.input.clone(),
        subject => format!("{}: {subject}", one.input),
    }
}

fn part(index: usize, one: &Explained, explanation: &Explanation) -> PagePart {
    let figure =
        |figure: &Evidence| vec![quantity_name(figure.quantity), value(figure), source_name(figure.source).to_owned()];
    let mut blocks = vec![PageBlock::table(
        &["figure", "value", "read from"],
        &[1],
        explanation.figures.iter().map(figure).collect(),
    )];
    let finding = |finding: &Finding| {
        let words = words::finding(finding, explanation);
        vec![severity_name(finding.severity).to_owned(), finding.code.name(), words, figures(finding)]
    };
    if !explanation.findings.is_empty() {
        let rows = explanation.findings.iter().map(finding).collect();
        blocks.push(PageBlock::table(&["severity", "finding", "what", "evidence"], &[], rows));
    } else if !explanation.only_figures && one.kind != "trace" {
        blocks.push(PageBlock::Text(nothing_found(one, explanation).to_owned()));
    }
    let settings: Vec<String> =
        explanation.findings.iter().flat_map(words::settings).map(|setting| words::setting_line(&setting)).collect();
    for lines in [settings, explanation.notes.clone()] {
        if !lines.is_empty() {
            blocks.push(PageBlock::List(lines));
        }
    }
    PagePart::new(format!("subject-{index}"), title(one, explanation), blocks)
}

/// Returns the page of all findings in Markdown: of runs, then of traces.
#[must_use]
pub fn findings_markdown() -> String {
    crate::words::run_findings_markdown() + &crate::trace::trace_findings_markdown()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figures of intervals with requests were printed as those of the whole time.
    #[test]
    fn figures_of_some_intervals_are_followed_by_those_of_all() {
        let figure = |quantity: Quantity, value: f64| Evidence {
            quantity,
            value,
            unit: quantity.unit(),
            source: EvidenceSource::Iostat,
        };
        let figures = vec![
            figure(Quantity::Iops, 1000.0),
            figure(Quantity::LatencyMean, 1e6),
            figure(Quantity::InFlightAchieved, 1.0),
            figure(Quantity::BusyShare, 0.4),
        ];
        let active = Some(ActiveIntervals { active: 1, all: 4, share: 0.25 });
        let none = analyse::explain_figures("sda", &analyse::Observation::default());
        let of = |active| at_a_glance(&Explanation { figures: figures.clone(), active, ..none.clone() });
        assert_eq!(of(None), "1.00k IOPS, 1.00 ms each, 1.00 in flight, busy for 40.0% of the time");
        let all = "over all of them 250 IOPS, 0.250 in flight, busy for 10.0% of the time";
        assert_eq!(of(active), format!("{}, in the 1 of 4 intervals with requests; {all}", of(None)));
    }
}
