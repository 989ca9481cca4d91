//! Figures on a line of fio's normal output.

use units::Problem;

use crate::input::text::{InputText, Printed, printed};

/// A line that is being read.
#[derive(Clone, Copy, Debug)]
pub(super) struct NormalLine<'a> {
    pub(super) source: &'a InputText,
    pub(super) index: usize,
    /// Trimmed content.
    pub(super) text: &'a str,
}

pub(super) const REMEDY: &str = "pass fio's unmodified output, or run fio again with `--output-format=json`";

impl<'a> NormalLine<'a> {
    pub(super) fn of(source: &'a InputText, index: usize) -> Self {
        // Backticks come from a surrounding web page.
        Self { source, index, text: source.line(index).trim().trim_end_matches('`') }
    }

    /// Reports whether the line is the last one and unterminated.
    pub(super) fn may_be_cut(self) -> bool {
        self.source.may_be_cut(self.index)
    }

    /// Reports whether an author left out a part of the line.
    pub(super) fn is_elided(self) -> bool {
        self.text.contains("...") || self.text.contains('…')
    }

    pub(super) fn error(self, part: &str, what: impl Into<String>) -> Problem {
        self.source.error(self.index, part, what, REMEDY)
    }

    /// Reports whether nothing follows the line, so that the text may have been cut off within it and terminated.
    pub(super) fn is_last(self) -> bool {
        (self.index + 1..self.source.len()).all(|index| self.source.line(index).trim().is_empty())
    }

    /// Returns the value of `key=`, up to the next comma or a remark. A key is at the start of the line or follows a
    /// space, comma, colon or parenthesis.
    pub(super) fn find(self, key: &str) -> Option<&'a str> {
        let begins = |at: usize| at == 0 || self.text[..at].ends_with([' ', ',', '(', ':']);
        let behind = |at: usize| self.text[at + key.len()..].strip_prefix('=');
        let value = self.text.match_indices(key).filter(|(at, _)| begins(*at)).find_map(|(at, _)| behind(at))?;
        Some(without_remark(value.split(',').next().unwrap_or(value).trim()))
    }

    /// Parses the value of `key=`.
    pub(super) fn figure<T>(self, key: &str, read: impl Fn(&str) -> Option<T>) -> Result<T, Problem> {
        let value = self
            .find(key)
            .ok_or_else(|| self.error(self.text, format!("the line has no `{key}=`, or is truncated before it")))?;
        self.read(value, read)
    }

    /// Parses a part of the line.
    pub(super) fn read<T>(self, part: &str, read: impl Fn(&str) -> Option<T>) -> Result<T, Problem> {
        read(part).ok_or_else(|| self.error(part, format!("`{part}` is not a figure as printed by fio")))
    }
}

/// Returns a figure without the words behind it, except for the same figure in other units: `1586.09   the slowest`,
/// `174MiB (183MB)`.
pub(super) fn without_remark(figure: &str) -> &str {
    match figure.split_once(char::is_whitespace) {
        Some((own, behind)) if !behind.trim_start().starts_with('(') => own,
        _ => figure,
    }
}

/// Parses a number and nothing else.
pub(super) fn plain(text: &str) -> Option<Printed> {
    printed(text).filter(|(_, rest)| rest.trim().is_empty()).map(|(number, _)| number)
}

pub(super) fn integer(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

pub(super) fn percent(text: &str) -> Option<f64> {
    plain(text.strip_suffix('%')?).map(|number| number.value)
}

/// Parses a count with a decimal suffix: `24.1k`, in version 2 `4122.9K`.
pub(in crate::input) fn count(text: &str) -> Option<Printed> {
    let (number, suffix) = printed(text)?;
    let suffix = if suffix.trim_end() == "K" { "k" } else { suffix.trim_end() };
    let power = ["", "k", "M", "G", "T", "P", "E"].iter().position(|known| *known == suffix)?;
    Some(number.times(1000_f64.powi(power as i32)))
}

/// Parses a size into bytes: `2823MiB`, `98.7MB`, or bits by the unit. Version 2 wrote `KB` for 1024 bytes, and some of
/// version 3 omit the `B`.
pub(super) fn size(text: &str, version_2: bool) -> Option<Printed> {
    let (number, unit) = printed(text)?;
    Some(number.times(unit_bytes(unit.trim(), version_2)?))
}

/// Returns the bytes of a unit.
pub(super) fn unit_bytes(unit: &str, version_2: bool) -> Option<f64> {
    let (prefix, factor) = match unit.strip_suffix("bit") {
        Some(prefix) => (prefix, 1.0 / 8.0),
        None => match unit.strip_suffix('B') {
            Some(prefix) => (prefix, 1.0),
            None if version_2 || unit.len() == 2 && unit.ends_with('i') || unit.len() == 1 => (unit, 1.0),
            None => return None,
        },
    };
    let power =
        |letters: &str, letter: &str| letters.find(letter).filter(|_| letter.len() == 1).map(|at| at as i32 + 1);
    let multiple = match prefix {
        "" => 1.0,
        _ if version_2 => 1024_f64.powi(power("KMGTPE", prefix.strip_suffix('i').unwrap_or(prefix))?),
        _ => match prefix.strip_suffix('i') {
            Some(letter) => 1024_f64.powi(power("KMGTPE", letter)?),
            None => 1000_f64.powi(power("kMGTPE", prefix)?),
        },
    };
    Some(multiple * factor)
}

/// Parses bytes per second: `94.1MiB/s`; some of version 3 omit `B/s`.
pub(in crate::input) fn rate(text: &str, version_2: bool) -> Option<Printed> {
    let text = text.trim_end();
    match text.strip_suffix("/s") {
        Some(size_text) => size(size_text, version_2),
        None if text.ends_with('B') || version_2 => None,
        None => size(text, version_2),
    }
}

/// Parses a runtime into nanoseconds: `30001msec`.
pub(super) fn runtime(text: &str) -> Option<Printed> {
    plain(text.strip_suffix("msec")?).map(|ms| ms.times(1e6))
}

/// Returns the nanoseconds of a unit of time.
pub(super) fn unit_ns(unit: &str) -> Option<f64> {
    Some(match unit {
        "nsec" => 1.0,
        "usec" => 1e3,
        "msec" => 1e6,
        "sec" => 1e9,
        _ => return None,
    })
}

/// Rounds a value; the conversion saturates.
pub(super) fn rounded(value: f64) -> u64 {
    value.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_match_fios() {
        let bytes = |text| size(text, false).map(|n| (n.value, n.step));
        assert_eq!(bytes("2823MiB"), Some((2823.0 * 1_048_576.0, 1_048_576.0)));
        assert_eq!(bytes("98.7MB"), Some((98.7 * 1e6, 0.1 * 1e6)));
        assert_eq!(bytes("4096B"), Some((4096.0, 1.0)));
        assert_eq!(bytes("8Kibit"), Some((1024.0, 128.0)));
        assert_eq!((bytes("4KB"), bytes("4"), bytes("4XB"), bytes("4MMB")), (None, None, None, None));
        assert_eq!(size("4KB", true).map(|n| n.value), Some(4096.0));
        assert_eq!(size("4K", true).map(|n| n.value), Some(4096.0));
        assert_eq!(count("7356.2k").map(|n| n.value.round()), Some(7_356_200.0));
    }
}
