//! Errors in traces.

use std::fmt;

/// An error in a trace, with its place, reason and remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    /// Name of the trace.
    pub name: String,
    /// Position in bytes from the start of its file.
    pub byte: u64,
    /// Line and column, from 1, in a text.
    pub line: Option<(u64, usize)>,
    /// The line, cut to 240 characters; empty for binary traces.
    pub text: Box<str>,
    /// Description of the error, one sentence without a full stop.
    pub what: String,
    /// Suggested correction.
    pub remedy: Box<str>,
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some((line, column)) => write!(f, "{}:{line}:{column}: ", self.name)?,
            None => write!(f, "{}: byte {}: ", self.name, self.byte)?,
        }
        write!(f, "{}: {}", self.what, self.remedy)
    }
}

impl std::error::Error for TraceError {}

/// An error in a field of a line or in an event, before its place is known.
#[derive(Clone, Debug)]
pub(super) struct FieldError {
    /// Bytes of the line before the field.
    pub(super) column: usize,
    pub(super) what: String,
}

/// Returns the start of `bytes` as printable text, for an error.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(1_000)]);
    units::printable(&text.chars().take(240).collect::<String>()).into_owned()
}
