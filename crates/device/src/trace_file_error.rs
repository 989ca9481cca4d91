//! Errors of files with traces.

use std::io::{self, ErrorKind};

use engine::describe;
use trace::TraceError;
use units::{Place, Problem, ProblemCode};

/// Why a trace cannot be read or copied.
#[derive(Clone, Debug)]
pub struct TraceFileError {
    /// The error with its place and remedy.
    pub diagnostic: Box<Problem>,
    /// Whether the file is a wrong one, rather than the host failing.
    pub is_usage: bool,
}

impl TraceFileError {
    /// Creates an error about a file.
    pub(crate) fn new(name: &str, why: &str, remedy: &str, is_usage: bool) -> Self {
        let diagnostic = Problem::error(ProblemCode::Trace, format!("{name}: {why}")).help(remedy);
        Self { diagnostic: Box::new(diagnostic), is_usage }
    }

    pub(crate) fn io(name: &str, error: &io::Error) -> Self {
        let is_usage = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::IsADirectory | ErrorKind::InvalidInput);
        Self::new(name, &describe(error), "give a file with a trace; `-` is standard input", is_usage)
    }
}

impl From<&TraceError> for TraceFileError {
    fn from(error: &TraceError) -> Self {
        let Some((line, column)) = error.line else {
            let place = if error.byte > 0 { format!("byte {}: ", error.byte) } else { String::new() };
            let why = format!("{place}{}", error.what);
            return Self::new(&error.name, &why, &error.remedy, true);
        };
        let place = Place {
            source: error.name.as_str().into(),
            line: usize::try_from(line).unwrap_or(usize::MAX),
            column,
            length: 1,
            text: error.text.as_ref().into(),
        };
        let diagnostic = Problem::error(ProblemCode::Trace, error.what.clone()).at(place).help(error.remedy.as_ref());
        Self { diagnostic: Box::new(diagnostic), is_usage: true }
    }
}
