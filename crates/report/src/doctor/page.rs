//! A page for people: how it stands, then what to change with the command to copy, then what is good.

use analyse::doctor::{CheckState, DoctorFinding, Purpose};

use super::{Diagnosis, DoctorTally, meaning, name, remedies, stack, values};
use crate::paint::Tone;
use crate::sheet::{Sheet, SheetStyle};

/// Column of text after a label.
const INDENT: usize = 10;
/// Column of found values in the table of passed checks.
const FOUND: usize = 19;
/// Width from which the table has two columns.
const WIDE: usize = 100;

/// The page; with `all`, what is good has its reasons too.
#[must_use]
pub fn doctor_text(diagnosis: &Diagnosis, all: bool, style: SheetStyle) -> String {
    let mut page = DoctorPage { sheet: Sheet::new(style.readable(), INDENT), purpose: diagnosis.purpose, all };
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
    /// `vda: 2 things hold it back, 3 could be better, 19 good`
    fn summary(&mut self, name: &str, findings: &[DoctorFinding]) {
        let worst = findings.iter().map(|finding| finding.state(self.purpose)).max().unwrap_or(CheckState::Good);
        let words = self.sheet.tone(tone(worst), &DoctorTally::of(findings, self.purpose).words());
        let name = self.sheet.strong(name);
        self.sheet.line(&format!("{name}: {words}"));
    }

    /// Whether a finding is shown with its reasons.
    fn is_shown(&self, finding: &DoctorFinding) -> bool {
        self.all || finding.state(self.purpose) > CheckState::Unknown
    }

    /// What could be better, of everything, the worst first.
    fn findings(&mut self, diagnosis: &Diagnosis) {
        let of_subjects = diagnosis.subjects.iter().flat_map(|(_, findings)| findings);
        let mut shown: Vec<&DoctorFinding> = Vec::new();
        for finding in of_subjects.chain(&diagnosis.host).filter(|finding| self.is_shown(finding)) {
            // Two names may be on one disk.
            if !shown.contains(&finding) {
                shown.push(finding);
            }
        }
        shown.sort_by_key(|finding| std::cmp::Reverse(finding.state(self.purpose)));
        shown.into_iter().for_each(|finding| self.finding(finding));
    }

    /// A table of what is good, and what is not known.
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

    /// What is good, each in a cell.
    fn table(&mut self, findings: &[&DoctorFinding]) {
        let columns = if self.sheet.width() >= WIDE { 2 } else { 1 };
        let width = (self.sheet.width() - 2) / columns;
        let several = findings.iter().any(|finding| finding.about != findings[0].about);
        let cells: Vec<(String, String)> = findings
            .iter()
            .map(|finding| {
                let (title, found) = (meaning::title(finding.check), values::found(finding));
                // The name is worth its room only where there is more than one.
                let whose = several && self.about_several(findings, finding);
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

    /// Whether the same was checked of another device too.
    fn about_several(&self, findings: &[&DoctorFinding], finding: &DoctorFinding) -> bool {
        findings.iter().any(|other| other.check == finding.check && other.about != finding.about)
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

    /// Commands are not wrapped: they are to be copied.
    fn commands(&mut self, finding: &DoctorFinding) {
        let mut first = true;
        for remedy in remedies(finding, self.purpose) {
            let note = remedy.purpose.map_or_else(String::new, |purpose| format!("   # {purpose}"));
            // One of several ways, not one of several steps.
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

    /// `could be better for IOPS`
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

    /// What else there is to see.
    fn last(&mut self, diagnosis: &Diagnosis) {
        let findings = diagnosis.subjects.iter().flat_map(|(_, findings)| findings).chain(&diagnosis.host);
        let good = findings.clone().filter(|finding| finding.state(self.purpose) == CheckState::Good).count();
        let changes = findings.clone().any(|finding| !remedies(finding, self.purpose).is_empty());
        let mut hints = Vec::new();
        if changes {
            hints.push("Nothing was changed. `now` lasts until the next boot, `always` from then on.");
        }
        if good > 0 && !self.all {
            hints.push("--all explains what is good too.");
        }
        if self.purpose.is_none() {
            hints.push("--for iops or --for throughput keeps to one purpose.");
        }
        if !hints.is_empty() {
            self.sheet.gap();
            self.sheet.aside(0, &hints.join(" "));
        }
    }
}

/// As much as fits, with a sign that there is more.
fn fitting(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let kept: String = text.chars().take(room.saturating_sub(3)).collect();
    format!("{kept}...")
}
