//! Problems as data: message, place, fio's behaviour, remedy.

use std::fmt;
use std::sync::Arc;

/// Severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DiagnosticLevel {
    /// Worth knowing; the jobs run as asked.
    Note,
    /// Probably not what was meant; the jobs run all the same.
    Warning,
    /// Nothing runs.
    Error,
}

/// A stretch of one line of a job file or of the command line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file's name as it was given, or `command line`.
    pub source: Arc<str>,
    /// The line, counted from 1.
    pub line: usize,
    /// The first character, counted from 1 in characters.
    pub column: usize,
    /// How many characters; may be 0 at the end of a line.
    pub length: usize,
    /// The whole line.
    pub text: Arc<str>,
}

impl Place {
    /// The part of this stretch that begins `start` characters into it and is `length` characters long,
    /// cut off at this stretch's end.
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
    /// How much it weighs.
    pub severity: DiagnosticLevel,
    /// A short, stable name of the kind of problem, in words joined by `-`.
    pub code: &'static str,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// Where; `None` when the problem is of a whole file or of all of them.
    pub place: Option<Place>,
    /// A few words for the caret; may be empty.
    pub label: String,
    /// What fio does here, and other things worth knowing.
    pub notes: Vec<String>,
    /// What to write instead.
    pub remedy: Option<String>,
}

impl Diagnostic {
    /// An error of this kind.
    #[must_use]
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(DiagnosticLevel::Error, code, message.into())
    }

    /// A warning of this kind.
    #[must_use]
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(DiagnosticLevel::Warning, code, message.into())
    }

    /// Something worth knowing of this kind.
    pub(crate) fn note_of(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(DiagnosticLevel::Note, code, message.into())
    }

    fn new(severity: DiagnosticLevel, code: &'static str, message: String) -> Self {
        Self { severity, code, message, place: None, label: String::new(), notes: Vec::new(), remedy: None }
    }

    /// With the place at which it was found, if one is known.
    #[must_use]
    pub fn at(mut self, place: impl Into<Option<Place>>) -> Self {
        self.place = place.into();
        self
    }

    /// With a few words for the caret.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// With something worth knowing.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// With what to write instead.
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

/// A parsed value, with all problems.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed<T> {
    /// What was read; incomplete where there are errors.
    pub value: T,
    /// All problems, in the order of their places.
    pub diagnostics: Vec<Diagnostic>,
}

impl<T> Parsed<T> {
    /// Whether there is an error, so that `value` must not be run.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == DiagnosticLevel::Error)
    }

    /// Whether there is a warning.
    #[must_use]
    pub fn has_warnings(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == DiagnosticLevel::Warning)
    }

    /// The value and its warnings, or all diagnostics if one of them is an error.
    ///
    /// # Errors
    ///
    /// When [`Parsed::has_errors`].
    pub fn into_result(self) -> Result<(T, Vec<Diagnostic>), Vec<Diagnostic>> {
        if self.has_errors() { Err(self.diagnostics) } else { Ok((self.value, self.diagnostics)) }
    }
}
