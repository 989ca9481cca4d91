//! Properties of the terminal, and output on standard error.

use std::io::{IsTerminal, Write};

use live::{Colours, TerminalFeatures};

/// Colours and width of one of the two output streams.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    /// Whether it is a terminal.
    pub(crate) interactive: bool,
    /// Whether colours are wanted.
    pub(crate) colour: bool,
    /// Columns.
    pub(crate) width: usize,
}

/// Default number of columns.
const WIDTH: usize = 100;

impl Terminal {
    /// Standard output.
    pub(crate) fn stdout() -> Self {
        Self::new(std::io::stdout().is_terminal())
    }

    /// Standard error.
    pub(crate) fn stderr() -> Self {
        Self::new(std::io::stderr().is_terminal())
    }

    /// How reports are laid out for it.
    pub(crate) fn style(self) -> report::SheetStyle {
        report::SheetStyle { width: self.width, colour: self.colour }
    }

    fn new(interactive: bool) -> Self {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let forced = set("CLICOLOR_FORCE");
        let colour = !set("NO_COLOR") && !dumb && (interactive || forced);
        let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let width = columns.or_else(|| interactive.then(width_of_terminal).flatten()).unwrap_or(WIDTH);
        Self { interactive, colour, width: width.clamp(40, 200) }
    }
}

/// Returns what the terminal of standard error can show, by the environment.
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

/// Prints a message on standard error. A standard error that is full or closed must neither
/// end a run nor lose its results. While the terminal shows a full screen it waits until that is gone.
///
/// Whatever others put into it (names, messages of servers) does nothing to the terminal.
pub(crate) fn write_stderr(text: &str) {
    let text = &report::escape::terminal(text, Terminal::stderr().colour);
    if !live::hold(text) {
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

/// Writes `text` over the line of progress, which ends without a line break; nothing leaves it clean.
pub(crate) fn overwrite_stderr_line(text: &str) {
    let text = format!("\r\x1b[2K{}", units::printable(text));
    if !live::hold(&text) {
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

/// The same with a line that may be left unread.
pub(crate) fn write_stderr_dimmed(line: &str) {
    let line = if Terminal::stderr().colour { format!("\x1b[2m{line}\x1b[0m\n") } else { format!("{line}\n") };
    write_stderr(&line);
}
