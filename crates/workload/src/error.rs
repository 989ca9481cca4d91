//! Errors of jobs that are found once sizes are known.

use std::fmt;

/// A job that cannot run, with the option to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadError {
    /// Name of the option, for locating it in the job.
    pub option: &'static str,
    /// The problem and the remedy.
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
