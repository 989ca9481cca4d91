//! Prints errors, warnings and notes in one style (docs/errors.md): what failed and why, the place, the remedy.

use report::diagnostics_text;
use units::{Problem, ProblemLevel, counted};

use crate::terminal::{Terminal, write_stderr};

/// Prints problems.
pub(crate) fn errors(problems: &[Problem]) {
    let terminal = Terminal::stderr();
    write_stderr(&diagnostics_text(problems, terminal.colour, terminal.width));
}

/// Prints a problem as a warning.
pub(crate) fn warning(problem: &Problem) {
    errors(&[Problem { level: ProblemLevel::Warning, ..problem.clone() }]);
}

/// Prints problems found before the start, then the numbers of errors and warnings. Prints nothing without problems.
pub(crate) fn print(diagnostics: &[Problem]) {
    errors(diagnostics);
    if diagnostics.iter().any(|diagnostic| diagnostic.level > ProblemLevel::Note) {
        write_stderr(&format!("fathom: {}\n", tally(diagnostics)));
    }
}

/// Returns the last line: `2 errors, 1 warning; nothing was touched`.
fn tally(diagnostics: &[Problem]) -> String {
    let count = |severity| diagnostics.iter().filter(|d| d.level == severity).count() as u64;
    let (errors, warnings) = (count(ProblemLevel::Error), count(ProblemLevel::Warning));
    match (errors, warnings) {
        (0, n) => counted(n, "warning"),
        (n, 0) => format!("{}; nothing was touched", counted(n, "error")),
        (n, m) => format!("{}, {}; nothing was touched", counted(n, "error"), counted(m, "warning")),
    }
}

#[cfg(test)]
mod tests {
    use units::ProblemCode;

    use super::*;

    #[test]
    fn the_last_line_counts_errors_and_warnings() {
        let (error, warning) = (Problem::error(ProblemCode::Volume, "b"), Problem::warning(ProblemCode::Volume, "b"));
        assert_eq!(tally(&[error.clone(), error.clone(), warning.clone()]), "2 errors, 1 warning; nothing was touched");
        assert_eq!(tally(&[warning]), "1 warning");
    }
}
