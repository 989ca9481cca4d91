//! Ramps by size (`ramp_size`).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use job::Plan;

use crate::WorkerPlan;

/// The ramps by size of a run: those of workers, or of the workers of a group and stage together with `group_reporting`.
#[derive(Debug, Default)]
pub struct SizedRamps(BTreeMap<usize, drive::RampBytes>);

impl SizedRamps {
    /// Returns the ramps of a plan's workers.
    #[must_use]
    pub fn of(plan: &Plan, workers: &[WorkerPlan]) -> Self {
        let mut groups: BTreeMap<(u32, usize), Arc<AtomicU64>> = BTreeMap::new();
        let ramp = |worker: &WorkerPlan| {
            let job = &plan.jobs[worker.job];
            let needed = Some(job.extent.ramp_size.get()).filter(|&needed| needed > 0)?;
            let moved = if job.grouping.group_reporting {
                Arc::clone(groups.entry((worker.group, worker.stage)).or_default())
            } else {
                Arc::default()
            };
            Some((worker.number, drive::RampBytes { moved, needed }))
        };
        Self(workers.iter().filter_map(ramp).collect())
    }

    /// Returns the ramp of a worker, if it has one.
    #[must_use]
    pub fn ramp(&self, worker: &WorkerPlan) -> Option<drive::RampBytes> {
        self.0.get(&worker.number).cloned()
    }
}
