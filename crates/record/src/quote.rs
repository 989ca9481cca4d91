//! Figures as printed by another program, with their resolution.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::DataKind;

/// A printed figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Quote {
    /// Quantity.
    pub what: Quoted,
    /// Kind of operation; `None` for all kinds, or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<DataKind>,
    /// Value in the unit of [`Quoted`].
    pub value: f64,
    /// Unit of the last printed digit, in the same unit. Some programs truncate, others round, so the exact value is
    /// less than one step away.
    pub step: f64,
    /// Line on which it was printed, from 1.
    pub line: u32,
    /// Device or reporting group; `None` for the job that holds the quote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
}

impl Quote {
    /// Reports whether a value equals the printed one within its digits.
    #[must_use]
    pub fn agrees_with(&self, value: f64) -> bool {
        // Decimal steps are not exact in binary.
        (self.value - value).abs() <= self.step * (1.0 + 1e-9)
    }
}

/// Quantities of printed figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Quoted {
    /// Operations per second.
    Iops,
    /// Bytes per second.
    BytesPerSecond,
    /// Transferred bytes.
    Bytes,
    /// Runtime in nanoseconds.
    RuntimeNs,
    /// Issued operations.
    Operations,
    Syncs,
    /// Mean of fio's `slat` in nanoseconds.
    SubmissionMeanNs,
    /// Mean of fio's `clat` in nanoseconds.
    ServiceMeanNs,
    /// Mean of fio's `lat` in nanoseconds.
    LatencyMeanNs,
    /// Mean latency of syncs in nanoseconds.
    SyncMeanNs,
    /// Mean of bandwidth samples in bytes per second.
    SampledBytesPerSecond,
    /// Mean of IOPS samples.
    SampledIops,
    /// Operations counted by a device.
    DeviceOperations,
    /// Total time of a device's operations in nanoseconds.
    DeviceTicksNs,
    /// Time weighted by the number of operations in flight at a device, in nanoseconds.
    DeviceInQueueNs,
    /// Fraction of time in which a device was busy, from 0 to 1.
    DeviceUtilisation,
    /// Bytes per second of a reporting group.
    GroupBytesPerSecond,
    /// Transferred bytes of a reporting group.
    GroupBytes,
    /// Shortest and longest runtime of a reporting group, in nanoseconds.
    GroupRuntimeNs,
}
