//! Entries of fio's log files: one per operation, or averages over windows.

use units::Nanos;

use crate::{Sample, SummaryDirection};

/// The log of an entry, by fio's file names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogKind {
    /// `_slat`: submission latency in nanoseconds.
    Submission,
    /// `_clat`: service time in nanoseconds.
    Service,
    /// `_lat`: total latency in nanoseconds.
    Latency,
    /// `_bw`: bandwidth in KiB/s.
    Bandwidth,
    /// `_iops`: operations per second.
    Iops,
}

/// An entry of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// Log of the entry.
    pub kind: LogKind,
    /// Time since the start of measurement.
    pub at: Nanos,
    /// Value in nanoseconds, KiB/s or operations per second, depending on the log.
    pub value: u64,
    /// Kind of operation.
    pub direction: SummaryDirection,
    /// Size of the operation in bytes; zero for an average over different sizes.
    pub block_size: u32,
    /// Offset of the operation in bytes; zero for an average.
    pub offset: u64,
}

/// Enabled logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogOptions {
    /// Submission latencies.
    pub submission: bool,
    /// Service times and total latencies.
    pub latency: bool,
    /// Bandwidth.
    pub bandwidth: bool,
    /// IOPS.
    pub iops: bool,
    /// Length of the windows of averages; zero for one entry per operation.
    pub window: Nanos,
}

impl LogOptions {
    /// Reports whether any log is enabled.
    #[must_use]
    pub const fn any(&self) -> bool {
        self.submission || self.latency || self.bandwidth || self.iops
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct LogWindow {
    ios: u64,
    bytes: u64,
    submission_ns: u64,
    service_ns: u64,
    latency_ns: u64,
    block_size: u32,
    mixed_sizes: bool,
}

/// Collects entries until they are taken.
#[derive(Clone, Debug, Default)]
pub struct Logs {
    options: LogOptions,
    windows: [LogWindow; 3],
    window_start: Nanos,
    entries: Vec<LogEntry>,
}

impl Logs {
    /// Returns empty logs.
    #[must_use]
    pub fn new(options: LogOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Returns the entries collected since the last call, and removes them.
    pub fn take(&mut self) -> Vec<LogEntry> {
        std::mem::take(&mut self.entries)
    }

    /// Returns the number of collected entries.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.entries.len()
    }

    /// Counts one operation that completed at `at`.
    pub fn record(&mut self, at: Nanos, sample: &Sample) {
        if self.options.window == Nanos::ZERO {
            self.each(at, sample);
            return;
        }
        if at >= self.window_start + self.options.window {
            self.close(at);
        }
        let window = &mut self.windows[sample.direction as usize];
        window.mixed_sizes |= window.ios > 0 && window.block_size != sample.bytes;
        window.block_size = sample.bytes;
        window.ios += 1;
        window.bytes += u64::from(sample.bytes);
        window.submission_ns += sample.submission().get();
        window.service_ns += sample.service().get();
        window.latency_ns += sample.latency().get();
    }

    /// Adds the averages of the current window, unless it is empty.
    pub fn finish(&mut self, at: Nanos) {
        if self.windows.iter().any(|window| window.ios > 0) {
            self.close(at);
        }
    }

    fn each(&mut self, at: Nanos, sample: &Sample) {
        let mut entry = LogEntry {
            kind: LogKind::Submission,
            at,
            value: sample.submission().get(),
            direction: sample.direction,
            block_size: sample.bytes,
            offset: sample.offset,
        };
        if self.options.submission {
            self.entries.push(entry);
        }
        if self.options.latency {
            entry = LogEntry { kind: LogKind::Service, value: sample.service().get(), ..entry };
            self.entries.push(entry);
            entry = LogEntry { kind: LogKind::Latency, value: sample.latency().get(), ..entry };
            self.entries.push(entry);
        }
        if self.options.bandwidth {
            let ns = sample.service().get().max(1);
            let value = u64::from(sample.bytes).saturating_mul(1_000_000_000) / ns / 1024;
            self.entries.push(LogEntry { kind: LogKind::Bandwidth, value, ..entry });
        }
        if self.options.iops {
            self.entries.push(LogEntry { kind: LogKind::Iops, value: 1, ..entry });
        }
    }

    fn close(&mut self, now: Nanos) {
        let end = if now >= self.window_start + self.options.window {
            let whole = now.since(self.window_start).get() / self.options.window.get();
            self.window_start + Nanos::new(whole * self.options.window.get())
        } else {
            now
        };
        let length_ns = end.since(self.window_start).get().max(1);
        for direction in SummaryDirection::ALL {
            let window = std::mem::take(&mut self.windows[direction as usize]);
            if window.ios > 0 {
                self.average(end, length_ns, direction, &window);
            }
        }
        self.window_start = end;
    }

    fn average(&mut self, at: Nanos, length_ns: u64, direction: SummaryDirection, window: &LogWindow) {
        let block_size = if window.mixed_sizes { 0 } else { window.block_size };
        let per_second = |n: u64| (u128::from(n) * 1_000_000_000 / u128::from(length_ns)) as u64;
        let mut push = |wanted: bool, kind, value| {
            if wanted {
                self.entries.push(LogEntry { kind, at, value, direction, block_size, offset: 0 });
            }
        };
        push(self.options.submission, LogKind::Submission, window.submission_ns / window.ios);
        push(self.options.latency, LogKind::Service, window.service_ns / window.ios);
        push(self.options.latency, LogKind::Latency, window.latency_ns / window.ios);
        push(self.options.bandwidth, LogKind::Bandwidth, per_second(window.bytes) / 1024);
        push(self.options.iops, LogKind::Iops, per_second(window.ios));
    }
}
