//! Makes the strings of a record safe to print.

use serde_json::Value;
use units::is_hidden;

use crate::Run;

/// Returns the run with unprintable characters escaped as `\u001b`. Line breaks are escaped too, so that a name cannot
/// begin a line of its own in a report.
#[must_use]
pub fn printable(run: Run) -> Run {
    let Ok(mut value) = serde_json::to_value(&run) else { return run };
    if clean(&mut value) { serde_json::from_value(value).unwrap_or(run) } else { run }
}

/// Reports whether a JSON document may contain such characters, literally or escaped.
pub(crate) fn may_hide(document: &str) -> bool {
    document.contains('\\') || document.chars().any(|letter| is_hidden(letter) && !matches!(letter, '\n' | '\r' | '\t'))
}

/// Escapes all strings; returns whether any was changed.
fn clean(value: &mut Value) -> bool {
    match value {
        Value::String(text) if text.chars().any(is_hidden) => {
            *text = units::printable(text).into_owned();
            true
        }
        Value::Array(values) => values.iter_mut().map(clean).filter(|cleaned| *cleaned).count() > 0,
        Value::Object(fields) => {
            let cleaned = fields.values_mut().map(clean).filter(|cleaned| *cleaned).count() > 0;
            let hidden: Vec<String> = fields.keys().filter(|key| key.chars().any(is_hidden)).cloned().collect();
            for key in &hidden {
                let value = fields.remove(key).unwrap_or_default();
                fields.insert(units::printable(key).into_owned(), value);
            }
            cleaned || !hidden.is_empty()
        }
        _ => false,
    }
}
