//! Verdict and findings of a page.

use analyse::{Code, Finding, Severity};
use record::JobResult;

use super::markup::Markup;
use super::part::Member;
use super::table::HtmlTable;
use crate::explain::{quantity_name, source_name, value};
use crate::words;

/// Returns the class and the word of a finding.
pub(super) fn tone_of(finding: &Finding) -> (&'static str, &'static str) {
    match tone(finding.severity) {
        ("info", _) if finding.code == Code::LimitUnknown => ("unknown", "Unknown"),
        (class, _) if finding.code == Code::LimitUnknown => (class, "Unknown"),
        tone => tone,
    }
}

/// Returns the class and the word of a severity.
pub(super) fn tone(severity: Severity) -> (&'static str, &'static str) {
    match severity {
        Severity::Info => ("info", "Found"),
        Severity::Advice => ("advice", "Advice"),
        Severity::Warning => ("warning", "Warning"),
        Severity::Distrust => ("distrust", "Do not trust"),
    }
}

/// Splits a text after its first sentence.
pub(super) fn split(text: &str) -> (&str, &str) {
    let end = text.match_indices(". ").map(|(at, _)| at + 1).find(|at| text[at + 1..].starts_with(char::is_uppercase));
    end.map_or((text, ""), |at| (&text[..at], text[at..].trim_start()))
}

/// Writes the headline of a verdict; with `in_answer`, only its evidence, because the answer of the page has its sentences.
pub(super) fn headline(out: &mut Markup, finding: &Finding, job: &JobResult, in_answer: bool) {
    let (class, word) = tone_of(finding);
    if in_answer {
        return evidence(out, finding);
    }
    out.class("div", &format!("card verdict {class}"), |out| {
        out.leaf("span", "badge", word);
        body(out, finding, job);
        evidence(out, finding);
    });
}

/// Writes the verdicts on several runs, one card each.
pub(super) fn side_by_side(out: &mut Markup, members: &[Member<'_>]) {
    out.class("ul", "also", |out| {
        for member in members {
            let Some(verdict) = member.verdict else { continue };
            let (class, word) = tone_of(&verdict.headline);
            out.class("li", &format!("card {class}"), |out| {
                out.class("h3", "name", |out| out.name(member.name));
                out.leaf("span", "badge", word);
                body(out, &verdict.headline, member.job);
                for finding in &verdict.others {
                    out.leaf("p", "", &micro(&words::finding(finding, member.job)));
                }
                evidence(out, &verdict.headline);
            });
        }
    });
}

/// Writes the other findings.
pub(super) fn others(out: &mut Markup, findings: &[Finding], job: &JobResult) {
    if findings.is_empty() {
        return;
    }
    out.class("ul", "also", |out| {
        for finding in findings {
            let (class, word) = tone_of(finding);
            out.class("li", &format!("card {class}"), |out| {
                out.leaf("span", "badge", word);
                body(out, finding, job);
                evidence(out, finding);
            });
        }
    });
}

fn body(out: &mut Markup, finding: &Finding, job: &JobResult) {
    let words::SentenceParts { statement, remedy, outlook } = words::parts(finding, job);
    let (lead, rest) = split(&statement);
    out.leaf("p", "lead", &micro(lead));
    if !rest.is_empty() {
        out.leaf("p", "", &micro(rest));
    }
    for text in remedy.iter().chain(&outlook) {
        out.leaf("p", "remedy", &micro(text));
    }
}

fn evidence(out: &mut Markup, finding: &Finding) {
    let mut table = HtmlTable::new("Evidence", &["figure", "value", "read from"], 1);
    for evidence in &finding.evidence {
        let cells = [quantity_name(evidence.quantity), value(evidence), source_name(evidence.source).to_owned()];
        table.rows.push(cells.map(|cell| micro(&cell)).into());
    }
    if !table.rows.is_empty() {
        out.class("div", "quiet", |out| table.folded(out, "Evidence"));
    }
}

/// Replaces `us` after a number by `µs`. Text for terminals is ASCII.
pub(super) fn micro(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(" us") {
        let (before, after) = (&rest[..at], &rest[at + 3..]);
        let is_unit = before.ends_with(|letter: char| letter.is_ascii_digit())
            && !after.starts_with(|letter: char| letter.is_alphanumeric());
        out.push_str(before);
        out.push_str(if is_unit { " µs" } else { " us" });
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_ends_before_an_upper_case_letter() {
        assert_eq!(split("1.31 ms is all. Set iodepth=32."), ("1.31 ms is all.", "Set iodepth=32."));
        assert_eq!(split("78.2k IOPS at 3. place"), ("78.2k IOPS at 3. place", ""));
    }

    #[test]
    fn only_units_are_replaced() {
        assert_eq!(micro("363 us x 2 us, of us 5 use 7 us."), "363 µs x 2 µs, of us 5 use 7 µs.");
    }
}
