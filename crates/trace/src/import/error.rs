//! Errors in traces.

use units::{Problem, ProblemCode};

/// An error in a field of a line or in an event, before its place is known.
#[derive(Clone, Debug)]
pub(super) struct FieldError {
    /// Bytes of the line before the field.
    pub(super) column: usize,
    pub(super) what: String,
}

/// Returns the problem of a binary trace at a position in bytes.
pub(super) fn at_byte(name: &str, byte: u64, what: &str) -> Problem {
    let place = if byte > 0 { format!("byte {byte}: ") } else { String::new() };
    Problem::error(ProblemCode::Trace, format!("{name}: {place}{what}"))
}

/// Returns the start of `bytes` as printable text, for an error.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(1_000)]);
    units::printable(&text.chars().take(240).collect::<String>()).into_owned()
}
