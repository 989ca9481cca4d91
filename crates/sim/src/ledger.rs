//! Burst credits over time.

use units::Nanos;
use volume::System;

/// Initial recording interval.
const INITIAL_INTERVAL: Nanos = Nanos::from_millis(10);
/// Number of intervals after which the interval doubles.
const STEPS: u64 = 256;

/// Credit levels at the instants of [`next_note`]. Their number is bounded, so that long runs have small records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ledger {
    rows: Vec<(Nanos, Vec<f64>)>,
    next: Nanos,
}

/// Returns the next recording time after `now`. It depends on nothing else, so recordings are the same however often a
/// simulation is observed.
#[must_use]
pub fn next_note(now: Nanos) -> Nanos {
    let step = step(now);
    Nanos::new((now.get() / step + 1).saturating_mul(step))
}

fn step(now: Nanos) -> u64 {
    let mut step = INITIAL_INTERVAL.get();
    while now.get() / step >= STEPS {
        step *= 2;
    }
    step
}

impl Ledger {
    /// Records the level of each bucket, if a recording is due and there are buckets.
    pub(crate) fn record(&mut self, now: Nanos, system: &System) {
        if now < self.next {
            return;
        }
        let levels: Vec<f64> = system.credit_levels(now).collect();
        if levels.is_empty() {
            self.next = Nanos::MAX;
            return;
        }
        if self.rows.len() as u64 > STEPS {
            // Drop every other row, as the longer interval would have.
            let mut number = 0_u32;
            self.rows.retain(|_| {
                number += 1;
                number % 2 == 1
            });
        }
        self.rows.push((now, levels));
        self.next = next_note(now);
    }

    /// Returns the levels of one bucket, in the order of [`System::credit_levels`].
    pub fn levels(&self, bucket: usize) -> impl Iterator<Item = (Nanos, f64)> + '_ {
        self.rows.iter().filter_map(move |(at, levels)| Some((*at, *levels.get(bucket)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recording_intervals_grow_on_one_grid() {
        let (mut now, mut notes) = (Nanos::ZERO, 0);
        while now < Nanos::from_secs(36_000) {
            let next = next_note(now);
            assert!(next > now && next.get().is_multiple_of(INITIAL_INTERVAL.get()), "{next}");
            (now, notes) = (next, notes + 1);
        }
        assert!(notes < 2_500, "{notes}");
        // Observations in between do not shift the recording times.
        assert_eq!(next_note(Nanos::from_millis(123)), Nanos::from_millis(130));
    }
}
