//! JSON of a capture.

use serde_json::{Map, Value, json};
use trace::{PerOperation, TraceDistribution};

use super::CaptureReport;

/// Version of the document.
const VERSION: u32 = 1;

impl CaptureReport {
    /// Returns the result as JSON: keys end with their units.
    #[must_use]
    pub fn json(&self) -> String {
        let totals = &self.profile.totals;
        let comparison = |one: &super::CounterComparison| {
            json!({ "operation": one.name, "counted": one.counted, "captured_min": one.captured[0],
                "captured_max": one.captured[1], "agrees": one.agrees() })
        };
        let processes = self.profile.processes.iter().map(|process| {
            json!({ "name": self.processes.get(usize::from(process.process)),
                "requests": process.requests.total(), "bytes": process.bytes.total() })
        });
        let depth = self.profile.depth.map(|depth| {
            json!({ "mean": depth.depth.map(|depth| depth.mean), "at_issue": distribution(&depth.depth_at_issue),
                "busy_fraction": depth.busy_time_fraction })
        });
        let document = json!({
            "fathom_capture": VERSION,
            "asked": self.asked,
            "device": self.device,
            "device_bytes": self.device_bytes,
            "events": if self.takes_bios { "bios" } else { "requests" },
            "source": self.source.name(),
            "process": self.process,
            "notes": self.notes,
            "duration_ns": self.duration_ns,
            "ended": self.ended,
            "requests": totals.requests.total(),
            "operations": operations(self),
            "sync_requests": totals.sync_requests,
            "meta_requests": totals.meta_requests,
            "fua_requests": totals.fua_requests,
            "preflush_requests": totals.preflush_requests,
            "readahead_requests": totals.readahead_requests,
            "failed_requests": totals.failed_requests,
            "in_flight_at_start": self.in_flight_at_start,
            "in_flight_at_end": self.in_flight_at_end(),
            "untimed_requests": self.untimed,
            "flush_waits": self.flush_waits,
            "requeued": self.requeued,
            "queue_depth": depth,
            "processes": processes.collect::<Vec<_>>(),
            "lost_events": self.lost_events,
            "kernel_counters": self.counters.iter().map(comparison).collect::<Vec<_>>(),
            "is_trustworthy": self.is_trustworthy(),
            "file": self.file.as_ref().map(|file| {
                json!({ "path": file.path, "bytes": file.bytes, "requests": file.requests })
            }),
        });
        format!("{document:#}\n")
    }
}

fn operations(report: &CaptureReport) -> Value {
    let names = ["read", "write", "flush", "discard", "write_zeroes", "other"];
    let totals = &report.profile.totals;
    let (requests, bytes) = (totals.requests.all(), totals.bytes.all());
    let service: &PerOperation<Option<TraceDistribution>> = &report.profile.service_ns;
    let (service, queued, sizes) = (service.all(), report.profile.queued_ns.all(), report.profile.sizes.all());
    let mut all = Map::new();
    for (index, name) in names.into_iter().enumerate().filter(|(index, _)| *requests[*index] > 0) {
        let frequent: Vec<Value> = sizes[index]
            .frequent
            .iter()
            .map(|size| json!({ "bytes": size.bytes, "requests": size.requests }))
            .collect();
        let value = json!({
            "requests": requests[index],
            "bytes": bytes[index],
            "service_ns": service[index].as_ref().map(distribution),
            "queued_ns": queued[index].as_ref().map(distribution),
            "frequent_sizes": frequent,
        });
        all.insert(name.to_owned(), value);
    }
    all.into()
}

fn distribution(of: &TraceDistribution) -> Value {
    json!({ "min": of.min, "mean": of.mean, "p50": of.p50, "p90": of.p90, "p99": of.p99, "p99_9": of.p99_9, "max": of.max })
}
