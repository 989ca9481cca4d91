//! Idleness of the processors during a run.

use serde::{Deserialize, Serialize};

/// How idle the processors were during a run (`--idle-prof`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IdlenessRecord {
    /// Processors, each with the percentage of time for which it was idle.
    pub processors: Vec<(u32, f64)>,
    /// Whether outputs list each processor.
    pub lists_processors: bool,
    /// Mean time to touch each byte of a page, in microseconds.
    pub unit_mean_us: f64,
    /// Standard deviation of that time.
    pub unit_stddev_us: f64,
}

impl IdlenessRecord {
    /// Returns the percentage for all processors together.
    #[must_use]
    pub fn system_percent(&self) -> f64 {
        let sum: f64 = self.processors.iter().map(|(_, percent)| percent).sum();
        sum / self.processors.len().max(1) as f64
    }
}
