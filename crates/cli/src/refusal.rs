//! Why a command ends before it has touched anything.

use job::Diagnostic;

use crate::diagnostics;
use crate::exit::Exit;
use crate::terminal::tell;

/// Why nothing was touched.
#[derive(Debug)]
pub(crate) enum CommandRefusal {
    /// What is wrong with jobs, volumes or suites.
    Jobs(Vec<Diagnostic>),
    /// Everything else, a line each.
    Words(Vec<String>),
    /// The host is to blame.
    Host(String),
}

impl CommandRefusal {
    /// Tells why, and how the program ends.
    pub(crate) fn told(self) -> Exit {
        match self {
            // Which says by itself that nothing was touched.
            Self::Jobs(problems) => {
                diagnostics::print(&problems);
                Exit::Usage
            }
            Self::Words(problems) => {
                problems.iter().for_each(|problem| tell(&format!("fathom: {problem}\n")));
                Exit::usage("nothing was touched")
            }
            Self::Host(problem) => Exit::environment(&problem),
        }
    }

    /// On one line.
    pub(crate) fn line(&self) -> String {
        match self {
            Self::Jobs(problems) => {
                problems.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>().join("; ")
            }
            Self::Words(words) => words.join("; "),
            Self::Host(text) => text.clone(),
        }
    }
}
