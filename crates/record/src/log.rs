//! Lines of log files.

use crate::DataKind;

/// One line of a log of latency, bandwidth or IOPS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Time in milliseconds from the start of measurement.
    pub at_ms: u64,
    /// Value in nanoseconds, KiB/s or operations per second, depending on the log.
    pub value: u64,
    /// Kind of operation.
    pub kind: DataKind,
    /// Size of the operation in bytes; zero for an average over different sizes.
    pub block_size: u32,
    /// Offset of the operation in bytes.
    pub offset: u64,
}

impl From<&meter::LogEntry> for LogLine {
    fn from(entry: &meter::LogEntry) -> Self {
        Self {
            at_ms: entry.at.millis(),
            value: entry.value,
            kind: entry.direction.into(),
            block_size: entry.block_size,
            offset: entry.offset,
        }
    }
}
