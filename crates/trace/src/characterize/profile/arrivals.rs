//! Instants of issue: rates, gaps, dispersion and bursts.

use super::TraceDistribution;

/// Instants of issue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArrivalProfile {
    /// Mean rate from the first to the last issue, in requests per second; `None` if no time passes.
    pub rate_per_s: Option<f64>,
    /// Time from one issue to the next, in nanoseconds.
    pub gap_ns: Option<TraceDistribution>,
    /// Counts in windows of 1 ms to 1 min that are at most as long as the trace, in ascending order. None is narrower than
    /// the resolution that times seem to have, nor are those of bursts and of the Hurst exponent.
    pub windows: Vec<WindowProfile>,
    /// Hurst exponent of the counts; `None` for traces that are too short or do not vary.
    pub hurst: Option<HurstEstimate>,
    /// Bursts; `None` if there are none.
    pub bursts: Option<BurstProfile>,
}

/// Counts of requests in windows of one width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowProfile {
    /// Width in nanoseconds.
    pub width_ns: u64,
    /// Most requests in one window. Windows slide in steps of a tenth of the width, of the widest in steps of a sixth.
    pub requests_max: u64,
    /// Most bytes in one window.
    pub bytes_max: u64,
    /// The peak over the mean number of requests.
    pub peak_to_mean: f64,
    /// Variance over mean of the counts in adjacent windows: 1 for Poisson arrivals, 0 for even ones; `None` for fewer
    /// than two windows.
    pub index_of_dispersion: Option<f64>,
}

/// Estimate of the Hurst exponent: 0.5 without long-range dependence, up to 1 with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HurstEstimate {
    pub exponent: f64,
    /// Its standard error, with half of the change if the fit began at windows that are four times as wide.
    pub standard_error: f64,
    /// Weighted sum of squared residuals per degree of freedom: about 1 for a good fit; above 1.5
    /// the counts do not scale.
    pub residual: f64,
    /// Narrowest windows of the fit in nanoseconds.
    pub scale_ns_min: f64,
    /// Widest windows of the fit in nanoseconds.
    pub scale_ns_max: f64,
}

/// Bursts: intervals of 10 ms windows with over twice the mean rate so far, and more than chance explains. The first second
/// only gives the mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BurstProfile {
    pub bursts: u64,
    /// Duration in nanoseconds, a multiple of 10 ms.
    pub duration_ns: TraceDistribution,
    /// Time from the start of one burst to that of the next, in nanoseconds; `None` for one burst.
    pub interval_ns: Option<TraceDistribution>,
    /// Fraction of all requests that are in bursts.
    pub requests_fraction: f64,
    /// Fraction of the time that bursts take.
    pub time_fraction: f64,
    /// Rate in bursts over the mean rate.
    pub rate_to_mean: f64,
    /// Bytes in bursts.
    pub bytes: u64,
    /// Fraction of the requests in bursts that are writes.
    pub writes_fraction: f64,
}
