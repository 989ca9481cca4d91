//! JSON of sampled counters.

use serde_json::{Map, Value, json};

use super::{SampleReport, SampledKind};

/// Version of the document.
const VERSION: u32 = 1;

impl SampleReport {
    /// Returns the result as JSON: keys end with their units.
    #[must_use]
    pub fn json(&self) -> String {
        let seconds = self.duration_ns as f64 / 1e9;
        let kind = |kind: &SampledKind| {
            let [mean, p50, p95, max] = [kind.iops.mean, kind.iops.p50, kind.iops.p95, kind.iops.max];
            json!({
                "requests": kind.requests,
                "bytes": kind.bytes,
                "merges": kind.merges,
                "iops": { "mean": mean, "p50": p50, "p95": p95, "max": max },
                "bytes_per_second": if seconds > 0.0 { kind.bytes as f64 / seconds } else { 0.0 },
                "mean_bytes": kind.mean_bytes(),
                "mean_latency_ns": kind.latency_ns,
            })
        };
        let kinds: Map<String, Value> = self.kinds.iter().map(|one| (one.name.to_owned(), kind(one))).collect();
        let document = json!({
            "fathom_capture_sample": VERSION,
            "asked": self.asked,
            "device": self.device,
            "device_bytes": self.device_bytes,
            "notes": self.notes,
            "interval_ns": self.interval_ns,
            "duration_ns": self.duration_ns,
            "ended": self.ended,
            "intervals": self.intervals,
            "interval_min_ns": self.lengths_ns[0],
            "interval_max_ns": self.lengths_ns[1],
            "missed_samples": self.missed,
            "counter_restarts": self.restarts,
            "requests": self.requests,
            "kinds": kinds,
            "counts_discards": self.counts_discards,
            "counts_flushes": self.counts_flushes,
            "queue_depth": { "mean": self.depth_mean, "max_at_samples": self.depth_seen_max },
            "busy_fraction": self.busy_fraction,
            "confidence": "low",
            "failure": self.failure,
            "file": self.file.as_ref().map(|file| {
                json!({ "path": file.path, "bytes": file.bytes, "samples": file.samples })
            }),
        });
        format!("{document:#}\n")
    }
}
