//! The doctor's findings as text: a summary, problems with the commands to copy, and passed checks.

use analyse::doctor::{CheckState, DoctorFinding, Purpose};
use results::doctor::{DoctorResult, DoctorTally};

use super::answer::answer;
use super::{meaning, name, remedies, stack, tally_words, values};
use crate::answer::AnswerText;
use crate::sheet::{Sheet, SheetStyle, Tone};

/// Column of text after a label.
const INDENT: usize = 10;
/// Column of values in the table of passed checks.
const FOUND: usize = 19;
/// Terminal width from which the table has two columns.
const WIDE: usize = 100;

/// Returns the findings as text; `all` adds reasons to passed checks.
pub(crate) fn doctor_text(diagnosis: &DoctorResult, all: bool, style: SheetStyle) -> String {
    let mut page = DoctorPage { sheet: Sheet::new(style.readable(), INDENT), purpose: diagnosis.purpose, all };
    answer(diagnosis).write(&mut page.sheet);
    page.sheet.gap();
    if !style.details && !all {
        for (subject, findings) in &diagnosis.subjects {
            page.summary(&name(subject), findings);
            page.sheet.aside(2, &stack(subject));
        }
        page.summary("this host", &diagnosis.host);
        page.sheet.aside(0, "Reasons, permanent changes and passed checks: --details");
        return page.sheet.finish();
    }
    for (subject, findings) in &diagnosis.subjects {
        page.summary(&name(subject), findings);
        page.sheet.aside(2, &stack(subject));
    }
    page.summary("this host", &diagnosis.host);
    page.findings(diagnosis);
    for (subject, findings) in &diagnosis.subjects {
        page.rest(&name(subject), findings);
    }
    page.rest("this host", &diagnosis.host);
    page.last(diagnosis);
    page.sheet.finish()
}

struct DoctorPage {
    sheet: Sheet,
    purpose: Option<Purpose>,
    all: bool,
}

fn tone(state: CheckState) -> Tone {
    match state {
        CheckState::Good => Tone::Good,
        CheckState::Unknown => Tone::Faint,
        CheckState::CouldBeBetter => Tone::Odd,
        CheckState::Problem => Tone::Bad,
    }
}

impl DoctorPage {
    /// Appends `vda: 2 things hold it back, 3 could be better, 19 good`.
    fn summary(&mut self, name: &str, findings: &[DoctorFinding]) {
        let worst = findings.iter().map(|finding| finding.state(self.purpose)).max().unwrap_or(CheckState::Good);
        let words = self.sheet.tone(tone(worst), &tally_words(DoctorTally::new(findings, self.purpose)));
        let name = self.sheet.strong(name);
        self.sheet.line(&format!("{name}: {words}"));
    }

    /// Reports whether a finding is printed with its reasons.
    fn is_shown(&self, finding: &DoctorFinding) -> bool {
        self.all || finding.state(self.purpose) > CheckState::Unknown
    }

    /// Appends the problems of all subjects, the worst first.
    fn findings(&mut self, diagnosis: &DoctorResult) {
        let of_subjects = diagnosis.subjects.iter().flat_map(|(_, findings)| findings);
        let mut shown: Vec<&DoctorFinding> = Vec::new();
        for finding in of_subjects.chain(&diagnosis.host).filter(|finding| self.is_shown(finding)) {
            // Two requested names may be on the same disk.
            if !shown.contains(&finding) {
                shown.push(finding);
            }
        }
        shown.sort_by_key(|finding| std::cmp::Reverse(finding.state(self.purpose)));
        shown.into_iter().for_each(|finding| self.finding(finding));
    }

    /// Appends a table of passed checks, and a list of unknown ones.
    fn rest(&mut self, name: &str, findings: &[DoctorFinding]) {
        let rest = findings.iter().filter(|finding| !self.is_shown(finding));
        let (good, unknown): (Vec<&DoctorFinding>, Vec<&DoctorFinding>) =
            rest.partition(|finding| finding.state(self.purpose) == CheckState::Good);
        if !good.is_empty() {
            let title = self.sheet.tone(Tone::Good, &format!("good, {name}"));
            self.sheet.line(&format!("\n{title}"));
            self.table(&good);
        }
        if !unknown.is_empty() {
            let title = self.sheet.strong(&format!("unknown, {name}"));
            self.sheet.line(&format!("\n{title}"));
        }
        for finding in unknown {
            let reason = finding.unknown.as_ref().map(meaning::unread).unwrap_or_default();
            let [title, blank] = [meaning::title(finding.check), ""]
                .map(|title| format!("  {}", self.sheet.faint(&format!("{title:<FOUND$}"))));
            self.sheet.hung([&title, &blank], self.sheet.width() - 2 - FOUND, &reason, None);
        }
    }

    /// Appends a table with one cell per passed check.
    fn table(&mut self, findings: &[&DoctorFinding]) {
        let columns = if self.sheet.width() >= WIDE { 2 } else { 1 };
        let width = (self.sheet.width() - 2) / columns;
        let cells: Vec<(String, String)> = findings
            .iter()
            .map(|finding| {
                let (title, found) = (meaning::title(finding.check), values::found(finding));
                // The device is named only if the table has the same check for another device.
                let whose = findings.iter().any(|other| other.check == finding.check && other.about != finding.about);
                let whose = if whose { format!(" ({})", super::clean(&finding.about)) } else { String::new() };
                (title.to_owned(), fitting(&format!("{found}{whose}"), width - FOUND - 1))
            })
            .collect();
        let rows = cells.len().div_ceil(columns);
        for row in 0..rows {
            let mut line = String::from("  ");
            for (title, found) in (0..columns).filter_map(|column| cells.get(row + column * rows)) {
                let label = self.sheet.faint(&format!("{title:<FOUND$}"));
                line.push_str(&format!("{label}{found:<room$}", room = width - FOUND));
            }
            self.sheet.line(&line);
        }
    }

    fn finding(&mut self, finding: &DoctorFinding) {
        self.sheet.gap();
        let state = finding.state(self.purpose);
        let title = self.sheet.strong(&meaning::about(finding));
        let words = self.sheet.tone(tone(state), &self.state_words(finding));
        self.sheet.line(&format!("{title}: {words}"));
        if let Some(reason) = &finding.unknown {
            self.sheet.field("why", &meaning::unread(reason));
            return;
        }
        self.sheet.field("found", &values::found(finding));
        if let Some(wanted) = values::wanted(finding, self.purpose) {
            self.sheet.field("wanted", &wanted);
        }
        self.sheet.field("why", meaning::why(finding.check, finding.case));
        self.commands(finding);
    }

    /// Appends the commands for a finding, unwrapped so that they can be copied.
    fn commands(&mut self, finding: &DoctorFinding) {
        let mut first = true;
        for remedy in remedies(finding, self.purpose) {
            let note = remedy.purpose.map_or_else(String::new, |purpose| format!("   # {purpose}"));
            // The changes of this check are alternatives, not steps.
            let label = if !first && finding.check == analyse::doctor::Check::DiscardOption { "or" } else { "now" };
            for (label, command) in [(label, remedy.now), ("always", remedy.always)] {
                if let Some(command) = command {
                    let label = self.sheet.label(label);
                    self.sheet.line(&format!("{label}{}", self.sheet.strong(&format!("{command}{note}"))));
                }
            }
            first = false;
        }
    }

    /// Returns the state and the purpose it holds for: `could be better for IOPS`.
    fn state_words(&self, finding: &DoctorFinding) -> String {
        let state = finding.state(self.purpose);
        let words = meaning::state(state);
        let (iops, throughput) = (finding.iops.state, finding.throughput.state);
        if self.purpose.is_some() || iops == throughput || state <= CheckState::Unknown {
            return words.to_owned();
        }
        match (iops > throughput, iops.min(throughput)) {
            (true, CheckState::CouldBeBetter) => format!("{words} for IOPS, could be better for throughput"),
            (true, _) => format!("{words} for IOPS"),
            (false, CheckState::CouldBeBetter) => format!("{words} for throughput, could be better for IOPS"),
            (false, _) => format!("{words} for throughput"),
        }
    }

    /// Appends hints at options that print more or less.
    fn last(&mut self, diagnosis: &DoctorResult) {
        let findings = diagnosis.subjects.iter().flat_map(|(_, findings)| findings).chain(&diagnosis.host);
        let good = findings.clone().filter(|finding| finding.state(self.purpose) == CheckState::Good).count();
        let changes = findings.clone().any(|finding| !remedies(finding, self.purpose).is_empty());
        let mut hints = Vec::new();
        if changes {
            hints.push("Nothing was changed. `now` lasts until the next boot, `always` from then on.");
        }
        if good > 0 && !self.all {
            hints.push("--all explains passed checks too.");
        }
        if self.purpose.is_none() {
            hints.push("--for iops or --for throughput checks for one purpose only.");
        }
        if !hints.is_empty() {
            self.sheet.gap();
            self.sheet.aside(0, &hints.join(" "));
        }
    }
}

/// Truncates text to `width` characters, with `...` at its end.
fn fitting(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(3)).collect();
    format!("{kept}...")
}
