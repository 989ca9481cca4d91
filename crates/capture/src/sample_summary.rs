//! What samples of counters add up to.

use std::collections::BTreeMap;

use record::{DiskCounters, KindCounters};
use results::capture::{IntervalRates, SampledKind};

/// Sums and rates over intervals. Its memory does not grow with their number.
#[derive(Clone, Debug, Default)]
pub(crate) struct CounterSummary {
    /// Requested length of an interval in nanoseconds.
    interval_ns: u64,
    /// Everything that was counted.
    pub(crate) sum: DiskCounters,
    /// Time in which it was counted, in nanoseconds.
    pub(crate) measured_ns: u64,
    /// Number of intervals, without one that a signal cut short.
    pub(crate) intervals: u64,
    /// The shortest and the longest of them, in nanoseconds.
    pub(crate) lengths_ns: [u64; 2],
    /// Number of intervals in which the counters were reset.
    pub(crate) restarts: u64,
    /// The largest number of requests in flight at a sample.
    pub(crate) depth_seen_max: u64,
    /// Rates of reads, writes, discards, flushes, and all of them.
    rates: [RateCounts; 5],
}

const NAMES: [&str; 5] = ["read", "write", "discard", "flush", "all"];

/// Returns the counters of each kind, and of all of them.
fn kinds(counters: &DiskCounters) -> [KindCounters; 5] {
    let DiskCounters { read, write, discard, flush, .. } = *counters;
    let [discard, flush] = [discard, flush].map(Option::unwrap_or_default);
    let sum = |of: fn(&KindCounters) -> u64| [read, write, discard, flush].iter().map(of).fold(0, u64::saturating_add);
    let all = KindCounters {
        requests: sum(|kind| kind.requests),
        merges: sum(|kind| kind.merges),
        sectors: sum(|kind| kind.sectors),
        wait_ms: sum(|kind| kind.wait_ms),
    };
    [read, write, discard, flush, all]
}

impl CounterSummary {
    pub(crate) fn new(interval_ns: u64) -> Self {
        Self { interval_ns, ..Self::default() }
    }

    /// Adds the interval between two samples. Returns the increase, unless the counters were reset.
    pub(crate) fn add(&mut self, passed_ns: u64, before: &DiskCounters, now: &DiskCounters) -> Option<DiskCounters> {
        self.depth_seen_max = self.depth_seen_max.max(now.in_flight);
        let Some(increase) = now.since(before).filter(|_| passed_ns > 0) else {
            self.restarts += 1;
            return None;
        };
        self.sum = if self.measured_ns == 0 { increase } else { self.sum.plus(&increase) };
        self.measured_ns += passed_ns;
        // Rates over a small part of an interval are not those of intervals.
        if self.intervals == 0 || passed_ns >= self.interval_ns / 2 {
            let [min, max] = self.lengths_ns;
            self.lengths_ns =
                if self.intervals == 0 { [passed_ns; 2] } else { [min.min(passed_ns), max.max(passed_ns)] };
            self.intervals += 1;
            for (rates, kind) in self.rates.iter_mut().zip(kinds(&increase)) {
                rates.add(kind.requests as f64 * 1e9 / passed_ns as f64);
            }
        }
        Some(increase)
    }

    /// Returns the kinds with requests, and all together if there are several.
    pub(crate) fn kinds(&self) -> Vec<SampledKind> {
        let secs = self.measured_ns as f64 / 1e9;
        let all = kinds(&self.sum).into_iter().zip(&self.rates).zip(NAMES);
        let mut used: Vec<SampledKind> = all
            .filter(|((kind, _), _)| kind.requests > 0)
            .map(|((kind, rates), name)| SampledKind {
                name,
                requests: kind.requests,
                merges: kind.merges,
                bytes: kind.bytes(),
                latency_ns: kind.await_ns(),
                iops: rates.summary(kind.requests as f64 / secs),
            })
            .collect();
        if used.len() == 2 {
            used.truncate(1);
        }
        used
    }

    /// Returns the mean number of requests in flight.
    pub(crate) fn depth_mean(&self) -> f64 {
        self.sum.weighted_ms as f64 * 1e6 / self.measured_ns.max(1) as f64
    }

    /// Returns the fraction of time with requests in flight.
    pub(crate) fn busy_fraction(&self) -> f64 {
        (self.sum.busy_ms as f64 * 1e6 / self.measured_ns.max(1) as f64).min(1.0)
    }
}

/// How often each rate occurred, rounded to four digits.
#[derive(Clone, Debug, Default)]
struct RateCounts {
    /// Bits of rates, whose order is that of the rates, as these are not negative.
    counts: BTreeMap<u64, u64>,
    total: u64,
}

impl RateCounts {
    fn add(&mut self, rate: f64) {
        let digits = if rate > 0.0 { rate.log10().floor() as i32 } else { 0 };
        let unit = 10.0_f64.powi(digits - 3);
        let rounded = (rate / unit).round() * unit;
        *self.counts.entry(rounded.to_bits()).or_default() += 1;
        self.total += 1;
    }

    fn summary(&self, mean: f64) -> IntervalRates {
        IntervalRates { mean, p50: self.percentile(0.5), p95: self.percentile(0.95), max: self.percentile(1.0) }
    }

    /// Returns the smallest rate that this fraction of intervals does not exceed.
    fn percentile(&self, fraction: f64) -> f64 {
        let rank = ((self.total as f64 * fraction).ceil() as u64).max(1);
        let mut seen = 0;
        let found = self.counts.iter().find(|(_, count)| {
            seen += **count;
            seen >= rank
        });
        found.map_or(0.0, |(bits, _)| f64::from_bits(*bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    /// Counters after some reads of 4 KiB and writes of 8 KiB, each of which took 2 ms.
    fn counters(reads: u64, writes: u64, in_flight: u64) -> DiskCounters {
        let kind = |requests, sectors| KindCounters {
            requests,
            sectors: requests * sectors,
            wait_ms: 2 * requests,
            merges: 0,
        };
        DiskCounters {
            read: kind(reads, 8),
            write: kind(writes, 16),
            in_flight,
            busy_ms: reads,
            weighted_ms: 2 * (reads + writes),
            ..DiskCounters::default()
        }
    }

    #[test]
    fn rates_are_those_of_intervals_and_sums_those_of_all() {
        let mut summary = CounterSummary::new(S);
        let mut before = counters(1000, 500, 0);
        // 100 to 2000 reads per second in 20 intervals, and no writes but for 60 in the last one.
        for step in 1..=20 {
            let writes = if step == 20 { 60 } else { 0 };
            let now =
                DiskCounters { in_flight: step % 7, ..counters(before.read.requests + 100 * step, 500 + writes, 0) };
            assert!(summary.add(S, &before, &now).is_some());
            before = now;
        }
        let kinds = summary.kinds();
        assert_eq!(kinds.iter().map(|kind| kind.name).collect::<Vec<_>>(), ["read", "write", "all"]);
        let read = &kinds[0];
        assert_eq!((read.requests, read.bytes, read.mean_bytes()), (21_000, 21_000 * 4096, 4096));
        assert_eq!(read.iops, IntervalRates { mean: 1050.0, p50: 1000.0, p95: 1900.0, max: 2000.0 });
        assert_eq!(read.latency_ns, Some(2e6));
        assert_eq!(kinds[1].iops, IntervalRates { mean: 3.0, p50: 0.0, p95: 0.0, max: 60.0 });
        assert_eq!((kinds[2].requests, kinds[2].iops.max), (21_060, 2060.0));
        assert_eq!((summary.depth_mean(), summary.busy_fraction(), summary.depth_seen_max), (2.106, 1.0, 6));
        assert_eq!((summary.intervals, summary.lengths_ns, summary.restarts), (20, [S, S], 0));
    }

    #[test]
    fn a_long_interval_counts_by_its_real_length_and_the_rest_of_one_only_in_sums() {
        let mut summary = CounterSummary::new(S);
        summary.add(S, &counters(0, 0, 0), &counters(100, 0, 0));
        summary.add(3 * S, &counters(100, 0, 0), &counters(700, 0, 0));
        summary.add(S / 100, &counters(700, 0, 0), &counters(800, 0, 0));
        let kinds = summary.kinds();
        assert_eq!(kinds.len(), 1);
        assert_eq!((kinds[0].requests, kinds[0].iops.max), (800, 200.0));
        assert!((kinds[0].iops.mean - 800.0 / 4.01).abs() < 1e-9);
        assert_eq!((summary.intervals, summary.lengths_ns), (2, [S, 3 * S]));
    }

    #[test]
    fn counters_that_begin_anew_have_no_interval() {
        let mut summary = CounterSummary::new(S);
        summary.add(S, &counters(1000, 0, 0), &counters(1100, 0, 0));
        assert_eq!(summary.add(S, &counters(1100, 0, 0), &counters(3, 0, 0)), None);
        summary.add(S, &counters(3, 0, 0), &counters(203, 0, 0));
        assert_eq!((summary.restarts, summary.measured_ns, summary.sum.read.requests), (1, 2 * S, 300));
    }

    #[test]
    fn nothing_counted_is_nothing() {
        let mut summary = CounterSummary::new(S);
        summary.add(S, &counters(7, 7, 0), &counters(7, 7, 0));
        assert!(summary.kinds().is_empty() && summary.busy_fraction() == 0.0);
        assert!(CounterSummary::new(S).kinds().is_empty());
    }
}
