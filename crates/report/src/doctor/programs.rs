//! The doctor's findings as JSON and as a page, and the manual of its checks.

use analyse::doctor::{Check, CheckState, DoctorFinding, DoctorSubject, FilesystemFacts, Purpose};
use results::doctor::DoctorResult;
use serde_json::{Map, Value, json};

use super::{DoctorRemedy, DoctorTally, meaning, name, remedies, stack, values};
use crate::page::{Page, PageBlock, PagePart};

/// Returns the findings as JSON: for each requested name its stack and findings, then the host's.
pub(crate) fn doctor_json(diagnosis: &DoctorResult) -> String {
    let purpose = diagnosis.purpose;
    let findings =
        |findings: &[DoctorFinding]| findings.iter().map(|found| finding(found, purpose)).collect::<Vec<_>>();
    let subjects = diagnosis.subjects.iter().map(|(subject, found)| {
        json!({
            "asked": subject.asked,
            "devices": subject.layers.iter().map(|layer| &layer.name).collect::<Vec<_>>(),
            "partitions": subject.parts.iter().map(|part| &part.name).collect::<Vec<_>>(),
            "filesystems": filesystems(subject),
            "instead_of_a_device": subject.bottom,
            "stack": stack(subject),
            "tally": tally(DoctorTally::of(found, purpose)),
            "findings": findings(found),
        })
    });
    let document = json!({
        "answer": super::answer::answer(diagnosis),
        "for": purpose,
        "subjects": subjects.collect::<Vec<_>>(),
        "host": { "tally": tally(DoctorTally::of(&diagnosis.host, purpose)), "findings": findings(&diagnosis.host) },
    });
    format!("{document:#}\n")
}

fn filesystems(subject: &DoctorSubject) -> Vec<Value> {
    let filesystem = |of: &FilesystemFacts| json!({ "at": of.at, "type": of.kind, "options": of.options });
    subject.filesystems.iter().map(filesystem).collect()
}

fn tally(tally: DoctorTally) -> Value {
    json!({
        "problem": tally.problems, "could_be_better": tally.better, "good": tally.good, "unknown": tally.unknown,
    })
}

fn finding(finding: &DoctorFinding, purpose: Option<Purpose>) -> Value {
    let mut map = match serde_json::to_value(finding) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    };
    let commands = remedies(finding, purpose)
        .into_iter()
        .map(|remedy| json!({ "now": remedy.now, "always": remedy.always, "purpose": remedy.purpose }));
    map.insert("title".to_owned(), meaning::title(finding.check).into());
    map.insert("state".to_owned(), json!(finding.state(purpose)));
    map.insert("found_text".to_owned(), values::found(finding).into());
    map.insert("wanted_text".to_owned(), json!(values::wanted(finding, purpose)));
    map.insert("why".to_owned(), why(finding).into());
    map.insert("commands".to_owned(), commands.collect());
    map.insert("source".to_owned(), finding.check.source().into());
    Value::Object(map)
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
        blocks.push(PageBlock::Text(DoctorTally::of(findings, diagnosis.purpose).words()));
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
