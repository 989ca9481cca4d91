//! Problems as data: message, place, fio's behaviour and remedy.

use std::fmt;
use std::sync::Arc;

/// Severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DiagnosticLevel {
    /// Information; the jobs run as written.
    Note,
    /// Probably not what the user meant; the jobs run nevertheless.
    Warning,
    /// Prevents the run.
    Error,
}

/// A range of characters in one line of a job file or of the command line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file's name as given, or `command line`.
    pub source: Arc<str>,
    /// The line, counted from 1.
    pub line: usize,
    /// The first character, counted from 1 in characters, not bytes.
    pub column: usize,
    /// Number of characters; 0 is possible at the end of a line.
    pub length: usize,
    /// Text of the whole line.
    pub text: Arc<str>,
}

impl Place {
    /// Returns the text of this range.
    #[must_use]
    pub fn marked(&self) -> String {
        self.text.chars().skip(self.column.saturating_sub(1)).take(self.length).collect()
    }

    /// Returns the part of this range that begins `start` characters into it and has at most `length` characters.
    #[must_use]
    pub fn part(&self, start: usize, length: usize) -> Self {
        let start = start.min(self.length);
        Self { column: self.column + start, length: length.min(self.length - start), ..self.clone() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.source, self.line, self.column)
    }
}

/// One problem of a job file or of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Severity of the problem.
    pub severity: DiagnosticLevel,
    /// Short, stable identifier of the kind of problem: words joined by `-`.
    pub code: &'static str,
    /// The problem, in one sentence without a full stop.
    pub message: String,
    /// Location; `None` if the problem concerns a whole file or all of them.
    pub place: Option<Place>,
    /// Text shown beside the caret; may be empty.
    pub label: String,
    /// fio's behaviour and other explanations.
    pub notes: Vec<String>,
    /// What to write instead.
    pub remedy: Option<String>,
}

impl Diagnostic {
    /// Returns an error of the kind `code`.
    #[must_use]
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(DiagnosticLevel::Error, code, message.into())
    }

    /// Returns a warning of the kind `code`.
    #[must_use]
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(DiagnosticLevel::Warning, code, message.into())
    }

    /// Returns a note of the kind `code`.
    pub(crate) fn note_of(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(DiagnosticLevel::Note, code, message.into())
    }

    fn new(severity: DiagnosticLevel, code: &'static str, message: String) -> Self {
        Self { severity, code, message, place: None, label: String::new(), notes: Vec::new(), remedy: None }
    }

    /// Sets the place, if one is known.
    #[must_use]
    pub fn at(mut self, place: impl Into<Option<Place>>) -> Self {
        self.place = place.into();
        self
    }

    /// Sets the text shown beside the caret.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds an explanation.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Sets the remedy.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

/// One line, for logs and tests: `job.fio:3:4: error: … [code]`.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        let severity = match self.severity {
            DiagnosticLevel::Note => "note",
            DiagnosticLevel::Warning => "warning",
            DiagnosticLevel::Error => "error",
        };
        write!(f, "{severity}: {} [{}]", self.message, self.code)
    }
}

/// A parsed value with all diagnostics.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed<T> {
    /// The parsed value; incomplete if there are errors.
    pub value: T,
    /// All diagnostics, in the order of their places.
    pub diagnostics: Vec<Diagnostic>,
}

impl<T> Parsed<T> {
    /// Reports whether there is an error, in which case `value` must not be run.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == DiagnosticLevel::Error)
    }

    /// Reports whether there is a warning.
    #[must_use]
    pub fn has_warnings(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == DiagnosticLevel::Warning)
    }

    /// Returns the value with its notes and warnings, or all diagnostics if one of them is an error.
    ///
    /// # Errors
    ///
    /// Fails if [`Parsed::has_errors`].
    pub fn into_result(self) -> Result<(T, Vec<Diagnostic>), Vec<Diagnostic>> {
        if self.has_errors() { Err(self.diagnostics) } else { Ok((self.value, self.diagnostics)) }
    }
}
