//! Simulates the points of a grid of settings.

use job::Plan;
use results::grid::GridPoint;
use runner::{NullObserver, PreparedRun, RunControl, RunOptions, Runner, Seeds};
use units::Problem;

use crate::host::{Parallel, map};
use crate::jobs::VariedJobs;

/// Simulates jobs with different settings.
pub struct GridSimulation<'a> {
    pub jobs: VariedJobs<'a>,
    /// Runs each point.
    pub runner: &'a dyn Runner,
    /// Seeds of all points.
    pub seeds: Seeds,
    /// Runs points in parallel.
    pub parallel: Parallel,
}

/// A point that is checked: its settings, and its jobs.
#[derive(Clone, Debug)]
pub struct PreparedPoint {
    /// Names and values of the settings.
    pub settings: Vec<(String, String)>,
    /// The jobs with these settings.
    pub plan: Plan,
}

/// A point that cannot be simulated.
#[derive(Debug)]
pub struct PointError {
    /// Names and values of its settings.
    pub settings: Vec<(String, String)>,
    /// What is wrong with its jobs.
    pub problems: Vec<Problem>,
}

impl GridSimulation<'_> {
    /// Checks a point, and describes the prepared run by `describe`.
    ///
    /// # Errors
    ///
    /// Returns the problems of its jobs.
    pub fn prepare<T>(
        &self,
        settings: Vec<(String, String)>,
        describe: impl FnOnce(&dyn PreparedRun) -> T,
    ) -> Result<(PreparedPoint, T), PointError> {
        let plan = match self.jobs.with(&settings) {
            Ok(plan) => plan,
            Err(problems) => return Err(PointError { settings, problems }),
        };
        match self.runner.prepare(&plan, self.seeds).map(|prepared| describe(&*prepared)) {
            Ok(described) => Ok((PreparedPoint { settings, plan }, described)),
            Err(problems) => Err(PointError { settings, problems }),
        }
    }

    /// Simulates points in parallel. Leaves out points that an interruption kept from starting.
    pub fn run(&self, points: &[&PreparedPoint], options: &RunOptions, control: &dyn RunControl) -> Vec<GridPoint> {
        let (runner, seeds) = (self.runner, self.seeds);
        let one = |point: &&PreparedPoint| {
            if control.end().is_some() {
                return None;
            }
            let prepared = runner.prepare(&point.plan, seeds).ok()?;
            let run = prepared.run(options, control, &mut NullObserver).ok()?.run;
            Some(GridPoint::new(point.settings.clone(), run))
        };
        map(self.parallel, points, one).into_iter().flatten().collect()
    }
}
