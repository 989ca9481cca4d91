//! The meter of one worker.

use units::{CpuUse, DataKind, Nanos, Problem};

use crate::blocks::{BLOCK_BYTES_MAX, BlockRecorder, Blocks, RunningHistograms};
use crate::glance::MeterSnapshot;
use crate::log_entries::{LogOptions, WorkerLog};
use crate::log_windows::LogCounters;
use crate::logs::Logs;
use crate::moments::Latency;
use crate::sample::Sample;
use crate::sample_window::SampleWindow;
use crate::series::{IntervalWidths, Series};
use crate::summary::{DirectionSummary, Summary};
use crate::trimmed_blocks::{TrimmedBlocks, TrimmedRange};

/// Settings of a meter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeterOptions {
    /// Whether to record submission latencies (fio's `slat`).
    pub submission: bool,
    /// Whether to record service times (fio's `clat`).
    pub service: bool,
    /// Whether to record total latencies (fio's `lat`).
    pub latency: bool,
    /// Whether to keep a histogram of submission latencies.
    pub submission_percentiles: bool,
    /// Whether to keep a histogram of service times.
    pub service_percentiles: bool,
    /// Whether to keep a histogram of total latencies.
    pub latency_percentiles: bool,
    /// Whether arrivals follow a schedule, so that responses are measured from their intended instants.
    pub open_loop: bool,
    /// I/O priorities of operations by index, as the kernel encodes them; empty if operations have none.
    pub priorities: Vec<u16>,
    /// Whether latencies of priorities are total latencies instead of service times.
    pub priorities_in_total: bool,
    /// Whether to sample bandwidth and IOPS.
    pub bandwidth: bool,
    /// Length of the windows of bandwidth samples.
    pub bandwidth_window: Nanos,
    /// Length of the windows of IOPS samples.
    pub iops_window: Nanos,
    /// Widths of the intervals of the series; also the initial width of blocks.
    pub intervals: IntervalWidths,
    /// Approximate maximum size of blocks in bytes.
    pub block_bytes: usize,
    /// Enabled logs.
    pub logs: LogOptions,
}

impl Default for MeterOptions {
    fn default() -> Self {
        Self {
            submission: true,
            service: true,
            latency: true,
            submission_percentiles: false,
            service_percentiles: true,
            latency_percentiles: false,
            open_loop: false,
            priorities: Vec::new(),
            priorities_in_total: false,
            bandwidth: true,
            bandwidth_window: Nanos::from_millis(500),
            iops_window: Nanos::from_millis(500),
            intervals: IntervalWidths::of(Nanos::from_secs(1)),
            block_bytes: BLOCK_BYTES_MAX,
            logs: LogOptions::default(),
        }
    }
}

/// Operations that were started, submitted and completed at the same instants, counted in one step. They are frequent,
/// because engines work in batches and read the clock once per batch. Results equal those of counting one by one to the
/// last bit.
#[derive(Clone, Copy, Debug)]
struct OperationRun {
    sample: Sample,
    ios: u64,
    bytes: u64,
}

/// Counts the operations of one worker.
#[derive(Debug)]
pub struct Meter {
    options: MeterOptions,
    run: Option<OperationRun>,
    records_each: bool,
    begin: Nanos,
    phase_begin: Nanos,
    phase_ios: [u64; 3],
    bandwidth_window: SampleWindow,
    iops_window: SampleWindow,
    recorder: BlockRecorder,
    /// Next end of a window or a block.
    due: Nanos,
    /// Latencies of operations that were submitted at the instant they were started, as all are in virtual time. Their
    /// submission latency is zero and their service time is their total latency, so they are counted once.
    prompt: [Latency; 3],
    logs: Option<Box<Logs>>,
    trimmed: Option<Box<TrimmedBlocks>>,
    /// Reads the CPU time of the worker's thread, and what it was when measurement began.
    cpu: Option<(fn() -> CpuUse, CpuUse)>,
    /// Counters, except for the latencies in `prompt`.
    summary: Summary,
}

impl Meter {
    /// Returns an empty meter. Measurement begins with [`Meter::begin`].
    #[must_use]
    pub fn new(options: MeterOptions) -> Self {
        let samples = options.bandwidth;
        let priority = |priority: &u16| (*priority, Latency::default());
        let of_priorities = || options.priorities.iter().map(priority).collect();
        let direction = || DirectionSummary { priorities: of_priorities(), ..DirectionSummary::default() };
        Self {
            run: None,
            records_each: options.open_loop,
            begin: Nanos::ZERO,
            phase_begin: Nanos::ZERO,
            phase_ios: [0; 3],
            bandwidth_window: SampleWindow::new(if samples { options.bandwidth_window } else { Nanos::ZERO }),
            iops_window: SampleWindow::new(if samples { options.iops_window } else { Nanos::ZERO }),
            recorder: BlockRecorder::new(options.intervals, options.block_bytes),
            due: Nanos::ZERO,
            prompt: Default::default(),
            logs: None,
            trimmed: None,
            cpu: None,
            summary: Summary {
                workers: 1,
                directions: [direction(), direction(), direction()],
                series: Series::new(options.intervals),
                blocks: Blocks::new(options.intervals, options.block_bytes),
                ..Summary::default()
            },
            options,
        }
    }

    /// Sends log entries to `log`, as [`MeterOptions::logs`] says.
    #[must_use]
    pub fn logging_to(mut self, log: Option<Box<dyn WorkerLog>>) -> Self {
        self.records_each |= log.is_some() && self.options.logs.operations;
        self.logs = log.map(|log| Box::new(Logs::new(self.options.logs, log)));
        self
    }

    /// Counts CPU time, which `read` returns for the calling thread: that of the worker, which alone may use the meter.
    #[must_use]
    pub fn counting_cpu(mut self, read: fn() -> CpuUse) -> Self {
        self.cpu = Some((read, read()));
        self
    }

    /// Counts the trims of blocks, which [`Meter::record_blocks`] reports.
    #[must_use]
    pub fn counting_trims(mut self, range: Option<TrimmedRange>) -> Self {
        self.trimmed = range.map(|range| Box::new(TrimmedBlocks::new(range)));
        self
    }

    /// Reports whether trims of blocks are counted.
    #[must_use]
    pub const fn counts_trims(&self) -> bool {
        self.trimmed.is_some()
    }

    /// Begins a ramp at `now`: operations are counted, but not logged, until [`Meter::begin`].
    pub fn begin_ramp(&mut self, now: Nanos) {
        self.restart(now, false);
    }

    /// Begins measurement at `now` and resets the counters: at the start, and when a ramp ends. Errors and trims
    /// of blocks are kept, because they concern the whole run.
    pub fn begin(&mut self, now: Nanos) {
        self.restart(now, true);
    }

    fn restart(&mut self, now: Nanos, measures: bool) {
        let (options, logs, records_each) = (self.options.clone(), self.logs.take(), self.records_each);
        let (trimmed, cpu) = (self.trimmed.take(), self.cpu.map(|(read, _)| (read, read())));
        let (errors, first_error) = (self.summary.errors, self.summary.first_error);
        *self = Self::new(options);
        (self.summary.errors, self.summary.first_error) = (errors, first_error);
        self.logs = logs.map(|logs| Box::new(logs.restarted(now, measures)));
        (self.records_each, self.trimmed, self.cpu) = (records_each, trimmed, cpu);
        self.begin = now;
        self.begin_windows(now);
    }

    fn begin_windows(&mut self, now: Nanos) {
        self.phase_begin = now;
        self.bandwidth_window.begin(now, self.counts(|direction| direction.bytes));
        self.iops_window.begin(now, self.counts(|direction| direction.ios));
        self.due = self.next_due();
    }

    /// Begins another phase, such as reading back, whose time counts for the directions it uses.
    pub fn begin_phase(&mut self, now: Nanos) {
        self.end_phase(now);
        self.begin_windows(now);
    }

    /// Ends the current phase.
    pub fn end_phase(&mut self, now: Nanos) {
        self.flush();
        let (elapsed, active) = (now.since(self.phase_begin), self.active());
        add_runtime(&mut self.summary, elapsed, active);
        if let Some(logs) = &mut self.logs {
            let counters = LogCounters { directions: &self.summary.directions, prompt: &self.prompt };
            logs.end_phase(now.since(self.begin), counters);
        }
        self.phase_begin = now;
        self.phase_ios = self.counts(|direction| direction.ios);
    }

    /// Counts one completed operation.
    #[inline]
    pub fn record(&mut self, sample: &Sample) {
        if let Some(run) = &mut self.run
            && run.sample.same_instants(sample)
            && !self.records_each
        {
            run.ios += 1;
            run.bytes += u64::from(sample.bytes);
            return;
        }
        self.flush();
        self.run = Some(OperationRun { sample: *sample, ios: 1, bytes: u64::from(sample.bytes) });
    }

    /// Counts an operation without a latency.
    #[cold]
    pub fn record_without_latency(&mut self, direction: DataKind, bytes: u32, completed: Nanos) {
        self.flush();
        if completed >= self.due {
            self.close(completed);
        }
        let (kind, bytes) = (direction as usize, u64::from(bytes));
        let counted = &mut self.summary.directions[kind];
        counted.ios += 1;
        counted.bytes += bytes;
        let interval = self.summary.series.at(completed.since(self.begin));
        interval.ios[kind] += 1;
        interval.bytes[kind] += bytes;
    }

    /// Counts a trim or write for its blocks, if trims of blocks are counted.
    #[inline]
    pub fn record_blocks(&mut self, direction: DataKind, offset: u64, bytes: u32, succeeded: bool) {
        if let Some(trimmed) = &mut self.trimmed {
            trimmed.record(direction, offset, bytes, succeeded);
        }
    }

    /// Counts an `fsync` or `fdatasync`.
    pub fn record_sync(&mut self, latency: Nanos) {
        self.summary.sync.add(latency.get(), 1);
    }

    /// Counts an operation whose first transfer was short.
    pub fn record_short(&mut self, direction: DataKind) {
        self.summary.directions[direction as usize].short_ios += 1;
    }

    /// Counts a failure with its error number.
    pub fn record_error(&mut self, errno: i32) {
        self.summary.errors += 1;
        if self.summary.first_error == 0 {
            self.summary.first_error = errno;
        }
    }

    /// Counts the delay until the loop was ready to issue a scheduled operation after its intended instant.
    #[inline]
    pub fn record_lateness(&mut self, lateness: Nanos) {
        self.summary.lateness.add(lateness.get(), 1);
    }

    /// Counts a submission of `n` operations.
    #[inline]
    pub fn submitted(&mut self, n: u32) {
        self.summary.submit.add_batch(n);
    }

    /// Counts the depth of `n` operations that were issued with `in_flight` operations in flight in the end.
    #[inline]
    pub fn at_depth(&mut self, in_flight: u32, n: u32) {
        self.summary.depth.add_depth(in_flight, n);
    }

    /// Counts a poll of the device that returned `n` completions.
    #[inline]
    pub fn completed(&mut self, n: u32) {
        self.summary.complete.add_batch(n);
    }

    /// Returns the statistics up to `now`.
    #[must_use]
    pub fn summary(&mut self, now: Nanos) -> Summary {
        self.flush();
        let mut summary = self.counted(now);
        add_runtime(&mut summary, now.since(self.phase_begin), self.active());
        summary
    }

    /// Copies the counters for observers. It takes some microseconds, most of them for histograms.
    pub fn glance(&mut self, now: Nanos, copy: &mut MeterSnapshot) {
        self.flush();
        let (elapsed, active) = (now.since(self.phase_begin), self.active());
        (copy.at, copy.begun, copy.errors) = (now, self.begin, self.summary.errors);
        copy.lateness.become_sum([&self.summary.lateness]);
        copy.sync.become_sum([&self.summary.sync]);
        for (kind, direction) in self.summary.directions.iter().enumerate() {
            (copy.ios[kind], copy.bytes[kind]) = (direction.ios, direction.bytes);
            copy.runtime[kind] = direction.runtime + if active[kind] { elapsed } else { Nanos::ZERO };
            let prompt = self.options.service.then_some(&self.prompt[kind]);
            copy.service[kind].become_sum(std::iter::once(&direction.service).chain(prompt));
            copy.response[kind].become_sum([&direction.response]);
        }
    }

    /// Returns the statistics up to the end of the last phase, which must have ended.
    #[must_use]
    pub fn finished(&self) -> Summary {
        let trimmed = self.trimmed.as_ref().map(|trimmed| trimmed.counts());
        Summary { trimmed, ..self.counted(self.phase_begin) }
    }

    fn counted(&self, now: Nanos) -> Summary {
        let mut summary = self.summary.clone();
        summary.cpu = self.cpu.map(|(read, before)| read().since(before)).unwrap_or_default();
        let running = running(&self.options, &self.summary.directions, &self.prompt);
        summary.blocks = self.recorder.until(now.since(self.begin), &running);
        for (direction, prompt) in summary.directions.iter_mut().zip(&self.prompt) {
            add_prompt(direction, &self.options, prompt);
        }
        summary
    }

    /// Returns the completed operations: reads, writes, trims.
    #[must_use]
    pub fn ios(&self) -> [u64; 3] {
        let mut ios = self.summary.directions.each_ref().map(|direction| direction.ios);
        if let Some(run) = &self.run {
            ios[run.sample.direction as usize] += run.ios;
        }
        ios
    }

    /// Returns the transferred bytes: reads, writes, trims.
    #[must_use]
    pub fn bytes(&self) -> [u64; 3] {
        let mut bytes = self.summary.directions.each_ref().map(|direction| direction.bytes);
        if let Some(run) = &self.run {
            bytes[run.sample.direction as usize] += run.bytes;
        }
        bytes
    }

    /// Returns the sum of the times from submission to completion, in nanoseconds, modulo 2^64. Operations that are not
    /// added yet count with it, as in [`Self::ios`].
    #[must_use]
    pub fn service_ns(&self) -> u64 {
        let added = self.summary.directions.each_ref().map(|direction| direction.service.moments.sum_ns() as u64);
        let run = self.run.as_ref().map_or(0, |run| {
            let service = run.sample.completed.since(run.sample.submitted);
            service.get().wrapping_mul(run.ios)
        });
        added.into_iter().fold(run, u64::wrapping_add)
    }

    /// Hands over the log entries up to `now`.
    pub fn hand_over_log(&mut self, now: Nanos) {
        if self.logs.is_none() {
            return;
        }
        self.flush();
        if let Some(logs) = &mut self.logs {
            let counters = LogCounters { directions: &self.summary.directions, prompt: &self.prompt };
            logs.look(now.since(self.begin), counters);
            self.due = self.next_due();
        }
    }

    /// Hands over the remaining log entries and closes the logs. The last phase must have ended.
    ///
    /// # Errors
    ///
    /// Returns the first failure to write a log.
    pub fn finish_log(&mut self) -> Result<(), Problem> {
        self.logs.take().map_or(Ok(()), |logs| logs.finish())
    }

    /// Returns a count of reads, writes and trims.
    fn counts(&self, count: impl Fn(&DirectionSummary) -> u64) -> [u64; 3] {
        self.summary.directions.each_ref().map(count)
    }

    /// Reports which directions transferred data in this phase.
    fn active(&self) -> [bool; 3] {
        std::array::from_fn(|kind| self.summary.directions[kind].ios > self.phase_ios[kind])
    }

    #[inline]
    fn flush(&mut self) {
        if let Some(run) = self.run.take() {
            self.count(&run);
        }
    }

    fn count(&mut self, run: &OperationRun) {
        let sample = &run.sample;
        let at = sample.completed.since(self.begin);
        if sample.completed >= self.due {
            self.close(sample.completed);
        }
        let kind = sample.direction as usize;
        let direction = &mut self.summary.directions[kind];
        direction.ios += run.ios;
        direction.bytes += run.bytes;
        if sample.submitted == sample.started {
            count_prompt(&mut self.prompt[kind], direction, &self.options, run);
        } else {
            count_latencies(direction, &self.options, run);
        }
        if !direction.priorities.is_empty() {
            count_priority(direction, &self.options, run);
        }
        let (interval, service_ns) = (self.summary.series.at(at), sample.service().get());
        interval.ios[kind] += run.ios;
        interval.bytes[kind] += run.bytes;
        interval.service_ns += service_ns * run.ios;
        interval.service_ns_max = interval.service_ns_max.max(service_ns);
        if let Some(logs) = &mut self.logs {
            logs.record(at, sample);
        }
    }

    /// Ends windows and blocks that end by `now`.
    #[cold]
    fn close(&mut self, now: Nanos) {
        self.close_samples(now);
        let at = now.since(self.begin);
        if at >= self.recorder.end() {
            let running = running(&self.options, &self.summary.directions, &self.prompt);
            self.recorder.cut(at, &running);
        }
        if let Some(logs) = &mut self.logs {
            logs.close(at, LogCounters { directions: &self.summary.directions, prompt: &self.prompt });
        }
        self.due = self.next_due();
    }

    fn next_due(&self) -> Nanos {
        let logs = self.logs.as_ref().map_or(Nanos::MAX, |logs| logs.due());
        let windows = self.bandwidth_window.end().min(self.iops_window.end());
        windows.min(self.begin + self.recorder.end().min(logs))
    }

    /// Samples every window that ended by `now`, including those without completions.
    fn close_samples(&mut self, now: Nanos) {
        let active = self.active();
        let bandwidth = self.bandwidth_window.close(now, self.counts(|direction| direction.bytes));
        let iops = self.iops_window.close(now, self.counts(|direction| direction.ios));
        for (kind, direction) in self.summary.directions.iter_mut().enumerate().filter(|(kind, _)| active[*kind]) {
            if let Some(ended) = &bandwidth {
                direction.bandwidth.add(ended.counts[kind] as f64 / ended.seconds / 1024.0);
                direction.bandwidth.add_zeroes(ended.idle);
            }
            if let Some(ended) = &iops {
                direction.iops.add(ended.counts[kind] as f64 / ended.seconds);
                direction.iops.add_zeroes(ended.idle);
            }
        }
    }
}

/// Returns the histograms that hold the latencies of each kind; none if latencies are not recorded.
fn running<'a>(
    options: &MeterOptions,
    directions: &'a [DirectionSummary; 3],
    prompt: &'a [Latency; 3],
) -> RunningHistograms<'a> {
    let service = options.service && options.service_percentiles;
    let latency = options.latency && options.latency_percentiles;
    std::array::from_fn(|kind| {
        let (direction, prompt) = (&directions[kind], &prompt[kind]);
        match (options.open_loop, service, latency) {
            (true, ..) if options.service || options.latency => [Some(&direction.response), None],
            (false, true, _) => [Some(prompt), Some(&direction.service)],
            (false, false, true) => [Some(prompt), Some(&direction.latency)],
            _ => [None; 2],
        }
    })
}

#[inline]
fn count_latencies(direction: &mut DirectionSummary, options: &MeterOptions, run: &OperationRun) {
    let sample = &run.sample;
    if options.submission {
        let ns = sample.submission().get();
        direction.submission.moments.add(ns, run.ios);
        if options.submission_percentiles {
            direction.submission.histogram.add(ns, run.ios);
        }
    }
    if options.service {
        let ns = sample.service().get();
        direction.service.moments.add(ns, run.ios);
        if options.service_percentiles {
            direction.service.histogram.add(ns, run.ios);
        }
    }
    if options.latency {
        let ns = sample.latency().get();
        direction.latency.moments.add(ns, run.ios);
        if options.latency_percentiles {
            direction.latency.histogram.add(ns, run.ios);
        }
    }
    if options.open_loop {
        direction.response.add(sample.response().get(), run.ios);
    }
}

/// Counts operations that were submitted at the instant they were started.
#[inline]
fn count_prompt(prompt: &mut Latency, direction: &mut DirectionSummary, options: &MeterOptions, run: &OperationRun) {
    let ns = run.sample.service().get();
    prompt.moments.add(ns, run.ios);
    if options.service_percentiles || options.latency_percentiles {
        prompt.histogram.add(ns, run.ios);
    }
    if options.open_loop {
        direction.response.add(run.sample.response().get(), run.ios);
    }
}

/// Counts operations by their priority.
#[cold]
fn count_priority(direction: &mut DirectionSummary, options: &MeterOptions, run: &OperationRun) {
    let sample = &run.sample;
    let latency = if options.priorities_in_total { sample.latency() } else { sample.service() };
    if let Some((_, counted)) = direction.priorities.get_mut(usize::from(sample.priority)) {
        counted.add(latency.get(), run.ios);
    }
}

/// Adds the latencies of [`count_prompt`] to the enabled statistics.
fn add_prompt(direction: &mut DirectionSummary, options: &MeterOptions, prompt: &Latency) {
    let ios = prompt.moments.count();
    if ios == 0 {
        return;
    }
    let add = |to: &mut Latency, wanted, percentiles| {
        if wanted {
            to.moments.merge(&prompt.moments);
        }
        if wanted && percentiles {
            to.histogram.merge(&prompt.histogram);
        }
    };
    add(&mut direction.service, options.service, options.service_percentiles);
    add(&mut direction.latency, options.latency, options.latency_percentiles);
    if options.submission {
        direction.submission.moments.add(0, ios);
        if options.submission_percentiles {
            direction.submission.histogram.add(0, ios);
        }
    }
}

fn add_runtime(summary: &mut Summary, elapsed: Nanos, active: [bool; 3]) {
    for (direction, active) in summary.directions.iter_mut().zip(active) {
        if active {
            direction.runtime += elapsed;
        }
    }
    summary.runtime += elapsed;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(started: u64, submitted: u64, completed: u64) -> Sample {
        Sample {
            direction: DataKind::Read,
            priority: 0,
            bytes: 4096,
            offset: 0,
            intended: Nanos::new(started),
            started: Nanos::new(started),
            submitted: Nanos::new(submitted),
            completed: Nanos::new(completed),
        }
    }

    /// The time of a ramp counted: after three seconds of it, a run of one second used four times its share of a CPU.
    #[test]
    fn cpu_time_counts_from_the_end_of_the_ramp() {
        use std::sync::atomic::{AtomicU64, Ordering};

        static USED: AtomicU64 = AtomicU64::new(50);
        let read = || CpuUse { user_ns: USED.load(Ordering::Relaxed), ..CpuUse::default() };
        let mut meter = Meter::new(MeterOptions::default()).counting_cpu(read);
        meter.begin_ramp(Nanos::ZERO);
        USED.store(350, Ordering::Relaxed);
        meter.begin(Nanos::new(3_000));
        USED.store(450, Ordering::Relaxed);
        assert_eq!(meter.summary(Nanos::new(4_000)).cpu.user_ns, 100);
        assert_eq!(meter.finished().cpu.user_ns, 100);
    }

    #[test]
    fn submission_and_service_add_up_to_latency() {
        let mut meter = Meter::new(MeterOptions::default());
        meter.begin(Nanos::ZERO);
        meter.record(&sample(0, 10, 110));
        meter.record(&sample(100, 130, 330));
        let summary = meter.summary(Nanos::from_secs(1));
        let read = summary.direction(DataKind::Read);
        assert_eq!((read.ios, read.bytes, read.runtime), (2, 8192, Nanos::from_secs(1)));
        assert_eq!(read.submission.moments.mean_ns(), 20.0);
        assert_eq!(read.service.moments.mean_ns(), 150.0);
        assert_eq!(read.latency.moments.mean_ns(), 170.0);
        assert_eq!(read.response.moments.count(), 0);
        assert_eq!(summary.direction(DataKind::Write).runtime, Nanos::ZERO);
    }

    #[test]
    fn operations_submitted_when_started_are_counted_like_others() {
        let options = MeterOptions {
            submission_percentiles: true,
            latency_percentiles: true,
            open_loop: true,
            ..MeterOptions::default()
        };
        let mut meter = Meter::new(options);
        meter.begin(Nanos::ZERO);
        meter.record(&sample(0, 0, 110));
        meter.record(&sample(100, 130, 330));
        let read = &meter.summary(Nanos::from_secs(1)).directions[0];
        let of = |latency: &Latency| (latency.moments.count(), latency.moments.min().get(), latency.moments.mean_ns());
        assert_eq!(of(&read.submission), (2, 0, 15.0));
        assert_eq!(of(&read.service), (2, 110, 155.0));
        assert_eq!(of(&read.latency), (2, 110, 170.0));
        assert_eq!(of(&read.response), (2, 110, 170.0));
        let totals = [&read.submission, &read.service, &read.latency, &read.response].map(|l| l.histogram.total());
        assert_eq!(totals, [2; 4]);
    }

    #[test]
    fn counting_a_batch_equals_counting_its_operations() {
        let (mut together, mut apart) = (Meter::new(MeterOptions::default()), Meter::new(MeterOptions::default()));
        apart.records_each = true;
        for meter in [&mut together, &mut apart] {
            for batch in 0..100 {
                for _ in 0..32 {
                    meter.record(&sample(batch * 50, batch * 50 + 7, batch * 50 + 40));
                }
            }
        }
        assert_eq!(together.summary(Nanos::from_secs(1)), apart.summary(Nanos::from_secs(1)));
    }

    #[test]
    fn under_a_rate_response_is_measured_from_the_intended_instant() {
        let mut meter = Meter::new(MeterOptions { open_loop: true, ..MeterOptions::default() });
        meter.begin(Nanos::ZERO);
        meter.record(&Sample { intended: Nanos::new(5), ..sample(100, 110, 200) });
        let summary = meter.summary(Nanos::new(300));
        let read = summary.direction(DataKind::Read);
        assert_eq!(read.response.moments.max(), Nanos::new(195));
        assert_eq!(read.latency.moments.max(), Nanos::new(100));
    }

    #[test]
    fn windows_without_completions_count_as_zero() {
        let mut meter = Meter::new(MeterOptions::default());
        meter.begin(Nanos::ZERO);
        meter.record(&sample(0, 0, 1));
        meter.record(&sample(0, 0, 1_600_000_000));
        let summary = meter.summary(Nanos::from_secs(2));
        let iops = summary.direction(DataKind::Read).iops;
        assert_eq!((iops.count, iops.min, iops.max), (3, 0.0, 2.0));
    }

    /// A trace whose requests are years apart took a minute.
    #[test]
    fn idle_windows_are_sampled_at_once() {
        let years = 500 * 365 * 86_400;
        let of = |seconds: u64| {
            let mut meter = Meter::new(MeterOptions::default());
            meter.begin(Nanos::ZERO);
            meter.record(&sample(0, 0, 1));
            meter.record(&sample(0, 0, 1 + seconds * 1_000_000_000 + 100_000_000));
            meter.summary(Nanos::from_secs(seconds + 1)).direction(DataKind::Read).iops
        };
        let two = of(2);
        assert_eq!((two.count, two.min, two.max, two.mean), (4, 0.0, 2.0, 0.5));
        assert!((two.spread - 3.0).abs() < 1e-12);
        assert_eq!(of(years).count, 2 * years);
    }

    fn seconds_of(meter: &mut Meter, seconds: u64, sample: impl Fn(u64) -> Sample) {
        meter.begin(Nanos::from_secs(5));
        for second in 0..seconds {
            for _ in 0..=second {
                meter.record(&sample(5_000_000_000 + second * 1_000_000_000));
            }
        }
    }

    fn blocks(summary: &Summary) -> Vec<Vec<(usize, u64)>> {
        summary.blocks.iter().map(|block| block.latency[0].clone()).collect()
    }

    #[test]
    fn blocks_hold_the_service_times_of_each_second_after_the_ramp() {
        let mut meter = Meter::new(MeterOptions::default());
        meter.begin(Nanos::ZERO);
        meter.record(&sample(0, 10, 110));
        // In every other second, operations are submitted at the instant they are started.
        let odd = |at: u64| at / 1_000_000_000 % 2 * 10;
        seconds_of(&mut meter, 3, |at| sample(at, at + odd(at), at + odd(at) + 100));
        let summary = meter.summary(Nanos::from_millis(7_500));
        let hundred = crate::bucket_of(100);
        let counts = [1, 2, 3].map(|n| vec![(hundred, n)]);
        assert_eq!(blocks(&summary), counts);
        assert_eq!(summary.blocks.iter().last().map(|block| block.end.millis()), Some(2_500));
        meter.end_phase(Nanos::from_millis(7_500));
        assert_eq!(meter.finished().blocks, summary.blocks, "a summary does not change the meter");
    }

    #[test]
    fn under_a_rate_blocks_hold_responses() {
        let mut meter = Meter::new(MeterOptions { open_loop: true, ..MeterOptions::default() });
        seconds_of(&mut meter, 2, |at| Sample { intended: Nanos::new(at - 50), ..sample(at, at + 10, at + 110) });
        let late = crate::bucket_of(160);
        assert_eq!(blocks(&meter.summary(Nanos::from_secs(7))), [[(late, 1)], [(late, 2)]]);
    }

    #[test]
    fn without_latencies_there_are_no_blocks() {
        for options in [
            MeterOptions { service: false, latency: false, ..MeterOptions::default() },
            MeterOptions { service: false, latency: false, open_loop: true, ..MeterOptions::default() },
            MeterOptions { service_percentiles: false, ..MeterOptions::default() },
        ] {
            let mut meter = Meter::new(options);
            seconds_of(&mut meter, 2, |at| sample(at, at, at + 110));
            assert!(meter.summary(Nanos::from_secs(7)).blocks.is_empty());
        }
    }

    #[test]
    fn phases_count_for_the_directions_they_use() {
        let mut meter = Meter::new(MeterOptions::default());
        meter.begin(Nanos::ZERO);
        meter.record(&Sample { direction: DataKind::Write, ..sample(0, 1, 2) });
        meter.begin_phase(Nanos::from_secs(3));
        meter.record(&sample(3_000_000_000, 3_000_000_001, 3_000_000_002));
        let summary = meter.summary(Nanos::from_secs(4));
        assert_eq!(summary.direction(DataKind::Write).runtime, Nanos::from_secs(3));
        assert_eq!(summary.direction(DataKind::Read).runtime, Nanos::from_secs(1));
        assert_eq!(summary.runtime, Nanos::from_secs(4));
    }

    #[test]
    fn operations_of_the_ramp_are_not_counted() {
        let mut meter = Meter::new(MeterOptions::default());
        meter.begin(Nanos::ZERO);
        meter.record(&sample(0, 1, 2));
        meter.begin(Nanos::from_secs(1));
        assert_eq!(meter.summary(Nanos::from_secs(2)).ios(), 0);
    }

    #[test]
    fn a_glance_agrees_with_the_summary() {
        let mut meter = Meter::new(MeterOptions { open_loop: true, ..MeterOptions::default() });
        meter.begin(Nanos::new(50));
        let mut glance = MeterSnapshot::default();
        meter.glance(Nanos::new(60), &mut glance);
        for at in 1..=40 {
            // Every other operation is submitted at the instant it is started.
            meter.record(&sample(at * 100, at * 100 + at % 2, at * 150));
        }
        meter.record_error(5);
        meter.glance(Nanos::from_secs(1), &mut glance);
        let summary = meter.summary(Nanos::from_secs(1));
        let read = summary.direction(DataKind::Read);
        assert_eq!((glance.ios[0], glance.bytes[0], glance.runtime[0]), (read.ios, read.bytes, read.runtime));
        assert_eq!((&glance.service[0], &glance.response[0]), (&read.service, &read.response));
        assert_eq!((glance.begun, glance.errors), (Nanos::new(50), 1));
    }
}
