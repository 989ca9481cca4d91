//! Entries of fio's log files: one per operation, averages over windows, or histograms of windows.

use std::fmt::Debug;

use units::{DataKind, Nanos, Problem};

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
    /// `_clat_hist`: histogram of service times.
    Histogram,
}

/// An operation, from which each log of single operations derives its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedOperation {
    /// Completion, since the start of measurement.
    pub at: Nanos,
    /// Time from start to submission.
    pub submission: Nanos,
    /// Time from submission to completion.
    pub service: Nanos,
    /// Offset in bytes.
    pub offset: u64,
    /// Size in bytes.
    pub block_size: u32,
    /// Kind of operation.
    pub direction: DataKind,
    /// Index of its I/O priority, as in [`Sample`](crate::Sample).
    pub priority: u8,
}

/// The average of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogAverage {
    /// Log of the entry.
    pub kind: LogKind,
    /// End of the window, since the start of measurement.
    pub at: Nanos,
    /// Kind of operation.
    pub direction: DataKind,
    /// Mean latency in nanoseconds, KiB/s or operations per second, depending on the log.
    pub mean: u64,
    /// Maximum latency in nanoseconds if maxima are enabled; the mean for other logs.
    pub max: u64,
}

/// The histogram of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedHistogram {
    /// End of the window, since the start of measurement.
    pub at: Nanos,
    /// Kind of operation.
    pub direction: DataKind,
    /// Size of the last operation in bytes.
    pub block_size: u32,
    /// Non-empty buckets in ascending order, with their counts.
    pub buckets: Vec<(usize, u64)>,
}

/// Entries of one worker in the order of their times. Its memory is reused.
#[derive(Debug, Default)]
pub struct LogChunk {
    /// Start of measurement, by the clock of the target.
    pub begun: Nanos,
    /// Single operations.
    pub operations: Vec<LoggedOperation>,
    /// Averages of windows.
    pub averages: Vec<LogAverage>,
    /// Histograms of windows.
    pub histograms: Vec<LoggedHistogram>,
}

impl LogChunk {
    /// Number of entries of one kind in a full chunk.
    pub const ENTRIES_MAX: usize = 4096;

    /// Reports whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty() && self.averages.is_empty() && self.histograms.is_empty()
    }

    /// Removes all entries and keeps the memory.
    pub fn clear(&mut self) {
        self.operations.clear();
        self.averages.clear();
        self.histograms.clear();
    }
}

/// Receives the entries of one worker. It knows neither threads nor files, so that models log in virtual time.
pub trait WorkerLog: Debug + Send {
    /// Takes a chunk and returns an empty one. Waits if the entries before it have not been written yet, because none
    /// may be lost. A failure must not end the run: [`WorkerLog::finish`] reports it.
    fn exchange(&mut self, filled: LogChunk) -> LogChunk;

    /// Closes the logs, when all entries are written.
    ///
    /// # Errors
    ///
    /// Returns the first failure.
    fn finish(self: Box<Self>) -> Result<(), Problem>;
}

/// Enabled logs. Windows of length zero are disabled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogOptions {
    pub operations: bool,
    /// Windows of average latencies.
    pub latency_window: Nanos,
    /// Average submission latencies.
    pub submission: bool,
    /// Average service times.
    pub service: bool,
    /// Average total latencies.
    pub latency: bool,
    /// Find the maximum latency of each window.
    pub maxima: bool,
    pub bandwidth_window: Nanos,
    pub iops_window: Nanos,
    /// Windows of histograms of service times.
    pub histogram_window: Nanos,
}
