//! A parsed value with its problems.

use units::{Problem, ProblemLevel};

/// A parsed value with all diagnostics.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed<T> {
    /// The parsed value; incomplete if there are errors.
    pub value: T,
    /// All diagnostics, in the order of their places.
    pub diagnostics: Vec<Problem>,
}

impl<T> Parsed<T> {
    /// Reports whether there is an error, in which case `value` must not be run.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|d| d.level == ProblemLevel::Error)
    }

    /// Reports whether there is a warning.
    #[must_use]
    pub fn has_warnings(&self) -> bool {
        self.diagnostics.iter().any(|d| d.level == ProblemLevel::Warning)
    }

    /// Returns the value with its notes and warnings, or all diagnostics if one of them is an error.
    ///
    /// # Errors
    ///
    /// Fails if [`Parsed::has_errors`].
    pub fn into_result(self) -> Result<(T, Vec<Problem>), Vec<Problem>> {
        if self.has_errors() { Err(self.diagnostics) } else { Ok((self.value, self.diagnostics)) }
    }
}
