//! Which seed a job gets.

use std::time::{SystemTime, UNIX_EPOCH};

use job::{Job, Plan};
use units::random::mix;

/// The seed of everything that is to be the same on every run; fio's default.
const REPEATED: u64 = 0x89;

/// The seeds of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seeds {
    repeated: u64,
    fresh: u64,
}

impl Seeds {
    /// One seed for many runs that belong together: fio's default where time is `virtual_time`, so that the same words
    /// give the same figures, else one from the clock.
    pub(crate) fn for_many(virtual_time: bool) -> u64 {
        if virtual_time { REPEATED } else { Self::new(None).fresh }
    }

    /// Everything from `given`; or, where none was given, `randrepeat=1` from fio's default and the rest from the
    /// clock and the process number.
    pub(crate) fn new(given: Option<u64>) -> Self {
        match given {
            Some(seed) => Self { repeated: seed, fresh: seed },
            None => Self {
                repeated: REPEATED,
                // Short, because people copy it from one screen to another.
                fresh: mix(crate::worker::unix_ms(), u64::from(std::process::id())) >> 32,
            },
        }
    }

    /// A number that no other run has, for the headers of verified blocks. Not from the seed: a run with the same seed
    /// must not take the blocks of an earlier one for its own.
    pub(crate) fn nonce() -> u32 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let drawn = mix(now.as_nanos() as u64, u64::from(std::process::id())) >> 33;
        // 31 bits, as job options have. Zero stands for none.
        (drawn as u32).max(1)
    }

    /// The seed of a job.
    pub(crate) fn of(self, job: &Job) -> u64 {
        if job.pattern.randrepeat { self.repeated } else { self.fresh }
    }

    /// The seed with which `--seed` repeats the run: the fresh one, where any job uses it.
    pub(crate) fn printed(self, plan: &Plan) -> u64 {
        if plan.jobs.iter().all(|job| job.pattern.randrepeat) { self.repeated } else { self.fresh }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_runs_draw_different_nonces() {
        let drawn: std::collections::BTreeSet<u32> = (0..100).map(|_| Seeds::nonce()).collect();
        assert!(drawn.len() > 90 && !drawn.contains(&0), "{drawn:?}");
    }

    #[test]
    fn a_given_seed_is_everybodys() {
        let seeds = Seeds::new(Some(7));
        assert_eq!(seeds, Seeds { repeated: 7, fresh: 7 });
        assert_eq!(Seeds::new(None).repeated, REPEATED);
    }
}
