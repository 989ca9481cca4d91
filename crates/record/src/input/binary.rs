//! Refuses binary files by their first bytes.

use super::{InputError, MAKE};

/// Signatures of files that are not text.
const MAGIC: &[(&[u8], &str, &str)] = &[
    (b"\x1f\x8b", "compressed with gzip", "unpack it: `gunzip FILE`"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", "unpack it: `unzstd FILE`"),
    (b"\xfd7zXZ", "compressed with xz", "unpack it: `unxz FILE`"),
    (b"PK\x03\x04", "a ZIP archive", "unpack it: `unzip FILE`"),
    (b"%PDF", "a PDF document", MAKE),
    (b"\x7fELF", "a program", MAKE),
    (b"\x89PNG", "a picture", "give the text itself, not a picture of it"),
    (b"\xff\xd8\xff", "a picture", "give the text itself, not a picture of it"),
    (b"\xff\xfe", "UTF-16 text", "turn it into UTF-8: `iconv -f UTF-16 -t UTF-8 FILE`"),
    (b"\xfe\xff", "UTF-16 text", "turn it into UTF-8: `iconv -f UTF-16 -t UTF-8 FILE`"),
];

/// Refuses binary data. Single bytes of other encodings pass, because figures are ASCII.
pub(super) fn refuse_binary(name: &str, bytes: &[u8]) -> Option<InputError> {
    let at = |offset: usize, what: &str, remedy: &str| {
        let before = &bytes[..offset];
        let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        InputError {
            name: name.to_owned(),
            line: before.iter().filter(|&&b| b == b'\n').count() + 1,
            column: String::from_utf8_lossy(&before[line_start..]).chars().count() + 1,
            length: 0,
            text: String::new(),
            what: what.to_owned(),
            remedy: remedy.to_owned(),
            is_cut_off: false,
        }
    };
    if let Some((_, what, remedy)) = MAGIC.iter().find(|(magic, ..)| bytes.starts_with(magic)) {
        return Some(at(0, &format!("this is {what}"), remedy));
    }
    let nul = bytes.iter().position(|&b| b == 0);
    nul.map(|offset| at(offset, "not a text file: it contains a NUL byte", MAKE))
}
