//! Statistics of a server as OpenMetrics text.

use super::{ExportStats, RequestStats, ServerStats, StageStats};
use crate::openmetrics::MetricKind::{Counter, Gauge, Summary};
use crate::openmetrics::{Metric, OpenMetrics, label};

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
            ("fathom_serve_operations", "Requests that succeeded.", |kind| kind.operations as f64),
            ("fathom_serve_errors", "Requests that failed.", |kind| kind.errors as f64),
            ("fathom_serve_bytes", "Bytes of requests that succeeded.", |kind| kind.bytes as f64),
        ];
        let kinds = || self.exports.iter().flat_map(|export| export.kinds.iter().map(move |kind| (export, kind)));
        for (name, help, figure) in counters {
            out.family(Metric::new(name, Counter, help));
            kinds().for_each(|of| out.sample(&of_kind(of), figure(of.1)));
        }
        out.family(Metric::new(
            "fathom_serve_latency_seconds",
            Summary,
            "From when a request was read to when its reply left.",
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
            ("fathom_serve_connected", "Clients that are connected.", |export| export.connected),
            ("fathom_serve_in_flight", "Requests that wait for their reply.", |export| export.in_flight),
            ("fathom_serve_size_bytes", "How large the export is.", |export| export.size_bytes),
        ];
        for (name, help, figure) in gauges {
            out.family(Metric::new(name, Gauge, help));
            self.exports.iter().for_each(|export| out.sample(&of_export(export), figure(export) as f64));
        }
        out.family(Metric::new("fathom_serve_connections", Counter, "Clients that have been connected."));
        self.exports.iter().for_each(|export| out.sample(&of_export(export), export.connections as f64));
    }

    fn faults(&self, out: &mut OpenMetrics) {
        if self.exports.iter().all(|export| export.injected.is_empty()) {
            return;
        }
        out.family(Metric::new("fathom_serve_injected_faults", Counter, "Faults injected on purpose."));
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
            ("fathom_serve_limit_decided", "Requests whose admission it set.", |stage| stage.decided as f64),
            ("fathom_serve_limit_delay_seconds", "For how long it held them back.", |stage| stage.delay_secs),
        ];
        for (name, help, figure) in counters {
            out.family(Metric::new(name, Counter, help));
            self.stages.iter().for_each(|stage| out.sample(&of_stage(stage), figure(stage)));
        }
        let Some(seen) = self.punctuality else { return };
        out.family(Metric::new("fathom_serve_lateness_seconds", Summary, "How late replies left by the model."));
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
