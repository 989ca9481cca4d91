//! Lines that mail programs wrapped.

use std::borrow::Cow;

use super::fio_lines::{is_header, is_of_result, is_result};

/// Words before `=` that begin no line of fio's normal output.
const KEYS: &str = "min max avg stdev samples per usr sys ctx majf minf short dropped drop total target window percentile \
                    depth io bw iops runt jobs err pid ioengine iodepth";

/// Reports whether a line continues the one before it, which is of fio's normal output.
pub(super) fn continues(before: &str, line: &str) -> bool {
    let (before, line) = (before.trim(), line.trim());
    let Some((key, _)) = line.split_once('=') else { return false };
    let is_of_fio = before.starts_with('|') || before.contains(": (g") || before.contains('=') && is_of_result(before);
    if !is_of_fio || is_header(line) || is_result(line) {
        return false;
    }
    // A fraction of a class, `>=64=0.0%`, or a percentile, `99.95th=[15680]`.
    let is_class = line.starts_with(">=") || key.parse::<u32>().is_ok();
    let is_percentile = key.strip_suffix("th").is_some_and(|percent| percent.parse::<f64>().is_ok());
    match before.starts_with('|') {
        true => is_percentile,
        false => is_class && line.contains('%') || KEYS.split(' ').any(|known| known == key),
    }
}

/// Decodes the encoding `quoted-printable` of mails, in which `=` at the end of a line continues it, and `=3D` is `=`. In
/// such a text nothing else follows the sign.
pub(super) fn without_quoting(text: Cow<'_, str>) -> Cow<'_, str> {
    /// Least length of a line that was wrapped at 76 characters, unless a word ended before.
    const WRAPPED: usize = 50;
    let is_wrapped = |line: &str| line.ends_with('=') && line.len() >= WRAPPED;
    let parts = || text.split('=').skip(1);
    if !text.contains("=3D") && !text.lines().any(is_wrapped) || !parts().all(|part| behind_sign(part).is_some()) {
        return text;
    }
    let mut bytes: Vec<u8> = text.split('=').next().unwrap_or_default().into();
    for (byte, rest) in parts().filter_map(behind_sign) {
        bytes.extend(byte);
        bytes.extend(rest.as_bytes());
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the byte that a sign and what follows stand for, if any, and the rest.
fn behind_sign(part: &str) -> Option<(Option<u8>, &str)> {
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'A'..=b'F');
    match part.get(..2) {
        Some(digits) if digits.bytes().all(|byte| is_digit(&byte)) => {
            Some((u8::from_str_radix(digits, 16).ok(), &part[2..]))
        }
        _ => part.strip_prefix("\r\n").or_else(|| part.strip_prefix('\n')).map(|rest| (None, rest)),
    }
}
