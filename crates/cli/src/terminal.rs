//! Properties of the terminal, and output to standard error.

use std::io::{IsTerminal, Write};

use live::{Colours, TerminalFeatures};

use crate::rank;

/// Colours and width of one of the two output streams.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    /// Whether the stream is a terminal.
    pub(crate) interactive: bool,
    /// Whether to use colours.
    pub(crate) colour: bool,
    /// Number of columns.
    pub(crate) width: usize,
}

/// Default number of columns.
const WIDTH: usize = 100;

impl Terminal {
    /// Returns the properties of standard output.
    pub(crate) fn stdout() -> Self {
        Self::new(std::io::stdout().is_terminal())
    }

    /// Returns the properties of standard error.
    pub(crate) fn stderr() -> Self {
        Self::new(std::io::stderr().is_terminal())
    }

    /// Returns the layout of reports on this stream.
    pub(crate) fn style(self, details: bool) -> report::SheetStyle {
        report::SheetStyle { width: self.width, colour: self.colour, details }
    }

    fn new(is_terminal: bool) -> Self {
        // Launchers of MPI give their ranks pseudo-terminals, wherever the output goes.
        let interactive = is_terminal && rank::joined().is_none();
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let forced = set("CLICOLOR_FORCE");
        let colour = !set("NO_COLOR") && !dumb && (interactive || forced);
        let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let width = columns.or_else(|| interactive.then(width_of_terminal).flatten()).unwrap_or(WIDTH);
        Self { interactive, colour, width: width.clamp(40, 200) }
    }
}

/// Returns the features of the terminal of standard error, by the environment.
pub(crate) fn features() -> TerminalFeatures {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let term = set("TERM").unwrap_or_default();
    let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG")).unwrap_or_default().to_lowercase();
    let unicode = (locale.contains("utf-8") || locale.contains("utf8")) && term != "linux";
    let many = term.contains("256") || set("COLORTERM").is_some();
    let colours = match (Terminal::stderr().colour, many) {
        (false, _) => Colours::None,
        (true, true) => Colours::Many,
        (true, false) => Colours::Sixteen,
    };
    TerminalFeatures { full_screen: !term.is_empty() && term != "dumb", colours, unicode }
}

fn width_of_terminal() -> Option<usize> {
    console::Term::stderr().size_checked().map(|(_, columns)| usize::from(columns))
}

/// Prints a message on standard error; delays it while the terminal shows a full screen. Ignores write errors, which
/// must neither end a run nor lose its results. Escapes control characters of foreign origin (file names, messages of
/// servers).
pub(crate) fn write_stderr(text: &str) {
    let text = &report::escape::terminal(text, Terminal::stderr().colour);
    if !rank::record_stderr(text) && !live::hold(text) {
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

/// Overwrites the progress line, which has no line break at its end. An empty text clears it.
pub(crate) fn overwrite_stderr_line(text: &str) {
    let text = format!("\r\x1b[2K{}", units::printable(text));
    if !rank::is_silent() && !live::hold(&text) {
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

/// Prints an unimportant line on standard error, dimmed.
pub(crate) fn write_stderr_dimmed(line: &str) {
    let line = if Terminal::stderr().colour { format!("\x1b[2m{line}\x1b[0m\n") } else { format!("{line}\n") };
    write_stderr(&line);
}
