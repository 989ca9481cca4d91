//! Prints errors, warnings and notes in one style (docs/errors.md): what failed and why, the place, the remedy.
//!
//! Problems of jobs are [`Problem`]s. Crates that know no diagnostics return errors whose text has two lines: what
//! failed and why, then `help: ` and the remedy. One line per part keeps errors usable in logs and records. Both are
//! rendered here, and so are the errors of clap.

use report::diagnostics_text;
use units::{Problem, ProblemCode, ProblemLevel};

use crate::terminal::{Terminal, write_stderr};

/// Prints errors without a place; [`errors`] parses the text.
pub(crate) fn error(text: &str) {
    draw(&errors(text));
}

/// Prints warnings without a place; [`errors`] parses the text.
pub(crate) fn warning(text: &str) {
    let warnings = errors(text).into_iter();
    draw(&warnings.map(|warning| Problem { level: ProblemLevel::Warning, ..warning }).collect::<Vec<_>>());
}

/// Splits a text into diagnostics: each line is an error, or after `help: ` a remedy of the error before it.
pub(crate) fn errors(text: &str) -> Vec<Problem> {
    let mut errors: Vec<Problem> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("help: "), errors.last_mut()) {
            (Some(help), Some(error)) => {
                let known = error.help.take();
                error.help = Some(known.map_or_else(|| help.to_owned(), |known| format!("{known}; {help}")));
            }
            _ => errors.push(Problem::error(ProblemCode::Arguments, line)),
        }
    }
    errors
}

fn draw(diagnostics: &[Problem]) {
    let terminal = Terminal::stderr();
    write_stderr(&diagnostics_text(diagnostics, terminal.colour, terminal.width));
}

/// Prints problems found before the start, then the numbers of errors and warnings. Prints nothing without problems.
pub(crate) fn print(diagnostics: &[Problem]) {
    draw(diagnostics);
    if diagnostics.iter().any(|diagnostic| diagnostic.level > ProblemLevel::Note) {
        write_stderr(&format!("fathom: {}\n", tally(diagnostics)));
    }
}

/// Returns the last line: `2 errors, 1 warning; nothing was touched`.
fn tally(diagnostics: &[Problem]) -> String {
    let count = |severity| diagnostics.iter().filter(|d| d.level == severity).count();
    let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let (errors, warnings) = (count(ProblemLevel::Error), count(ProblemLevel::Warning));
    match (errors, warnings) {
        (0, n) => plural(n, "warning"),
        (n, 0) => format!("{}; nothing was touched", plural(n, "error")),
        (n, m) => format!("{}, {}; nothing was touched", plural(n, "error"), plural(m, "warning")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_counts_errors_and_warnings() {
        let (error, warning) = (Problem::error(ProblemCode::Volume, "b"), Problem::warning(ProblemCode::Volume, "b"));
        assert_eq!(tally(&[error.clone(), error.clone(), warning.clone()]), "2 errors, 1 warning; nothing was touched");
        assert_eq!(tally(&[warning]), "1 warning");
    }
}
