//! Rates and depths over time, in bounded memory.

use super::profile::{TraceInterval, TraceSeries};
use crate::TraceRequest;

/// Maximum number of intervals. Beyond it, adjacent intervals are merged and the width doubles.
const INTERVALS_MAX: usize = 2048;
/// Initial width in nanoseconds.
const WIDTH_NS: u64 = 1_000_000;

/// Intervals of equal width since the first request. Memory: 300 KiB.
#[derive(Clone, Debug)]
pub(super) struct RateSeries {
    width_ns: u64,
    intervals: Vec<TraceInterval>,
    /// Index and beginning of the interval that was used last.
    last: usize,
    last_begin: u64,
}

impl RateSeries {
    pub(super) fn new() -> Self {
        Self { width_ns: WIDTH_NS, intervals: Vec::new(), last: 0, last_begin: 0 }
    }

    /// Counts a request that was issued at `at`.
    #[inline]
    pub(super) fn add(&mut self, at: u64, request: &TraceRequest) {
        let interval = self.at(at);
        *interval.requests.get_mut(request.operation) += 1;
        *interval.bytes.get_mut(request.operation) += u64::from(request.length);
    }

    /// Adds `depth` requests in flight from `begin` to `end`.
    #[inline]
    pub(super) fn add_in_flight(&mut self, begin: u64, end: u64, depth: u64) {
        if depth == 0 || begin >= end {
            return;
        }
        let width = self.width_ns;
        let interval = self.at(begin);
        interval.in_flight_max = interval.in_flight_max.max(depth);
        if end - self.last_begin <= width && width == self.width_ns {
            let interval = &mut self.intervals[self.last];
            interval.in_flight_ns = interval.in_flight_ns.saturating_add((end - begin).saturating_mul(depth));
            return;
        }
        self.spread(begin, end, depth);
    }

    fn spread(&mut self, begin: u64, end: u64, depth: u64) {
        // Doubles the width as often as the end needs, so that it does not change while the time is spread.
        let _ = self.at(end - 1);
        let mut from = begin;
        while from < end {
            let interval = self.at(from);
            interval.in_flight_max = interval.in_flight_max.max(depth);
            let to = self.last_begin.saturating_add(self.width_ns).min(end);
            let interval = &mut self.intervals[self.last];
            interval.in_flight_ns = interval.in_flight_ns.saturating_add((to - from).saturating_mul(depth));
            from = to;
        }
    }

    /// Returns the interval of an instant.
    #[inline]
    pub(super) fn at(&mut self, at: u64) -> &mut TraceInterval {
        let index = self.last;
        if at >= self.last_begin && at - self.last_begin < self.width_ns && index < self.intervals.len() {
            return &mut self.intervals[index];
        }
        self.find(at)
    }

    fn find(&mut self, at: u64) -> &mut TraceInterval {
        while at / self.width_ns >= INTERVALS_MAX as u64 {
            self.double();
        }
        let index = (at / self.width_ns) as usize;
        if index >= self.intervals.len() {
            self.intervals.resize(index + 1, TraceInterval::default());
        }
        (self.last, self.last_begin) = (index, index as u64 * self.width_ns);
        &mut self.intervals[index]
    }

    fn double(&mut self) {
        // 2048 intervals of 2^53 ns or less hold every instant, so this does not overflow.
        self.width_ns *= 2;
        let pairs = self.intervals.chunks(2).map(|pair| {
            let mut first = pair[0];
            pair[1..].iter().for_each(|second| first.join(second));
            first
        });
        self.intervals = pairs.collect();
        (self.last, self.last_begin) = (0, 0);
    }

    pub(super) fn finish(self) -> TraceSeries {
        TraceSeries { width_ns: self.width_ns, intervals: self.intervals }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_request_and_no_time_in_flight_is_lost_when_the_width_doubles() {
        let mut series = RateSeries::new();
        let request = TraceRequest { length: 4096, ..TraceRequest::default() };
        for ms in 0..10_000u64 {
            series.add(ms * 1_000_000, &request);
            series.add_in_flight(ms * 1_000_000, ms * 1_000_000 + 2_500_000, 3);
        }
        series.add_in_flight(10_000_000_000, 40_000_000_000, 2);
        let series = series.finish();
        assert!(series.intervals.len() <= INTERVALS_MAX);
        assert_eq!(series.intervals.iter().map(|interval| interval.requests.read).sum::<u64>(), 10_000);
        let in_flight: u64 = series.intervals.iter().map(|interval| interval.in_flight_ns).sum();
        assert_eq!(in_flight, 10_000 * 7_500_000 + 60_000_000_000);
        assert_eq!(series.intervals.last().map(|interval| interval.in_flight_max), Some(2));
    }

    #[test]
    fn the_end_of_time_is_in_the_last_interval() {
        let mut series = RateSeries::new();
        series.add_in_flight(0, u64::MAX, u64::MAX);
        series.add(u64::MAX, &TraceRequest::default());
        let series = series.finish();
        assert!(series.intervals.len() <= INTERVALS_MAX);
        assert_eq!(series.intervals.last().map(|interval| interval.requests.read), Some(1));
    }
}
