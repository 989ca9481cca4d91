//! The bytes of what is to be explained.

use std::io;
use std::path::Path;

use job::{Diagnostic, Place};

use crate::exit::Exit;
use crate::input;
use crate::terminal::why;

/// What an input is called.
pub(crate) fn name(path: &Path) -> String {
    if is_stdin(path) { "standard input".to_owned() } else { path.display().to_string() }
}

pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// A file that could not be opened or read.
pub(crate) struct Unopened {
    pub(crate) diagnostic: Box<Diagnostic>,
    /// Whether it is a wrong name rather than a failing system.
    pub(crate) usage: bool,
}

impl Unopened {
    /// A word that means no run.
    pub(super) fn unknown(path: &Path, problem: String) -> Self {
        Self { diagnostic: refused(path, problem, "give a file, or a run that is kept"), usage: true }
    }

    /// Tells of it on one line, and how the program ends.
    pub(crate) fn told(&self, name: &str) -> Exit {
        let problem = self.line(name);
        if self.usage { Exit::usage(&problem) } else { Exit::environment(&problem) }
    }

    /// On one line.
    pub(crate) fn line(&self, name: &str) -> String {
        let remedy = self.diagnostic.remedy.as_deref().unwrap_or("give another file");
        format!("{name}: {}: {remedy}", self.diagnostic.message)
    }
}

/// All bytes of an input.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, Unopened> {
    match input::read(path, input::RECORD) {
        Ok(bytes) => Ok(bytes),
        Err(error) => {
            use io::ErrorKind::{InvalidInput, IsADirectory, NotFound};
            let usage = matches!(error.kind(), NotFound | IsADirectory | InvalidInput);
            let remedy = "give a record, fio's output, or that of `iostat -x`; `-` is standard input";
            Err(Unopened { diagnostic: refused(path, why(&error), remedy), usage })
        }
    }
}

fn refused(path: &Path, message: String, remedy: &str) -> Box<Diagnostic> {
    let text = path.display().to_string();
    let place =
        Place { source: "command line".into(), line: 1, column: 1, length: text.chars().count(), text: text.into() };
    Box::new(Diagnostic::error("unreadable-input", message).at(place).remedy(remedy))
}
