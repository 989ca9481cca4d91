//! The figures that findings about a trace rest on.

use trace::TraceFinding;
use units::{Bytes, Nanos, count, percent, significant};

/// A figure with its name, which ends with the unit as in JSON.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TraceFigure {
    pub(crate) name: &'static str,
    pub(crate) value: f64,
    kind: FigureKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FigureKind {
    Count,
    Time,
    Bytes,
    Fraction,
    Percentage,
    Rate,
    Number,
}

impl TraceFigure {
    /// Returns the name in words: `rate to mean`, `duration p50`.
    pub(crate) fn words(&self) -> String {
        let name = self.name.replace("_ns", "").replace("_bytes", "").replace("_per_s", "");
        name.replace("_fraction", "").replace("_percent", "").replace('_', " ")
    }

    /// Returns the value with its unit.
    pub(crate) fn text(&self) -> String {
        match self.kind {
            FigureKind::Count => count(self.value),
            FigureKind::Time => Nanos::new(self.value as u64).to_string(),
            FigureKind::Bytes => Bytes::new(self.value as u64).to_string(),
            FigureKind::Fraction => percent(self.value),
            FigureKind::Percentage => format!("{}%", self.value),
            FigureKind::Rate => format!("{}/s", count(self.value)),
            FigureKind::Number => significant(self.value, 3),
        }
    }
}

pub(crate) fn figures(finding: &TraceFinding) -> Vec<TraceFigure> {
    use FigureKind::{Bytes, Count, Fraction, Number, Percentage, Rate, Time};
    let of = |name, value, kind| TraceFigure { name, value, kind };
    match *finding {
        TraceFinding::BurstyWrites { bursts, duration_ns_p50, interval_ns_p50, rate_to_mean, requests_fraction } => {
            vec![
                of("bursts", bursts as f64, Count),
                of("duration_ns_p50", duration_ns_p50 as f64, Time),
                of("interval_ns_p50", interval_ns_p50 as f64, Time),
                of("rate_to_mean", rate_to_mean, Number),
                of("requests_fraction", requests_fraction, Fraction),
            ]
        }
        TraceFinding::RatePeak { width_ns, peak_to_mean, rate_per_s_max } => vec![
            of("width_ns", width_ns as f64, Time),
            of("peak_to_mean", peak_to_mean, Number),
            of("rate_per_s_max", rate_per_s_max, Rate),
        ],
        TraceFinding::LongRangeDependence { hurst, standard_error } => {
            vec![of("hurst", hurst, Number), of("standard_error", standard_error, Number)]
        }
        TraceFinding::LogWrites { continuing_fraction, streams_p50, sync_fraction, flushes_per_write } => vec![
            of("continuing_fraction", continuing_fraction, Fraction),
            of("streams_p50", streams_p50 as f64, Count),
            of("sync_fraction", sync_fraction, Fraction),
            of("flushes_per_write", flushes_per_write, Number),
        ],
        TraceFinding::FrequentFlushes { flushes_per_s, flushes_per_write } => {
            vec![of("flushes_per_s", flushes_per_s, Rate), of("flushes_per_write", flushes_per_write, Number)]
        }
        TraceFinding::ReadsFitInMemory { cache_bytes, read_hit_ratio, read_footprint_bytes, continuing_fraction } => {
            vec![
                of("cache_bytes", cache_bytes as f64, Bytes),
                of("read_hit_ratio", read_hit_ratio, Fraction),
                of("read_footprint_bytes", read_footprint_bytes, Bytes),
                of("continuing_fraction", continuing_fraction, Fraction),
            ]
        }
        TraceFinding::ReadsDoNotRepeat { read_miss_ratio } => vec![of("read_miss_ratio", read_miss_ratio, Fraction)],
        TraceFinding::DepthOne { busy_time_fraction, service_ns_mean } => {
            vec![of("busy_time_fraction", busy_time_fraction, Fraction), of("service_ns_mean", service_ns_mean, Time)]
        }
        TraceFinding::ClosedLoop { score, think_ns_p50 } => {
            vec![of("score", score, Number), of("think_ns_p50", think_ns_p50 as f64, Time)]
        }
        TraceFinding::OpenLoop { score } => vec![of("score", score, Number)],
        TraceFinding::FewLargeRequests { bytes_min, requests_fraction, bytes_fraction } => vec![
            of("size_bytes_min", bytes_min as f64, Bytes),
            of("requests_fraction", requests_fraction, Fraction),
            of("bytes_fraction", bytes_fraction, Fraction),
        ],
        TraceFinding::HotSpot { blocks_percent, accesses_fraction, zipf_theta } => {
            let theta = zipf_theta.map(|theta| of("zipf_theta", theta, Number));
            let shares = [
                of("blocks_percent", blocks_percent, Percentage),
                of("accesses_fraction", accesses_fraction, Fraction),
            ];
            shares.into_iter().chain(theta).collect()
        }
        TraceFinding::QueuedLonger { queued_ns_mean, service_ns_mean } => {
            vec![of("queued_ns_mean", queued_ns_mean, Time), of("service_ns_mean", service_ns_mean, Time)]
        }
        TraceFinding::Failures { requests } => vec![of("requests", requests as f64, Count)],
        TraceFinding::LateRequests { requests, late_ns_max } => {
            vec![of("requests", requests as f64, Count), of("late_ns_max", late_ns_max as f64, Time)]
        }
    }
}
