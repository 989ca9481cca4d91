//! Statistics of a server of modelled volumes, and the commands that use a new one.

mod hints;
mod metrics;
mod text;

use std::collections::BTreeMap;

pub use hints::{ServedExport, ServerAddress, ServerHints};
use serde::{Deserialize, Serialize};
pub use text::fault_counts;

/// The version of the JSON layout.
const SCHEMA: u32 = 1;

/// Statistics of a server. They cross from a server to its clients as JSON.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ServerStats {
    /// The version of the JSON layout.
    schema: u32,
    /// The version of Fathom.
    version: String,
    /// Seed of all random choices.
    seed: u64,
    /// Seconds since the server started.
    served_secs: f64,
    /// Exports and their requests.
    exports: Vec<ExportStats>,
    /// Limits and stations of the models.
    stages: Vec<StageStats>,
    /// Lateness of modelled replies; `None` where there was none.
    punctuality: Option<PunctualityStats>,
}

/// Statistics of one export.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ExportStats {
    /// Its name; empty for the default export.
    pub name: String,
    /// Its addresses.
    pub uris: Vec<String>,
    /// The volume with its keys; `None` without a model.
    pub volume: Option<String>,
    /// Where its data is.
    pub store: String,
    /// Its size.
    pub size_bytes: u64,
    /// Whether clients cannot write.
    pub read_only: bool,
    /// Connections since the start.
    pub connections: u64,
    /// Connections that are open.
    pub connected: u64,
    /// Requests without a reply.
    pub in_flight: u64,
    /// Kinds of request that occurred.
    pub kinds: Vec<RequestStats>,
    /// Assumptions of the model: unknown machine limits, undocumented merging.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Injected faults by kind; empty where faults cannot be injected.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub injected: BTreeMap<String, u64>,
}

/// Statistics of one kind of request.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RequestStats {
    /// `read`, `write`, `trim`, `flush`, `other`.
    pub kind: String,
    /// Requests that succeeded.
    pub operations: u64,
    /// Requests that failed.
    pub errors: u64,
    /// Bytes of the requests that succeeded.
    pub bytes: u64,
    /// From the first request to the last reply.
    pub secs: f64,
    /// Successful requests per second, over that time.
    pub iops: f64,
    /// Bytes per second, over that time.
    pub bytes_per_sec: f64,
    /// Successful requests in the last second.
    pub recent_iops: f64,
    /// Bytes in the last second.
    pub recent_bytes_per_sec: f64,
    /// Latency; `None` where none succeeded.
    pub latency: Option<RequestLatency>,
}

/// Latency of requests, from reading the request to sending the reply.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct RequestLatency {
    /// Mean.
    pub mean_ns: f64,
    /// Median.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
}

/// Statistics of a limit or a station of a model.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct StageStats {
    /// Its name.
    pub name: String,
    /// The volume or machine that it belongs to; empty where there is only one.
    pub owner: String,
    /// `limit` or `station`.
    pub kind: String,
    /// The rule of its rate.
    pub rule: String,
    /// Requests that passed it.
    pub requests: u64,
    /// Requests that it delayed.
    pub delayed: u64,
    /// Requests whose admission it decided.
    pub decided: u64,
    /// Sum of the delays.
    pub delay_secs: f64,
    /// Utilization from the first request to the last reply, from 0 to 1.
    pub used_share: f64,
    /// Remaining credits, from 0 to 1.
    pub credits_share: Option<f64>,
}

/// Lateness of replies against the model.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct PunctualityStats {
    /// Modelled replies.
    pub replies: u64,
    /// Mean; negative where replies were early.
    pub mean_ns: f64,
    /// Median; early replies count as zero.
    pub p50_ns: u64,
    /// 99th percentile; early replies count as zero.
    pub p99_ns: u64,
    /// Mean latency of the model.
    pub model_mean_ns: f64,
    /// Round-trip time to the client, which is subtracted from modelled latencies.
    #[serde(alias = "way_ns")]
    pub round_trip_ns: u64,
}

impl ServerStats {
    /// Returns statistics of this version of Fathom.
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

    /// Parses the JSON of a server; `None` where it is of another version.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok().filter(|stats: &Self| stats.schema == SCHEMA)
    }

    /// Returns one JSON document.
    #[must_use]
    pub fn json(&self) -> String {
        format!("{:#}\n", serde_json::json!(self))
    }
}
