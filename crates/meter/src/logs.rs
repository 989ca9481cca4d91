//! Collects the entries of a worker's logs.

use units::{DataKind, Nanos, Problem};

use crate::Sample;
use crate::blocks::CountedBlock;
use crate::log_entries::{LogAverage, LogChunk, LogKind, LogOptions, LoggedHistogram, LoggedOperation, WorkerLog};
use crate::log_windows::{Counted, LogCounters, LogWindow};

/// Collects entries and hands them over in chunks.
///
/// Averages and histograms are differences of the meter's counters at the ends of windows, which are found together
/// with those of samples and blocks, so that they cost nothing per operation.
#[derive(Debug)]
pub(crate) struct Logs {
    options: LogOptions,
    log: Box<dyn WorkerLog>,
    chunk: LogChunk,
    /// Whether entries are wanted; not during a ramp.
    measures: bool,
    latency: LogWindow,
    bandwidth: LogWindow,
    iops: LogWindow,
    histogram: LogWindow,
    histogram_before: [CountedBlock; 3],
    /// Maxima of the current window of latencies, in the order of [`LATENCIES`].
    maxima: [[u64; 3]; 3],
    /// Size of the last operation of each kind.
    block_size: [u32; 3],
}

const LATENCIES: [LogKind; 3] = [LogKind::Submission, LogKind::Service, LogKind::Latency];

impl Logs {
    pub(crate) fn new(options: LogOptions, log: Box<dyn WorkerLog>) -> Self {
        Self {
            log,
            chunk: LogChunk::default(),
            measures: false,
            latency: LogWindow::new(options.latency_window),
            bandwidth: LogWindow::new(options.bandwidth_window),
            iops: LogWindow::new(options.iops_window),
            histogram: LogWindow::new(options.histogram_window),
            histogram_before: Default::default(),
            maxima: Default::default(),
            block_size: [0; 3],
            options,
        }
    }

    /// Returns logs in the state before the start, with the same receiver.
    pub(crate) fn restarted(self, begun: Nanos, measures: bool) -> Self {
        let mut logs = Self { measures, ..Self::new(self.options, self.log) };
        logs.chunk = self.chunk;
        logs.chunk.clear();
        logs.chunk.begun = begun;
        logs
    }

    /// Closes the files.
    pub(crate) fn finish(mut self) -> Result<(), Problem> {
        self.hand_over();
        self.log.finish()
    }

    /// Returns the next end of a window.
    pub(crate) fn due(&self) -> Nanos {
        if !self.measures {
            return Nanos::MAX;
        }
        self.latency.end().min(self.bandwidth.end()).min(self.iops.end()).min(self.histogram.end())
    }

    /// Counts operations that completed at `at`. Operations are counted together only if [`LogOptions::operations`] is
    /// not set.
    #[inline]
    pub(crate) fn record(&mut self, at: Nanos, sample: &Sample) {
        if !self.measures {
            return;
        }
        let kind = sample.direction as usize;
        self.block_size[kind] = sample.bytes;
        if self.options.maxima {
            let latencies = [sample.submission(), sample.service(), sample.latency()];
            for (max, latency) in self.maxima[kind].iter_mut().zip(latencies) {
                *max = (*max).max(latency.get());
            }
        }
        if self.options.operations {
            self.chunk.operations.push(LoggedOperation {
                at,
                submission: sample.submission(),
                service: sample.service(),
                offset: sample.offset,
                block_size: sample.bytes,
                direction: sample.direction,
                priority: sample.priority,
            });
            if self.chunk.operations.len() >= LogChunk::ENTRIES_MAX {
                self.hand_over();
            }
        }
    }

    /// Ends the windows that end by `at`, and hands over the entries.
    pub(crate) fn look(&mut self, at: Nanos, counters: LogCounters<'_>) {
        if at >= self.due() {
            self.close(at, counters);
        }
        if !self.chunk.is_empty() {
            self.hand_over();
        }
    }

    /// Ends the windows that end by `at`. All operations counted before completed before `at`.
    pub(crate) fn close(&mut self, at: Nanos, counters: LogCounters<'_>) {
        if !self.measures {
            return;
        }
        if at >= self.latency.end() {
            self.close_latencies(at, counters);
        }
        if at >= self.bandwidth.end() {
            self.close_bandwidth(at, counters);
        }
        if at >= self.iops.end() {
            self.close_iops(at, counters);
        }
        if at >= self.histogram.end() {
            self.close_histogram(at, counters);
        }
        let (averages, histograms) = (self.chunk.averages.len(), self.chunk.histograms.len());
        if averages >= LogChunk::ENTRIES_MAX || histograms * HISTOGRAM_ENTRIES >= LogChunk::ENTRIES_MAX {
            self.hand_over();
        }
    }

    /// Ends all windows at the end of a phase. The last ones are shorter.
    pub(crate) fn end_phase(&mut self, at: Nanos, counters: LogCounters<'_>) {
        if !self.measures {
            return;
        }
        self.close(at, counters);
        self.close_latencies(at, counters);
        self.close_histogram(at, counters);
        if self.bandwidth.is_representative(at) {
            self.close_bandwidth(at, counters);
        }
        if self.iops.is_representative(at) {
            self.close_iops(at, counters);
        }
    }

    fn close_latencies(&mut self, at: Nanos, counters: LogCounters<'_>) {
        let Some(ended) = self.latency.take(at, Counted::of(counters)) else { return };
        let maxima = std::mem::take(&mut self.maxima);
        let wanted = [self.options.submission, self.options.service, self.options.latency];
        for (direction, counted) in DataKind::ALL.into_iter().zip(&ended.counted) {
            let kinds = LATENCIES.into_iter().zip(wanted).zip(counted.latency_ns).zip(maxima[direction as usize]);
            for (((kind, _), sum), max) in kinds.filter(|(((_, wanted), _), _)| *wanted && counted.ios > 0) {
                let mean = (sum / u128::from(counted.ios)) as u64;
                self.chunk.averages.push(LogAverage { kind, at: ended.end, direction, mean, max });
            }
        }
    }

    fn close_bandwidth(&mut self, at: Nanos, counters: LogCounters<'_>) {
        let Some(ended) = self.bandwidth.take(at, Counted::of(counters)) else { return };
        self.chunk.averages.extend(ended.rates(LogKind::Bandwidth, |counted| counted.bytes, 1024));
    }

    fn close_iops(&mut self, at: Nanos, counters: LogCounters<'_>) {
        let Some(ended) = self.iops.take(at, Counted::of(counters)) else { return };
        self.chunk.averages.extend(ended.rates(LogKind::Iops, |counted| counted.ios, 1));
    }

    fn close_histogram(&mut self, at: Nanos, counters: LogCounters<'_>) {
        let Some(ended) = self.histogram.take(at, Counted::of(counters)) else { return };
        for direction in DataKind::ALL {
            let kind = direction as usize;
            let running = [Some(&counters.prompt[kind]), Some(&counters.directions[kind].service)];
            let counted = CountedBlock::of(&running);
            let buckets: Vec<_> = counted.since(&self.histogram_before[kind]).collect();
            self.histogram_before[kind] = counted;
            if !buckets.is_empty() {
                let block_size = self.block_size[kind];
                self.chunk.histograms.push(LoggedHistogram { at: ended.end, direction, block_size, buckets });
            }
        }
    }

    fn hand_over(&mut self) {
        let begun = self.chunk.begun;
        self.chunk = self.log.exchange(std::mem::take(&mut self.chunk));
        self.chunk.begun = begun;
    }
}

/// Entries that a histogram counts as.
const HISTOGRAM_ENTRIES: usize = 64;

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use units::ProblemCode;

    use super::*;
    use crate::{Meter, MeterOptions, bucket_of};

    /// Keeps all chunks.
    #[derive(Clone, Debug, Default)]
    struct KeptChunks(Arc<Mutex<Vec<LogChunk>>>);

    fn finished() -> Problem {
        Problem::error(ProblemCode::File, "finished")
    }

    impl WorkerLog for KeptChunks {
        fn exchange(&mut self, filled: LogChunk) -> LogChunk {
            self.0.lock().expect("no test panics with it").push(filled);
            LogChunk::default()
        }

        fn finish(self: Box<Self>) -> Result<(), Problem> {
            Err(finished())
        }
    }

    impl KeptChunks {
        fn averages(&self, kind: LogKind) -> Vec<(u64, u64, u64)> {
            let chunks = self.0.lock().expect("no test panics with it");
            let averages = chunks.iter().flat_map(|chunk| &chunk.averages).filter(|average| average.kind == kind);
            averages.map(|average| (average.at.millis(), average.mean, average.max)).collect()
        }

        fn operations(&self) -> Vec<LoggedOperation> {
            let chunks = self.0.lock().expect("no test panics with it");
            chunks.iter().flat_map(|chunk| chunk.operations.clone()).collect()
        }
    }

    fn meter(logs: LogOptions) -> (Meter, KeptChunks) {
        let kept = KeptChunks::default();
        let meter = Meter::new(MeterOptions { logs, ..MeterOptions::default() });
        (meter.logging_to(Some(Box::new(kept.clone()))), kept)
    }

    fn sample(at_us: u64, submission_ns: u64, service_ns: u64) -> Sample {
        let started = Nanos::from_micros(at_us);
        let submitted = started + Nanos::new(submission_ns);
        Sample {
            priority: 0,
            direction: DataKind::Write,
            bytes: 4096,
            offset: at_us,
            intended: started,
            started,
            submitted,
            completed: submitted + Nanos::new(service_ns),
        }
    }

    const WINDOW: Nanos = Nanos::from_millis(10);

    fn averaged() -> LogOptions {
        LogOptions {
            latency_window: WINDOW,
            submission: true,
            service: true,
            latency: true,
            maxima: true,
            bandwidth_window: WINDOW,
            iops_window: Nanos::from_millis(20),
            histogram_window: WINDOW,
            ..LogOptions::default()
        }
    }

    #[test]
    fn each_operation_is_handed_over_once() {
        let (mut meter, kept) = meter(LogOptions { operations: true, ..LogOptions::default() });
        meter.begin(Nanos::from_micros(100));
        let ios = 3 * LogChunk::ENTRIES_MAX as u64 + 7;
        for io in 0..ios {
            // Two of three have the instants of the one before.
            meter.record(&sample(100 + io / 3, 10, 1_000));
        }
        meter.hand_over_log(Nanos::from_secs(1));
        meter.hand_over_log(Nanos::from_secs(1));
        let operations = kept.operations();
        assert_eq!((operations.len() as u64, meter.ios()[1]), (ios, ios));
        assert!(operations.iter().zip(0..).all(|(operation, io)| operation.offset == 100 + io / 3));
        let (submission, service) = (Nanos::new(10), Nanos::new(1_000));
        let first = LoggedOperation { at: Nanos::new(1_010), submission, service, ..operations[0] };
        assert_eq!(operations[0], first);
        assert_eq!(kept.0.lock().expect("no test panics with it").len(), 4, "chunks are full");
        assert_eq!(meter.finish_log(), Err(finished()));
        assert_eq!(meter.finish_log(), Ok(()), "there is no log any more");
    }

    #[test]
    fn windows_end_at_multiples_of_their_length() {
        let (mut meter, kept) = meter(averaged());
        meter.begin(Nanos::ZERO);
        // Two operations in each of two windows, none in the next three, and one that is not submitted separately.
        for (at_us, service_ns) in [(1_000, 100), (9_000, 300), (11_000, 500), (15_000, 900)] {
            meter.record(&sample(at_us, 10, service_ns));
        }
        meter.record(&sample(51_000, 0, 700));
        meter.hand_over_log(Nanos::from_millis(60));
        let service = [(10, 200, 300), (20, 700, 900), (60, 700, 700)];
        assert_eq!(kept.averages(LogKind::Service), service);
        assert_eq!(kept.averages(LogKind::Latency), [(10, 210, 310), (20, 710, 910), (60, 700, 700)]);
        assert_eq!(kept.averages(LogKind::Submission), [(10, 10, 10), (20, 10, 10), (60, 0, 0)]);
        // 8 KiB in 10 ms, and 4 operations in 20 ms.
        assert_eq!(kept.averages(LogKind::Bandwidth), [(10, 800, 800), (20, 800, 800), (60, 400, 400)]);
        assert_eq!(kept.averages(LogKind::Iops), [(20, 200, 200), (60, 50, 50)]);
    }

    #[test]
    fn a_window_ends_without_another_operation() {
        let (mut meter, kept) = meter(averaged());
        meter.begin(Nanos::ZERO);
        meter.record(&sample(1_000, 10, 100));
        meter.hand_over_log(Nanos::from_millis(9));
        assert_eq!(kept.averages(LogKind::Service), []);
        meter.hand_over_log(Nanos::from_millis(10));
        assert_eq!(kept.averages(LogKind::Service), [(10, 100, 100)]);
    }

    #[test]
    fn the_last_windows_are_shorter_and_rates_of_moments_are_left_out() {
        let (mut meter, kept) = meter(averaged());
        meter.begin(Nanos::ZERO);
        meter.record(&sample(1_000, 10, 100));
        meter.record(&sample(19_990, 10, 100));
        // An operation in flight at the end completes 20 us later.
        meter.record(&sample(20_010, 10, 300));
        meter.end_phase(Nanos::from_micros(20_020));
        meter.hand_over_log(Nanos::from_micros(20_020));
        assert_eq!(kept.averages(LogKind::Service), [(10, 100, 100), (20, 100, 100), (20, 300, 300)]);
        assert_eq!(kept.averages(LogKind::Bandwidth), [(10, 400, 400), (20, 400, 400)]);
        assert_eq!(kept.averages(LogKind::Iops), [(20, 100, 100)]);
        meter.begin_phase(Nanos::from_millis(25));
        meter.record(&sample(26_000, 10, 100));
        meter.end_phase(Nanos::from_millis(29));
        meter.hand_over_log(Nanos::from_millis(29));
        assert_eq!(kept.averages(LogKind::Service).last(), Some(&(29, 100, 100)));
    }

    #[test]
    fn histograms_hold_the_service_times_of_their_windows() {
        let (mut meter, kept) = meter(averaged());
        meter.begin(Nanos::ZERO);
        for (at_us, submission_ns) in [(1_000, 10), (2_000, 0), (12_000, 10)] {
            meter.record(&sample(at_us, submission_ns, 100));
        }
        meter.record(&Sample { bytes: 8192, ..sample(13_000, 0, 70) });
        meter.end_phase(Nanos::from_millis(15));
        meter.hand_over_log(Nanos::from_millis(15));
        let chunks = kept.0.lock().expect("no test panics with it");
        let histograms = chunks.iter().flat_map(|chunk| &chunk.histograms);
        let counts = histograms.map(|one| (one.at.millis(), one.block_size, one.buckets.clone()));
        let hundred = bucket_of(100);
        let expected = [(10, 4096, vec![(hundred, 2)]), (15, 8192, vec![(bucket_of(70), 1), (hundred, 1)])];
        assert_eq!(counts.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_ramp_is_not_logged() {
        let (mut meter, kept) = meter(LogOptions { operations: true, ..averaged() });
        meter.begin_ramp(Nanos::ZERO);
        meter.record(&sample(1_000, 10, 100));
        meter.record(&sample(12_000, 10, 100));
        meter.hand_over_log(Nanos::from_millis(14));
        meter.begin(Nanos::from_millis(15));
        meter.record(&sample(16_000, 10, 200));
        meter.end_phase(Nanos::from_millis(17));
        meter.hand_over_log(Nanos::from_millis(17));
        assert_eq!(kept.averages(LogKind::Service), [(2, 200, 200)]);
        let chunks = kept.0.lock().expect("no test panics with it");
        assert_eq!(chunks.iter().map(|chunk| chunk.operations.len()).collect::<Vec<_>>(), [1]);
        assert_eq!(chunks[0].begun, Nanos::from_millis(15));
    }
}
