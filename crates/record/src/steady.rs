//! Steady states of jobs.

use serde::{Deserialize, Serialize};

/// Whether and how a job reached a steady state (`steadystate`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SteadyRecord {
    /// `iops` or `bw`.
    pub measure: String,
    /// Whether the slope of the measure is judged instead of its largest deviation from the mean.
    pub is_slope: bool,
    /// Whether limit and criterion are percentages of the mean.
    pub is_percent: bool,
    /// Value below which the state is steady: per second, or in per cent.
    pub limit: f64,
    /// Length of the window in nanoseconds.
    pub duration_ns: u64,
    /// Whether the state was reached.
    pub is_attained: bool,
    /// The last value that was compared with the limit.
    pub criterion: f64,
    /// Largest deviation from the mean in the last window, per second; zero if the slope is judged.
    pub max_deviation: f64,
    /// Slope in the last window, per second and sample; zero if the deviation is judged.
    pub slope: f64,
    /// Operations per second of each sample of the last window.
    pub iops: Vec<f64>,
    /// Bytes per second of each sample of the last window.
    pub bytes_per_second: Vec<f64>,
}

impl SteadyRecord {
    /// Returns the mean of the operations per second in the last window.
    #[must_use]
    pub fn iops_mean(&self) -> u64 {
        mean(&self.iops)
    }

    /// Returns the mean of the bytes per second in the last window.
    #[must_use]
    pub fn bytes_per_second_mean(&self) -> u64 {
        mean(&self.bytes_per_second)
    }
}

fn mean(values: &[f64]) -> u64 {
    (values.iter().sum::<f64>() / values.len().max(1) as f64) as u64
}
