//! Seeds of jobs.

use job::{Job, Plan};

/// Seeds of a run: one for all that repeats from run to run, one for the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeds {
    repeated: u64,
    fresh: u64,
}

impl Seeds {
    /// fio's default, which jobs with `randrepeat=1` start from.
    pub const REPEATED: u64 = 0x89;

    /// Derives everything from `seed`.
    #[must_use]
    pub fn fixed(seed: u64) -> Self {
        Self { repeated: seed, fresh: seed }
    }

    /// Uses fio's default where jobs repeat (`randrepeat=1`) and `fresh` elsewhere.
    #[must_use]
    pub fn with_fresh(fresh: u64) -> Self {
        Self { repeated: Self::REPEATED, fresh }
    }

    /// Returns the seed of a job.
    #[must_use]
    pub fn of(self, job: &Job) -> u64 {
        if job.pattern.randrepeat { self.repeated } else { self.fresh }
    }

    /// Returns the seed with which `--seed` repeats the run: the fresh one, where any job uses it.
    #[must_use]
    pub fn printed(self, plan: &Plan) -> u64 {
        if plan.jobs.iter().all(|job| job.pattern.randrepeat) { self.repeated } else { self.fresh }
    }
}
