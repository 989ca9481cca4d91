//! Calendar dates, without a clock.

/// A point in time by the calendar and the clock of some zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Civil {
    pub(crate) year: i64,
    /// 1 to 12.
    pub(crate) month: usize,
    /// 1 to 31.
    pub(crate) day: i64,
    /// 0 is Sunday.
    pub(crate) weekday: usize,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
}

const DAY_S: i64 = 86_400;
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

impl Civil {
    /// The date and time at `unix_ms` in a zone that is `utc_offset_s` ahead of UTC.
    pub(crate) fn at(unix_ms: u64, utc_offset_s: i32) -> Self {
        let local_s = (unix_ms / 1000) as i64 + i64::from(utc_offset_s);
        let (days, second_of_day) = (local_s.div_euclid(DAY_S), local_s.rem_euclid(DAY_S));
        let (year, month, day) = date(days);
        Self {
            year,
            month,
            day,
            // The first day of 1970 was a Thursday.
            weekday: (days + 4).rem_euclid(7) as usize,
            hour: second_of_day / 3600,
            minute: second_of_day / 60 % 60,
            second: second_of_day % 60,
        }
    }

    /// As C's `ctime` prints it: `Sat Nov 21 10:38:56 2026`.
    pub(crate) fn ctime(&self) -> String {
        let Self { year, day, hour, minute, second, .. } = self;
        let (weekday, month) = (WEEKDAYS[self.weekday], MONTHS[self.month - 1]);
        format!("{weekday} {month} {day:2} {hour:02}:{minute:02}:{second:02} {year}")
    }

    /// `2026-11-21 10:38:56`.
    pub(crate) fn iso(&self) -> String {
        let Self { year, month, day, hour, minute, second, .. } = self;
        format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
    }
}

/// Year, month and day of a day counted from 1970, by Howard Hinnant's method: years that begin in March put the
/// leap day last, and 400 of them always have the same number of days.
fn date(days: i64) -> (i64, usize, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month as usize, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_instants() {
        assert_eq!(Civil::at(0, 0).ctime(), "Thu Jan  1 00:00:00 1970");
        assert_eq!(Civil::at(1_795_257_536_410, 0).ctime(), "Sat Nov 21 10:38:56 2026");
        assert_eq!(Civil::at(951_782_400_000, 0).ctime(), "Tue Feb 29 00:00:00 2000");
        assert_eq!(Civil::at(951_782_400_000, -3600).iso(), "2000-02-28 23:00:00");
    }
}
