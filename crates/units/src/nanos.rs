//! Time in whole nanoseconds, as an instant of a target's clock or as a duration.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

use crate::text::significant;

/// Nanoseconds: an instant counted from the start of a target's clock, or the distance between two.
///
/// 64 bits hold 584 years, so sums saturate instead of wrapping and [`Nanos::MAX`] means "never".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(u64);

impl Nanos {
    /// The start of the clock, or no time at all.
    pub const ZERO: Self = Self(0);
    /// Never.
    pub const MAX: Self = Self(u64::MAX);

    /// `ns` nanoseconds.
    #[must_use]
    pub const fn new(ns: u64) -> Self {
        Self(ns)
    }

    /// `us` microseconds.
    #[must_use]
    pub const fn from_micros(us: u64) -> Self {
        Self(us.saturating_mul(1_000))
    }

    /// `ms` milliseconds.
    #[must_use]
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000_000))
    }

    /// `s` seconds.
    #[must_use]
    pub const fn from_secs(s: u64) -> Self {
        Self(s.saturating_mul(1_000_000_000))
    }

    /// `s` seconds, rounded to the nearest nanosecond; negative and NaN become zero.
    #[must_use]
    pub fn from_secs_f64(s: f64) -> Self {
        Self((s * 1e9).round() as u64)
    }

    /// The count of nanoseconds.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Whole microseconds, the rest cut off.
    #[must_use]
    pub const fn micros(self) -> u64 {
        self.0 / 1_000
    }

    /// Whole milliseconds, the rest cut off.
    #[must_use]
    pub const fn millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Seconds with their fraction.
    #[must_use]
    pub fn secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The distance from `earlier`, zero where `earlier` is in fact later.
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

/// Three significant figures and the unit that suits: `850 ns`, `1.31 ms`, `30.0 s`.
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0 as f64;
        let text = match self.0 {
            0..1_000 => format!("{} ns", self.0),
            1_000..999_500 => format!("{} us", significant(ns / 1e3, 3)),
            999_500..999_500_000 => format!("{} ms", significant(ns / 1e6, 3)),
            _ => format!("{} s", significant(ns / 1e9, 3)),
        };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_three_figures_in_the_unit_that_suits() {
        let cases = [
            (0, "0 ns"),
            (850, "850 ns"),
            (1_000, "1.00 us"),
            (999_499, "999 us"),
            (999_500, "1.00 ms"),
            (1_314_620, "1.31 ms"),
            (30_000_000_000, "30.0 s"),
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
