//! Which figures of a result are known: other programs print only some of them.

use crate::{DirectionResult, JobResult, LatencyStats};

/// Figures of one kind of operation; `None` for those that are not known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KnownTransfers {
    /// Completed operations.
    pub ios: Option<u64>,
    /// Transferred bytes.
    pub bytes: Option<u64>,
    /// Runtime in nanoseconds.
    pub runtime_ns: Option<u64>,
    /// Operations per second.
    pub iops: Option<f64>,
    /// Bytes per second.
    pub bytes_per_second: Option<f64>,
}

/// Statistics of a latency in nanoseconds; `None` for those that are not known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KnownLatency {
    pub mean_ns: Option<f64>,
    /// Sample standard deviation.
    pub stddev_ns: Option<f64>,
    /// Maximum.
    pub max_ns: Option<u64>,
}

impl JobResult {
    /// Returns what is known of the operations of one kind of this job.
    #[must_use]
    pub fn known_transfers(&self, result: &DirectionResult) -> KnownTransfers {
        let &DirectionResult { ios, bytes, runtime_ns, .. } = result;
        let (iops, bytes_per_second) = (result.iops(), result.bytes_per_second());
        if !self.untimed {
            // Of a text without options, what is 0 may as well be unknown: a log of IOPS has no bytes.
            let [has_ios, has_bytes] = [ios, bytes].map(|sum| sum > 0 || !self.declared.header_only);
            return KnownTransfers {
                ios: has_ios.then_some(ios),
                bytes: has_bytes.then_some(bytes),
                runtime_ns: Some(runtime_ns),
                iops: has_ios.then_some(iops),
                bytes_per_second: has_bytes.then_some(bytes_per_second),
            };
        }
        // Rates count for a nominal time, and a mean of unknown operations for one.
        let is_rate = runtime_ns > 0;
        KnownTransfers {
            ios: (!is_rate && ios > 1).then_some(ios),
            bytes: (!is_rate && bytes > 0).then_some(bytes),
            runtime_ns: None,
            iops: (iops > 0.0).then_some(iops),
            bytes_per_second: (bytes_per_second > 0.0).then_some(bytes_per_second),
        }
    }

    /// Returns what is known of a latency of this job.
    #[must_use]
    pub fn known_latency(&self, latency: &LatencyStats) -> KnownLatency {
        let &LatencyStats { count, min_ns, max_ns, mean_ns, stddev_ns, .. } = latency;
        if count == 0 {
            return KnownLatency::default();
        }
        // Statistics that a text does not print are 0, as is the deviation of equal values.
        let is_all = !self.declared.header_only;
        let are_equal = max_ns > 0 && min_ns == max_ns;
        KnownLatency {
            mean_ns: (is_all || mean_ns > 0.0).then_some(mean_ns),
            stddev_ns: (is_all || stddev_ns > 0.0 || are_equal).then_some(stddev_ns),
            max_ns: (is_all || max_ns > 0).then_some(max_ns),
        }
    }
}
