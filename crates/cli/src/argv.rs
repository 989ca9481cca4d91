//! The words of the command line, which need not be text.

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;

/// The words as text, as jobs and their files are named.
///
/// # Errors
///
/// Which word is no text. Replaced by other letters it could name another file.
pub(crate) fn as_text(words: &[OsString]) -> Result<Vec<String>, String> {
    let text = |word: &OsString| {
        word.to_str().map(str::to_owned).ok_or_else(|| {
            format!(
                "`{}` is not UTF-8 text, which job options and the names of job files have to be\nhelp: give the file another \
                 name, or a link with one",
                shown(word)
            )
        })
    };
    words.iter().map(text).collect()
}

/// A word as it is shown and recorded, each byte that is no text as `\\xE9`.
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

/// Returns the name before `=`, and whether there is a value; `None` where the name is no text.
pub(crate) fn name_of(word: &OsStr) -> Option<(&str, bool)> {
    let bytes = word.as_bytes();
    let end = bytes.iter().position(|byte| *byte == b'=');
    let name = std::str::from_utf8(&bytes[..end.unwrap_or(bytes.len())]).ok()?;
    Some((name, end.is_some()))
}

/// The command line, as results repeat it.
pub(crate) fn command_line(words: &[String]) -> Vec<String> {
    std::iter::once("fathom".to_owned()).chain(words.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(bytes: &[u8]) -> OsString {
        OsStr::from_bytes(bytes).to_owned()
    }

    #[test]
    fn bytes_that_are_no_text_are_named_and_refused() {
        assert_eq!(shown(&word(b"caf\xe9.fio")), r"caf\xE9.fio");
        let refused = as_text(&[word(b"run"), word(b"--filename=caf\xe9")]).unwrap_err();
        assert!(refused.starts_with(r"`--filename=caf\xE9` is not UTF-8"), "{refused}");
        assert_eq!(name_of(&word(b"-o=\xff")), Some(("-o", true)));
        assert_eq!(name_of(&word(b"\xff")), None);
    }
}
