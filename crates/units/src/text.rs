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

/// Formats a number of things: `1 request`, `1,024 requests`.
#[must_use]
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Formats a fraction as a percentage: `0.987` is `98.7%`.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// Formats a fraction as a percentage, with two digits where one after the point would be zero.
#[must_use]
pub fn portion(share: f64) -> String {
    if share > 0.0 && share < 0.000_95 { format!("{}%", significant(100.0 * share, 2)) } else { percent(share) }
}

/// Returns how many requests must be in flight for a mean number (rate × latency): the next whole number, and at least one.
/// What three significant figures do not show is inexact anyway, so 16.04 are 16; from 100 on every one counts.
#[must_use]
pub fn requests_in_flight(mean: f64) -> u64 {
    let shown = if mean < 100.0 { significant(mean, 3).parse().unwrap_or(mean) } else { mean - 1e-3 };
    shown.ceil().max(1.0) as u64
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
        assert_eq!((counted(1, "request"), counted(2_000, "request")), ("1 request".into(), "2,000 requests".into()));
    }

    #[test]
    fn a_mean_is_rounded_up_to_what_is_shown() {
        let cases = [(0.0, 1), (0.2, 1), (9.5, 10), (16.0, 16), (16.04, 16), (16.06, 17), (99.96, 100)];
        for (mean, requests) in
            cases.into_iter().chain([(209.6, 210), (210.0, 210), (209.2, 210), (1e9, 1_000_000_000)])
        {
            assert_eq!(requests_in_flight(mean), requests, "{mean}");
        }
    }
}
