//! Why a command ends before it has touched anything.

use runner::Refusal;

use crate::diagnostics;
use crate::exit::Exit;
use crate::terminal::tell;

/// Ends a command that was refused.
pub(crate) trait Refused {
    /// Prints the reasons on standard error. Returns how the program ends.
    fn told(self) -> Exit;
}

impl Refused for Refusal {
    fn told(self) -> Exit {
        match self {
            // The last line of diagnostics says that nothing was touched.
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
}
