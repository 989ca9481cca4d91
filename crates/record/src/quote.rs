//! Figures as another program printed them, with their resolution.

use serde::{Deserialize, Serialize};

use crate::DataKind;

/// A figure as it was printed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quote {
    /// What it is.
    pub what: Quoted,
    /// Of which kind of operation; `None` where of all, or of none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<DataKind>,
    /// Its value, in the unit of [`Quoted`].
    pub value: f64,
    /// What one more in the last printed digit would add, in the same unit. Some programs cut, others round: what was
    /// meant lies less than one step away.
    pub step: f64,
    /// Where it was printed, from 1.
    pub line: u32,
    /// The device or the reporting group that it is of; `None` for the job that it stands with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
}

impl Quote {
    /// Whether a value is what was printed, as far as its digits tell.
    #[must_use]
    pub fn agrees_with(&self, value: f64) -> bool {
        // Binary fractions of decimal steps are off by a little.
        (self.value - value).abs() <= self.step * (1.0 + 1e-9)
    }
}

/// Kinds of printed figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Quoted {
    /// Operations per second.
    Iops,
    /// Bytes per second.
    BytesPerSecond,
    /// Bytes transferred.
    Bytes,
    /// Runtime in nanoseconds.
    RuntimeNs,
    /// Operations, as they were issued.
    Operations,
    /// Syncs.
    Syncs,
    /// Mean of fio's `slat` in nanoseconds.
    SubmissionMeanNs,
    /// Mean of fio's `clat` in nanoseconds.
    ServiceMeanNs,
    /// Mean of fio's `lat` in nanoseconds.
    LatencyMeanNs,
    /// Mean latency of syncs in nanoseconds.
    SyncMeanNs,
    /// Mean of samples of bandwidth, in bytes per second.
    SampledBytesPerSecond,
    /// Mean of samples of IOPS.
    SampledIops,
    /// Operations that a device counted.
    DeviceOperations,
    /// Time that a device's operations took together, in nanoseconds.
    DeviceTicksNs,
    /// Time weighted by the number in flight at a device, in nanoseconds.
    DeviceInQueueNs,
    /// Share of time in which a device was in use, from 0 to 1.
    DeviceUtilisation,
    /// Bytes per second of a reporting group.
    GroupBytesPerSecond,
    /// Bytes transferred by a reporting group.
    GroupBytes,
    /// Shortest and longest runtime of a reporting group, in nanoseconds.
    GroupRuntimeNs,
}
