//! Parses values that are one of a few words.

use super::Findings;
use units::{ProblemCode, closest};

/// Returns the word that `text` equals up to its first `,` or `:`, and the text after that.
///
/// As in fio, the case must match and there must be no blank before the word.
pub(crate) fn read<'a>(
    text: &'a str,
    words: &[&'static str],
    findings: &mut Findings,
) -> Option<(&'static str, Option<&'a str>)> {
    let end = text.find([',', ':']).unwrap_or(text.len());
    let head = &text[..end];
    if let Some(word) = words.iter().find(|word| **word == head) {
        return Some((word, text.get(end + 1..)));
    }
    let finding = findings.fault(0..text.len(), ProblemCode::UnknownValue, unknown(head));
    let bare = head.trim();
    let same = words.iter().copied().find(|word| word.eq_ignore_ascii_case(bare));
    match same.or_else(|| closest(bare, words.iter().copied())) {
        Some(word) => finding.help(format!("write `{word}`")),
        None => finding.help(format!("one of {}", words.join(", "))),
    };
    None
}

fn unknown(head: &str) -> String {
    if head.is_empty() {
        "missing value".to_owned()
    } else if head.trim() != head {
        "a space precedes the value".to_owned()
    } else {
        format!("`{head}` is not a valid value")
    }
}
