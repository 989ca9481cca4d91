//! What a search needs to know of the replayed part of a trace.

use meter::Histogram;
use plan::replay::LoadCurve;
use trace::{TraceInterval, TraceOperation, TraceRequest, TraceSeries};

/// Initial width of the intervals of a load curve, in nanoseconds.
const WIDTH_NS: u64 = 1_000_000;
/// Maximum number of intervals. Beyond it the width doubles.
const INTERVALS_MAX: usize = 1 << 19;
/// Maximum length of one request on a block device, beyond which an operation is not counted, in bytes.
const MIB: f64 = 1_048_576.0;

/// Requests of a part of a trace: numbers, bytes and the course of their rate. Memory: 2 MiB.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceLoad {
    /// The part.
    pub window: TraceWindow,
    /// Reads, writes and discards.
    pub requests: u64,
    pub reads: u64,
    /// Bytes of reads and writes.
    pub bytes: u64,
    /// Requests over time.
    pub curve: LoadCurve,
    /// Times from issue to completion on the device from which the trace comes.
    pub service: Histogram,
    /// Start of the curve: the request that came first. Others may be from before it.
    begin_ns: Option<u64>,
    first_ns: u64,
    last_ns: u64,
}

impl TraceLoad {
    /// Creates the load of a part without requests.
    #[must_use]
    pub fn new(window: TraceWindow) -> Self {
        let curve = LoadCurve { width_ns: WIDTH_NS, requests: Vec::new() };
        Self {
            window,
            requests: 0,
            reads: 0,
            bytes: 0,
            curve,
            service: Histogram::default(),
            begin_ns: None,
            first_ns: u64::MAX,
            last_ns: 0,
        }
    }

    /// Adds a request, if it is in the part and moves or discards data.
    #[inline]
    pub fn add(&mut self, request: &TraceRequest) {
        let is_data = match request.operation {
            TraceOperation::Read | TraceOperation::Write | TraceOperation::WriteZeroes => true,
            TraceOperation::Discard => false,
            TraceOperation::Flush | TraceOperation::Other => return,
        };
        if !self.window.has(request.issued_ns) || request.length == 0 {
            return;
        }
        self.requests += 1;
        self.reads += u64::from(request.operation == TraceOperation::Read);
        self.bytes = self.bytes.saturating_add(if is_data { u64::from(request.length) } else { 0 });
        if let Some(service) = request.service_ns {
            self.service.add(service, 1);
        }
        self.first_ns = self.first_ns.min(request.issued_ns);
        self.last_ns = self.last_ns.max(request.issued_ns);
        let at = request.issued_ns.saturating_sub(*self.begin_ns.get_or_insert(request.issued_ns));
        while at / self.curve.width_ns >= INTERVALS_MAX as u64 {
            self.double();
        }
        let index = (at / self.curve.width_ns) as usize;
        if index >= self.curve.requests.len() {
            self.curve.requests.resize(index + 1, 0);
        }
        let count = &mut self.curve.requests[index];
        *count = count.saturating_add(1);
    }

    fn double(&mut self) {
        let sum = |pair: &[u32]| pair.iter().fold(0_u32, |sum, count| sum.saturating_add(*count));
        self.curve.requests = self.curve.requests.chunks(2).map(sum).collect();
        self.curve.width_ns *= 2;
    }

    /// Returns the median, the 99th and the 99.9th percentile of [`Self::service`], in seconds; `None` if completions
    /// are unknown.
    #[must_use]
    pub fn service_secs(&self) -> Option<[f64; 3]> {
        let at = |percent: f64| self.service.percentile(percent).map(units::Nanos::secs_f64);
        Some([at(50.0)?, at(99.0)?, at(99.9)?])
    }

    /// Returns the time from the first to the last request, in seconds.
    #[must_use]
    pub fn secs(&self) -> f64 {
        self.last_ns.saturating_sub(self.first_ns) as f64 / 1e9
    }

    /// Returns the mean rate in requests per second; zero if all are at one instant.
    #[must_use]
    pub fn mean_iops(&self) -> f64 {
        if self.secs() > 0.0 { self.requests as f64 / self.secs() } else { 0.0 }
    }

    /// Returns the fraction of reads.
    #[must_use]
    pub fn read_share(&self) -> f64 {
        self.reads as f64 / self.requests.max(1) as f64
    }

    /// Returns the mean length in bytes, as a whole number of sectors.
    #[must_use]
    pub fn block_bytes(&self) -> u32 {
        let mean = self.bytes as f64 / self.requests.max(1) as f64;
        (mean / 512.0).round().clamp(1.0, 64.0 * MIB / 512.0) as u32 * 512
    }
}

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
    use super::*;
    use trace::PerOperation;

    /// The duration of a trace in reverse order was zero, and its rate 20.0T IOPS.
    #[test]
    fn the_order_of_requests_does_not_change_their_rate() {
        let rate = |instants: &[u64]| {
            let mut load = TraceLoad::new(TraceWindow::WHOLE);
            instants.iter().for_each(|ns| load.add(&at(*ns, TraceOperation::Read)));
            load.mean_iops()
        };
        let second = 1_000_000_000;
        assert_eq!([rate(&[0, second, 2 * second]), rate(&[2 * second, second, 0])], [1.5; 2]);
        assert_eq!([rate(&[]), rate(&[second]), rate(&[second; 9])], [0.0; 3]);
    }

    fn at(issued_ns: u64, operation: TraceOperation) -> TraceRequest {
        TraceRequest { issued_ns, operation, length: 8192, ..TraceRequest::default() }
    }

    #[test]
    fn only_requests_of_the_part_count() {
        let mut load = TraceLoad::new(TraceWindow { start_ns: 1_000, end_ns: 2_000_001_000 });
        load.add(&at(999, TraceOperation::Read));
        for n in 0..=200 {
            load.add(&at(
                1_000 + n * 10_000_000,
                if n % 4 == 0 { TraceOperation::Write } else { TraceOperation::Read },
            ));
        }
        load.add(&at(1_500, TraceOperation::Flush));
        assert_eq!((load.requests, load.reads, load.block_bytes()), (200, 150, 8192));
        assert_eq!(load.curve.total(), 200);
        assert!((load.mean_iops() / 100.0 - 1.0).abs() < 0.01, "{}", load.mean_iops());
    }

    #[test]
    fn the_curve_is_bounded_however_long_the_trace() {
        let mut load = TraceLoad::new(TraceWindow::WHOLE);
        for n in 0..10_000_u64 {
            load.add(&at(n * 86_400_000_000_000 / 10_000, TraceOperation::Read));
        }
        load.add(&at(u64::MAX - 1, TraceOperation::Read));
        assert!(load.curve.requests.len() <= INTERVALS_MAX);
        assert_eq!(load.curve.total(), 10_001);
    }

    #[test]
    fn an_empty_part_has_no_rate() {
        let load = TraceLoad::new(TraceWindow::WHOLE);
        assert_eq!((load.mean_iops(), load.block_bytes(), load.read_share()), (0.0, 512, 0.0));
    }

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
