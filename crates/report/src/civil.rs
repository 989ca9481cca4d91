//! Dates and times for given instants.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

/// Returns the date and time at `unix_ms` in a zone that is `utc_offset_s` ahead of UTC. Records may hold any numbers:
/// instants after the year 9999 become its end, offsets of more than a day become UTC.
pub(crate) fn local(unix_ms: u64, utc_offset_s: i32) -> DateTime {
    let instant = i64::try_from(unix_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    Offset::from_seconds(utc_offset_s).unwrap_or(Offset::UTC).to_datetime(instant.unwrap_or(Timestamp::MAX))
}

/// Formats a date and time as C's `ctime` does: `Sat Nov 21 10:38:56 2026`.
pub(crate) fn ctime(at: DateTime) -> String {
    at.strftime("%a %b %e %H:%M:%S %Y").to_string()
}

/// Formats a date and time as `2026-11-21 10:38:56`.
pub(crate) fn iso(at: DateTime) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_instants() {
        assert_eq!(ctime(local(0, 0)), "Thu Jan  1 00:00:00 1970");
        assert_eq!(ctime(local(1_795_257_536_410, 0)), "Sat Nov 21 10:38:56 2026");
        assert_eq!(ctime(local(951_782_400_000, 0)), "Tue Feb 29 00:00:00 2000");
        assert_eq!(iso(local(951_782_400_000, -3600)), "2000-02-28 23:00:00");
    }

    #[test]
    fn out_of_range_instants_are_clamped() {
        assert!(iso(local(u64::MAX, i32::MAX)).starts_with("9999-12-30"));
        assert!(iso(local(u64::MAX, i32::MIN)).starts_with("9999-12-30"));
    }
}
