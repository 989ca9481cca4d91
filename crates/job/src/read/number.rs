//! Parses integers, sizes and times by fio's rules for units.

use units::{Nanos, ProblemCode};

use super::Findings;

/// Unit of a number without suffix, and the suffixes it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberUnit {
    /// Bytes or a count, with size suffixes; `kb_base` is 1024 or 1000.
    Count { kb_base: u32 },
    /// Seconds, with time suffixes.
    Seconds,
    /// Microseconds, with time suffixes.
    Micros,
}

/// Parses a number as fio does: counts unscaled, times in microseconds, in 64-bit two's complement.
///
/// A percentage is returned in fio's encoding, `-1 - percent`.
pub(crate) fn read(text: &str, unit: NumberUnit, findings: &mut Findings) -> Option<i64> {
    let body = text.trim_start();
    let blanks = text.len() - body.len();
    let Some((value, digits)) = leading_integer(body) else {
        refuse(text, findings);
        return None;
    };
    let scaled = match unit {
        NumberUnit::Count { kb_base } => count(text, value, kb_base, findings),
        NumberUnit::Seconds | NumberUnit::Micros => time(text, value, unit, findings),
    };
    report_ignored_rest(text, blanks, digits, unit, findings);
    Some(scaled)
}

/// Parses an integer without unit, as fio reads switches.
pub(crate) fn bare(text: &str, findings: &mut Findings) -> Option<i64> {
    let body = text.trim_start();
    let (value, digits) = leading_integer(body)?;
    if body.len() < text.len() {
        let blanks = text.len() - body.len();
        blank_hides_unit(text, blanks, blanks + digits, "", findings);
    } else if digits < text.len() {
        trailing(text, digits, text.len(), findings);
    }
    Some(value)
}

/// Converts microseconds; negative numbers, which are endless to fio, become the longest time.
pub(crate) fn micros(us: i64) -> Nanos {
    Nanos::from_micros(us as u64)
}

/// Reports that `text` is not a number.
pub(super) fn refuse(text: &str, findings: &mut Findings) {
    let missing = text.trim().is_empty();
    let message = if missing { "a number is missing".to_owned() } else { format!("`{text}` is not a number") };
    let finding = findings.fault(0..text.len(), ProblemCode::NotANumber, message);
    if text.contains('(') {
        finding.help("write the result of the calculation");
    }
}

/// Parses the integer at the start of `text` and returns it with its length in bytes: hexadecimal if `0x` occurs
/// anywhere before the next comma, else decimal.
fn leading_integer(text: &str) -> Option<(i64, usize)> {
    let sign = usize::from(text.starts_with(['-', '+']));
    let negative = text.starts_with('-');
    let magnitude = &text[sign..];
    let radix = if is_hexadecimal(text) { 16 } else { 10 };
    let prefix = if radix == 16 && is_hexadecimal(magnitude.get(..2).unwrap_or("")) { 2 } else { 0 };
    let digits = &magnitude[prefix..];
    let length = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    if length == 0 {
        return (prefix > 0).then_some((0, sign + 1));
    }
    let value = i128::from_str_radix(&digits[..length], radix).ok()?;
    let value = i64::try_from(if negative { -value } else { value }).ok()?;
    Some((value, sign + prefix + length))
}

fn is_hexadecimal(text: &str) -> bool {
    let element = &text[..text.find(',').unwrap_or(text.len())];
    element.contains("0x") || element.contains("0X")
}

/// Applies a size suffix. fio expects it after an optional sign and decimal digits from the very first character, so a
/// leading blank or `0x` hides it.
fn count(whole: &str, value: i64, kb_base: u32, findings: &mut Findings) -> i64 {
    let element = &whole[..whole.find(',').unwrap_or(whole.len())];
    let start = usize::from(whole.starts_with('-'));
    let digits = whole[start..].find(|c: char| !c.is_ascii_digit()).unwrap_or(whole.len() - start);
    let suffix = &element[(start + digits).min(element.len())..];
    if suffix.starts_with('%') {
        return (-1_i64).wrapping_sub(value);
    }
    let lower = suffix.to_ascii_lowercase();
    let Some(power) = lower.chars().next().and_then(|c| "bkmgtp".find(c)) else { return value };
    let iec = power > 0 && lower[1..].starts_with("ib");
    if iec {
        iec_is_inverted(whole, start + digits, value, power, kb_base, findings);
    }
    let base: i64 = match (kb_base, power > 0 && lower[1..].starts_with('i'), iec) {
        (1000, _, true) | (1024, _, false) => 1024,
        _ => 1000,
    };
    value.wrapping_mul(base.wrapping_pow(power as u32))
}

fn iec_is_inverted(whole: &str, at: usize, value: i64, power: usize, kb_base: u32, findings: &mut Findings) {
    if kb_base != 1024 {
        return;
    }
    let letter = &whole[at..=at];
    let read = value.wrapping_mul(1000_i64.wrapping_pow(power as u32));
    findings
        .quirk(0..at + 3, ProblemCode::IecUnit, format!("fio reads `{}` as decimal units", &whole[at..at + 3]))
        .note(format!("fio reads {read}: unless `kb_base=1000` is set, its `KiB` is 1000 bytes and its `k` 1024"))
        .help(format!("write `{value}{}` for 1024-based units, or the number of bytes", letter.to_ascii_lowercase()));
}

/// Applies a time suffix. fio expects it after all digits and dashes, ignores one that does not begin with a letter,
/// and takes an unknown one for microseconds.
fn time(text: &str, value: i64, unit: NumberUnit, findings: &mut Findings) -> i64 {
    let element = &text[..text.find(',').unwrap_or(text.len())];
    let at = element.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(element.len());
    let suffix = element[at..].to_ascii_lowercase();
    let default = if unit == NumberUnit::Seconds { 1_000_000 } else { 1 };
    if !suffix.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return value.wrapping_mul(default);
    }
    let factor = match suffix.as_str() {
        "s" => 1_000_000,
        "m" => 60_000_000,
        "h" => 3_600_000_000,
        "d" => 86_400_000_000,
        _ if suffix.starts_with("ms") => 1_000,
        _ => 1,
    };
    let known = matches!(suffix.as_str(), "s" | "m" | "h" | "d" | "ms" | "msec" | "us" | "usec");
    if !known {
        unknown_time_unit(element, at, &suffix, value, factor, findings);
    }
    value.wrapping_mul(factor)
}

fn unknown_time_unit(element: &str, at: usize, suffix: &str, value: i64, factor: i64, findings: &mut Findings) {
    let read = if factor == 1_000 { "ms" } else { "us" };
    let finding = findings
        .quirk(at..element.len(), ProblemCode::TimeUnit, format!("`{}` is not a unit of time", &element[at..]))
        .note(format!("fio reads {value} {read}"));
    let meant = match suffix.trim_end_matches(['s', '.']) {
        "sec" | "second" => Some(format!("{value}s")),
        "min" | "minute" => Some(format!("{value}m")),
        "hr" | "hour" => Some(format!("{value}h")),
        "day" => Some(format!("{value}d")),
        _ => None,
    };
    let units = "use one of `us`, `ms`, `s`, `m`, `h`, `d`";
    finding.help(meant.map_or_else(|| units.to_owned(), |text| format!("write `{text}`")));
}

/// Reports what fio silently ignores after the number.
fn report_ignored_rest(text: &str, blanks: usize, digits: usize, unit: NumberUnit, findings: &mut Findings) {
    let end = text.find(',').unwrap_or(text.len());
    let number_end = (blanks + digits).min(end);
    let rest = &text[number_end..end];
    if blanks > 0 {
        blank_hides_unit(text, blanks, number_end, rest, findings);
    } else if is_hexadecimal(text) && !is_hexadecimal(&text[..number_end]) {
        findings
            .quirk(0..end, ProblemCode::NotANumber, format!("`{}` has no `0x` prefix", &text[..end]))
            .note("fio reads it as hexadecimal, because `0x` appears later in the list")
            .help("write one number");
    } else if rest.starts_with('.') {
        findings
            .quirk(0..end, ProblemCode::NotANumber, format!("`{}` is not a whole number", &text[..end]))
            .note(format!("fio reads `{}` and ignores the rest, including its unit", &text[..number_end]))
            .help("write a whole number in a smaller unit");
    } else if !known_rest(rest, is_hexadecimal(text), unit) {
        trailing(text, number_end, end, findings);
    }
    if text.starts_with('-') && !matches!(unit, NumberUnit::Count { .. }) {
        findings
            .quirk(0..end, ProblemCode::OutOfRange, format!("`{}` is negative", &text[..end]))
            .note("fio reads a huge positive number");
    }
}

fn trailing(text: &str, number_end: usize, end: usize, findings: &mut Findings) {
    let (number, rest) = (&text[..number_end], &text[number_end..end]);
    findings
        .quirk(number_end..end, ProblemCode::TrailingText, format!("unexpected `{rest}` after the number"))
        .note(format!("fio reads `{number}` and ignores the rest"))
        .help(format!("write `{number}`"));
}

fn blank_hides_unit(text: &str, blanks: usize, number_end: usize, rest: &str, findings: &mut Findings) {
    let finding = findings.quirk(0..blanks, ProblemCode::LeadingBlank, "a space precedes the value");
    if rest.is_empty() {
        finding.note("fio keeps the space as part of the value");
    } else {
        finding.note(format!("fio reads {}, without the unit `{rest}`: the space hides it", &text[blanks..number_end]));
    }
    finding.help(format!("write `{}` directly after `=`", text.trim()));
}

fn known_rest(rest: &str, hexadecimal: bool, unit: NumberUnit) -> bool {
    if rest.is_empty() || hexadecimal {
        return rest.is_empty();
    }
    let lower = rest.to_ascii_lowercase();
    match unit {
        NumberUnit::Count { .. } if matches!(lower.as_str(), "b" | "%" | "z") => true,
        NumberUnit::Count { .. } => {
            lower.strip_prefix(['k', 'm', 'g', 't', 'p']).is_some_and(|tail| IEC_TAILS.contains(&tail))
        }
        // `time` has already reported unknown units.
        NumberUnit::Seconds | NumberUnit::Micros => rest.starts_with(|c: char| c.is_ascii_alphabetic()),
    }
}

/// Size suffixes after their first letter.
const IEC_TAILS: [&str; 4] = ["", "b", "i", "ib"];

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str, unit: NumberUnit) -> (Option<i64>, Vec<&'static str>) {
        let mut findings = Findings::default();
        let value = read(text, unit, &mut findings);
        (value, findings.items.iter().map(|item| item.code.name()).collect())
    }

    #[test]
    fn sizes_as_fio_reads_them() {
        let cases: &[(&str, i64, &[&str])] = &[
            ("4k", 4096, &[]),
            ("4ki", 4096, &[]),
            ("4kB", 4096, &[]),
            ("4KiB", 4000, &["iec-unit"]),
            ("4gib", 4_000_000_000, &["iec-unit"]),
            ("4b", 4, &[]),
            ("0x1000", 4096, &[]),
            ("0x1k", 1, &["trailing-text"]),
            ("0x1b", 27, &[]),
            ("010", 10, &[]),
            (" 8k", 8, &["leading-blank"]),
            ("4 k", 4, &["trailing-text"]),
            ("4kfoo", 4096, &["trailing-text"]),
            ("4k/50", 4096, &["trailing-text"]),
            ("1.5m", 1, &["not-a-number"]),
            ("4e3", 4, &["trailing-text"]),
            ("4*1024", 4, &["trailing-text"]),
            ("50%", -51, &[]),
            ("-4k", -4096, &[]),
            ("8kibx", 8000, &["iec-unit", "trailing-text"]),
            ("9223372036854775807k", -1024, &[]),
            ("16,0x10", 16, &[]),
            ("300xff", 768, &["not-a-number"]),
            ("8kiB,4", 8000, &["iec-unit"]),
        ];
        for (text, want, codes) in cases {
            let (got, found) = value(text, NumberUnit::Count { kb_base: 1024 });
            assert_eq!((got, found.as_slice()), (Some(*want), *codes), "{text}");
        }
    }

    #[test]
    fn kb_base_1000_swaps_the_bases() {
        for (text, want) in [("4KiB", 4096), ("4kb", 4000), ("4Ki", 4000), ("4k", 4000)] {
            assert_eq!(value(text, NumberUnit::Count { kb_base: 1000 }), (Some(want), vec![]), "{text}");
        }
    }

    #[test]
    fn times_as_fio_reads_them() {
        let cases: &[(&str, i64, &[&str])] = &[
            ("10", 10_000_000, &[]),
            ("10S", 10_000_000, &[]),
            ("1M", 60_000_000, &[]),
            ("5msec", 5_000, &[]),
            ("10sec", 10, &["time-unit"]),
            ("1min", 1, &["time-unit"]),
            ("1hr", 1, &["time-unit"]),
            ("5msx", 5_000, &["time-unit"]),
            ("1.5s", 1_000_000, &["not-a-number"]),
            ("1.5ms", 1_000_000, &["not-a-number"]),
            ("1 ms", 1_000_000, &["trailing-text"]),
            (" 10s", 10_000_000, &["leading-blank"]),
            ("10-20ms", 10_000, &["trailing-text"]),
            ("0x10", 16, &["time-unit"]),
            ("-1", -1_000_000, &["out-of-range"]),
            ("5m,1", 300_000_000, &[]),
        ];
        for (text, want, codes) in cases {
            let (got, found) = value(text, NumberUnit::Seconds);
            assert_eq!((got, found.as_slice()), (Some(*want), *codes), "{text}");
        }
    }

    #[test]
    fn text_that_is_no_number_is_refused() {
        for text in ["", "k", "foo", "(4*1024)", "--4k", "9223372036854775808", "é"] {
            let (got, found) = value(text, NumberUnit::Count { kb_base: 1024 });
            assert_eq!((got, found), (None, vec!["not-a-number"]), "{text}");
        }
    }
}
