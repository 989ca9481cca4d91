//! Reads input files of commands: records, and output of fio and iostat.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use units::{Place, Problem, ProblemCode};

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

/// Reads an input.
///
/// # Errors
///
/// Fails if the file cannot be read or is too large.
pub fn bytes(path: &Path) -> Result<Vec<u8>, Problem> {
    input::read(path, input::RECORD).map_err(|error| {
        let text = path.display().to_string();
        let place = Place::on_command_line(text.clone(), 1, text.chars().count());
        let problem = Problem::error(input::code_of(&error, ProblemCode::UnreadableInput), error.to_string());
        let known = engine::remedy(&error).map(str::to_owned);
        problem
            .at(place)
            .maybe_help(known)
            .also_help("use a Fathom result, fio output or `iostat -x` output; `-` is standard input")
    })
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
