//! How far ahead of an even schedule a limit admitted requests because of its jitter.

use units::Nanos;

use crate::Jitter;

/// Steps of a doubling: distances are kept to one part in so many.
const STEPS: u64 = 16;
const STEP_BITS: u32 = STEPS.trailing_zeros();
/// Buckets for every distance of 64 bits.
const BUCKETS: usize = (STEPS as usize) * (64 - STEP_BITS as usize + 1);

/// What the jitter of a limit spared the requests that passed it. Waits are those at this limit alone, and without jitter
/// those of the same arrivals: of an open loop, whose arrivals do not depend on waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Early {
    /// How far ahead of an even schedule the limit admits requests.
    pub jitter: Jitter,
    /// Requests that were admitted ahead of the schedule.
    pub requests: u64,
    /// The wait that 99 % of the requests did not exceed.
    pub p99: Nanos,
    /// The same without jitter, to one part in 32.
    pub p99_without: Nanos,
}

/// Statistics of how far a limiter was ahead of its even schedule.
///
/// The schedule does not depend on the jitter. Without any, each of these requests would have waited for all of its
/// distance; with it, a request waits for what is beyond the jitter. So one run tells both waits of the same arrivals.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ahead {
    /// How many measure at the moment.
    open: u32,
    /// Requests by distance; empty where no account is kept.
    buckets: Vec<u32>,
}

impl Ahead {
    /// Keeps an account from the next measurement on.
    pub(crate) fn keep(&mut self) {
        self.buckets.resize(BUCKETS, 0);
    }

    /// Whether an account is kept.
    pub(crate) fn is_kept(&self) -> bool {
        !self.buckets.is_empty()
    }

    /// One more measures.
    pub(crate) fn begin(&mut self) {
        self.open += u32::from(self.is_kept());
    }

    /// One less measures.
    pub(crate) fn end(&mut self) {
        self.open = self.open.saturating_sub(1);
    }

    /// A request came this far ahead of the schedule.
    #[inline]
    pub(crate) fn record(&mut self, ahead_ns: u64) {
        if self.open > 0
            && let Some(bucket) = self.buckets.get_mut(index(ahead_ns))
        {
            *bucket = bucket.saturating_add(1);
        }
    }

    /// Requests that came ahead of the schedule.
    pub(crate) fn requests(&self) -> u64 {
        self.buckets.iter().map(|count| u64::from(*count)).sum()
    }

    /// The distance that a share of `all` requests did not exceed; those that were not recorded came on time.
    pub(crate) fn quantile(&self, share: f64, all: u64) -> Nanos {
        let beyond = all.saturating_sub(libm::ceil(share * all as f64) as u64);
        let mut left = 0;
        for (index, count) in self.buckets.iter().enumerate().rev() {
            left += u64::from(*count);
            if left > beyond {
                return Nanos::new(middle(index));
            }
        }
        Nanos::ZERO
    }
}

/// The bucket of a distance: one for each whole number below [`STEPS`], then [`STEPS`] for each doubling.
fn index(ns: u64) -> usize {
    if ns < STEPS {
        return ns as usize;
    }
    let shift = ns.ilog2() - STEP_BITS;
    (shift as u64 * STEPS + (ns >> shift)) as usize
}

/// The middle of a bucket.
fn middle(index: usize) -> u64 {
    let index = index as u64;
    if index < 2 * STEPS {
        return index;
    }
    let shift = index / STEPS - 1;
    let low = (index % STEPS + STEPS) << shift;
    low + ((1_u64 << shift) >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_kept_to_a_thirty_second_part() {
        for ns in (0..100_000).chain((0..64).map(|bit| 1 << bit)).chain([u64::MAX, u64::MAX - 1]) {
            let found = middle(index(ns));
            assert!(index(ns) < BUCKETS, "{ns}");
            assert!(found.abs_diff(ns) as f64 <= ns as f64 / 32.0, "{ns}: {found}");
        }
    }

    #[test]
    fn quantiles_count_requests_that_came_on_time() {
        let mut ahead = Ahead::default();
        ahead.begin();
        ahead.record(1 << 40);
        assert!(!ahead.is_kept() && ahead.requests() == 0, "nothing is recorded of what no account is kept of");
        ahead.keep();
        ahead.record(1 << 40);
        assert_eq!(ahead.requests(), 0, "nothing is recorded before it is measured");
        ahead.begin();
        (1..=10).for_each(|ns| ahead.record(ns));
        ahead.end();
        ahead.record(1 << 40);
        let quantile = |share| ahead.quantile(share, 100).get();
        assert_eq!(
            (ahead.requests(), quantile(0.90), quantile(0.91), quantile(0.99), quantile(1.0)),
            (10, 0, 1, 9, 10)
        );
        assert_eq!(Ahead::default().quantile(0.99, 0), Nanos::ZERO);
    }
}
