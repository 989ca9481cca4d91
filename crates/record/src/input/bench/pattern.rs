//! Patterns of lines: literal text, in which blanks do not matter, and fields such as `{mean ms}`.

/// A field of a pattern and its text: name, unit of numbers without one, text.
pub(super) type Field<'a> = (&'static str, &'static str, &'a str);

/// Matches a whole line and returns its fields. Each is as short as the text behind it permits; `{}` is left out.
pub(super) fn scan<'a>(pattern: &'static str, line: &'a str) -> Option<Vec<Field<'a>>> {
    let (mut pattern, mut line, mut fields) = (pattern, line, Vec::new());
    while let Some((literal, rest)) = pattern.split_once('{') {
        let (field, behind) = rest.split_once('}')?;
        line = without(literal, line)?;
        let next = &behind[..behind.find('{').unwrap_or(behind.len())];
        let end = match (next.is_empty(), behind.is_empty()) {
            (true, true) => line.len(),
            (true, false) => return None,
            // Leading blanks belong to no field.
            (false, _) => find(next, line)?,
        };
        let text = line[..end].trim();
        if let Some(name) = field.split(' ').next().filter(|name| !name.is_empty()) {
            if text.is_empty() {
                return None;
            }
            fields.push((name, field[name.len()..].trim_start(), text));
        }
        (line, pattern) = (&line[end..], behind);
    }
    without(pattern, line)?.trim().is_empty().then_some(fields)
}

/// Returns where a literal begins.
fn find(literal: &str, line: &str) -> Option<usize> {
    let begin = line.len() - line.trim_start().len();
    line[begin..].char_indices().map(|(at, _)| begin + at).find(|&at| without(literal, &line[at..]).is_some())
}

/// Returns what follows a literal at the start of a line. A literal of blanks needs some.
fn without<'a>(literal: &str, line: &'a str) -> Option<&'a str> {
    if !literal.is_empty() && literal.trim().is_empty() {
        return line.starts_with([' ', '\t']).then(|| line.trim_start());
    }
    let mut rest = line;
    for wanted in literal.chars().filter(|c| !c.is_whitespace()) {
        let found = rest.trim_start();
        let c = found.chars().next().filter(|c| *c == wanted)?;
        rest = &found[c.len_utf8()..];
    }
    Some(rest)
}

/// Parses a number with its unit, or with `unit` if it has none: seconds, bytes or a count. A comma is that of decimals,
/// but before three digits only if the unit is `comma`: the program prints no other.
pub(super) fn quantity(text: &str, unit: &str) -> Option<f64> {
    const KIB: f64 = 1024.0;
    let body = text.trim();
    let end = body.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',').unwrap_or(body.len());
    let number: f64 = match body[..end].split_once(',') {
        Some((_, decimals)) if decimals.len() == 3 && unit != "comma" => return None,
        Some((whole, decimals)) => format!("{whole}.{decimals}").parse().ok()?,
        None => body[..end].parse().ok()?,
    };
    let own = body[end..].trim();
    let own = own.split_once('/').map_or(own, |(of, _)| of).trim();
    let factor = match if own.is_empty() { unit } else { own } {
        "" | "comma" | "B" | "bytes" | "s" | "sec" | "secs" | "seconds" | "秒" | "iops" => 1.0,
        "ns" => 1e-9,
        "us" | "usec" | "µs" | "μs" => 1e-6,
        "ms" | "msec" => 1e-3,
        "min" => 60.0,
        "k" | "K" | "kB" | "KB" => 1e3,
        "m" | "M" | "MB" => 1e6,
        "G" | "GB" => 1e9,
        "KiB" => KIB,
        "MiB" => KIB * KIB,
        "GiB" => KIB * KIB * KIB,
        "%" => 0.01,
        _ => return None,
    };
    (number < 1e15).then_some(number * factor)
}

/// Returns the unit of the last digit of a quantity with this value.
pub(super) fn step(text: &str, value: f64) -> f64 {
    let (number, _) = text.split_at(text.trim_end_matches(|c: char| !c.is_ascii_digit()).len());
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    value / digits.parse::<f64>().ok().filter(|digits| *digits > 0.0).unwrap_or(f64::INFINITY)
}

/// Parses a size of blocks, in which each `k` is 1,024 bytes.
pub(super) fn block(text: &str) -> Option<f64> {
    let digits = text.trim().trim_end_matches(['b', 'B', 'y', 't', 'e', 's', 'i']).trim_end();
    let (number, factor) = match digits.chars().last()?.to_ascii_lowercase() {
        'k' => (&digits[..digits.len() - 1], 1024.0),
        'm' => (&digits[..digits.len() - 1], 1024.0 * 1024.0),
        'g' => (&digits[..digits.len() - 1], 1024.0 * 1024.0 * 1024.0),
        _ => (digits, 1.0),
    };
    number.trim().parse().ok().map(|number: f64| number * factor).filter(|bytes| (1.0..1e12).contains(bytes))
}

/// Parses the name of a percentile: `95th`, `3-nines`.
pub(super) fn percent(text: &str) -> Option<f64> {
    let percent = match text.strip_suffix("-nines") {
        Some(nines) => 100.0 - 100.0 * 0.1_f64.powi(nines.parse().ok()?),
        None => text.strip_suffix("th")?.parse().ok()?,
    };
    (0.0..100.0).contains(&percent).then_some(percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_between_literals() {
        let texts = |pattern, line| scan(pattern, line).map(|f| f.iter().map(|(_, _, text)| *text).collect::<Vec<_>>());
        let row = "{order} {block} (Q={depth}, T={jobs}): {bw MB} MB/s [{iops} IOPS] < {mean us} us>";
        assert_eq!(
            texts(row, "  SEQ  128KiB (Q= 32,T= 1):  742.5 MB/s [  5668.4 IOPS] <  546.67 us>"),
            Some(vec!["SEQ", "128KiB", "32", "1", "742.5", "5668.4", "546.67"])
        );
        assert_eq!(texts("{} avg_{} {iops} {}", "avg_2-5 10.0 x y"), Some(vec!["10.0"]));
        assert_eq!(texts("time: {seconds}s", "time:   10.5s"), Some(vec!["10.5"]));
        for line in ["time: s", "time: 1s 2", "times: 1s", ""] {
            assert_eq!(texts("time: {seconds}s", line), None, "{line}");
        }
    }

    #[test]
    fn quantities_have_their_own_unit_or_that_of_the_pattern() {
        assert_eq!((quantity("2.5 k", ""), quantity("97.1k", "")), (Some(2500.0), Some(97_100.0)));
        assert_eq!((quantity("250 us", "ms"), quantity("2.5", "ms")), (Some(250e-6), Some(2.5e-3)));
        assert_eq!(
            (quantity("11.5 MiB/s", ""), quantity("x", ""), quantity("5 x", "")),
            (Some(12_058_624.0), None, None)
        );
        assert_eq!(
            (quantity("0,82 s", ""), quantity("55,117", "comma"), quantity("1,234", "")),
            (Some(0.82), Some(55.117), None)
        );
        assert_eq!(
            ["4k", "16Kb", "4096", "1 MiB", "8kB"].map(block),
            [4096.0, 16384.0, 4096.0, 1048576.0, 8192.0].map(Some)
        );
        assert_eq!(
            (percent("95th"), percent("3-nines").map(f64::round), percent("min")),
            (Some(95.0), Some(100.0), None)
        );
    }
}
