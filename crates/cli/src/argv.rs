//! Arguments of the command line, which may not be UTF-8.

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use units::{Problem, ProblemCode};

/// Converts arguments to text. Refuses those that are not UTF-8: with replaced characters they could name other files.
pub(crate) fn as_text(words: &[OsString]) -> Result<Vec<String>, Problem> {
    let text = |word: &OsString| {
        word.to_str().map(str::to_owned).ok_or_else(|| {
            let word = shown(word);
            let what = format!("`{word}` is not UTF-8 text: job options and names of job files must be");
            Problem::error(ProblemCode::Arguments, what).help("rename the file, or link to it")
        })
    };
    words.iter().map(text).collect()
}

/// Returns an argument for messages and records, with bytes that are not UTF-8 as `\xE9`.
pub(crate) fn shown(word: &OsStr) -> String {
    let mut out = String::new();
    for chunk in word.as_bytes().utf8_chunks() {
        out.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\x{byte:02X}");
        }
    }
    out
}

/// Returns the name before `=`, and whether a value follows; `None` if the name is not UTF-8.
pub(crate) fn name_of(word: &OsStr) -> Option<(&str, bool)> {
    let bytes = word.as_bytes();
    let end = bytes.iter().position(|byte| *byte == b'=');
    let name = std::str::from_utf8(&bytes[..end.unwrap_or(bytes.len())]).ok()?;
    Some((name, end.is_some()))
}

/// Returns the command line for results.
pub(crate) fn command_line(words: &[String]) -> Vec<String> {
    std::iter::once("fathom".to_owned()).chain(job::redacted_words(words)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(bytes: &[u8]) -> OsString {
        OsStr::from_bytes(bytes).to_owned()
    }

    #[test]
    fn arguments_that_are_not_utf_8_are_refused_and_escaped() {
        assert_eq!(shown(&word(b"caf\xe9.fio")), r"caf\xE9.fio");
        let refused = as_text(&[word(b"run"), word(b"--filename=caf\xe9")]).unwrap_err();
        assert!(refused.what.starts_with(r"`--filename=caf\xE9` is not UTF-8"), "{refused}");
        assert_eq!(name_of(&word(b"-o=\xff")), Some(("-o", true)));
        assert_eq!(name_of(&word(b"\xff")), None);
    }
}
