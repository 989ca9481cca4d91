//! Statistics of a server of modelled volumes, and what its clients need to know.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::openmetrics::MetricKind::{Counter, Gauge, Summary};
use crate::openmetrics::{Metric, OpenMetrics, label};
use crate::stored::sorted;

/// Statistics of a server, sent to clients as JSON.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ServerStats {
    /// Version of the JSON layout.
    pub schema: u32,
    /// Version of Fathom.
    pub version: String,
    /// Seed of all random choices.
    pub seed: u64,
    /// Seconds since the server started.
    pub served_secs: f64,
    /// Exports and their requests.
    pub exports: Vec<ExportStats>,
    /// Limits and stations of the models.
    pub stages: Vec<StageStats>,
    /// Lateness of modelled replies; `None` if there were none.
    pub punctuality: Option<PunctualityStats>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
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
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
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
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
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
    /// Version of the JSON layout.
    pub const SCHEMA: u32 = 1;

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
        Self { schema: Self::SCHEMA, version, seed, served_secs, exports, stages, punctuality }
    }

    /// Parses the JSON of a server; `None` if it has another layout version.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok().filter(|stats: &Self| stats.schema == Self::SCHEMA)
    }

    /// Returns the statistics as JSON.
    #[must_use]
    pub fn json(&self) -> String {
        sorted(self)
    }
}

/// The state of a server that commands change.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ServerState {
    /// Fault rates in the syntax of `--faults`, or `none`.
    pub faults: String,
    /// Exports in the order of the command line.
    pub exports: Vec<ExportState>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExportState {
    /// Name; empty for the default export.
    pub name: String,
    /// Name of the volume; `None` without a model.
    pub volume: Option<String>,
    /// Counts of injected faults by kind.
    pub injected: BTreeMap<String, u64>,
}

#[derive(Clone, Debug)]
pub enum ServerAddress {
    /// Path of a Unix socket.
    Unix(String),
    /// A TCP address.
    Tcp {
        /// IP address.
        host: String,
        port: u16,
        /// Whether connections are encrypted.
        is_encrypted: bool,
    },
}

/// A server that has just started.
#[derive(Clone, Debug)]
pub struct ServerHints {
    /// Exports; the commands use the first.
    pub exports: Vec<ExportStats>,
    /// First address; `None` if the server listens on none.
    pub address: Option<ServerAddress>,
    /// Path of the statistics socket.
    pub statistics: String,
    /// Path of the control socket.
    pub control: Option<String>,
    /// Address of the metrics endpoint.
    pub metrics: Option<String>,
    /// Seed of all random choices.
    pub seed: u64,
}

/// The figures of statistics for programs that poll a server.
impl ServerStats {
    /// Returns OpenMetrics text.
    #[must_use]
    pub fn open_metrics(&self) -> String {
        let mut out = OpenMetrics::default();
        self.requests(&mut out);
        self.clients(&mut out);
        self.faults(&mut out);
        self.model(&mut out);
        out.finish()
    }

    fn requests(&self, out: &mut OpenMetrics) {
        type Figure = fn(&RequestStats) -> f64;
        let counters: [(&'static str, &'static str, Figure); 3] = [
            ("fathom_serve_operations", "Successful requests.", |kind| kind.operations as f64),
            ("fathom_serve_errors", "Failed requests.", |kind| kind.errors as f64),
            ("fathom_serve_bytes", "Bytes of successful requests.", |kind| kind.bytes as f64),
        ];
        let kinds = || self.exports.iter().flat_map(|export| export.kinds.iter().map(move |kind| (export, kind)));
        for (name, help, figure) in counters {
            out.family(Metric::new(name, Counter, help));
            kinds().for_each(|of| out.sample(&of_kind(of), figure(of.1)));
        }
        out.family(Metric::new(
            "fathom_serve_latency_seconds",
            Summary,
            "Time from the receipt of a request to its reply.",
        ));
        for of in kinds() {
            let Some(latency) = of.1.latency else { continue };
            let quantiles = [(50.0, latency.p50_ns), (99.0, latency.p99_ns), (99.9, latency.p999_ns)];
            let sum = latency.mean_ns * of.1.operations as f64 / 1e9;
            out.summary(&of_kind(of), quantiles.map(|(percent, ns)| (percent, ns as f64 / 1e9)), sum, of.1.operations);
        }
    }

    fn clients(&self, out: &mut OpenMetrics) {
        type Figure = fn(&ExportStats) -> u64;
        let gauges: [(&'static str, &'static str, Figure); 3] = [
            ("fathom_serve_connected", "Connected clients.", |export| export.connected),
            ("fathom_serve_in_flight", "Requests in flight.", |export| export.in_flight),
            ("fathom_serve_size_bytes", "Size of the export.", |export| export.size_bytes),
        ];
        for (name, help, figure) in gauges {
            out.family(Metric::new(name, Gauge, help));
            self.exports.iter().for_each(|export| out.sample(&of_export(export), figure(export) as f64));
        }
        out.family(Metric::new("fathom_serve_connections", Counter, "Client connections since the start."));
        self.exports.iter().for_each(|export| out.sample(&of_export(export), export.connections as f64));
    }

    fn faults(&self, out: &mut OpenMetrics) {
        if self.exports.iter().all(|export| export.injected.is_empty()) {
            return;
        }
        out.family(Metric::new("fathom_serve_injected_faults", Counter, "Injected faults."));
        for export in &self.exports {
            for (fault, count) in &export.injected {
                out.sample(&format!("{},{}", of_export(export), label("fault", fault)), *count as f64);
            }
        }
    }

    fn model(&self, out: &mut OpenMetrics) {
        type Figure = fn(&StageStats) -> f64;
        let counters: [(&'static str, &'static str, Figure); 3] = [
            ("fathom_serve_limit_requests", "Requests that passed the limit.", |stage| stage.requests as f64),
            ("fathom_serve_limit_decided", "Requests for which the limit decided the time of admission.", |stage| {
                stage.decided as f64
            }),
            ("fathom_serve_limit_delay_seconds", "Total time for which the limit delayed requests.", |stage| {
                stage.delay_secs
            }),
        ];
        for (name, help, figure) in counters {
            out.family(Metric::new(name, Counter, help));
            self.stages.iter().for_each(|stage| out.sample(&of_stage(stage), figure(stage)));
        }
        let Some(seen) = self.punctuality else { return };
        out.family(Metric::new("fathom_serve_lateness_seconds", Summary, "Delay of replies relative to the model."));
        let quantiles = [(50.0, seen.p50_ns as f64 / 1e9), (99.0, seen.p99_ns as f64 / 1e9)];
        // Early replies count as negative lateness, but the sum of a summary must not decrease.
        out.summary("", quantiles, (seen.mean_ns * seen.replies as f64 / 1e9).max(0.0), seen.replies);
    }
}

fn of_export(export: &ExportStats) -> String {
    label("export", &export.name)
}

fn of_kind((export, kind): (&ExportStats, &RequestStats)) -> String {
    format!("{},{}", of_export(export), label("kind", &kind.kind))
}

fn of_stage(stage: &StageStats) -> String {
    [label("limit", &stage.name), label("owner", &stage.owner), label("kind", &stage.kind)].join(",")
}
