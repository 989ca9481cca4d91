//! The doctor's findings as JSON and as a page, and the manual of its checks.

use analyse::doctor::{Check, CheckState, DoctorFinding, FilesystemFacts, Purpose};
use results::doctor::{
    DiagnosedFilesystem, DiagnosedFinding, DiagnosedHost, DiagnosedSubject, DoctorDocument, DoctorRemedy, DoctorResult,
    DoctorTally,
};
use results::stored::sorted;

use super::{meaning, name, remedies, stack, tally_words, values};
use crate::page::{Page, PageBlock, PagePart};

/// Returns the findings as JSON: for each requested name its stack and findings, then the host's.
pub(crate) fn doctor_json<'a>(diagnosis: &'a DoctorResult) -> String {
    let purpose = diagnosis.purpose;
    let findings = |findings: &'a [DoctorFinding]| findings.iter().map(|found| finding(found, purpose)).collect();
    let filesystem = |of: &'a FilesystemFacts| DiagnosedFilesystem { at: &of.at, kind: &of.kind, options: &of.options };
    let subjects = diagnosis.subjects.iter().map(|(subject, found)| DiagnosedSubject {
        asked: &subject.asked,
        devices: subject.layers.iter().map(|layer| layer.name.as_str()).collect(),
        partitions: subject.parts.iter().map(|part| part.name.as_str()).collect(),
        filesystems: subject.filesystems.iter().map(filesystem).collect(),
        instead_of_a_device: subject.bottom,
        stack: stack(subject),
        tally: DoctorTally::new(found, purpose),
        findings: findings(found),
    });
    sorted(&DoctorDocument {
        answer: super::answer::answer(diagnosis),
        purpose,
        subjects: subjects.collect(),
        host: DiagnosedHost { tally: DoctorTally::new(&diagnosis.host, purpose), findings: findings(&diagnosis.host) },
    })
}

fn finding(finding: &DoctorFinding, purpose: Option<Purpose>) -> DiagnosedFinding<'_> {
    DiagnosedFinding {
        finding,
        title: meaning::title(finding.check),
        state: finding.state(purpose),
        found_text: values::found(finding),
        wanted_text: values::wanted(finding, purpose),
        why: why(finding),
        commands: remedies(finding, purpose),
        source: finding.check.source(),
    }
}

fn why(finding: &DoctorFinding) -> String {
    match &finding.unknown {
        Some(reason) => meaning::unread(reason),
        None => meaning::why(finding.check, finding.case).to_owned(),
    }
}

/// Returns the findings as a page: a table for each subject, then the commands that change settings.
pub(crate) fn doctor_page(diagnosis: &DoctorResult) -> Page {
    let subjects = diagnosis.subjects.iter().map(|(subject, findings)| (name(subject), stack(subject), findings));
    let host = ("This host".to_owned(), String::new(), &diagnosis.host);
    let parts = subjects.chain([host]).enumerate().map(|(index, (name, stack, findings))| {
        let mut blocks: Vec<PageBlock> =
            Some(stack).filter(|stack| !stack.is_empty()).map(PageBlock::Text).into_iter().collect();
        blocks.push(PageBlock::Text(tally_words(DoctorTally::new(findings, diagnosis.purpose))));
        let mut sorted: Vec<&DoctorFinding> = findings.iter().collect();
        sorted.sort_by_key(|finding| std::cmp::Reverse(finding.state(diagnosis.purpose)));
        let row = |finding: &&DoctorFinding| {
            vec![
                meaning::about(finding),
                meaning::state(finding.state(diagnosis.purpose)).to_owned(),
                values::found(finding),
                values::wanted(finding, diagnosis.purpose).unwrap_or_default(),
                why(finding),
            ]
        };
        let head = ["check", "state", "found", "wanted", "why"];
        blocks.push(PageBlock::table(&head, &[], sorted.iter().map(row).collect()));
        for finding in sorted {
            let commands = commands(finding, diagnosis.purpose);
            if !commands.is_empty() {
                blocks.extend([
                    PageBlock::Text(format!("{}:", meaning::about(finding))),
                    PageBlock::Code(commands.join("\n")),
                ]);
            }
        }
        PagePart::new(format!("subject-{index}"), name, blocks)
    });
    Page {
        brand: "Fathom doctor",
        answer: super::answer::answer(diagnosis),
        about: String::new(),
        parts: parts.collect(),
    }
}

/// Returns the commands for a finding, each with the purpose it is for.
fn commands(finding: &DoctorFinding, purpose: Option<Purpose>) -> Vec<String> {
    let of = |remedy: DoctorRemedy| {
        let note = remedy.purpose.map_or_else(String::new, |purpose| format!("   # {purpose}"));
        remedy.now.into_iter().chain(remedy.always).map(move |command| format!("{command}{note}"))
    };
    remedies(finding, purpose).into_iter().flat_map(of).collect()
}

/// Returns the manual of all checks: what each reads, why it matters and the document behind it.
#[must_use]
pub fn doctor_checks() -> String {
    let mut out = format!(
        "# Checks of `fathom doctor`\n\nGenerated from the table of checks; do not edit. There are {}. Each finding is \
         one of: {}. A figure that cannot be read is unknown, with the reason; nothing is written and no device is opened.\n",
        Check::ALL.len(),
        [CheckState::Problem, CheckState::CouldBeBetter, CheckState::Good, CheckState::Unknown]
            .map(meaning::state)
            .join(", ")
    );
    for &check in Check::ALL {
        out.push_str(&format!(
            "\n## {}\n\n{} Reads {}.\n\nFrom: {}. In JSON: `{}`.\n",
            meaning::title(check),
            meaning::why(check, analyse::doctor::DoctorCase::Usual),
            meaning::place(check),
            check.source(),
            check.id()
        ));
    }
    out
}
