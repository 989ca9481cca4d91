//! Estimates the depth of a job whose options are unknown.

use crate::Measured;

/// Relative difference from a whole number that still counts as that number.
const ABOUT: f64 = 0.03;

/// Depth and number of workers of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Depth {
    pub(crate) iodepth: u32,
    pub(crate) workers: u32,
    /// Operations that all workers may have in flight, known only if that many were: a job that waits for its rate or
    /// for syncs never shows its depth.
    pub(crate) in_flight_possible: Option<u64>,
}

impl Depth {
    /// Estimates the depth from its distribution in percent by powers of two, and from Little's law.
    ///
    /// The depth is the lower bound of the deepest significant class, because depths are mostly powers of two; the last
    /// class has no upper bound. The number of workers, if it is not known, follows from the operations in flight.
    pub(crate) fn of(shares: &[f64; 7], result: &Measured, workers: Option<u32>) -> Self {
        /// Smaller classes come from the start and the end of a run.
        const COUNTS_PERCENT: f64 = 10.0;
        let deepest = shares.iter().rposition(|share| *share >= COUNTS_PERCENT).unwrap_or(0);
        let total_ns: f64 = result.kinds().map(|(_, kind)| kind.latency.sum_ns().max(kind.served().sum_ns())).sum();
        let in_flight = total_ns / result.elapsed_ns().max(1) as f64;
        let at_least = |number: f64| (number - number * ABOUT).ceil().max(1.0) as u32;
        let class = 1u32 << deepest;
        let (full, workers) = if deepest == shares.len() - 1 {
            let workers = workers.unwrap_or(1).max(1);
            let multiple = at_least(in_flight / f64::from(workers) / f64::from(class));
            (class.saturating_mul(multiple), workers)
        } else {
            (class, workers.unwrap_or_else(|| at_least(in_flight / f64::from(class))).max(1))
        };
        let possible = u64::from(full) * u64::from(workers);
        let is_full = shares.iter().any(|share| *share > 0.0) && in_flight >= possible as f64 * (1.0 - ABOUT);
        let reached = ((in_flight / f64::from(workers)).ceil() as u32).max(class);
        Self {
            iodepth: if is_full || class < 64 { full } else { reached },
            workers,
            in_flight_possible: is_full.then_some(possible),
        }
    }
}
