//! Time in whole nanoseconds, as an instant on a target's clock or as a duration.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

use crate::text::significant;

/// Nanoseconds: an instant since the start of a target's clock, or a duration.
///
/// 64 bits hold 584 years, so sums saturate instead of wrapping and [`Nanos::MAX`] means "never".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(u64);

impl From<Nanos> for std::time::Duration {
    fn from(time: Nanos) -> Self {
        Self::from_nanos(time.0)
    }
}

impl Nanos {
    /// Start of the clock, or a zero duration.
    pub const ZERO: Self = Self(0);
    /// Never.
    pub const MAX: Self = Self(u64::MAX);

    /// Creates `ns` nanoseconds.
    #[must_use]
    pub const fn new(ns: u64) -> Self {
        Self(ns)
    }

    /// Creates `us` microseconds.
    #[must_use]
    pub const fn from_micros(us: u64) -> Self {
        Self(us.saturating_mul(1_000))
    }

    /// Creates `ms` milliseconds.
    #[must_use]
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000_000))
    }

    /// Creates `s` seconds.
    #[must_use]
    pub const fn from_secs(s: u64) -> Self {
        Self(s.saturating_mul(1_000_000_000))
    }

    /// Creates `s` seconds, rounded to the nearest nanosecond; negative and NaN become zero.
    #[must_use]
    pub fn from_secs_f64(s: f64) -> Self {
        Self((s * 1e9).round() as u64)
    }

    /// Returns the number of nanoseconds.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns whole microseconds, truncated.
    #[must_use]
    pub const fn micros(self) -> u64 {
        self.0 / 1_000
    }

    /// Returns whole milliseconds, truncated.
    #[must_use]
    pub const fn millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Returns seconds with their fraction.
    #[must_use]
    pub fn secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns the time since `earlier`; zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Nanos {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.since(other)
    }
}

/// Three significant figures in a suitable unit: `850 ns`, `1.31 ms`, `30.0 s`; long times in two units: `16 min 40 s`,
/// `2 h 30 min`, `200 h`, `41.7 d`.
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0 as f64;
        let text = match self.0 {
            0..1_000 => format!("{} ns", self.0),
            1_000..999_500 => format!("{} us", significant(ns / 1e3, 3)),
            999_500..999_500_000 => format!("{} ms", significant(ns / 1e6, 3)),
            999_500_000..999_500_000_000 => format!("{} s", significant(ns / 1e9, 3)),
            _ => long((self.0.saturating_add(500_000_000)) / 1_000_000_000),
        };
        f.pad(&text)
    }
}

/// Formats at least a quarter of an hour, given in seconds.
fn long(s: u64) -> String {
    let both = |large: u64, unit: &str, small: u64, part: &str| match small {
        0 => format!("{large} {unit}"),
        _ => format!("{large} {unit} {small} {part}"),
    };
    let min = (s + 30) / 60;
    match s {
        0..3_600 => both(s / 60, "min", s % 60, "s"),
        3_600..359_970 => both(min / 60, "h", min % 60, "min"),
        359_970..3_600_000 => format!("{} h", (s + 1_800) / 3_600),
        _ => format!("{} d", significant(s as f64 / 86_400.0, 3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_three_figures_in_a_suitable_unit() {
        let cases = [
            (0, "0 ns"),
            (850, "850 ns"),
            (1_000, "1.00 us"),
            (999_499, "999 us"),
            (999_500, "1.00 ms"),
            (1_314_620, "1.31 ms"),
            (30_000_000_000, "30.0 s"),
            (999_499_999_999, "999 s"),
            (999_500_000_000, "16 min 40 s"),
            (1_800_000_000_000, "30 min"),
            (3_599_400_000_000, "59 min 59 s"),
            (3_599_600_000_000, "1 h"),
            (9_000_000_000_000, "2 h 30 min"),
            (9_029_000_000_000, "2 h 30 min"),
            (359_969_000_000_000, "99 h 59 min"),
            (359_970_000_000_000, "100 h"),
            (720_000_000_000_000, "200 h"),
            (3_600_000_000_000_000, "41.7 d"),
            (u64::MAX, "213504 d"),
        ];
        for (ns, text) in cases {
            assert_eq!(Nanos::new(ns).to_string(), text);
        }
    }

    #[test]
    fn saturates_at_both_ends() {
        assert_eq!(Nanos::MAX + Nanos::new(1), Nanos::MAX);
        assert_eq!(Nanos::new(1) - Nanos::new(2), Nanos::ZERO);
        assert_eq!(Nanos::from_secs_f64(-1.0), Nanos::ZERO);
        assert_eq!(Nanos::from_secs_f64(0.000_000_002_4), Nanos::new(2));
    }
}
