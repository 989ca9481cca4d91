//! Computes recent rates from copies of the workers' counters.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use meter::{Histogram, MeterSnapshot};
use units::Nanos;
use volume::ServiceStage;

use super::history::{History, HistoryPoint};
use crate::view::{JobFacts, WatchedRun};

/// Interval at which counters are read.
pub(super) const TICK: Duration = Duration::from_millis(500);
/// Ticks that figures average over: few enough to be current, enough to be readable.
pub(super) const RECENT: usize = 4;
/// Maximum number of history points of all jobs together.
const POINTS_MAX: usize = 1 << 17;
/// Returns p50, p99 and p99.9.
fn tail(latency: &Histogram) -> [Option<Nanos>; 3] {
    [50.0, 99.0, 99.9].map(|percent| latency.percentile(percent))
}

/// Rates over the last [`RECENT`] ticks, and totals.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RecentFigures {
    pub(super) iops: [f64; 3],
    pub(super) bytes: [f64; 3],
    /// Latencies by kind of operation.
    pub(super) latency: [Histogram; 3],
    /// Mean number of operations in flight, by Little's law; `None` without service times.
    pub(super) in_flight: Option<f64>,
    /// p50 and p99 of the generator's lateness since the start.
    pub(super) lateness: Option<(Nanos, Nanos)>,
    /// Failed operations since the start.
    pub(super) errors: u64,
    /// Operations since the start.
    pub(super) ios: u64,
}

impl RecentFigures {
    pub(super) fn tail(&self, kind: usize) -> [Option<Nanos>; 3] {
        tail(&self.latency[kind])
    }
}

/// Rates and latencies between two reads of the counters.
#[derive(Clone, Debug, Default)]
struct SampleStep {
    iops: [f64; 3],
    bytes: [f64; 3],
    in_flight: f64,
    latency: [Histogram; 3],
    span_s: f64,
}

impl SampleStep {
    fn add(&mut self, other: &Self) {
        for kind in 0..3 {
            self.iops[kind] += other.iops[kind];
            self.bytes[kind] += other.bytes[kind];
            self.latency[kind].merge(&other.latency[kind]);
        }
        self.in_flight += other.in_flight;
    }

    fn point(&self, end_s: f64) -> HistoryPoint {
        HistoryPoint {
            end_s,
            span_s: self.span_s,
            iops: self.iops.map(|rate| rate as f32),
            bytes: self.bytes.map(|rate| rate as f32),
            latency: self
                .latency
                .each_ref()
                .map(|latency| tail(latency).map(|ns| ns.map_or(f32::NAN, |ns| ns.get() as f32))),
        }
    }
}

/// A worker's counters at one instant.
#[derive(Clone, Copy, Debug, Default)]
struct WorkerCounts {
    at: Nanos,
    begun: Nanos,
    ios: [u64; 3],
    bytes: [u64; 3],
    service_ns: f64,
}

impl WorkerCounts {
    fn of(glance: &MeterSnapshot) -> Self {
        let sum = |kind: &meter::Latency| kind.moments.mean_ns() * kind.moments.count() as f64;
        let service_ns = glance.service.iter().map(sum).sum();
        Self { at: glance.at, begun: glance.begun, ios: glance.ios, bytes: glance.bytes, service_ns }
    }

    /// Returns the rates since these counts. Each copy has its own instant, so rates are exact whenever it is read.
    fn step_to(&self, now: &Self) -> SampleStep {
        // A worker that restarted counts from its new start.
        let then = if now.begun > self.begun { &Self { at: now.begun, ..Self::default() } } else { self };
        let seconds = now.at.since(then.at).secs_f64();
        if seconds <= 0.0 {
            return SampleStep::default();
        }
        let rate = |now: u64, then: u64| now.saturating_sub(then) as f64 / seconds;
        SampleStep {
            iops: std::array::from_fn(|kind| rate(now.ios[kind], then.ios[kind])),
            bytes: std::array::from_fn(|kind| rate(now.bytes[kind], then.bytes[kind])),
            in_flight: ((now.service_ns - then.service_ns) / 1e9 / seconds).max(0.0),
            ..SampleStep::default()
        }
    }
}

/// One worker over time.
#[derive(Clone, Debug)]
struct SampledWorker {
    previous: WorkerCounts,
    /// Rates between its last two updates.
    last: SampleStep,
    updated: Instant,
}

/// A worker without updates for this long waits for a device or for a CPU. Workers publish five times a second,
/// or once per second if there are a thousand of them.
const UNRESPONSIVE_AFTER: Duration = Duration::from_secs(3);

impl SampledWorker {
    /// Reads the worker's counters. Returns whether it has restarted.
    fn sample(&mut self, glance: &MeterSnapshot, running: bool) -> bool {
        let now = WorkerCounts::of(glance);
        if now.at > self.previous.at {
            (self.last, self.updated) = (self.previous.step_to(&now), Instant::now());
            return now.begun > std::mem::replace(&mut self.previous, now).begun;
        }
        if !running || self.is_unresponsive() {
            self.last = SampleStep::default();
        }
        false
    }

    fn is_unresponsive(&self) -> bool {
        self.updated.elapsed() > UNRESPONSIVE_AFTER
    }
}

/// State of a job. All jobs together have the greatest state of one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ScreenState {
    Done,
    Waiting,
    /// Running, without any update for seconds.
    Unresponsive,
    Ramp,
    Running,
}

/// A job over time, or all jobs together.
#[derive(Clone, Debug)]
pub(super) struct Track {
    pub(super) now: RecentFigures,
    pub(super) history: History,
    pub(super) state: ScreenState,
    pub(super) running: usize,
    recent: VecDeque<SampleStep>,
    workers: Vec<SampledWorker>,
    counted: [Histogram; 3],
    first_seen: Option<Instant>,
}

impl Track {
    pub(super) fn new(points_max: usize) -> Self {
        Self {
            now: RecentFigures::default(),
            history: History::new(points_max),
            state: ScreenState::Waiting,
            running: 0,
            recent: VecDeque::new(),
            workers: Vec::new(),
            counted: Default::default(),
            first_seen: None,
        }
    }

    /// Reads the counters of a job's workers. Returns the rates since the last read.
    fn sample(&mut self, subject: &WatchedRun, job: &JobFacts) -> SampleStep {
        let fresh = || SampledWorker {
            previous: WorkerCounts::default(),
            last: SampleStep::default(),
            updated: Instant::now(),
        };
        self.workers.resize_with(job.workers.len(), fresh);
        self.running = subject.running(job);
        let (mut step, mut sum, mut restarted) = (SampleStep::default(), MeterSnapshot::default(), false);
        for (&number, worker) in job.workers.iter().zip(&mut self.workers) {
            let glance = subject.glance(number);
            restarted |= worker.sample(&glance, subject.is_running(number));
            step.add(&worker.last);
            sum.merge(&glance);
        }
        for kind in 0..3 {
            let counted = &sum.latency(kind).histogram;
            let previous = if restarted { &Histogram::default() } else { &self.counted[kind] };
            step.latency[kind] = counted.since(previous);
            self.counted[kind] = counted.clone();
        }
        self.update(&sum, job);
        step
    }

    fn update(&mut self, sum: &MeterSnapshot, job: &JobFacts) {
        let begun = sum.at > Nanos::ZERO || self.running > 0;
        let since = begun.then(|| *self.first_seen.get_or_insert_with(Instant::now));
        self.state = match (since, self.running) {
            (None, _) => ScreenState::Waiting,
            (Some(_), 0) => ScreenState::Done,
            _ if self.workers.iter().all(SampledWorker::is_unresponsive) => ScreenState::Unresponsive,
            (Some(since), _) if since.elapsed() < Duration::from_nanos(job.ramp.get()) => ScreenState::Ramp,
            _ => ScreenState::Running,
        };
        let lateness = |percent| sum.lateness.histogram.percentile(percent);
        self.now.lateness = lateness(50.0).zip(lateness(99.0));
        self.now.errors = sum.errors;
        self.now.ios = sum.ios.iter().sum();
        self.now.in_flight = sum.service.iter().any(|kind| kind.moments.count() > 0).then_some(0.0);
    }

    /// Adds the rates since the last tick.
    fn push(&mut self, mut step: SampleStep, end_s: f64, span_s: f64) {
        step.span_s = span_s;
        self.history.push(step.point(end_s));
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(step);
        let (mut sum, ticks) = (SampleStep::default(), self.recent.len() as f64);
        self.recent.iter().for_each(|step| sum.add(step));
        self.now.iops = sum.iops.map(|rate| rate / ticks);
        self.now.bytes = sum.bytes.map(|rate| rate / ticks);
        self.now.in_flight = self.now.in_flight.map(|_| sum.in_flight / ticks);
        self.now.latency = sum.latency;
    }
}

/// A limit or a station of a modelled volume since the last tick.
#[derive(Clone, Debug)]
pub(super) struct LimitNow {
    pub(super) name: String,
    /// Utilization, from 0 to 1; above 1 while credits are spent.
    pub(super) used: f64,
    /// Fraction of the requests whose admission the limit set.
    pub(super) decided: f64,
    /// Remaining fraction of the burst credits, from 0 to 1, and how long they last at the current rate.
    pub(super) credits: Option<(f64, Option<Duration>)>,
}

/// The figures of jobs and limits that are drawn.
#[derive(Clone, Debug)]
pub(super) struct ScreenSampler {
    pub(super) subject: Option<Arc<WatchedRun>>,
    pub(super) all: Track,
    pub(super) jobs: Vec<Track>,
    pub(super) limits: Vec<LimitNow>,
    began: Instant,
    last_s: f64,
    stages: (Nanos, Vec<ServiceStage>),
}

impl ScreenSampler {
    pub(super) fn new() -> Self {
        Self {
            subject: None,
            all: Track::new(POINTS_MAX / 16),
            jobs: Vec::new(),
            limits: Vec::new(),
            began: Instant::now(),
            last_s: 0.0,
            stages: Default::default(),
        }
    }

    /// Reads all counters.
    pub(super) fn sample(&mut self, subject: Option<&Arc<WatchedRun>>) {
        let Some(subject) = subject else { return };
        if self.subject.as_ref().is_none_or(|known| !Arc::ptr_eq(known, subject)) {
            self.switch_to(subject);
        }
        let now_s = self.began.elapsed().as_secs_f64();
        let span_s = now_s - std::mem::replace(&mut self.last_s, now_s);
        let mut all = SampleStep::default();
        for (track, job) in self.jobs.iter_mut().zip(&subject.jobs) {
            let step = track.sample(subject, job);
            all.add(&step);
            track.push(step, now_s, span_s);
        }
        self.all.sum_up(&self.jobs);
        self.all.push(all, now_s, span_s);
        self.update_limits(subject);
    }

    /// Starts to follow another run.
    fn switch_to(&mut self, subject: &Arc<WatchedRun>) {
        let points = (POINTS_MAX / subject.jobs.len().max(1)).min(POINTS_MAX / 16);
        self.jobs = subject.jobs.iter().map(|_| Track::new(points)).collect();
        self.stages = Default::default();
        self.limits.clear();
        self.subject = Some(Arc::clone(subject));
    }

    fn update_limits(&mut self, subject: &WatchedRun) {
        let now = subject.stages();
        if now.0 <= self.stages.0 {
            return;
        }
        let then = std::mem::replace(&mut self.stages, now);
        let pairs = self.stages.1.iter().enumerate().map(|(index, stage)| (stage, then.1.get(index)));
        self.limits = pairs.map(|(stage, before)| limit(stage, self.stages.0, before, then.0)).collect();
        self.limits
            .sort_by(|a, b| (b.decided, b.used).partial_cmp(&(a.decided, a.used)).unwrap_or(std::cmp::Ordering::Equal));
    }
}

impl Track {
    /// Combines the state and the totals of all jobs.
    fn sum_up(&mut self, jobs: &[Self]) {
        self.running = jobs.iter().map(|job| job.running).sum();
        self.state = jobs.iter().map(|job| job.state).max().unwrap_or(ScreenState::Done);
        self.now.errors = jobs.iter().map(|job| job.now.errors).sum();
        self.now.ios = jobs.iter().map(|job| job.now.ios).sum();
        self.now.lateness = jobs.iter().filter_map(|job| job.now.lateness).max_by_key(|(_, p99)| *p99);
        self.now.in_flight = jobs.iter().any(|job| job.now.in_flight.is_some()).then_some(0.0);
    }
}

/// Computes the effect of a limit between two instants from its utilization since the start.
fn limit(stage: &ServiceStage, now: Nanos, before: Option<&ServiceStage>, then: Nanos) -> LimitNow {
    let busy_s = |stage: &ServiceStage, at: Nanos| stage.utilisation * at.secs_f64();
    let passed = stage.requests - before.map_or(0, |before| before.requests).min(stage.requests);
    let decided = stage.decided - before.map_or(0, |before| before.decided).min(stage.decided);
    let span_s = now.since(then).secs_f64().max(1e-9);
    let used = (busy_s(stage, now) - before.map_or(0.0, |before| busy_s(before, then))) / span_s;
    let credits = stage.credits.map(|credits| {
        let spent = before.and_then(|before| before.credits).map_or(0.0, |before| before.left - credits.left) / span_s;
        let lasts = (spent > 0.0 && credits.left > 0.0).then(|| credits.left / spent);
        let lasts = lasts.filter(|lasts| *lasts < 1e7).map(Duration::from_secs_f64);
        ((credits.left / credits.most.max(1.0)).clamp(0.0, 1.0), lasts)
    });
    LimitNow { name: stage.name.clone(), used: used.max(0.0), decided: decided as f64 / passed.max(1) as f64, credits }
}

#[cfg(test)]
pub(super) mod example {
    //! Synthetic runs for tests of screens.

    use super::*;

    fn facts(name: &str, workers: usize) -> JobFacts {
        JobFacts {
            name: name.to_owned(),
            load: "randread 4 KiB".to_owned(),
            engine: "io_uring",
            target: "/dev/nvme0n1".to_owned(),
            depth: 32 * workers as u32,
            workers: (0..workers).collect(),
            ..JobFacts::default()
        }
    }

    /// Returns 42 s of operations with a periodic variation. Each kind has its IOPS and its median latency in ns.
    fn track(kinds: &[(usize, f64, u64)]) -> Track {
        let mut track = Track::new(1000);
        for tick in 1..=84_u64 {
            let wave = 1.0 + 0.2 * (tick as f64 / 6.0).sin() - if tick % 23 == 0 { 0.4 } else { 0.0 };
            let mut step = SampleStep { in_flight: 31.9, ..SampleStep::default() };
            for &(kind, iops, ns) in kinds {
                (step.iops[kind], step.bytes[kind]) = (iops * wave, iops * wave * 4096.0);
                for share in 1..=1000_u64 {
                    // A body around the median, and a tail of 1 %.
                    let slow = if share > 990 { 5 + tick % 7 } else { 1 };
                    step.latency[kind].add(ns * slow + ns * share * share / 3_000_000, iops as u64 / 2000);
                }
            }
            track.now.in_flight = Some(0.0);
            track.push(step, tick as f64 / 2.0, 0.5);
        }
        (track.state, track.running) = (ScreenState::Running, 1);
        track.now.ios = kinds.iter().map(|(_, iops, _)| (iops * 42.0) as u64).sum();
        track
    }

    fn sampler(jobs: Vec<Track>, all: &[(usize, f64, u64)]) -> ScreenSampler {
        let mut sampler = ScreenSampler { all: track(all), jobs, ..ScreenSampler::new() };
        sampler.all.sum_up(&sampler.jobs);
        sampler.all.now.in_flight = Some(31.9);
        sampler
    }

    /// One job of reads.
    pub(in crate::screen) fn reads() -> (Vec<JobFacts>, ScreenSampler) {
        let kinds = [(0, 124_000.0, 230_000)];
        (vec![facts("first-try", 4)], sampler(vec![track(&kinds)], &kinds))
    }

    /// Two jobs that saturate a modelled volume.
    pub(in crate::screen) fn mixed_on_a_model() -> (Vec<JobFacts>, ScreenSampler) {
        let kinds = [(0, 7000.0, 900_000), (1, 3000.0, 2_400_000)];
        let mut sampler = sampler(vec![track(&kinds), track(&kinds[1..])], &kinds);
        sampler.jobs[0].now.lateness = Some((Nanos::from_micros(3), Nanos::from_micros(90)));
        sampler.jobs[1].now.errors = 2;
        let limit = |name: &str, used, decided, credits| LimitNow { name: name.to_owned(), used, decided, credits };
        sampler.limits = vec![
            limit("volume IOPS", 1.0, 0.93, Some((0.42, Some(Duration::from_secs(75))))),
            limit("machine throughput", 0.31, 0.0, None),
        ];
        let mut jobs = vec![facts("database", 1), facts("logs", 1)];
        (jobs[0].load, jobs[0].scheduled) = ("randrw 4 KiB".to_owned(), true);
        (vec![jobs.remove(0), jobs.remove(0)], sampler)
    }

    /// Many jobs.
    pub(in crate::screen) fn many(n: usize) -> (Vec<JobFacts>, ScreenSampler) {
        let kinds = [(0, 2000.0, 400_000)];
        let one = track(&kinds);
        let jobs = (0..n).map(|n| facts(&format!("job-{n}"), 1)).collect();
        (jobs, sampler(vec![one; n], &kinds))
    }
}
