//! Reads input files of commands: records, and output of fio and iostat.

use std::ffi::OsStr;
use std::io::ErrorKind::{InvalidInput, IsADirectory, NotFound};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use engine::describe;
use runner::problems::command_line_place;
use units::{Problem, ProblemCode};

use crate::input;

/// Returns the name of an input for messages.
#[must_use]
pub fn name(path: &Path) -> String {
    if is_stdin(path) { "standard input".to_owned() } else { path.display().to_string() }
}

/// Splits `FILE#2` into the file and the number of a run in it, unless a file has exactly that name.
#[must_use]
pub fn numbered(path: &Path) -> (&Path, Option<usize>) {
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

/// Reports whether a path stands for standard input.
#[must_use]
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// An input that cannot be read.
#[derive(Debug)]
pub struct UnreadableInput {
    /// The problem, with a place on the command line and a remedy.
    pub diagnostic: Box<Problem>,
    /// Whether the name is wrong, rather than the host failing.
    pub usage: bool,
}

impl UnreadableInput {
    /// Returns the error of an argument that names no run.
    #[must_use]
    pub fn unknown(path: &Path, problem: String) -> Self {
        Self { diagnostic: unreadable(path, problem, "give a file or a saved run"), usage: true }
    }

    /// Returns the error on one line.
    #[must_use]
    pub fn line(&self, name: &str) -> String {
        let remedy = self.diagnostic.help.as_deref().unwrap_or("give another file");
        format!("{name}: {}\nhelp: {remedy}", self.diagnostic.what)
    }
}

/// Reads an input.
///
/// # Errors
///
/// Fails if the file cannot be read or is too large.
pub fn bytes(path: &Path) -> Result<Vec<u8>, UnreadableInput> {
    input::read(path, input::RECORD).map_err(|error| {
        let usage = matches!(error.kind(), NotFound | IsADirectory | InvalidInput);
        let remedy = "give a record, fio's output, or that of `iostat -x`; `-` is standard input";
        UnreadableInput { diagnostic: unreadable(path, describe(&error), remedy), usage }
    })
}

fn unreadable(path: &Path, message: String, remedy: &str) -> Box<Problem> {
    let text = path.display().to_string();
    let length = text.chars().count();
    let place = command_line_place(text, 1, length);
    Box::new(Problem::error(ProblemCode::UnreadableInput, message).at(place).help(remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_selects_a_run_of_a_file() {
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
