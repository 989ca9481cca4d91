//! Dates of signatures.

use std::fmt::Write;

/// A date and time of day in UTC, as signatures have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestDate {
    year: u64,
    month: u64,
    day: u64,
    second: u64,
}

const SECONDS_PER_DAY: u64 = 86_400;

impl RequestDate {
    /// Returns the date of an instant in seconds since 1970.
    #[must_use]
    pub const fn of_unix_seconds(unix_seconds: u64) -> Self {
        // Years that begin in March end with the leap day; 400 of them have 146,097 days. 1970-01-01 is the day 719,468
        // after 0000-03-01.
        let days = unix_seconds / SECONDS_PER_DAY + 719_468;
        let (era, day_of_era) = (days / 146_097, days % 146_097);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = era * 400 + year_of_era + (month <= 2) as u64;
        Self { year, month, day, second: unix_seconds % SECONDS_PER_DAY }
    }

    /// Appends the day as `20130524`.
    pub(crate) fn push_day(self, out: &mut String) {
        // Writing to a string cannot fail.
        let _ = write!(out, "{:04}{:02}{:02}", self.year, self.month, self.day);
    }

    /// Appends the instant as `20130524T000000Z`.
    pub(crate) fn push_instant(self, out: &mut String) {
        self.push_day(out);
        let (hour, minute, second) = (self.second / 3600, self.second / 60 % 60, self.second % 60);
        let _ = write!(out, "T{hour:02}{minute:02}{second:02}Z");
    }

    /// Reports whether both are on the same day.
    pub(crate) const fn is_on_day_of(self, other: Self) -> bool {
        self.year == other.year && self.month == other.month && self.day == other.day
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let of = |seconds| {
            let mut text = String::new();
            RequestDate::of_unix_seconds(seconds).push_instant(&mut text);
            text
        };
        assert_eq!(of(0), "19700101T000000Z");
        assert_eq!(of(951_782_399), "20000228T235959Z");
        assert_eq!(of(951_782_400), "20000229T000000Z");
        assert_eq!(of(1_369_353_600), "20130524T000000Z");
        assert_eq!(of(1_440_938_160), "20150830T123600Z");
        assert_eq!(of(4_107_542_399), "21000228T235959Z");
        assert_eq!(of(4_107_542_400), "21000301T000000Z");
        assert_eq!(of(253_402_300_800), "100000101T000000Z");
        assert!(of(u64::MAX).ends_with('Z'));
    }
}
