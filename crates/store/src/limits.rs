//! Parses ages and sizes of retention.

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Parses an age such as `90d`, `12h`, `2w` or `1y`; returns milliseconds.
#[must_use]
pub fn age_ms(text: &str) -> Option<u64> {
    let (number, unit) = split(text)?;
    let unit_ms = match unit {
        "s" => 1000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" | "day" | "days" => DAY_MS,
        "w" => 7 * DAY_MS,
        "y" => 365 * DAY_MS,
        _ => return None,
    };
    Some((number * unit_ms as f64) as u64)
}

/// Parses a size such as `1GiB`, `500MB` or `10k`; returns bytes. A single letter is binary.
#[must_use]
pub fn size_bytes(text: &str) -> Option<u64> {
    let (number, unit) = split(text)?;
    let (prefix, base) = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => return Some(number as u64),
        unit => match (unit.chars().next()?, unit.get(1..)?) {
            (prefix, "" | "ib") => (prefix, 1024.0_f64),
            (prefix, "b") => (prefix, 1000.0),
            _ => return None,
        },
    };
    let power = "kmgtp".find(prefix)? as i32 + 1;
    Some((number * base.powi(power)) as u64)
}

fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    Some((number.parse().ok()?, unit.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_ages_and_sizes_with_units() {
        let ages = ["90d", "12 h", "1.5w", "1y", "0d"].map(age_ms);
        assert_eq!(ages, [90 * DAY_MS, DAY_MS / 2, DAY_MS * 21 / 2, 365 * DAY_MS, 0].map(Some));
        assert_eq!(["", "d", "-1d", "9 parsecs", "9"].map(age_ms), [None; 5]);
        let sizes = ["1GiB", "500MB", "10k", "0", "7 B", "1.5 KiB"].map(size_bytes);
        assert_eq!(sizes, [1 << 30, 500_000_000, 10_240, 0, 7, 1536].map(Some));
        assert_eq!(["", "GiB", "1 parsec", "1xb", "1é"].map(size_bytes), [None; 5]);
    }
}
