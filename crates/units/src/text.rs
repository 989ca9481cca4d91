//! Formatting of numbers.

/// Formats `value` with `figures` significant figures and no exponent: `1.31`, `24.1`, `137`.
#[must_use]
pub fn significant(value: f64, figures: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let decimals = |v: f64| {
        let magnitude = v.abs().log10().floor() as i64;
        usize::try_from(figures as i64 - 1 - magnitude).unwrap_or(0)
    };
    let first = format!("{value:.*}", decimals(value));
    // 9.999 with three figures rounds to 10.00: one figure too many, so the decimals are counted again.
    let rounded: f64 = first.parse().unwrap_or(value);
    format!("{value:.*}", decimals(rounded))
}

/// Formats a count or rate with a prefix: `850`, `24.1k`, `2.02M`.
#[must_use]
pub fn count(value: f64) -> String {
    let (mut v, mut unit) = (value, 0);
    let units = ["", "k", "M", "G", "T"];
    while v.abs() >= 999.5 && unit + 1 < units.len() {
        v /= 1000.0;
        unit += 1;
    }
    if unit == 0 && v.fract() == 0.0 {
        return format!("{v}");
    }
    format!("{}{}", significant(v, 3), units[unit])
}

/// Formats a whole number with thousands separators: `160,000`.
#[must_use]
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// Formats a fraction as a percentage: `0.987` is `98.7%`.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_does_not_add_figures() {
        let cases =
            [(1.3146, "1.31"), (9.999, "10.0"), (99.96, "100"), (137.2, "137"), (0.012_345, "0.0123"), (0.0, "0")];
        for (value, text) in cases {
            assert_eq!(significant(value, 3), text);
        }
    }

    #[test]
    fn counts_are_abbreviated() {
        let cases =
            [(850.0, "850"), (24_097.0, "24.1k"), (999.6, "1.00k"), (2_018_000.0, "2.02M"), (0.5, "0.500"), (0.0, "0")];
        for (value, text) in cases {
            assert_eq!(count(value), text);
        }
    }

    #[test]
    fn groups_by_three() {
        let cases = [(0, "0"), (999, "999"), (1_000, "1,000"), (160_000, "160,000"), (1_234_567, "1,234,567")];
        for (n, text) in cases {
            assert_eq!(grouped(n), text);
        }
    }
}
