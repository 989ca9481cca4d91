//! Errors of the JSON reader.

use std::ops::Range;

use serde_json::error::Category;

use super::InputError;
use super::text::InputText;

/// An error of the JSON reader at its place in the text, for a document on some lines.
pub(super) fn fault(text: &InputText, lines: Range<usize>, error: &serde_json::Error, remedy: &str) -> InputError {
    let message = error.to_string();
    let what = message.split(" at line ").next().unwrap_or(&message);
    match error.classify() {
        Category::Eof => text.cut_off(lines.end, "the document is cut off before its end", remedy),
        _ => {
            let at = lines.start + error.line().saturating_sub(1);
            // What is wrong with the end of a line is said of the place before the next one.
            let (at, column) = match error.column() {
                0 if at > lines.start => (at - 1, text.line(at - 1).chars().count() + 1),
                column => (at, column.max(1)),
            };
            text.fault_at(at, column, 0, format!("this cannot be read: {what}"), remedy)
        }
    }
}
