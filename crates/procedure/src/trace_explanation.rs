//! Explains the load of a trace by itself: what was measured when it was captured.

use analyse::{EvidenceSource, IntervalDemand, KnownFigure, Observation, explain_observation};
use results::explain::Explained;
use trace::{PerOperation, TraceDistribution, TraceInterval};
use units::{Nanos, count, percent};

use crate::trace_purchase::ReadTrace;

/// Explains what a trace shows of its device.
#[must_use]
pub fn explain_trace(name: &str, read: &ReadTrace) -> Explained {
    let mut explanation = explain_observation("", &observed(read), None);
    explanation.notes.extend(loads(read));
    explanation.notes.extend(read.notes.iter().cloned());
    explanation.notes.push(format!("`fathom trace {name}` describes the load, `--volume VOLUME` replays it"));
    Explained {
        input: name.to_owned(),
        kind: "trace",
        expected: None,
        explanations: vec![explanation],
        idle: Vec::new(),
    }
}

/// Returns the reads and writes of a trace as an observation: their rate from the first to the last issue.
fn observed(read: &ReadTrace) -> Observation {
    let profile = &read.profile;
    let (requests, bytes) = (&profile.totals.requests, &profile.totals.bytes);
    let seconds = profile.totals.issue_duration_ns as f64 / 1e9;
    let counted =
        |value: f64| (value > 0.0 && value.is_finite()).then(|| KnownFigure::exact(value, EvidenceSource::Counters));
    let of_data = |of: &PerOperation<u64>| of.read.saturating_add(of.write) as f64;
    let of = [(requests.read, profile.service_ns.read), (requests.write, profile.service_ns.write)];
    let waited_ns: Option<f64> = of
        .iter()
        .filter(|(requests, _)| *requests > 0)
        .map(|(requests, service)| Some(*requests as f64 * service.as_ref()?.mean))
        .sum();
    let latency_ns = waited_ns.map(|sum| sum / of_data(requests).max(1.0));
    let (reads, writes) = (&profile.sequential.reads, &profile.sequential.writes);
    let continuing =
        reads.continuing_fraction() * reads.requests as f64 + writes.continuing_fraction() * writes.requests as f64;
    let ordered = (reads.requests + writes.requests) as f64;
    let flush: Option<TraceDistribution> = profile.service_ns.flush;
    let width_s = profile.series.width_ns as f64 / 1e9;
    let whole = profile.series.intervals.len().saturating_sub(1);
    let pace = |interval: &TraceInterval| of_data(&interval.requests) / width_s.max(1e-9);
    // Without times of completion, no request is in flight.
    let in_flight =
        |interval: &TraceInterval| profile.depth.map(|_| interval.in_flight_ns as f64 / 1e9 / width_s.max(1e-9));
    let demand = |interval: &TraceInterval| IntervalDemand { in_flight: in_flight(interval), busy: None };
    Observation {
        iops: counted(of_data(requests) / seconds),
        read_share: (of_data(requests) > 0.0).then(|| requests.read as f64 / of_data(requests)),
        bytes_per_second: counted(of_data(bytes) / seconds),
        request_bytes: counted(of_data(bytes) / of_data(requests)),
        latency_ns: latency_ns.and_then(counted),
        spread: latency_ns.is_some(),
        busy: profile.depth.and_then(|depth| counted(depth.busy_time_fraction)),
        random: (ordered > 0.0).then(|| continuing / ordered < 0.5),
        seconds: Some(seconds),
        sync_mean_ns: flush.and_then(|flush| counted(flush.mean)),
        sync_p99_ns: flush.and_then(|flush| counted(flush.p99 as f64)),
        device: true,
        paces: profile.series.intervals[..whole].iter().map(pace).collect(),
        demands: Some(profile.series.intervals[..whole].iter().map(demand).collect()),
        interval_ns: profile.series.width_ns as f64,
        ..Observation::default()
    }
}

/// Describes the kinds of requests, and the process that issued most of them.
fn loads(read: &ReadTrace) -> Vec<String> {
    let (profile, mut notes) = (&read.profile, Vec::new());
    let names = [("reads", 0), ("writes", 1), ("flushes", 2), ("discards", 3)];
    let (requests, service) = (profile.totals.requests.all(), profile.service_ns.all());
    let kinds = names.into_iter().filter(|(_, at)| *requests[*at] > 0).map(|(name, at)| {
        let time = service[at].map_or_else(String::new, |service| {
            let [mean, p99] = [service.mean.round() as u64, service.p99].map(|ns| Nanos::new(ns).to_string());
            format!(" of {mean} (p99 {p99})")
        });
        format!("{} {name}{time}", count(*requests[at] as f64))
    });
    notes.push(kinds.collect::<Vec<_>>().join(", "));
    let all = profile.totals.requests.total();
    if let Some(most) = profile.processes.first().filter(|_| all > 0 && profile.processes.len() > 1) {
        let share = percent(most.requests.total() as f64 / all as f64);
        if let Some(process) = read.info.processes.get(usize::from(most.process)) {
            notes.push(format!("`{process}` issued {share} of the requests"));
        }
    }
    notes
}
