//! What kind of load a trace is, as numbers.

mod arrivals;
mod blocks;
mod sizes;

pub use arrivals::{ArrivalProfile, BurstProfile, HurstEstimate, WindowProfile};
pub use blocks::{HotProfile, HotShare, MissRatioPoint, ReuseProfile, WorkingSetWindow, ZipfFit};
pub use sizes::{SizeProfile, TraceSizeCount, TraceSizeRange};

use crate::TraceOperation;

/// One value for each operation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PerOperation<T> {
    /// Of [`TraceOperation::Read`].
    pub read: T,
    /// Of [`TraceOperation::Write`].
    pub write: T,
    /// Of [`TraceOperation::Flush`].
    pub flush: T,
    /// Of [`TraceOperation::Discard`].
    pub discard: T,
    /// Of [`TraceOperation::WriteZeroes`].
    pub write_zeroes: T,
    /// Of [`TraceOperation::Other`].
    pub other: T,
}

impl<T> PerOperation<T> {
    #[must_use]
    pub const fn get(&self, operation: TraceOperation) -> &T {
        match operation {
            TraceOperation::Read => &self.read,
            TraceOperation::Write => &self.write,
            TraceOperation::Flush => &self.flush,
            TraceOperation::Discard => &self.discard,
            TraceOperation::WriteZeroes => &self.write_zeroes,
            TraceOperation::Other => &self.other,
        }
    }

    /// Returns the value of an operation, to change it.
    #[inline]
    pub const fn get_mut(&mut self, operation: TraceOperation) -> &mut T {
        match operation {
            TraceOperation::Read => &mut self.read,
            TraceOperation::Write => &mut self.write,
            TraceOperation::Flush => &mut self.flush,
            TraceOperation::Discard => &mut self.discard,
            TraceOperation::WriteZeroes => &mut self.write_zeroes,
            TraceOperation::Other => &mut self.other,
        }
    }

    /// Returns the values of a function of each value.
    pub fn map<U>(&self, mut of: impl FnMut(&T) -> U) -> PerOperation<U> {
        PerOperation {
            read: of(&self.read),
            write: of(&self.write),
            flush: of(&self.flush),
            discard: of(&self.discard),
            write_zeroes: of(&self.write_zeroes),
            other: of(&self.other),
        }
    }

    /// Returns all values in the order of the fields.
    #[must_use]
    pub const fn all(&self) -> [&T; 6] {
        [&self.read, &self.write, &self.flush, &self.discard, &self.write_zeroes, &self.other]
    }
}

impl PerOperation<u64> {
    /// Returns the sum of all operations.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.all().into_iter().fold(0, |sum, count| sum.saturating_add(*count))
    }
}

/// Distribution of a quantity, in the unit that the name of its field ends with. Percentiles are at most 0.8 % off;
/// the other values are exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceDistribution {
    /// Number of values, or time in nanoseconds for distributions over time.
    pub weight: u64,
    /// Least value.
    pub min: u64,
    /// Greatest value.
    pub max: u64,
    pub mean: f64,
    /// Standard deviation over mean; zero if the mean is zero.
    pub coefficient_of_variation: f64,
    /// 10th percentile.
    pub p10: u64,
    /// Median.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 95th percentile.
    pub p95: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p99_9: u64,
}

/// Characteristics of a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceProfile {
    /// Number of requests, bytes and flags.
    pub totals: TraceTotals,
    /// Rates, depth and new blocks over time.
    pub series: TraceSeries,
    /// Sizes of requests.
    pub sizes: PerOperation<SizeProfile>,
    /// Sequential streams.
    pub sequential: SequentialProfile,
    /// Requests in flight; `None` without known completions.
    pub depth: Option<DepthProfile>,
    /// Instants of issue.
    pub arrivals: ArrivalProfile,
    /// Dependence of issues on completions; `None` without known completions or with too few requests.
    pub loops: Option<LoopProfile>,
    /// Blocks in use; `None` without reads and writes.
    pub reuse: Option<ReuseProfile>,
    /// Time from the issue to the completion, in nanoseconds.
    pub service_ns: PerOperation<Option<TraceDistribution>>,
    /// Time in the queue of the scheduler, in nanoseconds.
    pub queued_ns: PerOperation<Option<TraceDistribution>>,
    /// Processes, the one with the most requests first.
    pub processes: Vec<ProcessProfile>,
    /// Devices by index.
    pub devices: Vec<DeviceProfile>,
}

/// Sums over a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TraceTotals {
    pub requests: PerOperation<u64>,
    pub bytes: PerOperation<u64>,
    /// Requests for which a process waits.
    pub sync_requests: u64,
    /// Bytes of requests for which a process waits.
    pub sync_bytes: u64,
    /// Writes for which a process waits.
    pub sync_writes: u64,
    /// Requests of filesystem metadata.
    pub meta_requests: u64,
    /// Bytes of filesystem metadata.
    pub meta_bytes: u64,
    /// Writes that are on stable storage when they complete.
    pub fua_requests: u64,
    /// Bytes of these.
    pub fua_bytes: u64,
    /// Requests that a flush precedes.
    pub preflush_requests: u64,
    /// Requests that read ahead.
    pub readahead_requests: u64,
    /// Bytes that are read ahead.
    pub readahead_bytes: u64,
    pub failed_requests: u64,
    /// Requests without a known completion.
    pub incomplete_requests: u64,
    /// Requests that were issued before the one that precedes them in the trace. They are taken as issued with it.
    pub late_requests: u64,
    /// By how much at most, in nanoseconds.
    pub late_ns_max: u64,
    /// Issue of the first request, in nanoseconds since the start of the trace.
    pub first_issue_ns: u64,
    /// Time from the first to the last issue, in nanoseconds.
    pub issue_duration_ns: u64,
    /// Time from the first issue to the last issue or completion, in nanoseconds.
    pub duration_ns: u64,
}

/// Rates over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceSeries {
    /// Width of the intervals in nanoseconds.
    pub width_ns: u64,
    /// Intervals since the first issue, at most 2,048; the last one may be incomplete.
    pub intervals: Vec<TraceInterval>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TraceInterval {
    /// Requests that were issued.
    pub requests: PerOperation<u64>,
    /// Their bytes.
    pub bytes: PerOperation<u64>,
    /// Requests in flight times nanoseconds: the mean depth times the width.
    pub in_flight_ns: u64,
    /// Greatest number of requests in flight.
    pub in_flight_max: u64,
    /// Estimated number of blocks that were used for the first time.
    pub new_blocks: f64,
}

impl TraceInterval {
    pub(in crate::characterize) fn join(&mut self, other: &Self) {
        let add = |ours: &mut PerOperation<u64>, theirs: &PerOperation<u64>| {
            let PerOperation { read, write, flush, discard, write_zeroes, other } = ours;
            let sums = [read, write, flush, discard, write_zeroes, other];
            sums.into_iter().zip(theirs.all()).for_each(|(sum, value)| *sum = sum.saturating_add(*value));
        };
        add(&mut self.requests, &other.requests);
        add(&mut self.bytes, &other.bytes);
        self.in_flight_ns = self.in_flight_ns.saturating_add(other.in_flight_ns);
        self.in_flight_max = self.in_flight_max.max(other.in_flight_max);
        self.new_blocks += other.new_blocks;
    }
}

/// Sequential streams of reads and of writes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SequentialProfile {
    pub reads: RunProfile,
    pub writes: RunProfile,
}

/// Runs of one direction. A request continues a run if it begins where an earlier request of its direction ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunProfile {
    /// Requests with data.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Requests that continue a run.
    pub continuing_requests: u64,
    /// Their bytes.
    pub continuing_bytes: u64,
    /// How many of them do so by chance, as random requests to few blocks often do: the number of requests for which a run
    /// ends at another place near them.
    pub chance_requests: u64,
    /// Lengths of runs in requests; a request that is not continued is a run of one.
    pub run_requests: Option<TraceDistribution>,
    /// Lengths of runs in bytes.
    pub run_bytes: Option<TraceDistribution>,
    /// Number of streams that are interleaved: for each request that continues a stream, the number of streams that were
    /// continued since its last request, and itself. At most 16.
    pub interleaved_streams: Option<TraceDistribution>,
}

impl RunProfile {
    /// Returns the fraction of the requests that continue a run, beyond chance; zero without requests.
    #[must_use]
    pub fn continuing_fraction(&self) -> f64 {
        self.continuing_requests.saturating_sub(self.chance_requests) as f64 / self.requests.max(1) as f64
    }
}

/// Requests in flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DepthProfile {
    /// Depth over time; `None` if no time passes.
    pub depth: Option<TraceDistribution>,
    /// Depth at each issue, including the request that is issued.
    pub depth_at_issue: TraceDistribution,
    /// Fraction of the time with at least one request in flight.
    pub busy_time_fraction: f64,
    /// Fraction of the time with at least two requests in flight.
    pub above_one_time_fraction: f64,
    /// Requests that were dropped from tracking because over 65,536 were in flight.
    pub dropped: u64,
}

/// Dependence of issues on completions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopProfile {
    /// Time from the last completion of a process to its next issue, in nanoseconds, for issues that a completion allows.
    pub think_ns: Option<TraceDistribution>,
    /// 0 if issues do not depend on completions (open loop), 1 if each waits for one (closed loop): the mean over
    /// processes by requests.
    pub closed_loop_score: f64,
    /// Fraction of the requests whose processes have a score.
    pub scored_fraction: f64,
}

/// Load of one process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProcessProfile {
    /// Index in [`crate::TraceInfo::processes`].
    pub process: u16,
    pub requests: PerOperation<u64>,
    pub bytes: PerOperation<u64>,
    /// Requests for which a process waits.
    pub sync_requests: u64,
    /// Mean number of its requests in flight; `None` without completions.
    pub depth_mean: Option<f64>,
    /// Mean time from its last completion to its next issue, in nanoseconds.
    pub think_ns_mean: Option<f64>,
    /// Fraction of its issues within 20 µs of a completion.
    pub following_fraction: Option<f64>,
    /// 0 for an open loop, 1 for a closed one; `None` if it cannot be told.
    pub closed_loop_score: Option<f64>,
}

/// Load of one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceProfile {
    /// Index in [`crate::TraceInfo::devices`].
    pub device: u16,
    pub requests: u64,
    pub bytes: u64,
    /// End of the last request by position, in bytes: the device is at least as large.
    pub end_offset: u64,
}
