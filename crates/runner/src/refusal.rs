//! Reasons why a command ends before it has touched anything.

use units::Problem;

/// Reason why a command ends before it has touched anything.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// Problems of jobs, volumes or suites.
    Jobs(Vec<Problem>),
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
            Self::Jobs(problems) => problems.iter().map(|problem| problem.what.as_str()).collect::<Vec<_>>().join("; "),
            Self::Words(words) => words.join("; "),
            Self::Host(text) => text.clone(),
        }
    }
}
