//! Estimates the depth of a job without options.

use crate::Measured;

/// Depth and number of workers of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Depth {
    pub(crate) iodepth: u32,
    pub(crate) workers: u32,
}

impl Depth {
    /// What fits the shares of depths, in per cent by powers of two, and what Little's law says was in flight.
    ///
    /// The depth is the least of the deepest class that counts, for depths are mostly powers of two; there are as many
    /// workers of that depth as what was in flight takes.
    pub(crate) fn of(shares: &[f64; 7], result: &Measured) -> Self {
        /// Less than this is from the start and the end.
        const COUNTS_PERCENT: f64 = 10.0;
        /// A whole number that a measured one is just above counts as enough.
        const JUST_ABOVE: f64 = 0.03;
        let deepest = shares.iter().rposition(|share| *share >= COUNTS_PERCENT).unwrap_or(0);
        let total_ns: f64 = result.kinds().map(|(_, kind)| kind.latency.sum_ns().max(kind.service.sum_ns())).sum();
        let in_flight = if result.runtime_ns > 0 { total_ns / result.wall_ns() } else { 0.0 };
        let at_least = |number: f64| (number - number * JUST_ABOVE).ceil().max(1.0) as u32;
        if deepest == shares.len() - 1 {
            return Self { iodepth: (in_flight.ceil() as u32).max(1 << deepest), workers: 1 };
        }
        let iodepth = 1 << deepest;
        Self { iodepth, workers: at_least(in_flight / f64::from(iodepth)) }
    }
}
