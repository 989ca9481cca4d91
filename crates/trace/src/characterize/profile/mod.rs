//! What kind of load a trace is, as numbers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::TraceOperation;

/// One value for each operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "PerOperationOf_{T}")]
pub struct PerOperation<T> {
    /// Reads.
    pub read: T,
    /// Writes.
    pub write: T,
    /// Flushes.
    pub flush: T,
    /// Discards.
    pub discard: T,
    /// Writes of zeroes without data.
    pub write_zeroes: T,
    /// All other requests.
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct TraceProfile {
    /// Number of requests, bytes and flags.
    pub totals: TraceTotals,
    /// Rates, depth and new blocks over time.
    #[schemars(with = "SeriesColumns")]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
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

/// The series as serialized: a column for each figure, with a value for each interval.
#[derive(Serialize, JsonSchema)]
struct SeriesColumns {
    /// Width of the intervals in nanoseconds.
    width_ns: u64,
    /// Requests by operation; operations that do not occur are missing.
    requests: BTreeMap<&'static str, Vec<u64>>,
    /// Bytes by operation.
    bytes: BTreeMap<&'static str, Vec<u64>>,
    /// Mean number of requests in flight.
    in_flight_mean: Vec<f64>,
    /// Greatest number of requests in flight.
    in_flight_max: Vec<u64>,
    /// Estimated number of blocks that were used for the first time.
    new_blocks: Vec<f64>,
}

impl Serialize for TraceSeries {
    /// Serializes columns; operations that do not occur have none.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let columns = |of: fn(&TraceInterval) -> &PerOperation<u64>| {
            let column = |operation| self.intervals.iter().map(|interval| *of(interval).get(operation)).collect();
            let columns = TraceOperation::ALL.into_iter().map(|operation| (operation.name(), column(operation)));
            columns.filter(|(_, values): &(_, Vec<u64>)| values.iter().any(|value| *value > 0)).collect()
        };
        let width = self.width_ns.max(1) as f64;
        let columns = SeriesColumns {
            width_ns: self.width_ns,
            requests: columns(|interval| &interval.requests),
            bytes: columns(|interval| &interval.bytes),
            in_flight_mean: self.intervals.iter().map(|interval| interval.in_flight_ns as f64 / width).collect(),
            in_flight_max: self.intervals.iter().map(|interval| interval.in_flight_max).collect(),
            new_blocks: self.intervals.iter().map(|interval| interval.new_blocks).collect(),
        };
        columns.serialize(serializer)
    }
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct SequentialProfile {
    pub reads: RunProfile,
    pub writes: RunProfile,
}

/// Runs of one direction. A request continues a run if it begins where an earlier request of its direction ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ProcessProfile {
    /// Index in the names of processes.
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
    /// 0 for an open loop, 1 for a closed one; `None` if it cannot be determined.
    pub closed_loop_score: Option<f64>,
}

/// Load of one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeviceProfile {
    /// Index in the names of devices.
    pub device: u16,
    pub requests: u64,
    pub bytes: u64,
    /// End of the last request by position, in bytes: the device is at least as large.
    pub end_offset: u64,
}

/// Instants of issue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ArrivalProfile {
    /// Mean rate from the first to the last issue, in requests per second; `None` if no time passes.
    pub rate_per_s: Option<f64>,
    /// Time from one issue to the next, in nanoseconds.
    pub gap_ns: Option<TraceDistribution>,
    /// Counts in windows of 1 ms to 1 min that are at most as long as the trace, in ascending order. None is narrower than
    /// the resolution that times seem to have, nor are those of bursts and of the Hurst exponent.
    pub windows: Vec<WindowProfile>,
    /// Hurst exponent of the counts; `None` for traces that are too short or do not vary.
    pub hurst: Option<HurstEstimate>,
    /// Bursts; `None` if there are none.
    pub bursts: Option<BurstProfile>,
}

/// Counts of requests in windows of one width.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WindowProfile {
    /// Width in nanoseconds.
    pub width_ns: u64,
    /// Most requests in one window. Windows slide in steps of a tenth of the width, of the widest in steps of a sixth.
    pub requests_max: u64,
    /// Most bytes in one window.
    pub bytes_max: u64,
    /// The peak over the mean number of requests.
    pub peak_to_mean: f64,
    /// Variance over mean of the counts in adjacent windows: 1 for Poisson arrivals, 0 for even ones; `None` for fewer
    /// than two windows.
    pub index_of_dispersion: Option<f64>,
}

/// Estimate of the Hurst exponent: 0.5 without long-range dependence, up to 1 with it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HurstEstimate {
    pub exponent: f64,
    /// Its standard error, with half of the change if the fit began at windows that are four times as wide.
    pub standard_error: f64,
    /// Weighted sum of squared residuals per degree of freedom: about 1 for a good fit; above 1.5
    /// the counts do not scale.
    pub residual: f64,
    /// Narrowest windows of the fit in nanoseconds.
    pub scale_ns_min: f64,
    /// Widest windows of the fit in nanoseconds.
    pub scale_ns_max: f64,
}

/// Bursts: intervals of 10 ms windows with over twice the mean rate so far, and more than chance explains. The first second
/// only gives the mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BurstProfile {
    pub bursts: u64,
    /// Duration in nanoseconds, a multiple of 10 ms.
    pub duration_ns: TraceDistribution,
    /// Time from the start of one burst to that of the next, in nanoseconds; `None` for one burst.
    pub interval_ns: Option<TraceDistribution>,
    /// Fraction of all requests that are in bursts.
    pub requests_fraction: f64,
    /// Fraction of the time that bursts take.
    pub time_fraction: f64,
    /// Rate in bursts over the mean rate.
    pub rate_to_mean: f64,
    /// Bytes in bursts.
    pub bytes: u64,
    /// Fraction of the requests in bursts that are writes.
    pub writes_fraction: f64,
}

/// Blocks in use and their reuse. Estimates from a sample of 16,384 blocks; exact if no more are used.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ReuseProfile {
    /// Size of a block in bytes.
    pub block_bytes: u64,
    /// Accesses: a request of several blocks is one access of each.
    pub accesses: u64,
    /// Blocks that were not examined, in requests of more than 16 MiB.
    pub skipped_blocks: u64,
    /// Bytes that are read or written.
    pub footprint_bytes: f64,
    pub read_footprint_bytes: f64,
    pub written_footprint_bytes: f64,
    /// Relative standard error of the footprint; zero if it is exact.
    pub footprint_relative_error: f64,
    /// Working sets of windows of 1 s to 1 h that are at most as long as the trace.
    pub windows: Vec<WorkingSetWindow>,
    /// Miss ratio of an LRU cache that reads and writes fill, by its size.
    pub miss_ratios: Vec<MissRatioPoint>,
    /// Hot spots.
    pub hot: HotProfile,
}

/// Bytes that are used within adjacent windows of one width.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WorkingSetWindow {
    /// Width in nanoseconds.
    pub width_ns: u64,
    /// Bytes that are read or written: mean over windows.
    pub bytes_mean: f64,
    /// The most in one window.
    pub bytes_max: f64,
    /// Bytes that are read: mean.
    pub read_bytes_mean: f64,
    /// The most that is read in one window.
    pub read_bytes_max: f64,
    /// Bytes that are written: mean.
    pub written_bytes_mean: f64,
    /// The most that is written in one window.
    pub written_bytes_max: f64,
}

/// Misses of a cache of one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MissRatioPoint {
    /// Size in bytes.
    pub cache_bytes: u64,
    /// Fraction of the accesses that miss.
    pub miss_ratio: f64,
    /// Fraction of the accesses by reads that miss; zero without reads.
    pub read_miss_ratio: f64,
}

/// How unevenly accesses are spread.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HotProfile {
    /// Accesses to the hottest 1 %, 5 %, 10 % and 20 % of the blocks in use.
    pub shares: Vec<HotShare>,
    /// Zipf distribution; `None` with too few accesses.
    pub zipf: Option<ZipfFit>,
}

/// Accesses to the hottest blocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HotShare {
    /// Percentage of the blocks in use.
    pub blocks_percent: f64,
    pub accesses_fraction: f64,
}

/// A zipf distribution for fio's `random_distribution=zipf:THETA`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ZipfFit {
    /// Exponent; zero is uniform.
    pub theta: f64,
    /// Number of units over which it is spread.
    pub units: f64,
    /// Size of a unit in bytes: the mean size of a request in whole blocks.
    pub unit_bytes: f64,
    /// Greatest difference between the fractions of accesses of the shares and those of the fit: above 0.1
    /// the load is not zipf.
    pub difference_max: f64,
}

/// Sizes of the requests of one operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SizeProfile {
    /// The most frequent sizes, at most 16, with exact counts.
    pub frequent: Vec<TraceSizeCount>,
    /// All other requests, in ranges of ascending size.
    pub others: Vec<TraceSizeRange>,
}

/// Requests of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TraceSizeCount {
    /// Size in bytes.
    pub bytes: u32,
    pub requests: u64,
}

/// Requests in a range of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TraceSizeRange {
    /// Least size in bytes.
    pub bytes_min: u64,
    /// First size in bytes that is too large.
    pub bytes_end: u64,
    pub requests: u64,
}

impl SizeProfile {
    /// Returns sizes in bytes with their numbers of requests, in ascending order. A range counts as its least size.
    #[must_use]
    pub fn ascending(&self) -> Vec<(u64, u64)> {
        let frequent = self.frequent.iter().map(|size| (u64::from(size.bytes), size.requests));
        let others = self.others.iter().map(|range| (range.bytes_min, range.requests));
        let mut sizes: Vec<(u64, u64)> = frequent.chain(others).collect();
        sizes.sort_unstable();
        sizes
    }

    /// Returns the size in bytes that a fraction of the requests does not exceed; `None` without requests.
    #[must_use]
    pub fn quantile(&self, fraction: f64) -> Option<u64> {
        let sizes = self.ascending();
        let all: u64 = sizes.iter().map(|(_, requests)| requests).sum();
        let wanted = (fraction * all as f64).ceil().max(1.0);
        let mut seen = 0.0;
        let reached = sizes.iter().find(|(_, requests)| {
            seen += *requests as f64;
            seen >= wanted
        });
        reached.or(sizes.last()).map(|(bytes, _)| *bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_requests() {
        let profile = SizeProfile {
            frequent: vec![TraceSizeCount { bytes: 8192, requests: 60 }, TraceSizeCount { bytes: 4096, requests: 30 }],
            others: vec![TraceSizeRange { bytes_min: 6144, bytes_end: 7168, requests: 10 }],
        };
        let at = |fraction| profile.quantile(fraction);
        assert_eq!([0.0, 0.3, 0.31, 0.4, 0.41, 1.0].map(at), [4096, 4096, 6144, 6144, 8192, 8192].map(Some));
        assert_eq!(SizeProfile::default().quantile(0.5), None);
    }
}
