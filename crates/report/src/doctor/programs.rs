//! The doctor's findings as JSON and Markdown, and the manual of its checks.

use analyse::doctor::{Check, CheckState, DoctorFinding, DoctorSubject, FilesystemFacts, Purpose};
use serde_json::{Map, Value, json};

use super::{Diagnosis, DoctorTally, meaning, name, remedies, stack, values};
use crate::escape::markdown;

/// Returns the findings as JSON: for each requested name its stack and findings, then the host's.
pub(crate) fn doctor_json(diagnosis: &Diagnosis) -> String {
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

/// Returns the findings as Markdown tables, with the commands as code blocks.
pub(crate) fn doctor_markdown(diagnosis: &Diagnosis) -> String {
    let mut out = super::answer::answer(diagnosis).markdown();
    for (subject, findings) in &diagnosis.subjects {
        section(&mut out, &name(subject), &stack(subject), findings, diagnosis.purpose);
    }
    section(&mut out, "this host", "", &diagnosis.host, diagnosis.purpose);
    out
}

fn section(out: &mut String, name: &str, about: &str, findings: &[DoctorFinding], purpose: Option<Purpose>) {
    let gap = if out.is_empty() { "" } else { "\n" };
    out.push_str(&format!("{gap}## {}\n\n{}.\n", markdown(name), DoctorTally::of(findings, purpose).words()));
    if !about.is_empty() {
        out.push_str(&format!("\n{}\n", markdown(about)));
    }
    if findings.is_empty() {
        return;
    }
    let mut sorted: Vec<&DoctorFinding> = findings.iter().collect();
    sorted.sort_by_key(|finding| std::cmp::Reverse(finding.state(purpose)));
    out.push_str("\n| check | state | found | wanted | why |\n|---|---|---|---|---|\n");
    for finding in &sorted {
        let cells = [
            meaning::about(finding),
            meaning::state(finding.state(purpose)).to_owned(),
            values::found(finding),
            values::wanted(finding, purpose).unwrap_or_default(),
            why(finding),
        ];
        out.push_str(&format!("| {} |\n", cells.map(|cell| markdown(&cell)).join(" | ")));
    }
    for finding in sorted {
        commands(out, finding, purpose);
    }
}

fn commands(out: &mut String, finding: &DoctorFinding, purpose: Option<Purpose>) {
    let remedies = remedies(finding, purpose);
    if remedies.is_empty() {
        return;
    }
    out.push_str(&format!("\n{}:\n\n", markdown(&meaning::about(finding))));
    for remedy in remedies {
        let note = remedy.purpose.map_or_else(String::new, |purpose| format!("   # {purpose}"));
        for command in remedy.now.into_iter().chain(remedy.always) {
            out.push_str(&format!("    {command}{note}\n"));
        }
    }
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
