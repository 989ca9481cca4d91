//! What a search needs to know of the replayed part of a trace.

use meter::Histogram;
use plan::replay::LoadCurve;
use trace::{TraceOperation, TraceRequest};

use super::TraceWindow;

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
    /// are not known.
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
