//! Seeds of jobs.

use job::{Job, Plan};

/// Seeds of a run: one for jobs that repeat from run to run, one for the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeds {
    repeated: u64,
    fresh: u64,
}

impl Seeds {
    /// fio's default seed of jobs with `randrepeat=1`.
    pub const REPEATED: u64 = 0x89;

    /// Uses `seed` for all jobs.
    #[must_use]
    pub fn fixed(seed: u64) -> Self {
        Self { repeated: seed, fresh: seed }
    }

    /// Uses fio's default for jobs with `randrepeat=1` and `fresh` for the others.
    #[must_use]
    pub fn with_fresh(fresh: u64) -> Self {
        Self { repeated: Self::REPEATED, fresh }
    }

    /// Returns the seed of a job.
    #[must_use]
    pub fn of(self, job: &Job) -> u64 {
        if job.pattern.randrepeat { self.repeated } else { self.fresh }
    }

    /// Returns the seed with which `--seed` repeats the run: the fresh one if any job uses it.
    #[must_use]
    pub fn printed(self, plan: &Plan) -> u64 {
        if plan.jobs.iter().all(|job| job.pattern.randrepeat) { self.repeated } else { self.fresh }
    }
}
