//! Steady states of jobs.

use serde::{Deserialize, Serialize};

/// Whether and how a job reached a steady state (`steadystate`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SteadyRecord {
    /// `iops`, `bw` or `lat`.
    pub measure: String,
    /// Whether the slope of the measure is judged instead of its largest deviation from the mean.
    pub is_slope: bool,
    /// Whether limit and criterion are percentages of the mean.
    pub is_percent: bool,
    /// Value below which the state is steady: per second, in nanoseconds for `lat`, or in per cent.
    pub limit: f64,
    /// Length of the window in nanoseconds.
    pub duration_ns: u64,
    /// Whether the state was reached.
    pub is_attained: bool,
    /// The last value that was compared with the limit.
    pub criterion: f64,
    /// Largest deviation from the mean in the last window, in the unit of the limit that is no percentage; zero if the slope is judged.
    pub max_deviation: f64,
    /// Slope in the last window, in that unit per sample; zero if the deviation is judged.
    pub slope: f64,
    /// Operations per second of each sample of the last window.
    pub iops: Vec<f64>,
    /// Bytes per second of each sample of the last window.
    pub bytes_per_second: Vec<f64>,
    /// Mean completion latency of each sample of the last window in nanoseconds; empty unless it is the measure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latencies_ns: Vec<f64>,
}

impl SteadyRecord {
    /// Returns a note on the search of fio, as its text output ends that line.
    pub(crate) fn fio_note(&self) -> String {
        let attained = if self.is_attained { "yes" } else { "no" };
        let how = if self.is_slope { "slope" } else { "mean dev" };
        let value = if self.is_slope && !self.is_percent { self.slope } else { self.criterion };
        let percent = if self.is_percent { "%" } else { "" };
        let limit = if self.limit > 0.0 { format!(" (limit {}{percent})", self.limit) } else { String::new() };
        format!(
            "fio's search for a steady state says: attained={attained}, {} {how}={value:.3}{percent}{limit}",
            self.measure
        )
    }

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

    /// Returns the mean of the latencies in the last window, in nanoseconds; `None` unless latency is the measure.
    #[must_use]
    pub fn latency_mean_ns(&self) -> Option<u64> {
        (self.measure == "lat").then(|| mean(&self.latencies_ns))
    }
}

fn mean(values: &[f64]) -> u64 {
    (values.iter().sum::<f64>() / values.len().max(1) as f64) as u64
}
