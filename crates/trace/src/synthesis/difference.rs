//! How far a load is from another one, by dimension.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::backlog::{Backlog, BacklogLimit, MeanRates};
use super::{JobLoop, JobOmission};
use crate::characterize::{PerOperation, SizeProfile, TraceDistribution, TraceProfile};

/// A quantity of two loads.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LoadDifference {
    /// What is compared.
    #[schemars(with = "String")]
    pub dimension: LoadDimension,
    /// Its value in the trace; `None` if it has none.
    pub trace: Option<f64>,
    pub job: Option<f64>,
    /// Difference: a fraction of the trace's value (of at least one for dispersions and percentiles of the depth), or the
    /// absolute difference of dimensions that are fractions.
    pub difference: f64,
    /// The largest difference that is none.
    pub tolerance: f64,
    /// Whether the difference is within the tolerance of the dimension.
    pub is_matched: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadDimension {
    /// Reads, writes and discards per second.
    Rate,
    /// Bytes per second.
    BytesRate,
    /// Reads as a fraction of the reads and writes.
    ReadFraction,
    /// Total variation distance of the sizes.
    Sizes,
    /// Fraction of the reads that continue a stream.
    SequentialReads,
    /// Fraction of the writes that continue a stream.
    SequentialWrites,
    /// Flushes per second.
    FlushRate,
    /// Mean number of requests in flight.
    DepthMean,
    /// 99th percentile of the requests in flight.
    DepthP99,
    /// 99th percentile of the wait before a limit, in nanoseconds.
    Wait(BacklogLimit),
    /// Index of dispersion of counts in windows of this many milliseconds.
    Dispersion(u64),
    /// Bytes that are read or written at least once.
    Footprint,
    /// Fraction of the accesses to this percentage of the blocks in use.
    HotAccesses(u64),
    /// Miss ratio of a cache of this many percent of the footprint.
    MissRatio(u64),
}

impl Serialize for LoadDimension {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.code())
    }
}

impl LoadDimension {
    /// Returns a word that identifies the dimension in documents.
    #[must_use]
    pub fn code(self) -> String {
        match self {
            Self::Rate => "rate".to_owned(),
            Self::BytesRate => "bytes-rate".to_owned(),
            Self::ReadFraction => "read-fraction".to_owned(),
            Self::Sizes => "sizes".to_owned(),
            Self::SequentialReads => "sequential-reads".to_owned(),
            Self::SequentialWrites => "sequential-writes".to_owned(),
            Self::FlushRate => "flush-rate".to_owned(),
            Self::DepthMean => "depth-mean".to_owned(),
            Self::DepthP99 => "depth-p99".to_owned(),
            Self::Wait(BacklogLimit::Requests(per_s)) => format!("wait-{per_s}iops"),
            Self::Wait(BacklogLimit::Bytes(per_s)) => format!("wait-{}mib", per_s >> 20),
            Self::Dispersion(ms) => format!("dispersion-{ms}ms"),
            Self::Footprint => "footprint".to_owned(),
            Self::HotAccesses(percent) => format!("hot-{percent}"),
            Self::MissRatio(percent) => format!("miss-ratio-{percent}"),
        }
    }

    /// Returns the greatest difference of loads that match in this dimension.
    #[must_use]
    pub const fn tolerance(self) -> f64 {
        match self {
            Self::Rate | Self::BytesRate => 0.03,
            Self::ReadFraction => 0.02,
            Self::Sizes
            | Self::SequentialReads
            | Self::SequentialWrites
            | Self::HotAccesses(_)
            | Self::MissRatio(_) => 0.05,
            Self::FlushRate | Self::Footprint => 0.1,
            Self::DepthMean | Self::Wait(_) => 0.15,
            Self::DepthP99 | Self::Dispersion(_) => 0.3,
        }
    }

    /// Reports whether it is a fraction, of which the difference is absolute.
    #[must_use]
    pub const fn is_fraction(self) -> bool {
        matches!(
            self,
            Self::ReadFraction
                | Self::Sizes
                | Self::SequentialReads
                | Self::SequentialWrites
                | Self::HotAccesses(_)
                | Self::MissRatio(_)
        )
    }
}

/// Windows in milliseconds for which dispersions are compared.
const DISPERSION_MS: [u64; 4] = [1, 10, 100, 1000];
/// Caches in percent of the trace's footprint.
const CACHE_PERCENT: [u64; 3] = [1, 10, 50];

/// Returns the differences of a job from a trace, in the dimensions that are known of the trace.
#[must_use]
pub fn load_distance(trace: &TraceProfile, job: &TraceProfile) -> Vec<LoadDifference> {
    let both = |of: fn(&TraceProfile) -> Option<f64>| (of(trace), of(job));
    let mut all = vec![
        difference(LoadDimension::Rate, both(rate)),
        difference(LoadDimension::BytesRate, both(bytes_rate)),
        difference(LoadDimension::ReadFraction, both(read_fraction)),
        difference(LoadDimension::Sizes, (Some(0.0), Some(size_distance(&trace.sizes, &job.sizes)))),
        difference(LoadDimension::SequentialReads, both(sequential_reads)),
        difference(LoadDimension::SequentialWrites, both(sequential_writes)),
        difference(LoadDimension::FlushRate, both(flush_rate)),
        difference(LoadDimension::DepthMean, both(|profile| Some(depth(profile)?.mean))),
        difference(LoadDimension::DepthP99, both(|profile| Some(depth(profile)?.p99 as f64))),
    ];
    for ms in DISPERSION_MS {
        let values = (dispersion(trace, ms), dispersion(job, ms));
        all.push(difference(LoadDimension::Dispersion(ms), values));
    }
    all.push(difference(LoadDimension::Footprint, both(|profile| Some(profile.reuse.as_ref()?.footprint_bytes))));
    for percent in [1, 5, 10, 20] {
        let values = (hot(trace, percent), hot(job, percent));
        all.push(difference(LoadDimension::HotAccesses(percent), values));
    }
    let footprint = trace.reuse.as_ref().map_or(0.0, |reuse| reuse.footprint_bytes);
    for percent in CACHE_PERCENT {
        let bytes = footprint * percent as f64 / 100.0;
        let values = (miss_ratio(trace, bytes), miss_ratio(job, bytes));
        all.push(difference(LoadDimension::MissRatio(percent), values));
    }
    all.retain(|difference| difference.trace.is_some());
    all
}

/// Returns the differences of the waits of an open loop before limits above the rate of the trace.
#[must_use]
pub fn wait_distance(profile: &TraceProfile, trace: &[Backlog], job: &[Backlog]) -> Vec<LoadDifference> {
    let mean =
        MeanRates { requests_per_s: rate(profile).unwrap_or(0.0), bytes_per_s: bytes_rate(profile).unwrap_or(0.0) };
    let of = |(trace, job): (&Backlog, &Backlog)| {
        let (a, b) = (trace.p99_ns as f64, job.p99_ns as f64);
        let known = trace.is_above(mean) && a.max(b) >= Backlog::LATENCY_NS;
        known.then(|| difference(LoadDimension::Wait(trace.limit), (Some(a), Some(b))))
    };
    trace.iter().zip(job).filter_map(of).collect()
}

fn difference(dimension: LoadDimension, (trace, job): (Option<f64>, Option<f64>)) -> LoadDifference {
    let (a, b) = (trace.unwrap_or(0.0), job.unwrap_or(0.0));
    let least = match dimension {
        // Counts that are more even than chance differ by little, and depths are whole numbers.
        LoadDimension::DepthP99 | LoadDimension::Dispersion(_) => 1.0,
        _ => f64::MIN_POSITIVE,
    };
    let difference = match dimension {
        LoadDimension::Wait(_) => (b - a) / (a + Backlog::LATENCY_NS),
        _ if dimension.is_fraction() => b - a,
        _ => (b - a) / a.max(least),
    };
    let difference = if difference.is_finite() { difference } else { 1.0 };
    let tolerance = dimension.tolerance();
    LoadDifference { dimension, trace, job, difference, tolerance, is_matched: difference.abs() <= tolerance }
}

fn data_requests(profile: &TraceProfile) -> f64 {
    let requests = &profile.totals.requests;
    (requests.read + requests.write + requests.write_zeroes + requests.discard) as f64
}

fn per_s(profile: &TraceProfile, count: f64) -> Option<f64> {
    let duration_ns = profile.totals.issue_duration_ns;
    (duration_ns > 0 && count > 0.0).then(|| count / (duration_ns as f64 / 1e9))
}

fn rate(profile: &TraceProfile) -> Option<f64> {
    per_s(profile, data_requests(profile))
}

fn bytes_rate(profile: &TraceProfile) -> Option<f64> {
    per_s(profile, profile.totals.bytes.total() as f64)
}

/// Writes with FUA count as a write and a flush, as jobs issue them.
fn flush_rate(profile: &TraceProfile) -> Option<f64> {
    let totals = &profile.totals;
    let stable = totals.fua_requests.max(totals.preflush_requests.saturating_sub(totals.requests.flush));
    per_s(profile, (totals.requests.flush + stable) as f64)
}

fn read_fraction(profile: &TraceProfile) -> Option<f64> {
    let requests = &profile.totals.requests;
    let all = requests.read + requests.write + requests.write_zeroes;
    (all > 0).then(|| requests.read as f64 / all as f64)
}

fn sequential_reads(profile: &TraceProfile) -> Option<f64> {
    let runs = &profile.sequential.reads;
    (runs.requests > 0).then(|| runs.continuing_fraction())
}

fn sequential_writes(profile: &TraceProfile) -> Option<f64> {
    let runs = &profile.sequential.writes;
    (runs.requests > 0).then(|| runs.continuing_fraction())
}

fn depth(profile: &TraceProfile) -> Option<TraceDistribution> {
    profile.depth.as_ref()?.depth
}

fn dispersion(profile: &TraceProfile, ms: u64) -> Option<f64> {
    let window = profile.arrivals.windows.iter().find(|window| window.width_ns == ms * 1_000_000)?;
    window.index_of_dispersion
}

fn hot(profile: &TraceProfile, percent: u64) -> Option<f64> {
    let shares = &profile.reuse.as_ref()?.hot.shares;
    Some(shares.iter().find(|share| share.blocks_percent == percent as f64)?.accesses_fraction)
}

/// Returns the miss ratio of a cache, between the sizes for which it is known.
fn miss_ratio(profile: &TraceProfile, bytes: f64) -> Option<f64> {
    let points = &profile.reuse.as_ref()?.miss_ratios;
    let after = points.iter().position(|point| point.cache_bytes as f64 >= bytes);
    match after {
        None => points.last().map(|point| point.miss_ratio),
        Some(0) => points.first().map(|point| point.miss_ratio),
        Some(at) => {
            let (low, high) = (&points[at - 1], &points[at]);
            let log = |bytes: f64| bytes.max(1.0).ln();
            let (from, to) = (log(low.cache_bytes as f64), log(high.cache_bytes as f64));
            let part = if to > from { (log(bytes) - from) / (to - from) } else { 1.0 };
            Some(low.miss_ratio + part * (high.miss_ratio - low.miss_ratio))
        }
    }
}

/// Returns the total variation distance of the sizes of reads, writes and discards: half the sum of the differences of
/// the fractions of all sizes.
fn size_distance(trace: &PerOperation<SizeProfile>, job: &PerOperation<SizeProfile>) -> f64 {
    let (a, b) = (size_fractions(trace), size_fractions(job));
    let mut sizes: Vec<(usize, u64)> = a.iter().chain(&b).map(|(size, _)| *size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let of = |list: &[((usize, u64), f64)], size| {
        list.iter().filter(|other| other.0 == size).map(|other| other.1).sum::<f64>()
    };
    sizes.iter().map(|size| (of(&a, *size) - of(&b, *size)).abs()).sum::<f64>() / 2.0
}

/// Returns the fraction of the requests of each operation and size. Rare sizes are put into the ranges of the profile.
fn size_fractions(sizes: &PerOperation<SizeProfile>) -> Vec<((usize, u64), f64)> {
    let operations = [&sizes.read, &sizes.write, &sizes.discard, &sizes.write_zeroes];
    let mut counts: Vec<((usize, u64), f64)> = Vec::new();
    for (number, profile) in operations.into_iter().enumerate() {
        // Writes of zeroes are writes of the job.
        let kind = if number == 3 { 1 } else { number };
        // Sizes within 9 % are one: a job has whole percentages of few sizes.
        let class = |bytes: u64| (kind, (bytes.max(1) as f64).log2().mul_add(8.0, 0.5) as u64);
        let frequent = profile.frequent.iter().map(|size| (class(u64::from(size.bytes)), size.requests));
        let others =
            profile.others.iter().map(|range| (class(u64::midpoint(range.bytes_min, range.bytes_end)), range.requests));
        counts.extend(frequent.chain(others).map(|(size, requests)| (size, requests as f64)));
    }
    let all: f64 = counts.iter().map(|count| count.1).sum();
    counts.iter_mut().for_each(|count| count.1 /= all.max(1.0));
    counts
}

/// Greatest relative difference of rates, and of 99th percentiles, that match.
const IOPS_TOLERANCE: f64 = 0.03;
const P99_TOLERANCE: f64 = 0.15;

/// A job for a trace, compared with it.
#[derive(Clone, Debug, PartialEq)]
pub struct JobComparison {
    /// Name of the job file.
    pub file: String,
    pub sections: usize,
    /// How the job issues requests.
    pub job_loop: JobLoop,
    /// Bytes of the file or device that it uses.
    pub bytes: u64,
    /// What the job leaves out or changes.
    pub omissions: Vec<JobOmission>,
    /// Differences between its load and the trace's.
    pub differences: Vec<LoadDifference>,
    /// The trace and the job on modelled volumes.
    pub volumes: Vec<VolumeComparison>,
    /// Why there are no volumes; `None` if there are.
    pub not_simulated: Option<String>,
}

/// Rate and latency of a load on a volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct LoadLatency {
    /// Reads, writes and discards per second.
    pub iops: f64,
    /// Median from the intended instant to the completion, in nanoseconds.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p99_9_ns: u64,
}

/// A trace and its job on a volume.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct VolumeComparison {
    /// Volume, as in `--on`.
    pub volume: String,
    /// The replayed trace.
    pub trace: LoadLatency,
    pub job: LoadLatency,
}

impl VolumeComparison {
    /// Returns by which fraction the job has more requests per second.
    #[must_use]
    pub fn iops_difference(&self) -> f64 {
        self.job.iops / self.trace.iops.max(f64::MIN_POSITIVE) - 1.0
    }

    /// Returns by which fraction the 99th percentile of the job is higher.
    #[must_use]
    pub fn p99_difference(&self) -> f64 {
        self.job.p99_ns as f64 / self.trace.p99_ns.max(1) as f64 - 1.0
    }

    /// Reports whether the rates differ by at most 3 % and the 99th percentiles by at most 15 %.
    #[must_use]
    pub fn is_matched(&self) -> bool {
        self.iops_difference().abs() <= IOPS_TOLERANCE && self.p99_difference().abs() <= P99_TOLERANCE
    }
}
