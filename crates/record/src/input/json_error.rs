//! Errors of the JSON parser.

use std::ops::Range;

use serde_json::error::Category;

use super::InputError;
use super::text::InputText;

/// Converts an error of the JSON parser in a document on some lines into an error with its place in the text.
pub(super) fn json_error(text: &InputText, lines: Range<usize>, error: &serde_json::Error, remedy: &str) -> InputError {
    let message = error.to_string();
    let what = message.split(" at line ").next().unwrap_or(&message);
    match error.classify() {
        Category::Eof => text.cut_off(lines.end, "the document is cut off before its end", remedy),
        _ => {
            let at = lines.start + error.line().saturating_sub(1);
            // An error at the end of a line is reported at column 0 of the next one.
            let (at, column) = match error.column() {
                0 if at > lines.start => (at - 1, text.line(at - 1).chars().count() + 1),
                column => (at, column.max(1)),
            };
            text.error_at(at, column, 0, format!("this cannot be read: {what}"), remedy)
        }
    }
}
