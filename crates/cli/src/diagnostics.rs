//! Prints errors, warnings and notes in one style (docs/errors.md): what failed and why, the place, the remedy.
//!
//! Problems of jobs are [`Diagnostic`]s. Crates that know no diagnostics return errors whose text has two lines: what
//! failed and why, then `help: ` and the remedy. One line per part keeps errors usable in logs and records. Both are
//! rendered here, and so are the errors of clap.

use job::{Diagnostic, DiagnosticLevel};
use report::diagnostics_text;

use crate::terminal::{Terminal, write_stderr};

/// Prints errors without a place; [`errors`] parses the text.
pub(crate) fn error(text: &str) {
    draw(&errors(text));
}

/// Prints warnings without a place; [`errors`] parses the text.
pub(crate) fn warning(text: &str) {
    let warnings = errors(text).into_iter();
    draw(&warnings.map(|warning| Diagnostic { severity: DiagnosticLevel::Warning, ..warning }).collect::<Vec<_>>());
}

/// Splits a text into diagnostics: each line is an error, or after `help: ` a remedy of the error before it.
pub(crate) fn errors(text: &str) -> Vec<Diagnostic> {
    let mut errors: Vec<Diagnostic> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("help: "), errors.last_mut()) {
            (Some(help), Some(error)) => {
                let known = error.remedy.take();
                error.remedy = Some(known.map_or_else(|| help.to_owned(), |known| format!("{known}; {help}")));
            }
            _ => errors.push(Diagnostic::error("", line)),
        }
    }
    errors
}

fn draw(diagnostics: &[Diagnostic]) {
    let terminal = Terminal::stderr();
    write_stderr(&diagnostics_text(diagnostics, terminal.colour, terminal.width));
}

/// Prints problems found before the start, then the numbers of errors and warnings. Prints nothing without problems.
pub(crate) fn print(diagnostics: &[Diagnostic]) {
    draw(diagnostics);
    if diagnostics.iter().any(|diagnostic| diagnostic.severity > DiagnosticLevel::Note) {
        write_stderr(&format!("fathom: {}\n", tally(diagnostics)));
    }
}

/// Returns the last line: `2 errors, 1 warning; nothing was touched`.
fn tally(diagnostics: &[Diagnostic]) -> String {
    let count = |severity| diagnostics.iter().filter(|d| d.severity == severity).count();
    let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let (errors, warnings) = (count(DiagnosticLevel::Error), count(DiagnosticLevel::Warning));
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
        let (error, warning) = (Diagnostic::error("a", "b"), Diagnostic::warning("a", "b"));
        assert_eq!(tally(&[error.clone(), error.clone(), warning.clone()]), "2 errors, 1 warning; nothing was touched");
        assert_eq!(tally(&[warning]), "1 warning");
    }
}
