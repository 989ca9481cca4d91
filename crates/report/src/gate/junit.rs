//! The result of a gate as JUnit XML, which GitHub Actions, GitLab and Jenkins show as tests.

use analyse::gate::GateOutcome;
use results::gate::{GateCheck, GateResult};

use super::measured;
use crate::escape::xml;

/// Returns one test suite with a test case per assertion, and a failed one if the figures cannot be trusted.
#[must_use]
pub fn junit(document: &GateResult) -> String {
    let failures = document.checks.iter().filter(|check| is_failure(check)).count() + document.distrust.len().min(1);
    let errors = document.checks.iter().filter(|check| is_error(check)).count();
    let tests = document.checks.len() + document.distrust.len().min(1);
    let name = document.runs.first().map_or("fathom gate", |run| run.name.as_str());
    let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\"");
    let time = format!("time=\"{:.3}\"", document.seconds);
    let mut suite = format!("  <testsuite name=\"{}\" {counts} skipped=\"0\" {time}", escaped(name));
    if let Some(began) = document.runs.first().and_then(|run| run.began.as_ref()) {
        suite.push_str(&format!(" timestamp=\"{}\"", began.replace(' ', "T")));
    }
    if !document.hostname.is_empty() {
        suite.push_str(&format!(" hostname=\"{}\"", escaped(&document.hostname)));
    }
    let cases: String =
        document.checks.iter().map(case).chain(document.distrust.first().map(|why| distrust(why))).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"fathom gate\" {counts} {time}>\n{suite}>\n{cases}  \
         </testsuite>\n</testsuites>\n"
    )
}

fn is_failure(check: &GateCheck) -> bool {
    !check.passed && !is_error(check)
}

const fn is_error(check: &GateCheck) -> bool {
    matches!(check.judged.outcome, GateOutcome::Unknown(_))
}

fn case(check: &GateCheck) -> String {
    let class =
        check.expectation.job.as_deref().map_or_else(|| "fathom.gate".to_owned(), |job| format!("fathom.gate.{job}"));
    let head = format!("    <testcase classname=\"{}\" name=\"{}\" time=\"0\"", escaped(&class), escaped(&check.text));
    let measured = if is_error(check) { "" } else { &format!(", measured {}", measured(check)) };
    let text = format!("expected {}{measured}", check.text);
    let text = if check.words.is_empty() { text } else { format!("{text}: {}", check.words) };
    if check.passed {
        return format!("{head}>\n      <system-out>{}</system-out>\n    </testcase>\n", escaped(&text));
    }
    let element = if is_error(check) { "error" } else { "failure" };
    failed(&head, element, &text, &text)
}

fn distrust(reason: &str) -> String {
    let head = "    <testcase classname=\"fathom.gate\" name=\"the figures are reliable\" time=\"0\"";
    failed(head, "failure", "the figures are unreliable", reason)
}

fn failed(head: &str, element: &str, message: &str, text: &str) -> String {
    let (message, text) = (escaped(message), escaped(text));
    format!(
        "{head}>\n      <{element} message=\"{message}\" type=\"expectation\">{text}</{element}>\n    </testcase>\n"
    )
}

/// Escapes text for elements and attributes, on one line.
fn escaped(text: &str) -> String {
    xml(&text.replace(['\n', '\t', '\r'], " "))
}
