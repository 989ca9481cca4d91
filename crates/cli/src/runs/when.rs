//! Local times: parsing dates, dates with a time, and ages.

use jiff::Zoned;
use jiff::civil::{Date, DateTime};
use units::{Problem, ProblemCode};

/// Parses a local date or time (`2026-11-21`, `2026-11-21T20:53`, `2026-11-21 20:53:04`) or an age (`7d`) to
/// milliseconds since 1970.
pub(super) fn unix_ms(text: &str, now: &Zoned) -> Result<u64, Problem> {
    let unknown = || {
        Problem::error(ProblemCode::Arguments, format!("{text}: neither a date nor an age"))
            .help("write a date (2026-11-21), a date and a time (2026-11-21T20:53) or an age (7d)")
    };
    let now_ms = u64::try_from(now.timestamp().as_millisecond()).unwrap_or(0);
    if let Some(age_ms) = store::age_ms(text) {
        return Ok(now_ms.saturating_sub(age_ms));
    }
    let civil = text
        .parse::<DateTime>()
        .ok()
        .or_else(|| Some(text.parse::<Date>().ok()?.to_datetime(jiff::civil::Time::midnight())));
    let zoned = civil.and_then(|civil| civil.to_zoned(now.time_zone().clone()).ok()).ok_or_else(unknown)?;
    u64::try_from(zoned.timestamp().as_millisecond()).map_err(|_| unknown())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_times_and_ages_are_parsed() {
        let now: Zoned = "2026-11-21T20:53:04+01:00[+01:00]".parse().unwrap();
        let hour_ms = 3_600_000;
        let midnight = unix_ms("2026-11-21", &now).unwrap();
        assert_eq!(midnight, 1_795_215_600_000);
        for (text, hours) in [("2026-11-21T20:00", 20), ("2026-11-21 20:00:00", 20)] {
            assert_eq!(unix_ms(text, &now).unwrap(), midnight + hours * hour_ms, "{text}");
        }
        let now_ms = midnight + 20 * hour_ms + 53 * 60_000 + 4_000;
        assert_eq!(unix_ms("2h", &now).unwrap(), now_ms - 2 * hour_ms);
        // A clock beyond the year 9999.
        let last = device::local_time(u64::MAX);
        assert!(unix_ms("7d", &last).is_ok_and(|at| at > now_ms));
        for wrong in ["", "yesterday", "2026-13-01", "2026-11-21T25:00"] {
            assert!(unix_ms(wrong, &now).unwrap_err().to_string().contains("write a date"), "{wrong}");
        }
    }
}
