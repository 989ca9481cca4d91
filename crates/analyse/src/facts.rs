//! The input of the rules for runs.

use crate::hosts;
use crate::{EvidenceSource, Observation};
use record::{CpuUse, DataKind, Declared, JobResult, Measured, Run, SeriesRecord, TargetKind};
use std::borrow::Cow;
use units::requests_in_flight;

/// Fraction of its time from which a CPU counts as busy.
const BUSY: f64 = 0.9;

/// One job of a run, with queries that several rules share.
#[derive(Clone, Copy)]
pub(crate) struct Facts<'a> {
    pub(crate) run: &'a Run,
    pub(crate) job: &'a JobResult,
}

impl<'a> Facts<'a> {
    /// Returns the job as an observation that also reflects whether it has a device at all.
    pub(crate) fn seen(self) -> Observation {
        Observation { device: self.has_device(), ..Observation::of(self.run, self.job) }
    }

    pub(crate) fn declared(self) -> &'a Declared {
        &self.job.declared
    }

    /// Returns the operations that all workers may have in flight; `None` if that is unknown.
    pub(crate) fn possible(self) -> Option<f64> {
        self.declared().in_flight_possible.map(|possible| possible as f64)
    }

    /// Returns the operations that the options ask all workers to have in flight; `None` if that is unknown.
    pub(crate) fn asked(self) -> Option<f64> {
        self.declared().in_flight_asked.map(|asked| asked as f64)
    }

    /// Returns where the depth is from.
    pub(crate) fn depth_source(self) -> EvidenceSource {
        EvidenceSource::of_depth(self.declared())
    }

    pub(crate) fn result(self) -> &'a Measured {
        &self.job.result
    }

    /// Reports whether the job's files are on a storage device.
    pub(crate) fn has_device(self) -> bool {
        let targets = &self.job.evidence.targets;
        let in_memory = !targets.is_empty() && targets.iter().all(|target| target.kind == TargetKind::Memory);
        self.declared().device && !in_memory
    }

    /// Reports whether the user chose between page cache and device instead of using the default.
    pub(crate) fn chose_cache(self) -> bool {
        self.run.was_given(self.job, "direct") || self.run.was_given(self.job, "buffered")
    }

    /// Returns the kind with the most operations.
    pub(crate) fn main_kind(self) -> DataKind {
        DataKind::ALL.into_iter().max_by_key(|&kind| self.result().kind(kind).ios).unwrap_or(DataKind::Read)
    }

    /// Returns the coefficient of variation of the main kind's service times.
    pub(crate) fn service_variation(self) -> Option<f64> {
        self.result().kind(self.main_kind()).with_percentiles().variation()
    }

    /// Reports whether generating the load saturated each worker's CPU or all CPUs of the host.
    pub(crate) fn cpu_bound(self) -> bool {
        let used = |result: &Measured| result.cpu_share() * f64::from(result.workers);
        let together: f64 = self.run.in_group(self.job.group).map(|job| used(&job.result)).sum();
        let cpus = f64::from(self.run.host.cpus);
        let all_busy = match &self.run.fleet {
            Some(ranks) => hosts::all_busy(self.run, ranks),
            None => cpus > 0.0 && together >= BUSY * cpus,
        };
        !self.declared().polled && (self.result().cpu_share() >= BUSY || all_busy)
    }

    /// Returns the depth of each worker that makes `total` over all workers.
    pub(crate) fn per_worker(self, total: f64) -> u64 {
        requests_in_flight(total).div_ceil(u64::from(self.job.workers.max(1)))
    }

    /// Returns twice the number of workers, of each rank if there are several, if the host has CPUs for them.
    /// Returns the fraction of a CPU that a worker used, if it was printed.
    pub(crate) fn cpu_share(self) -> Option<f64> {
        let is_printed = self.result().cpu != CpuUse::default();
        is_printed.then(|| self.result().cpu_share())
    }

    /// Returns twice the workers, if the host has CPUs for them.
    pub(crate) fn more_workers(self) -> Option<u64> {
        let workers = u64::from(self.job.workers.max(1));
        match &self.run.fleet {
            Some(ranks) => {
                let twice = 2 * workers.div_ceil(ranks.members.len().max(1) as u64);
                hosts::has_cpus_for(ranks, twice).then_some(twice)
            }
            None => Some(2 * workers).filter(|twice| *twice <= u64::from(self.run.host.cpus)),
        }
    }

    /// Returns the CPUs of the host, or of all hosts together; zero if they are unknown.
    pub(crate) fn cpus(self) -> u32 {
        self.run.fleet.as_ref().map_or(self.run.host.cpus, hosts::cpus)
    }

    /// Returns the job's counts over time, while all ranks were active.
    pub(crate) fn series(self) -> Cow<'a, SeriesRecord> {
        self.run.common_series(self.job)
    }

    /// Reports whether this is the first result of its run.
    pub(crate) fn is_first(self) -> bool {
        self.run.jobs.first().is_some_and(|first| std::ptr::eq(first, self.job))
    }
}
