//! The metrics of a running run, as OpenMetrics. `-o x.prom` writes the same figures of a finished run under the same
//! names; docs/metrics.md lists them.

use meter::{Histogram, Latency, MeterSnapshot, bucket_of};
use results::openmetrics::MetricKind::{Counter, Gauge, Histogram as Buckets, Info, Summary};
use results::openmetrics::of_runs::{BANDWIDTH, BYTES, ERRORS, IOPS, OPERATIONS, PERCENTILES, RESPONSE, SERVICE};
use results::openmetrics::{Metric, OpenMetrics, label};
use units::{DataKind, Nanos};
use volume::{ServiceStage, StageKind};

use crate::view::{JobFacts, ViewState, WatchedRun};

/// One job and the counters of its workers.
struct JobMetrics<'a> {
    facts: &'a JobFacts,
    labels: String,
    sum: MeterSnapshot,
}

impl<'a> JobMetrics<'a> {
    fn new(subject: &WatchedRun, facts: &'a JobFacts) -> Self {
        let group = facts.group.to_string();
        let labels = [label("job", &facts.name), label("group", &group), label("target", &facts.target)].join(",");
        Self { facts, labels, sum: subject.sum(facts) }
    }

    /// Returns the kinds of operation that the job has done, with their labels.
    fn kinds(&self) -> impl Iterator<Item = (usize, String)> {
        let used = DataKind::ALL.into_iter().filter(|kind| self.sum.ios[*kind as usize] > 0);
        used.map(|kind| (kind as usize, self.labels_of(kind.name())))
    }

    /// Returns the times of syncs with their labels, if the job has done any.
    fn syncs(&self) -> Option<(String, &Latency)> {
        (self.sum.sync.moments.count() > 0).then(|| (self.labels_of("sync"), &self.sum.sync))
    }

    fn labels_of(&self, kind: &str) -> String {
        format!("{},{}", self.labels, label("kind", kind))
    }
}

const BUILD: Metric = Metric::new("fathom_build", Info, "Version of Fathom.");
const ELAPSED: Metric = Metric::new("fathom_elapsed_seconds", Gauge, "Time since the first job started.");
const PROGRESS: Metric = Metric::new("fathom_progress_ratio", Gauge, "Completed fraction of the run, from 0 to 1.");
const LATENCY: Metric = Metric::new(
    "fathom_latency_seconds",
    Buckets,
    "Time from the scheduled start to completion; without a schedule, from submission.",
);
const WORKERS: Metric = Metric::new("fathom_running_workers", Gauge, "Running workers.");
const LATENESS: Metric =
    Metric::new("fathom_lateness_seconds", Summary, "Delay of the generator itself against the schedule.");
const LIMIT_REQUESTS: Metric = Metric::new("fathom_limit_requests", Counter, "Requests that passed the limit.");
const LIMIT_DECIDED: Metric =
    Metric::new("fathom_limit_decided", Counter, "Requests for which the limit decided the time of admission.");
const LIMIT_DELAY: Metric =
    Metric::new("fathom_limit_delay_seconds", Counter, "Total time for which the limit delayed requests.");
const LIMIT_USED: Metric = Metric::new(
    "fathom_limit_used_ratio",
    Gauge,
    "Utilization of the limit since the start; above 1 while credits are spent.",
);
const LIMIT_CREDITS: Metric =
    Metric::new("fathom_limit_credits_ratio", Gauge, "Remaining fraction of the burst credits, from 0 to 1.");

/// Renders the metrics of a run.
pub fn exposition(state: &ViewState) -> String {
    let mut out = OpenMetrics::default();
    out.family(BUILD);
    out.sample(&label("version", env!("CARGO_PKG_VERSION")), 1.0);
    progress(&mut out, state);
    if let Some(subject) = &state.subject {
        let jobs: Vec<JobMetrics> = subject.jobs.iter().map(|facts| JobMetrics::new(subject, facts)).collect();
        counts(&mut out, &jobs);
        latencies(&mut out, &jobs);
        workers(&mut out, subject, &jobs);
        limits(&mut out, &subject.stages().1);
    }
    out.finish()
}

fn progress(out: &mut OpenMetrics, state: &ViewState) {
    let Some(progress) = &state.progress else { return };
    out.family(ELAPSED);
    out.sample("", progress.elapsed.secs_f64());
    if let Some(fraction) = progress.fraction {
        out.family(PROGRESS);
        out.sample("", fraction.clamp(0.0, 1.0));
    }
}

fn counts(out: &mut OpenMetrics, jobs: &[JobMetrics<'_>]) {
    type Figure = fn(&MeterSnapshot, usize) -> f64;
    type SyncFigure = fn(&MeterSnapshot, u64) -> Option<f64>;
    let figures: [(Metric, Figure, SyncFigure); 4] = [
        (OPERATIONS, |sum, kind| sum.ios[kind] as f64, |_, count| Some(count as f64)),
        (BYTES, |sum, kind| sum.bytes[kind] as f64, |_, _| None),
        (
            IOPS,
            |sum, kind| per_second(sum.ios[kind], sum.runtime[kind]),
            |sum, count| Some(per_second(count, sum.runtime.into_iter().max().unwrap_or_default())),
        ),
        (BANDWIDTH, |sum, kind| per_second(sum.bytes[kind], sum.runtime[kind]), |_, _| None),
    ];
    for (metric, figure, of_syncs) in figures {
        out.family(metric);
        for job in jobs {
            job.kinds().for_each(|(kind, labels)| out.sample(&labels, figure(&job.sum, kind)));
            if let Some((labels, syncs)) = job.syncs()
                && let Some(value) = of_syncs(&job.sum, syncs.moments.count())
            {
                out.sample(&labels, value);
            }
        }
    }
    out.family(ERRORS);
    jobs.iter().for_each(|job| out.sample(&job.labels, job.sum.errors as f64));
}

fn per_second(count: u64, runtime: Nanos) -> f64 {
    if runtime == Nanos::ZERO { 0.0 } else { count as f64 / runtime.secs_f64() }
}

fn latencies(out: &mut OpenMetrics, jobs: &[JobMetrics<'_>]) {
    type Pick = fn(&MeterSnapshot, usize) -> &Latency;
    let summaries: [(Metric, Pick); 2] =
        [(SERVICE, |sum, kind| &sum.service[kind]), (RESPONSE, |sum, kind| &sum.response[kind])];
    for (metric, pick) in summaries {
        let all = || jobs.iter().flat_map(|job| job.kinds().map(move |(kind, labels)| (labels, pick(&job.sum, kind))));
        let syncs = || jobs.iter().filter_map(JobMetrics::syncs).filter(|_| metric == SERVICE);
        if all().any(|(_, latency)| latency.moments.count() > 0) || syncs().next().is_some() {
            out.family(metric);
            all().for_each(|(labels, latency)| summary(out, &labels, latency));
            syncs().for_each(|(labels, latency)| summary(out, &labels, latency));
        }
    }
    out.family(LATENCY);
    for job in jobs {
        job.kinds().for_each(|(kind, labels)| buckets(out, &labels, job.sum.latency(kind)));
        job.syncs().into_iter().for_each(|(labels, latency)| buckets(out, &labels, latency));
    }
}

fn summary(out: &mut OpenMetrics, labels: &str, latency: &Latency) {
    let count = latency.moments.count();
    if count == 0 {
        return;
    }
    let quantile = |percent: f64| latency.histogram.percentile(percent).map(|ns| (percent, ns.secs_f64()));
    out.summary(labels, PERCENTILES.into_iter().filter_map(quantile), sum_s(latency), count);
}

fn sum_s(latency: &Latency) -> f64 {
    latency.moments.mean_ns() * latency.moments.count() as f64 / 1e9
}

/// Writes a histogram with bounds at 1, 2 and 5 times each power of ten from 1 us to 10 s. A bound is as exact as the
/// meter's histograms: it lies in a bucket of at most 0.8 % width, which counts as below it.
fn buckets(out: &mut OpenMetrics, labels: &str, latency: &Latency) {
    let steps = (3..10).flat_map(|power| [1, 2, 5].map(|step| step * 10_u64.pow(power))).chain([10_000_000_000]);
    let bounds = steps.map(|ns| (ns as f64 / 1e9, up_to(&latency.histogram, ns)));
    out.histogram(labels, bounds, sum_s(latency), latency.histogram.total());
}

/// Returns the number of values up to the bucket that holds `ns`.
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
        stages.iter().for_each(|stage| out.sample(&stage_labels(stage), figure(stage)));
    }
    let credits = || stages.iter().filter_map(|stage| Some((stage, stage.credits?)));
    if credits().next().is_some() {
        out.family(LIMIT_CREDITS);
        credits().for_each(|(stage, credits)| out.sample(&stage_labels(stage), credits.left / credits.most.max(1.0)));
    }
}

fn stage_labels(stage: &ServiceStage) -> String {
    let kind = if stage.kind == StageKind::Limit { "limit" } else { "station" };
    [label("limit", &stage.name), label("owner", &stage.owner), label("kind", kind)].join(",")
}
