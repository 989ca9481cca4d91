//! Saved runs: the list, and the details of one run.

mod list;
mod show;

use jiff::Timestamp;
use jiff::tz::TimeZone;
pub use list::saved_runs_text;
use record::SavedRun;
pub use show::run_details_text;

use crate::civil;

/// Returns the local date and time of the beginning, to the minute.
fn begun(run: &SavedRun, zone: &TimeZone, with_year: bool) -> String {
    let instant = i64::try_from(run.started_unix_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    let Some(instant) = instant else { return "-".to_owned() };
    let full = civil::iso(zone.to_datetime(instant));
    let range = if with_year { 0..16 } else { 5..16 };
    full.get(range).unwrap_or(&full).to_owned()
}

#[cfg(test)]
mod tests {
    use jiff::tz::Offset;
    use record::{RunKind, RunOutcome, Tool};

    use super::*;

    #[test]
    fn beginnings_are_in_local_time() {
        let run = |started_unix_ms| SavedRun {
            format: 1,
            schema: 1,
            id: String::new(),
            kind: RunKind::Run,
            name: String::new(),
            started_unix_ms,
            tool: Tool::default(),
            hostname: String::new(),
            jobs: Vec::new(),
            targets: Vec::new(),
            command_line: Vec::new(),
            outcome: RunOutcome::Completed,
            repeat: None,
            verdict: None,
            iops: 0,
            p99_ns: None,
            added_unix_ms: 0,
            files: std::collections::BTreeMap::new(),
            kept: false,
        };
        let zone = TimeZone::fixed(Offset::from_seconds(3600).unwrap());
        let one = run(1_795_257_536_410);
        assert_eq!([begun(&one, &zone, true), begun(&one, &zone, false)], ["2026-11-21 11:38", "11-21 11:38"]);
        assert_eq!(begun(&run(u64::MAX), &zone, true), "-");
    }
}
