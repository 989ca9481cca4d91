//! Counters of a stage.

use units::Nanos;

use crate::limiter::LimiterCounts;

/// Counters of a limiter or station over the time in which at least one job that passes it was measured, without ramps
/// and pauses between jobs.
///
/// Limiters and stations count all requests; this takes differences between the start and the end of each measured
/// interval, at no cost per request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StageTally {
    /// Measurements in progress.
    open: u32,
    /// Start of the current interval, and the counters then.
    since: Nanos,
    before: LimiterCounts,
    /// Counters and duration of completed intervals.
    counts: LimiterCounts,
    time_ns: u64,
}

impl StageTally {
    pub(crate) fn begin(&mut self, now: Nanos, counts: LimiterCounts) {
        if self.open == 0 {
            (self.since, self.before) = (now, counts);
        }
        self.open += 1;
    }

    pub(crate) fn end(&mut self, now: Nanos, counts: LimiterCounts) {
        if self.open == 1 {
            (self.counts, self.time_ns) = self.total(now, counts);
        }
        self.open = self.open.saturating_sub(1);
    }

    /// Returns the counters over all measured intervals, and their duration in nanoseconds.
    pub(crate) fn total(&self, now: Nanos, counts: LimiterCounts) -> (LimiterCounts, u64) {
        if self.open == 0 {
            return (self.counts, self.time_ns);
        }
        (self.counts.plus_change(self.before, counts), self.time_ns + now.since(self.since).get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(requests: u64) -> LimiterCounts {
        LimiterCounts { requests, busy_ns: 10 * requests, ..LimiterCounts::default() }
    }

    #[test]
    fn overlapping_measurements_merge_and_gaps_do_not_count() {
        let mut tally = StageTally::default();
        let at = Nanos::new;
        assert_eq!(tally.total(at(5), counts(7)), (counts(0), 0));
        tally.begin(at(10), counts(10));
        tally.begin(at(20), counts(15));
        tally.end(at(30), counts(18));
        assert_eq!(tally.total(at(40), counts(20)), (counts(10), 30));
        tally.end(at(50), counts(30));
        assert_eq!(tally.total(at(99), counts(90)), (counts(20), 40));
        tally.begin(at(100), counts(90));
        tally.end(at(110), counts(91));
        assert_eq!(tally.total(at(120), counts(99)), (counts(21), 50));
    }
}
