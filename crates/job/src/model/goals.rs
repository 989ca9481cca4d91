//! What a job must reach or keep to while it runs: floors of rates, a latency target, its share of a flow.

use units::{Nanos, PerKind, Rate};

/// Lowest rates of each worker.
#[derive(Clone, Debug, PartialEq)]
pub struct RateFloors {
    /// Bytes per second for each kind of operation (`rate_min`).
    pub bytes: PerKind<Option<Rate>>,
    /// Operations per second for each kind (`rate_iops_min`).
    pub operations: PerKind<Option<Rate>>,
    /// Time over which rates are measured (`rate_cycle`).
    pub cycle: Nanos,
}

/// fio's default.
impl Default for RateFloors {
    fn default() -> Self {
        Self { bytes: PerKind::default(), operations: PerKind::default(), cycle: Nanos::from_secs(1) }
    }
}

/// A latency that decides the queue depth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyTarget {
    /// `latency_target`; zero for none.
    pub latency: Nanos,
    /// Length of each step of the search (`latency_window`).
    pub window: Nanos,
    /// Percentage of operations that must have at most this latency (`latency_percentile`).
    pub percentile: f64,
    /// Whether the job continues when the depth was found (`latency_run`).
    pub continues: bool,
}

/// fio's default.
impl Default for LatencyTarget {
    fn default() -> Self {
        Self { latency: Nanos::ZERO, window: Nanos::ZERO, percentile: 100.0, continues: false }
    }
}

/// A job's place in a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowOptions {
    /// Number of the flow (`flow_id`).
    pub id: u32,
    /// Weight of each worker (`flow`); zero outside any flow.
    pub weight: u32,
    /// Pause of a worker that is ahead of its flow (`flow_sleep`).
    pub pause: Nanos,
}

/// A steady state that ends the job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyState {
    pub measure: SteadyMeasure,
    /// Whether its slope is judged instead of its largest deviation from the mean.
    pub is_slope: bool,
    /// Value below which it is steady.
    pub limit: f64,
    /// Whether the limit is a percentage of the mean.
    pub is_percent: bool,
    /// Length of the window that is judged.
    pub duration: Nanos,
    /// Time before the first sample.
    pub ramp: Nanos,
    /// Interval between samples.
    pub interval: Nanos,
}

/// fio's defaults.
impl Default for SteadyState {
    fn default() -> Self {
        Self {
            measure: SteadyMeasure::Iops,
            is_slope: true,
            limit: 0.01,
            is_percent: true,
            duration: Nanos::ZERO,
            ramp: Nanos::ZERO,
            interval: Nanos::from_secs(1),
        }
    }
}

/// Measures of a steady state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SteadyMeasure {
    /// Operations per second.
    Iops,
    /// Bytes per second.
    Bandwidth,
    /// Mean completion latency in nanoseconds.
    Latency,
}
