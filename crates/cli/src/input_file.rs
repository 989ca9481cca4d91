//! Reads the inputs of `explain`, `report` and `compare`.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use engine::describe;
use job::{Diagnostic, Place};

use crate::exit::Exit;
use crate::input;

/// Returns the name of an input for messages.
pub(crate) fn name(path: &Path) -> String {
    if is_stdin(path) { "standard input".to_owned() } else { path.display().to_string() }
}

/// The file that a word names, and which of its runs: `FILE#2` is the second, unless there is a file of that very name.
pub(crate) fn numbered(path: &Path) -> (&Path, Option<usize>) {
    let bytes = path.as_os_str().as_bytes();
    let parts = bytes.iter().rposition(|&byte| byte == b'#').map(|at| (&bytes[..at], &bytes[at + 1..]));
    let number = parts.and_then(|(_, digits)| std::str::from_utf8(digits).ok()?.parse::<usize>().ok());
    match (parts, number) {
        (Some((file, _)), Some(number)) if !file.is_empty() && !path.exists() => {
            (Path::new(OsStr::from_bytes(file)), Some(number))
        }
        _ => (path, None),
    }
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
    pub(crate) fn report(&self, name: &str) -> Exit {
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
            Err(Unopened { diagnostic: refused(path, describe(&error), remedy), usage })
        }
    }
}

fn refused(path: &Path, message: String, remedy: &str) -> Box<Diagnostic> {
    let text = path.display().to_string();
    let place =
        Place { source: "command line".into(), line: 1, column: 1, length: text.chars().count(), text: text.into() };
    Box::new(Diagnostic::error("unreadable-input", message).at(place).remedy(remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_several_is_named_by_its_number() {
        let numbered = |text: &'static str| {
            let (file, number) = numbered(Path::new(text));
            (file.to_str().unwrap(), number)
        };
        assert_eq!(numbered("some/log.txt#12"), ("some/log.txt", Some(12)));
        assert_eq!(numbered("-#2"), ("-", Some(2)));
        for whole in ["log#x", "log#", "#2", "log"] {
            assert_eq!(numbered(whole), (whole, None));
        }
        let folder = tempfile::tempdir().unwrap();
        let odd = folder.path().join("log#2");
        std::fs::write(&odd, "").unwrap();
        assert_eq!(super::numbered(&odd), (odd.as_path(), None));
    }
}
