//! Errors of jobs once sizes are known.

use std::fmt;

/// A job that cannot be carried out, located by the option that would have to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadError {
    /// The option's name, for finding its place in the job.
    pub option: &'static str,
    /// What is wrong and what would help.
    pub message: String,
}

impl WorkloadError {
    pub(crate) fn new(option: &'static str, message: impl Into<String>) -> Self {
        Self { option, message: message.into() }
    }
}

impl fmt::Display for WorkloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.option, self.message)
    }
}

impl std::error::Error for WorkloadError {}
