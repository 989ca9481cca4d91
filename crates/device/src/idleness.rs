//! Idleness of the CPUs during a run (`--idle-prof`).

use engine::{IdleProfiler, WorkUnit};
use job::IdleProfile;
use record::IdlenessRecord;
use units::Problem;

/// Measures CPU idleness, if requested.
#[derive(Debug)]
pub struct HostIdleness {
    running: Option<(IdleProfiler, bool)>,
}

impl HostIdleness {
    /// Begins to measure.
    ///
    /// # Errors
    ///
    /// Fails if the host starts no threads of idle priority.
    pub fn begin(profile: Option<IdleProfile>) -> Result<Self, Problem> {
        let running = match profile {
            Some(IdleProfile::System) => Some((IdleProfiler::start(), false)),
            Some(IdleProfile::Processors) => Some((IdleProfiler::start(), true)),
            Some(IdleProfile::Calibrate) | None => None,
        };
        let running = running.map(|(profiler, lists)| profiler.map(|profiler| (profiler, lists)));
        Ok(Self { running: running.transpose().map_err(|error| Problem::from(error).of("--idle-prof"))? })
    }

    /// Ends the measurement and returns its result.
    #[must_use]
    pub fn finish(self) -> Option<IdlenessRecord> {
        let (profiler, lists_processors) = self.running?;
        let found = profiler.finish();
        Some(IdlenessRecord { processors: found.processors, lists_processors, ..of_unit(found.unit) })
    }
}

/// Measures the unit of work alone.
#[must_use]
pub fn calibrated_idleness() -> IdlenessRecord {
    of_unit(WorkUnit::measured())
}

fn of_unit(unit: WorkUnit) -> IdlenessRecord {
    IdlenessRecord { unit_mean_us: unit.mean_us, unit_stddev_us: unit.stddev_us, ..IdlenessRecord::default() }
}
