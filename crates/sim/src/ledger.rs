//! Burst credits over time.

use units::Nanos;
use volume::System;

/// Levels are written down this often at first.
const FIRST: Nanos = Nanos::from_millis(10);
/// After so many steps the steps become twice as long.
const STEPS: u64 = 256;

/// Levels at the instants of [`next_note`], so many at most that a record of days stays small.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ledger {
    rows: Vec<(Nanos, Vec<f64>)>,
    next: Nanos,
}

/// When levels are written down after an instant. It depends on nothing else, so that observers of a simulation, however
/// often, finds the same.
#[must_use]
pub fn next_note(now: Nanos) -> Nanos {
    let step = step(now);
    Nanos::new((now.get() / step + 1).saturating_mul(step))
}

fn step(now: Nanos) -> u64 {
    let mut step = FIRST.get();
    while now.get() / step >= STEPS {
        step *= 2;
    }
    step
}

impl Ledger {
    /// Writes down what is left in each bucket; nothing where the time for it has not come, or there is no bucket.
    pub(crate) fn note(&mut self, now: Nanos, system: &System) {
        if now < self.next {
            return;
        }
        let levels: Vec<f64> = system.credit_levels(now).collect();
        if levels.is_empty() {
            self.next = Nanos::MAX;
            return;
        }
        if self.rows.len() as u64 > STEPS {
            // Every other one goes: those that longer steps would have left out.
            let mut number = 0_u32;
            self.rows.retain(|_| {
                number += 1;
                number % 2 == 1
            });
        }
        self.rows.push((now, levels));
        self.next = next_note(now);
    }

    /// The levels of one bucket, in the order of [`System::credit_levels`].
    pub fn levels(&self, bucket: usize) -> impl Iterator<Item = (Nanos, f64)> + '_ {
        self.rows.iter().filter_map(move |(at, levels)| Some((*at, *levels.get(bucket)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_become_rarer_and_stay_on_one_grid() {
        let (mut now, mut notes) = (Nanos::ZERO, 0);
        while now < Nanos::from_secs(36_000) {
            let next = next_note(now);
            assert!(next > now && next.get().is_multiple_of(FIRST.get()), "{next}");
            (now, notes) = (next, notes + 1);
        }
        assert!(notes < 2_500, "{notes}");
        // Looks in between are sent to the same instants.
        assert_eq!(next_note(Nanos::from_millis(123)), Nanos::from_millis(130));
    }
}
