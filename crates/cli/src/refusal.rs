//! Prints why a command ends before it has touched anything.

use runner::Refusal;

use crate::diagnostics;
use crate::exit::Exit;

/// Prints refusals.
pub(crate) trait Refused {
    /// Prints the reasons on standard error. Returns the exit status of the program.
    fn report(self) -> Exit;
}

impl Refused for Refusal {
    fn report(self) -> Exit {
        match self {
            Self::Jobs(problems) => {
                diagnostics::print(&problems);
                Exit::Usage
            }
            Self::Words(problems) => Exit::usage(&problems.join("\n")),
            Self::Host(problem) => Exit::environment(&problem),
        }
    }
}
