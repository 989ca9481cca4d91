//! Statistics of a server of modelled volumes, and the commands to use it.

mod hints;
mod metrics;
mod text;

use std::collections::BTreeMap;

pub use hints::{ServerAddress, ServerHints};
use serde::{Deserialize, Serialize};
pub use text::fault_counts;

/// Version of the JSON layout.
const SCHEMA: u32 = 1;

/// Statistics of a server, sent to clients as JSON.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ServerStats {
    /// Version of the JSON layout.
    schema: u32,
    /// Version of Fathom.
    version: String,
    /// Seed of all random choices.
    seed: u64,
    /// Seconds since the server started.
    served_secs: f64,
    /// Exports and their requests.
    exports: Vec<ExportStats>,
    /// Limits and stations of the models.
    stages: Vec<StageStats>,
    /// Lateness of modelled replies; `None` if there were none.
    punctuality: Option<PunctualityStats>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct ExportStats {
    /// Name; empty for the default export.
    pub name: String,
    /// URIs of the export.
    pub uris: Vec<String>,
    /// Volume with its keys; `None` without a model.
    pub volume: Option<String>,
    /// Place of the data.
    pub store: String,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Whether clients cannot write.
    pub read_only: bool,
    /// Connections since the start.
    pub connections: u64,
    /// Open connections.
    pub connected: u64,
    /// Requests without a reply.
    pub in_flight: u64,
    /// Kinds of requests that occurred.
    pub kinds: Vec<RequestStats>,
    /// Assumptions of the model: unknown machine limits, undocumented merging.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Injected faults by kind; empty if faults cannot be injected.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub injected: BTreeMap<String, u64>,
}

/// Statistics of one kind of request.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RequestStats {
    /// `read`, `write`, `trim`, `flush`, `other`.
    pub kind: String,
    /// Successful requests.
    pub operations: u64,
    /// Failed requests.
    pub errors: u64,
    /// Bytes of successful requests.
    pub bytes: u64,
    /// Seconds from the first request to the last reply.
    pub secs: f64,
    /// Successful requests per second over that time.
    pub iops: f64,
    /// Bytes per second over that time.
    pub bytes_per_sec: f64,
    /// Successful requests in the last second.
    pub recent_iops: f64,
    /// Bytes in the last second.
    pub recent_bytes_per_sec: f64,
    /// Latency; `None` if no request succeeded.
    pub latency: Option<RequestLatency>,
}

/// Latency of requests, from reading the request to sending the reply.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct RequestLatency {
    /// Mean in nanoseconds.
    pub mean_ns: f64,
    /// Median in nanoseconds.
    pub p50_ns: u64,
    /// 99th percentile in nanoseconds.
    pub p99_ns: u64,
    /// 99.9th percentile in nanoseconds.
    pub p999_ns: u64,
}

/// Statistics of a limit or a station of a model.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct StageStats {
    /// Name of the stage.
    pub name: String,
    /// Volume or machine of the stage; empty if there is only one.
    pub owner: String,
    /// `limit` or `station`.
    pub kind: String,
    /// Rule of its rate.
    pub rule: String,
    /// Requests that passed it.
    pub requests: u64,
    /// Requests that it delayed.
    pub delayed: u64,
    /// Requests whose admission it decided.
    pub decided: u64,
    /// Total delay in seconds.
    pub delay_secs: f64,
    /// Utilization from the first request to the last reply, from 0 to 1.
    pub used_share: f64,
    /// Remaining fraction of the credits.
    pub credits_share: Option<f64>,
}

/// Lateness of replies against the model.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct PunctualityStats {
    /// Number of modelled replies.
    pub replies: u64,
    /// Mean in nanoseconds; negative if replies were early.
    pub mean_ns: f64,
    /// Median in nanoseconds; early replies count as zero.
    pub p50_ns: u64,
    /// 99th percentile in nanoseconds; early replies count as zero.
    pub p99_ns: u64,
    /// Mean latency of the model in nanoseconds.
    pub model_mean_ns: f64,
    /// Round-trip time to the client in nanoseconds, which is subtracted from modelled latencies.
    pub round_trip_ns: u64,
}

impl ServerStats {
    /// Returns the statistics with the versions of this program.
    #[must_use]
    pub fn new(
        seed: u64,
        served_secs: f64,
        exports: Vec<ExportStats>,
        stages: Vec<StageStats>,
        punctuality: Option<PunctualityStats>,
    ) -> Self {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Self { schema: SCHEMA, version, seed, served_secs, exports, stages, punctuality }
    }

    /// Parses the JSON of a server; `None` if it has another layout version.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok().filter(|stats: &Self| stats.schema == SCHEMA)
    }

    /// Returns the statistics as JSON.
    #[must_use]
    pub fn json(&self) -> String {
        format!("{:#}\n", serde_json::json!(self))
    }
}
