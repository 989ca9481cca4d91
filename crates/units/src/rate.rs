//! Rates, and schedules without drift.

use std::fmt;

use crate::{Nanos, text::count};

/// Events per second: operations or bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// Creates a rate of `n` per second.
    #[must_use]
    pub const fn per_sec(n: u64) -> Self {
        Self(n)
    }

    /// Returns the number per second.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns when the `n`-th unit (counted from zero) is due on an even schedule that starts at zero.
    ///
    /// Computed from `n` rather than accumulated, so no remainder is lost: 400,000 per second stay 400,000.
    #[must_use]
    pub fn due(self, n: u64) -> Nanos {
        if self.0 == 0 {
            return if n == 0 { Nanos::ZERO } else { Nanos::MAX };
        }
        let ns = u128::from(n) * 1_000_000_000 / u128::from(self.0);
        Nanos::new(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", count(self.0 as f64))
    }
}

/// An even schedule with a running total: [`Rate::due`] without a 128-bit division per step.
#[derive(Clone, Debug)]
pub struct Schedule {
    rate: Rate,
    whole_ns: u64,
    remainder: u64,
}

impl Schedule {
    /// Creates a schedule that starts at zero.
    #[must_use]
    pub const fn new(rate: Rate) -> Self {
        Self { rate, whole_ns: 0, remainder: 0 }
    }

    /// Returns when the next unit is due, counted from the start.
    #[must_use]
    pub const fn due(&self) -> Nanos {
        Nanos::new(self.whole_ns)
    }

    /// Advances the schedule by `units` (operations or bytes).
    pub fn take(&mut self, units: u64) {
        let per_sec = self.rate.get().max(1);
        let total = u128::from(units) * 1_000_000_000 + u128::from(self.remainder);
        if let Ok(total) = u64::try_from(total) {
            self.whole_ns = self.whole_ns.saturating_add(total / per_sec);
            self.remainder = total % per_sec;
        } else {
            let per_sec = u128::from(per_sec);
            self.whole_ns = self.whole_ns.saturating_add(u64::try_from(total / per_sec).unwrap_or(u64::MAX));
            self.remainder = (total % per_sec) as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedule_equals_the_closed_form_at_every_step() {
        for per_sec in [1, 3, 7, 999, 1_000, 400_000, 600_000, 999_983, 3_000_000_019] {
            let rate = Rate::per_sec(per_sec);
            let mut schedule = Schedule::new(rate);
            for n in 0..10_000 {
                assert_eq!(schedule.due(), rate.due(n), "{per_sec}/s, step {n}");
                schedule.take(1);
            }
        }
    }

    #[test]
    fn large_steps_do_not_overflow() {
        let mut schedule = Schedule::new(Rate::per_sec(1 << 30));
        schedule.take(1 << 60);
        assert_eq!(schedule.due(), Nanos::from_secs(1 << 30));
    }

    #[test]
    fn no_rate_never_comes_due() {
        assert_eq!(Rate::per_sec(0).due(0), Nanos::ZERO);
        assert_eq!(Rate::per_sec(0).due(1), Nanos::MAX);
    }
}
