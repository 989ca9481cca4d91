//! Counters of a stage.

use units::Nanos;

use crate::limiter::LimiterCounts;

/// The counts of a limiter or a station over the time in which at least one of those whose way leads through it was
/// measured. Ramps, pauses between jobs and whatever comes after the last of them are no part of it.
///
/// Limiters and stations count without asking who does: this takes the difference between the beginning and the end
/// of each such time, so that it costs a request nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StageTally {
    /// How many are being measured.
    open: u32,
    /// Since when, and what was counted before.
    since: Nanos,
    before: LimiterCounts,
    /// What was counted in the times before this one, and how long they were.
    counts: LimiterCounts,
    time_ns: u64,
}

impl StageTally {
    /// One more is measured.
    pub(crate) fn begin(&mut self, now: Nanos, counts: LimiterCounts) {
        if self.open == 0 {
            (self.since, self.before) = (now, counts);
        }
        self.open += 1;
    }

    /// One less is measured.
    pub(crate) fn end(&mut self, now: Nanos, counts: LimiterCounts) {
        if self.open == 1 {
            (self.counts, self.time_ns) = self.so_far(now, counts);
        }
        self.open = self.open.saturating_sub(1);
    }

    /// What was counted while a job was measured, and in how many nanoseconds.
    pub(crate) fn so_far(&self, now: Nanos, counts: LimiterCounts) -> (LimiterCounts, u64) {
        if self.open == 0 {
            return (self.counts, self.time_ns);
        }
        (self.counts + (counts - self.before), self.time_ns + now.since(self.since).get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(requests: u64) -> LimiterCounts {
        LimiterCounts { requests, busy_ns: 10 * requests, ..LimiterCounts::default() }
    }

    #[test]
    fn times_that_overlap_are_one_and_what_lies_between_them_is_none() {
        let mut tally = StageTally::default();
        let at = Nanos::new;
        assert_eq!(tally.so_far(at(5), counts(7)), (counts(0), 0));
        tally.begin(at(10), counts(10));
        tally.begin(at(20), counts(15));
        tally.end(at(30), counts(18));
        assert_eq!(tally.so_far(at(40), counts(20)), (counts(10), 30));
        tally.end(at(50), counts(30));
        assert_eq!(tally.so_far(at(99), counts(90)), (counts(20), 40));
        tally.begin(at(100), counts(90));
        tally.end(at(110), counts(91));
        assert_eq!(tally.so_far(at(120), counts(99)), (counts(21), 50));
    }
}
