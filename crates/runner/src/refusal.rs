//! Reasons why a command ends before it has touched anything.

use job::Diagnostic;

/// Reason why a command ends before it has touched anything.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// Problems of jobs, volumes or suites.
    Jobs(Vec<Diagnostic>),
    /// Other problems, a line each.
    Words(Vec<String>),
    /// A restriction of the host.
    Host(String),
}

impl Refusal {
    /// Returns all problems on one line.
    #[must_use]
    pub fn line(&self) -> String {
        match self {
            Self::Jobs(problems) => {
                problems.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>().join("; ")
            }
            Self::Words(words) => words.join("; "),
            Self::Host(text) => text.clone(),
        }
    }
}
