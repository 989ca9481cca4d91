//! The lines about the replay of a trace in a job's report.

use record::ReplayRecord;
use units::{Nanos, grouped};

use crate::paint::Tone;

/// Time behind the intended instants from which a replay is said to be late.
const LATE_NS: u64 = 1_000_000;

/// Returns `12,345 of 12,345 requests of db.trace, from 0 s to 600 s, at their instants`.
pub(crate) fn replay(replay: &ReplayRecord) -> String {
    let pace = match (replay.speed, replay.closed_loop) {
        (None, _) => "as fast as possible".to_owned(),
        (Some(speed), false) if is_original(speed) => "at their instants (open loop)".to_owned(),
        (Some(speed), false) => format!("at {speed}x the speed (open loop)"),
        (Some(speed), true) if is_original(speed) => "after their dependencies (closed loop)".to_owned(),
        (Some(speed), true) => format!("after their dependencies (closed loop), think times at {speed}x"),
    };
    format!(
        "{} of {} requests of {}, from {} to {}, {pace}",
        grouped(replay.issued),
        grouped(replay.requests),
        replay.trace,
        instant(replay.first_ns),
        instant(replay.last_ns)
    )
}

/// Returns an instant of the trace.
fn instant(ns: u64) -> String {
    if ns == 0 { "0 s".to_owned() } else { Nanos::new(ns).to_string() }
}

fn is_original(speed: f64) -> bool {
    (speed - 1.0).abs() < 1e-9
}

/// Returns how far the replay was behind the intended instants, and what was left out, one sentence each.
pub(crate) fn replay_notes(replay: &ReplayRecord) -> Vec<String> {
    let (most, last) = (Nanos::new(replay.behind_max_ns), Nanos::new(replay.behind_last_ns));
    let mut notes = Vec::new();
    if replay.speed.is_some() && replay.behind_max_ns >= LATE_NS {
        let cause = if replay.has_reached_depth() {
            format!(
                ": all {} operations of the queue were in flight; a larger iodepth keeps the instants",
                replay.depth
            )
        } else {
            String::new()
        };
        notes.push(format!("up to {most} behind the intended instants, the last request {last}{cause}"));
    }
    notes.extend(replay.notes.iter().cloned());
    notes
}

/// Returns the tone of the line.
pub(crate) fn replay_tone(replay: &ReplayRecord) -> Option<Tone> {
    (replay.issued < replay.requests).then_some(Tone::Odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> ReplayRecord {
        ReplayRecord {
            trace: "db.trace".into(),
            requests: 12_345,
            issued: 12_345,
            last_ns: 600_000_000_000,
            speed: Some(1.0),
            depth: 64,
            in_flight_max: 9,
            ..ReplayRecord::default()
        }
    }

    #[test]
    fn the_line_says_what_was_replayed_and_how() {
        let line = replay(&record());
        assert_eq!(line, "12,345 of 12,345 requests of db.trace, from 0 s to 600 s, at their instants (open loop)");
        let pace = |speed, closed_loop| replay(&ReplayRecord { speed, closed_loop, ..record() });
        assert!(pace(Some(2.5), false).ends_with("at 2.5x the speed (open loop)"));
        assert!(pace(Some(1.0), true).ends_with("after their dependencies (closed loop)"));
        assert!(pace(None, false).ends_with("as fast as possible"));
        assert_eq!(replay_tone(&record()), None);
        assert_eq!(replay_tone(&ReplayRecord { issued: 5, ..record() }), Some(Tone::Odd));
    }

    #[test]
    fn lateness_has_its_cause() {
        assert!(replay_notes(&record()).is_empty());
        let late = ReplayRecord { behind_max_ns: 20_000_000, behind_last_ns: 1_500_000, ..record() };
        assert_eq!(replay_notes(&late), ["up to 20.0 ms behind the intended instants, the last request 1.50 ms"]);
        let full = ReplayRecord { in_flight_max: 64, notes: vec!["3 requests are missing".into()], ..late };
        let notes = replay_notes(&full);
        assert!(notes[0].contains("all 64 operations of the queue were in flight") && notes.len() == 2, "{notes:?}");
    }
}
