//! Parses byte patterns: `0xhex`, decimal numbers, `"text"`, `'file'` and `%o` for the offset, in any order.

use super::Findings;
use units::ProblemCode;

use crate::model::{PATTERN_MAX_BYTES, VerifyPattern};

/// Decodes `text`; `offsets` permits `%o`.
pub(crate) fn read(text: &str, offsets: bool, findings: &mut Findings) -> Option<VerifyPattern> {
    let mut pattern = VerifyPattern::default();
    let mut at = 0;
    while at < text.len() && pattern.bytes.len() < PATTERN_MAX_BYTES {
        let rest = &text[at..];
        let Some(taken) = piece(rest, offsets, &mut pattern) else {
            refuse(text, at, findings);
            return None;
        };
        at += taken;
    }
    if pattern.is_empty() {
        refuse(text, 0, findings);
        return None;
    }
    pattern.bytes.truncate(PATTERN_MAX_BYTES);
    Some(pattern)
}

fn refuse(text: &str, at: usize, findings: &mut Findings) {
    let finding = findings.fault(at..text.len(), ProblemCode::Pattern, format!("`{}` is not a pattern", &text[at..]));
    finding.help("write `0xdeadbeef`, a number, text in double quotes, or a file in single quotes");
}

/// Decodes the first piece of `rest` and returns its length in bytes.
fn piece(rest: &str, offsets: bool, pattern: &mut VerifyPattern) -> Option<usize> {
    if let Some(quoted) = rest.strip_prefix('"') {
        let end = quoted.find('"')?;
        pattern.bytes.extend_from_slice(&quoted.as_bytes()[..end]);
        return Some(end + 2);
    }
    if let Some(quoted) = rest.strip_prefix('\'') {
        let end = quoted.find('\'').filter(|&end| end > 0)?;
        pattern.files.push((pattern.bytes.len(), quoted[..end].to_owned()));
        return Some(end + 2);
    }
    if offsets && rest.starts_with("%o") {
        pattern.offsets.push(pattern.bytes.len());
        pattern.bytes.extend_from_slice(&[0; 8]);
        return Some(2);
    }
    if rest.starts_with("0x") || rest.starts_with("0X") {
        return hexadecimal(rest, pattern);
    }
    decimal(rest, pattern)
}

/// Decodes hexadecimal digits, two per byte in the order written; an odd first digit is a byte of its own.
fn hexadecimal(rest: &str, pattern: &mut VerifyPattern) -> Option<usize> {
    let digits = &rest[2..];
    let length = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
    let (odd, pairs) = digits[..length].split_at(length % 2);
    let byte = |text: &str| u8::from_str_radix(text, 16).ok();
    if !odd.is_empty() {
        pattern.bytes.push(byte(odd)?);
    }
    for at in (0..pairs.len()).step_by(2) {
        pattern.bytes.push(byte(&pairs[at..at + 2])?);
    }
    (length > 0).then_some(2 + length)
}

/// Decodes a 32-bit decimal number into little-endian bytes: as few as it needs, four if negative.
///
/// The zero of a following `0x` belongs to the next piece: `-120xff` is -12 and 0xff.
fn decimal(rest: &str, pattern: &mut VerifyPattern) -> Option<usize> {
    let blanks = rest.len() - rest.trim_start().len();
    let body = &rest[blanks..];
    let sign = usize::from(body.starts_with('-'));
    let mut length = sign + body[sign..].find(|c: char| !c.is_ascii_digit()).unwrap_or(body.len() - sign);
    if body[..length].ends_with('0') && body[length..].starts_with(['x', 'X']) {
        length -= 1;
    }
    let value: i32 = body[..length].parse().ok()?;
    let needed = (4 - value.leading_zeros() as usize / 8).max(1);
    pattern.bytes.extend_from_slice(&value.to_le_bytes()[..needed]);
    Some(blanks + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_match_those_that_fio_writes() {
        let cases: &[(&str, &[u8])] = &[
            ("0xfff", &[0x0f, 0xff]),
            ("12", &[12]),
            ("-12", &[0xf4, 0xff, 0xff, 0xff]),
            ("257", &[1, 1]),
            ("65536", &[0, 0, 1]),
            ("0", &[0]),
            ("\"ab\"", b"ab"),
            ("\"a\\x41b\"", b"a\\x41b"),
            ("0xff\"a\"1", &[0xff, b'a', 1]),
            ("-120xdead", &[0xf4, 0xff, 0xff, 0xff, 0xde, 0xad]),
            ("1 2", &[1, 2]),
        ];
        for (text, bytes) in cases {
            let pattern = read(text, false, &mut Findings::default());
            assert_eq!(pattern.map(|pattern| pattern.bytes).as_deref(), Some(*bytes), "{text}");
        }
    }

    #[test]
    fn an_offset_takes_eight_bytes() {
        let pattern = read("0xff%o\"x\"", true, &mut Findings::default());
        let bytes = vec![0xff, 0, 0, 0, 0, 0, 0, 0, 0, b'x'];
        assert_eq!(pattern, Some(VerifyPattern { bytes, offsets: vec![1], ..VerifyPattern::default() }));
    }

    #[test]
    fn files_are_inserted_where_they_are_named() {
        let text = "'a'0xff%o'b'";
        let mut pattern = read(text, true, &mut Findings::default()).expect("a pattern");
        assert_eq!(pattern.files, [(0, "a".to_owned()), (9, "b".to_owned())]);
        pattern.insert_files(&[b"xyz".to_vec(), b"w".to_vec()]);
        assert_eq!((pattern.bytes.as_slice(), pattern.offsets), (&b"xyz\xff\0\0\0\0\0\0\0\0w"[..], vec![4]));
    }

    #[test]
    fn text_that_is_no_pattern_is_refused() {
        for text in ["", "abc", "0x", "'file", "''", "%o", "4294967295", "\"open", "0x1234 "] {
            let mut findings = Findings::default();
            assert_eq!(read(text, false, &mut findings), None, "{text}");
            assert_eq!(findings.items.len(), 1, "{text}");
        }
    }
}
