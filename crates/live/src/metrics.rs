//! A run that goes on, as OpenMetrics. What a finished run is written as with `-o x.prom` has the same names for the same
//! figures; docs/metrics.md lists them all.

use meter::{Glance, Histogram, Latency, SummaryDirection, bucket_of};
use report::MetricKind::{Counter, Gauge, Histogram as Buckets, Info, Summary};
use report::of_runs::{BANDWIDTH, BYTES, ERRORS, IOPS, OPERATIONS, PERCENTILES, RESPONSE, SERVICE};
use report::{Metric, OpenMetrics, label};
use units::Nanos;
use volume::{ServiceStage, StageKind};

use crate::view::{JobFacts, ViewState, WatchedRun};

/// One job, and what its workers have counted.
struct JobMetrics<'a> {
    facts: &'a JobFacts,
    labels: String,
    sum: Glance,
}

impl<'a> JobMetrics<'a> {
    fn new(subject: &WatchedRun, facts: &'a JobFacts) -> Self {
        let group = facts.group.to_string();
        let labels = [label("job", &facts.name), label("group", &group), label("target", &facts.target)].join(",");
        Self { facts, labels, sum: subject.sum(facts) }
    }

    /// The kinds of operation that it has done, with their labels.
    fn kinds(&self) -> impl Iterator<Item = (usize, String)> {
        let used = SummaryDirection::ALL.into_iter().filter(|kind| self.sum.ios[*kind as usize] > 0);
        used.map(|kind| (kind as usize, format!("{},{}", self.labels, label("kind", kind.name()))))
    }
}

const BUILD: Metric = Metric::new("fathom_build", Info, "The version of Fathom.");
const ELAPSED: Metric = Metric::new("fathom_elapsed_seconds", Gauge, "Since the first job began.");
const PROGRESS: Metric = Metric::new("fathom_progress_ratio", Gauge, "How much is done, from 0 to 1.");
const LATENCY: Metric = Metric::new(
    "fathom_latency_seconds",
    Buckets,
    "Time from the intended instant to completion; where there is no schedule, from submission.",
);
const WORKERS: Metric = Metric::new("fathom_running_workers", Gauge, "Workers that are at work.");
const LATENESS: Metric =
    Metric::new("fathom_lateness_seconds", Summary, "How much later than planned the generator was ready to issue.");
const LIMIT_REQUESTS: Metric = Metric::new("fathom_limit_requests", Counter, "Requests that passed the limit.");
const LIMIT_DECIDED: Metric = Metric::new("fathom_limit_decided", Counter, "Requests whose admission the limit set.");
const LIMIT_DELAY: Metric =
    Metric::new("fathom_limit_delay_seconds", Counter, "For how long the limit held requests back.");
const LIMIT_USED: Metric = Metric::new(
    "fathom_limit_used_ratio",
    Gauge,
    "How much of the limit was used since the start; above 1 while credits are spent.",
);
const LIMIT_CREDITS: Metric =
    Metric::new("fathom_limit_credits_ratio", Gauge, "What is left of the burst credits, from 0 to 1.");

/// All that is told of a run.
pub fn exposition(seen: &ViewState) -> String {
    let mut out = OpenMetrics::default();
    out.family(BUILD);
    out.sample(&label("version", env!("CARGO_PKG_VERSION")), 1.0);
    progress(&mut out, seen);
    if let Some(subject) = &seen.subject {
        let jobs: Vec<JobMetrics> = subject.jobs.iter().map(|facts| JobMetrics::new(subject, facts)).collect();
        counts(&mut out, &jobs);
        latencies(&mut out, &jobs);
        workers(&mut out, subject, &jobs);
        limits(&mut out, &subject.stages().1);
    }
    out.finish()
}

fn progress(out: &mut OpenMetrics, seen: &ViewState) {
    let Some(moment) = &seen.progress else { return };
    out.family(ELAPSED);
    out.sample("", moment.elapsed.secs_f64());
    if let Some(fraction) = moment.fraction {
        out.family(PROGRESS);
        out.sample("", fraction.clamp(0.0, 1.0));
    }
}

fn counts(out: &mut OpenMetrics, jobs: &[JobMetrics<'_>]) {
    type Figure = fn(&Glance, usize) -> f64;
    let figures: [(Metric, Figure); 4] = [
        (OPERATIONS, |sum, kind| sum.ios[kind] as f64),
        (BYTES, |sum, kind| sum.bytes[kind] as f64),
        (IOPS, |sum, kind| per_second(sum.ios[kind], sum.runtime[kind])),
        (BANDWIDTH, |sum, kind| per_second(sum.bytes[kind], sum.runtime[kind])),
    ];
    for (metric, figure) in figures {
        out.family(metric);
        for job in jobs {
            job.kinds().for_each(|(kind, labels)| out.sample(&labels, figure(&job.sum, kind)));
        }
    }
    out.family(ERRORS);
    jobs.iter().for_each(|job| out.sample(&job.labels, job.sum.errors as f64));
}

fn per_second(count: u64, runtime: Nanos) -> f64 {
    if runtime == Nanos::ZERO { 0.0 } else { count as f64 / runtime.secs_f64() }
}

fn latencies(out: &mut OpenMetrics, jobs: &[JobMetrics<'_>]) {
    type Pick = fn(&Glance, usize) -> &Latency;
    let summaries: [(Metric, Pick); 2] =
        [(SERVICE, |sum, kind| &sum.service[kind]), (RESPONSE, |sum, kind| &sum.response[kind])];
    for (metric, pick) in summaries {
        let all = || jobs.iter().flat_map(|job| job.kinds().map(move |(kind, labels)| (labels, pick(&job.sum, kind))));
        if all().any(|(_, latency)| latency.moments.count() > 0) {
            out.family(metric);
            all().for_each(|(labels, latency)| summary(out, &labels, latency));
        }
    }
    out.family(LATENCY);
    for job in jobs {
        job.kinds().for_each(|(kind, labels)| buckets(out, &labels, job.sum.latency(kind)));
    }
}

fn summary(out: &mut OpenMetrics, labels: &str, latency: &Latency) {
    let count = latency.moments.count();
    if count == 0 {
        return;
    }
    let known = |percent: f64| latency.histogram.percentile(percent).map(|ns| (percent, ns.secs_f64()));
    out.summary(labels, PERCENTILES.into_iter().filter_map(known), sum_s(latency), count);
}

fn sum_s(latency: &Latency) -> f64 {
    latency.moments.mean_ns() * latency.moments.count() as f64 / 1e9
}

/// Bounds at 1, 2 and 5 of each power of ten from a microsecond to ten seconds. Each is as exact as the histograms are: it
/// lies in a bucket that is at most 0.8 % wide and counts below.
fn buckets(out: &mut OpenMetrics, labels: &str, latency: &Latency) {
    const STEPS: [u64; 22] = [
        1_000,
        2_000,
        5_000,
        10_000,
        20_000,
        50_000,
        100_000,
        200_000,
        500_000,
        1_000_000,
        2_000_000,
        5_000_000,
        10_000_000,
        20_000_000,
        50_000_000,
        100_000_000,
        200_000_000,
        500_000_000,
        1_000_000_000,
        2_000_000_000,
        5_000_000_000,
        10_000_000_000,
    ];
    let bounds = STEPS.iter().map(|&ns| (ns as f64 / 1e9, up_to(&latency.histogram, ns)));
    out.histogram(labels, bounds, sum_s(latency), latency.histogram.total());
}

fn up_to(histogram: &Histogram, ns: u64) -> u64 {
    let last = bucket_of(ns);
    histogram.buckets().take_while(|(bucket, _)| *bucket <= last).map(|(_, n)| n).sum()
}

fn workers(out: &mut OpenMetrics, subject: &WatchedRun, jobs: &[JobMetrics<'_>]) {
    out.family(WORKERS);
    jobs.iter().for_each(|job| out.sample(&job.labels, subject.running(job.facts) as f64));
    if jobs.iter().any(|job| job.facts.scheduled) {
        out.family(LATENESS);
        jobs.iter().for_each(|job| summary(out, &job.labels, &job.sum.lateness));
    }
}

fn limits(out: &mut OpenMetrics, stages: &[ServiceStage]) {
    type Figure = fn(&ServiceStage) -> f64;
    if stages.is_empty() {
        return;
    }
    let figures: [(Metric, Figure); 4] = [
        (LIMIT_REQUESTS, |stage| stage.requests as f64),
        (LIMIT_DECIDED, |stage| stage.decided as f64),
        (LIMIT_DELAY, |stage| stage.delay_ns as f64 / 1e9),
        (LIMIT_USED, |stage| stage.utilisation),
    ];
    for (metric, figure) in figures {
        out.family(metric);
        stages.iter().for_each(|stage| out.sample(&of_stage(stage), figure(stage)));
    }
    let credits = || stages.iter().filter_map(|stage| Some((stage, stage.credits?)));
    if credits().next().is_some() {
        out.family(LIMIT_CREDITS);
        credits().for_each(|(stage, credits)| out.sample(&of_stage(stage), credits.left / credits.most.max(1.0)));
    }
}

fn of_stage(stage: &ServiceStage) -> String {
    let kind = if stage.kind == StageKind::Limit { "limit" } else { "station" };
    [label("limit", &stage.name), label("owner", &stage.owner), label("kind", kind)].join(",")
}
