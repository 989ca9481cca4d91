//! The document of a plan for a trace.

use schemars::JsonSchema;
use serde::Serialize;

use super::document::{MonthlyPrice, PlanConditions, PlanPercentile};

/// A plan for a trace with its sentences.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TracePlanDocument<'a> {
    /// Version of the document's layout.
    pub fathom_trace_plan: u32,
    /// Version of Fathom.
    pub version: &'static str,
    /// Seed of the replays.
    pub seed: u64,
    /// Provisioned values are at most this fraction above the smallest sufficient ones.
    pub resolution: f64,
    pub trace: TracePlanSource<'a>,
    pub need: TracePlanNeed<'a>,
    pub not_considered: [&'static str; 2],
    /// The cheapest volume that no other beats in price and latency.
    pub best: Option<&'a str>,
    /// The fastest volume that no other beats in price and latency.
    pub fastest: Option<&'a str>,
    /// The cheapest volume whose latency is not assumed.
    pub best_of_known_latency: Option<&'a str>,
    /// Volumes that no other beats in price and latency.
    pub front: Vec<&'a str>,
    /// The cheapest volume for twice the load.
    pub next_step: Option<TracePlanCandidate<'a>>,
    /// Volumes that meet the need, the cheapest first.
    pub meeting: Vec<TracePlanCandidate<'a>>,
    /// Volumes that do not meet the need, the nearest first.
    pub missing: Vec<TracePlanCandidate<'a>>,
}

impl TracePlanDocument<'_> {
    /// Version of the layout.
    pub const SCHEMA: u32 = 1;
}

/// A trace, and what of it was replayed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TracePlanSource<'a> {
    /// Name of its file.
    pub name: &'a str,
    /// Program or format from which it comes.
    pub source: &'a str,
    pub requests: u64,
    /// Time from its first to its last issue, in seconds.
    pub secs: f64,
    /// `closed` if each request waits for the completion that its process had waited for; otherwise `open`.
    #[serde(rename = "loop")]
    pub replay_loop: &'static str,
    /// `assumed` if only means over intervals are known; otherwise `measured`.
    pub confidence: &'static str,
    /// Service times on the device from which it comes.
    pub service: Option<TraceService>,
    /// What is left out or missing, and other remarks, one sentence each.
    pub notes: &'a [String],
    pub replayed: ReplayedPart,
}

/// Service times in nanoseconds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TraceService {
    pub p50_ns: f64,
    pub p99_ns: f64,
    pub p99_9_ns: f64,
}

/// The replayed part of a trace.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReplayedPart {
    /// Start in seconds since the start of the trace; `null` for all of it.
    pub from_s: Option<f64>,
    /// End in seconds since the start of the trace; `null` for all of it.
    pub to_s: Option<f64>,
    /// Reads, writes and discards.
    pub requests: u64,
    pub iops: f64,
    pub bytes_per_sec: f64,
    /// Fraction of reads.
    pub read_share: f64,
}

/// Requirements on the volumes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TracePlanNeed<'a> {
    /// Maximum latencies at percentiles.
    pub percentiles: Vec<PlanPercentile>,
    #[serde(flatten)]
    pub conditions: PlanConditions<'a>,
}

/// A volume of the catalogue on which the trace was replayed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TracePlanCandidate<'a> {
    /// Name with its keys.
    pub volume: &'a str,
    /// Type in the catalogue: `gcp/pd-ssd`.
    #[serde(rename = "type")]
    pub listed: &'a str,
    /// Provider's name of the volume.
    pub title: &'a str,
    pub size_bytes: u64,
    /// Whether it meets the need.
    pub meets: bool,
    /// Requirements that it does not meet.
    pub failures: Vec<TracePlanFailure<'a>>,
    /// Price of all volumes; `null` if unknown.
    pub price: Option<TracePlanPrice<'a>>,
    /// Latencies of the replay; `null` if the volume was refused without one.
    pub latency: Option<ReplayedLatency>,
    /// Limits in the order in which requests pass them.
    pub limits: Option<Vec<TracePlanLimit<'a>>>,
    /// By how much the load can grow; `null` if the volume does not meet the need.
    pub headroom: Option<TracePlanHeadroom>,
    /// Rates and latencies over time.
    pub course: Option<Vec<CourseInterval>>,
    /// Assumptions on which the figures rest.
    pub assumed: Vec<String>,
    /// Number of replays on volumes of this type.
    pub replays: u32,
}

/// A requirement that a volume does not meet.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TracePlanFailure<'a> {
    /// Name of the requirement.
    pub requirement: &'static str,
    /// Name of the limit that prevents it.
    pub limit: &'a str,
    /// Requested value, in operations, bytes, seconds or US dollars; `null` if the requirement has no degree.
    pub wanted: Option<f64>,
    /// Value that the volume reaches.
    pub reached: Option<f64>,
    /// Why the volume does not suffice.
    pub reason: String,
    /// Value that it reaches, in words.
    pub value: Option<String>,
}

/// A price with its confidence.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TracePlanPrice<'a> {
    #[serde(flatten)]
    pub price: MonthlyPrice<'a>,
    pub confidence: &'static str,
}

/// Latencies of a replay.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReplayedLatency {
    pub mean_ns: f64,
    pub max_ns: f64,
    pub percentiles: Vec<ReplayedPercentile>,
    /// Completed requests.
    pub requests: u64,
    /// Requests of the trace.
    pub planned: u64,
    /// Whether the replay was stopped because it had missed a bound.
    pub stopped: bool,
    /// How much later than the trace it ended.
    pub behind_ns: f64,
    /// Basis of the latency: `given`, `measured`, `published` or `assumed`.
    pub confidence: &'static str,
}

/// A percentile of a replay.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReplayedPercentile {
    /// Percentile as a fraction: 0.99.
    pub share: f64,
    /// Latency in nanoseconds.
    pub ns: f64,
}

/// What a limit or queue did in a replay.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TracePlanLimit<'a> {
    /// Name, such as `volume IOPS`.
    pub name: &'a str,
    /// Fraction of the requests that it delayed.
    pub delayed_share: f64,
    /// Sum of its delays.
    pub delay_ns: f64,
    /// Fraction of the time in which it delayed requests.
    pub throttled_share: f64,
    /// Used fraction of its capacity; more than 1 while credits are spent.
    pub utilisation: f64,
    /// Burst credits, if it has any.
    pub credits: Option<TracePlanCredits<'a>>,
    /// Basis of the limit: `given`, `published` or `assumed`.
    pub confidence: &'static str,
}

/// Burst credits of a limit in a replay.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TracePlanCredits<'a> {
    /// `bytes` or `operations`.
    pub unit: &'static str,
    /// Capacity of the bucket.
    pub capacity: f64,
    /// Lowest level.
    pub low: f64,
    /// Instant of the lowest level in seconds.
    pub low_at_s: f64,
    /// Level at the end.
    pub left: f64,
    /// Instant in seconds at which they first ran out; `null` if they never did.
    pub empty_at_s: Option<f64>,
    /// Levels over time: seconds, and credits.
    pub levels: &'a [(f64, f64)],
}

/// The greatest speed of the trace at which a volume meets the need.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TracePlanHeadroom {
    /// Factor on the speed of the trace.
    pub factor: f64,
    /// Whether it met the need at any speed that was tried.
    pub is_open: bool,
    /// Basis of the limits and latencies: `given`, `measured`, `published` or `assumed`.
    pub confidence: &'static str,
}

/// An interval of a replay.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CourseInterval {
    pub from_s: f64,
    pub to_s: f64,
    /// Completions per second.
    pub iops: f64,
    /// Median latency.
    pub p50_ns: f64,
    /// 99th percentile of the latency.
    pub p99_ns: f64,
}
