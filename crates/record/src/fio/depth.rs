//! Estimates the depth of a job whose options are unknown.

use crate::Measured;

/// Depth and number of workers of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Depth {
    pub(crate) iodepth: u32,
    pub(crate) workers: u32,
}

impl Depth {
    /// Estimates the depth from its distribution in percent by powers of two, and from Little's law.
    ///
    /// The depth is the lower bound of the deepest significant class, because depths are mostly powers of two. The
    /// number of workers follows from the operations in flight.
    pub(crate) fn of(shares: &[f64; 7], result: &Measured) -> Self {
        /// Smaller classes come from the start and the end of a run.
        const COUNTS_PERCENT: f64 = 10.0;
        /// Relative excess over a whole number that still counts as that number.
        const JUST_ABOVE: f64 = 0.03;
        let deepest = shares.iter().rposition(|share| *share >= COUNTS_PERCENT).unwrap_or(0);
        let total_ns: f64 = result.kinds().map(|(_, kind)| kind.latency.sum_ns().max(kind.served().sum_ns())).sum();
        let in_flight = total_ns / result.elapsed_ns().max(1) as f64;
        let at_least = |number: f64| (number - number * JUST_ABOVE).ceil().max(1.0) as u32;
        if deepest == shares.len() - 1 {
            return Self { iodepth: (in_flight.ceil() as u32).max(1 << deepest), workers: 1 };
        }
        let iodepth = 1 << deepest;
        Self { iodepth, workers: at_least(in_flight / f64::from(iodepth)) }
    }
}
