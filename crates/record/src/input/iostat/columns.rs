//! Columns of `iostat -x`.

use super::IostatDevice;

/// Bytes of a sector.
const SECTOR: f64 = 512.0;
const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * 1024.0;
const GIB: f64 = 1024.0 * 1024.0 * 1024.0;
const NS_IN_MS: f64 = 1e6;

/// Reports whether a column is a rate of requests: `tps` is of all kinds, with `-s` or without `-x`.
pub(super) fn is_rate(name: &str) -> bool {
    matches!(name, "r/s" | "w/s" | "f/s" | "tps")
}

/// Reports whether a word is the name of a column.
pub(in crate::input) fn is_column(name: &str) -> bool {
    name.starts_with('%') || ["/s", "-sz", "await", "svctm"].iter().any(|end| name.ends_with(end))
}

/// Reports whether a column without `-x` is a total since the last report, a whole number: `kB_read`, `Blk_wrtn`.
pub(super) fn is_total(name: &str) -> bool {
    ["kB_", "MB_", "GB_", "Blk_"].iter().any(|unit| name.starts_with(unit)) && !name.ends_with("/s")
}

/// Sets the value of a column; unknown ones are ignored. JSON names fractions without the `%`.
pub(in crate::input) fn set(device: &mut IostatDevice, name: &str, value: f64) {
    let name = name.trim_start_matches('%');
    match name {
        "aqu-sz" | "avgqu-sz" => return device.in_flight = Some(value),
        "util" => return device.util = Some(value / 100.0),
        "svctm" => return device.svctm_ns = Some(value * NS_IN_MS),
        "await" => return device.all.await_ns = Some(value * NS_IN_MS),
        "areq-sz" => return device.all.request_bytes = Some(value * KIB),
        "avgrq-sz" => return device.all.request_bytes = Some(value * SECTOR),
        "tps" => return device.all.per_second = Some(value),
        "rqm/s" => return device.all.merges_per_second = Some(value),
        _ => {}
    }
    let bytes = |unit: &str| match unit {
        "kB" => Some(KIB),
        "MB" => Some(MIB),
        "GB" => Some(GIB),
        "Blk" | "sec" => Some(SECTOR),
        _ => None,
    };
    let rate = name.strip_suffix("/s");
    let (kind, rest) = match (rate.unwrap_or(name).split_once('_'), name.split_at_checked(1)) {
        (Some((unit, "read")) | Some(("rd", unit)), _) if rate.is_some() => (&mut device.read, unit),
        (Some((unit, "wrtn")) | Some(("wr", unit)), _) if rate.is_some() => (&mut device.write, unit),
        (_, Some(("r", rest))) => (&mut device.read, rest),
        (_, Some(("w", rest))) => (&mut device.write, rest),
        (_, Some(("d", rest))) => (&mut device.discard, rest),
        (_, Some(("f", rest))) => (&mut device.flush, rest),
        _ if matches!(name, "kB/s" | "MB/s" | "GB/s") => (&mut device.all, name),
        _ => return,
    };
    match rest {
        "/s" => kind.per_second = Some(value),
        "rqm/s" => kind.merges_per_second = Some(value),
        "rqm" => kind.merged = Some(value / 100.0),
        "_await" => kind.await_ns = Some(value * NS_IN_MS),
        "areq-sz" => kind.request_bytes = Some(value * KIB),
        _ => {
            let factor = bytes(rest.strip_suffix("/s").unwrap_or(rest)).filter(|_| rate.is_some());
            kind.bytes_per_second = factor.map(|factor| value * factor).or(kind.bytes_per_second);
        }
    }
}

/// Parses a number with a decimal point or comma, and returns its decimals too.
pub(in crate::input) fn number(text: &str) -> Option<(f64, u32)> {
    let plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b',');
    let pointed = text.replace(',', ".");
    let whole = pointed.split('.').next().is_some_and(|whole| !whole.is_empty());
    if !plain || !whole || pointed.ends_with('.') {
        return None;
    }
    let decimals = pointed.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    Some((pointed.parse().ok().filter(|value: &f64| *value < 1e19)?, u32::try_from(decimals).ok()?))
}

/// Returns the second of the day of a date in any locale: the last time such as `10:44:13`, with or without `PM`.
pub(in crate::input) fn second_of_day(when: &str) -> Option<f64> {
    let clock = |word: &str| {
        // ISO dates have the time after a `T`, and the zone after the time.
        let word = word.rsplit_once('T').map_or(word, |(_, time)| time);
        let word = word.split(['+', '-', 'Z']).next().unwrap_or(word);
        let parts: Vec<&str> =
            word.trim_end_matches(['秒', '초']).split([':', '.', '時', '时', '시', '分', '분']).collect();
        // The hour may have one digit; more of them are a version, such as that of a kernel.
        parts.iter().skip(1).all(|part| part.len() == 2).then_some(())?;
        match parts.into_iter().map(two_digits).collect::<Option<Vec<f64>>>()?[..] {
            [h, m, s] if h < 25.0 && m < 60.0 && s < 61.0 => Some(h * 3600.0 + m * 60.0 + s),
            _ => None,
        }
    };
    // The date comes first and may look like a time.
    let second = when.split_whitespace().rev().find_map(clock)?;
    let half_days = when.split_whitespace().find_map(|word| match word.to_ascii_uppercase().as_str() {
        "AM" => Some(0.0),
        "PM" => Some(1.0),
        _ => None,
    });
    Some(half_days.map_or(second, |half| second % 43_200.0 + half * 43_200.0))
}

fn two_digits(part: &str) -> Option<f64> {
    let fits = (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    fits.then(|| part.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_day_are_found_in_any_locale() {
        for (when, second) in [
            ("11/21/26 16:30:49", 59_449.0),
            ("2026-11-21T16:30:49+0000", 59_449.0),
            ("2026-11-21T16:30:49-0500", 59_449.0),
            ("21.11.2026 16:30:49", 59_449.0),
            ("11/21/2026 04:30:49 PM", 59_449.0),
            ("11/21/2026 12:00:01 AM", 1.0),
            ("21.11.26 16.30.49", 59_449.0),
            ("2026年11月21日 16時30分49秒", 59_449.0),
            ("2026年11月21日 16时30分49秒", 59_449.0),
            ("16시30분49초", 59_449.0),
            ("Time: 16:30:49", 59_449.0),
        ] {
            assert_eq!(second_of_day(when), Some(second), "{when}");
        }
        for other in ["21.11.2026", "", "5.18.0-0.deb11.4-cloud-arm64"] {
            assert_eq!(second_of_day(other), None, "{other}");
        }
    }

    #[test]
    fn numbers_may_have_points_or_commas() {
        assert_eq!(
            (number("12,50"), number("12.5"), number("12")),
            (Some((12.5, 2)), Some((12.5, 1)), Some((12.0, 0)))
        );
        for text in ["", ".", "12.", ",5", "1.2.3", "14.6M", "-1", "nan", "1e5"] {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
