//! Seeds of jobs.

use job::{Job, Plan};
use units::random::mix;

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

    /// Returns the seeds of one of many ranks, which must not all read the same blocks in the same order. Those of rank 0
    /// are these.
    #[must_use]
    pub fn of_rank(self, rank: u32) -> Self {
        let of_rank = |seed: u64| if rank == 0 { seed } else { mix(seed, u64::from(rank)) >> 32 };
        Self { repeated: of_rank(self.repeated), fresh: of_rank(self.fresh) }
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
