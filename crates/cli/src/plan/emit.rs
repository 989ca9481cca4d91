//! Output of a plan: in a format of results, or as declarations of the chosen volumes.

use report::{ResultDocument, ResultFormat};

use super::PlanOptions;
use crate::exit::Exit;
use crate::outputs::{self, Output};
use crate::terminal::{Terminal, write_stderr};

/// Writes a plan to all outputs. Refuses before anything is written if a volume cannot be declared.
pub(super) fn deliver(options: &PlanOptions, files: &mut [Output], document: ResultDocument<'_>) -> Exit {
    let of_files = options.output.iter().filter_map(|path| ResultFormat::of_file(path, ResultFormat::OF_PLAN).ok());
    let mut formats: Vec<ResultFormat> = options.emit.into_iter().chain(of_files).collect();
    formats.dedup();
    let refusals: Vec<_> = formats.iter().flat_map(|format| document.refusals(*format)).collect();
    if !refusals.is_empty() {
        return Exit::invalid(refusals);
    }
    if options.emit.is_some() {
        let terminal = Terminal::stderr();
        let answer = document.answer_text(terminal.style(false));
        write_stderr(&report::escape::terminal(&answer, terminal.colour));
    }
    outputs::deliver_as(files, document, options.emit.unwrap_or(options.format), options.details)
}
