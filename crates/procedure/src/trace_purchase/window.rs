//! The part of a trace that is replayed.

use trace::{TraceInterval, TraceSeries};

/// A part of a trace, in nanoseconds since its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceWindow {
    pub start_ns: u64,
    /// End; requests of that instant are outside.
    pub end_ns: u64,
}

impl TraceWindow {
    /// All of a trace.
    pub const WHOLE: Self = Self { start_ns: 0, end_ns: u64::MAX };
    /// Length of the busiest part that represents a longer trace.
    pub const HOUR_NS: u64 = 3_600_000_000_000;

    /// Reports whether an instant is inside.
    #[must_use]
    pub const fn has(&self, at_ns: u64) -> bool {
        at_ns >= self.start_ns && at_ns < self.end_ns
    }

    /// Returns the busiest part of at least `span_ns`, rounded up to whole intervals of the series, which begins at
    /// `first_ns`: the one with the greatest sum of its fractions of all requests and of all bytes. `None` if the trace
    /// is hardly longer.
    #[must_use]
    pub fn busiest(series: &TraceSeries, first_ns: u64, span_ns: u64) -> Option<Self> {
        let intervals = &series.intervals;
        let width = usize::try_from(span_ns.div_ceil(series.width_ns.max(1))).ok()?.max(1);
        // A tenth more than the part is as good as all.
        if intervals.len() * 10 <= width * 11 {
            return None;
        }
        let requests = |interval: &TraceInterval| interval.requests.total();
        let bytes = |interval: &TraceInterval| interval.bytes.total();
        let total = |of: &dyn Fn(&TraceInterval) -> u64| intervals.iter().map(of).sum::<u64>().max(1) as f64;
        let (all_requests, all_bytes) = (total(&requests), total(&bytes));
        let load =
            |interval: &TraceInterval| requests(interval) as f64 / all_requests + bytes(interval) as f64 / all_bytes;
        let loads: Vec<f64> = intervals.iter().map(load).collect();
        let sums: Vec<f64> = loads.windows(width).map(|part| part.iter().sum()).collect();
        let mut busiest = 0;
        for (index, sum) in sums.iter().enumerate() {
            // The first of equally busy ones.
            if *sum > sums[busiest] * (1.0 + 1e-9) {
                busiest = index;
            }
        }
        let at = |index: usize| first_ns.saturating_add((index as u64).saturating_mul(series.width_ns));
        Some(Self { start_ns: at(busiest), end_ns: at(busiest + width) })
    }
}

#[cfg(test)]
mod tests {
    use trace::PerOperation;

    use super::*;

    fn series(reads: impl Iterator<Item = (u64, u64)>) -> TraceSeries {
        let interval = |(requests, bytes): (u64, u64)| TraceInterval {
            requests: PerOperation { read: requests, ..PerOperation::default() },
            bytes: PerOperation { read: bytes, ..PerOperation::default() },
            ..TraceInterval::default()
        };
        TraceSeries { width_ns: 60_000_000_000, intervals: reads.map(interval).collect() }
    }

    #[test]
    fn the_busiest_hour_has_the_most_requests_and_bytes() {
        let minute = 60_000_000_000;
        let day = series((0..1_440).map(|at| if (600..660).contains(&at) { (200, 200) } else { (100, 100) }));
        let window = TraceWindow::busiest(&day, 5, TraceWindow::HOUR_NS).unwrap();
        assert_eq!((window.start_ns, window.end_ns), (5 + 600 * minute, 5 + 660 * minute));
        assert!(window.has(5 + 600 * minute) && !window.has(5 + 660 * minute) && !window.has(0));
        // A backup has few requests with many bytes.
        let backup = series((0..1_440).map(|at| if (30..90).contains(&at) { (50, 5_000) } else { (100, 100) }));
        assert_eq!(TraceWindow::busiest(&backup, 0, TraceWindow::HOUR_NS).unwrap().start_ns, 30 * minute);
        // Equal hours: the first.
        let even = series((0..1_440).map(|_| (7, 7)));
        assert_eq!(TraceWindow::busiest(&even, 0, TraceWindow::HOUR_NS).unwrap().start_ns, 0);
    }

    #[test]
    fn short_traces_are_replayed_as_a_whole() {
        assert_eq!(TraceWindow::busiest(&series((0..65).map(|_| (1, 1))), 0, TraceWindow::HOUR_NS), None);
        assert_eq!(TraceWindow::busiest(&TraceSeries::default(), 0, TraceWindow::HOUR_NS), None);
        assert!(TraceWindow::busiest(&series((0..67).map(|_| (0, 0))), 0, TraceWindow::HOUR_NS).is_some());
    }
}
