//! How far ahead of an even schedule a limit admitted requests because of its jitter.

use units::Nanos;

/// Buckets per doubling: resolution of leads.
const STEPS: u64 = 16;
const STEP_BITS: u32 = STEPS.trailing_zeros();
/// Number of buckets for 64-bit leads.
const BUCKETS: usize = (STEPS as usize) * (64 - STEP_BITS as usize + 1);

/// Histogram of how far requests were ahead of a limiter's even schedule.
///
/// The schedule does not depend on the jitter. Without jitter, a request waits for its whole lead; with it, only for
/// the part beyond the jitter. So one run yields both waits of the same arrivals.
#[derive(Clone, Debug, Default)]
pub(crate) struct LeadHistogram {
    /// Measurements in progress.
    open: u32,
    /// Requests by lead; empty if disabled.
    buckets: Vec<u32>,
}

impl LeadHistogram {
    /// Enables recording from the next measurement on.
    pub(crate) fn enable(&mut self) {
        self.buckets.resize(BUCKETS, 0);
    }

    pub(crate) fn is_enabled(&self) -> bool {
        !self.buckets.is_empty()
    }

    pub(crate) fn begin(&mut self) {
        self.open += u32::from(self.is_enabled());
    }

    pub(crate) fn end(&mut self) {
        self.open = self.open.saturating_sub(1);
    }

    /// Records a request that is this far ahead of the schedule.
    #[inline]
    pub(crate) fn record(&mut self, ahead_ns: u64) {
        if self.open > 0
            && let Some(bucket) = self.buckets.get_mut(index(ahead_ns))
        {
            *bucket = bucket.saturating_add(1);
        }
    }

    /// Returns the number of requests ahead of the schedule.
    pub(crate) fn requests(&self) -> u64 {
        self.buckets.iter().map(|count| u64::from(*count)).sum()
    }

    /// Returns the lead that the fraction `share` of `all` requests did not exceed; those not recorded were on time.
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

/// Returns the bucket of a lead: one for each whole number below [`STEPS`], then [`STEPS`] per doubling.
fn index(ns: u64) -> usize {
    if ns < STEPS {
        return ns as usize;
    }
    let shift = ns.ilog2() - STEP_BITS;
    (shift as u64 * STEPS + (ns >> shift)) as usize
}

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
    fn leads_are_accurate_to_one_part_in_32() {
        for ns in (0..100_000).chain((0..64).map(|bit| 1 << bit)).chain([u64::MAX, u64::MAX - 1]) {
            let found = middle(index(ns));
            assert!(index(ns) < BUCKETS, "{ns}");
            assert!(found.abs_diff(ns) as f64 <= ns as f64 / 32.0, "{ns}: {found}");
        }
    }

    #[test]
    fn quantiles_include_requests_on_time() {
        let mut leads = LeadHistogram::default();
        leads.begin();
        leads.record(1 << 40);
        assert!(!leads.is_enabled() && leads.requests() == 0, "a disabled histogram records nothing");
        leads.enable();
        leads.record(1 << 40);
        assert_eq!(leads.requests(), 0, "nothing is recorded outside a measurement");
        leads.begin();
        (1..=10).for_each(|ns| leads.record(ns));
        leads.end();
        leads.record(1 << 40);
        let quantile = |share| leads.quantile(share, 100).get();
        assert_eq!(
            (leads.requests(), quantile(0.90), quantile(0.91), quantile(0.99), quantile(1.0)),
            (10, 0, 1, 9, 10)
        );
        assert_eq!(LeadHistogram::default().quantile(0.99, 0), Nanos::ZERO);
    }
}
