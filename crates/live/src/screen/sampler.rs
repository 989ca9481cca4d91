//! Rates of the last seconds, from copies of the workers' counters.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use meter::{Glance, Histogram};
use units::Nanos;
use volume::ServiceStage;

use super::history::{History, HistoryPoint, Tail};
use crate::view::{JobFacts, WatchedRun};

/// Interval at which counters are read.
pub(super) const TICK: Duration = Duration::from_millis(500);
/// Figures are of so many ticks together: they can be read, and are of now.
pub(super) const RECENT: usize = 4;
/// The most intervals that are kept of all jobs together.
const POINTS_MOST: usize = 1 << 17;
/// The percentages of a [`Tail`].
const TAIL: [f64; 3] = [50.0, 99.0, 99.9];

/// Rates over the last [`RECENT`] ticks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Now {
    pub(super) iops: [f64; 3],
    pub(super) bytes: [f64; 3],
    /// How many operations took how long.
    pub(super) latency: [Histogram; 3],
    /// How many were in flight on average, by Little's law; `None` where service times are not counted.
    pub(super) in_flight: Option<f64>,
    /// How much later than planned the generator was, from the beginning on: half of all, and 99 % of all.
    pub(super) lateness: Option<(Nanos, Nanos)>,
    /// Operations that failed, from the beginning on.
    pub(super) errors: u64,
    /// Operations and bytes, from the beginning on.
    pub(super) ios: u64,
}

impl Now {
    pub(super) fn tail(&self, kind: usize) -> [Option<Nanos>; 3] {
        TAIL.map(|percent| self.latency[kind].percentile(percent))
    }
}

/// Counters between two reads.
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
        let tail = |kind: usize| -> Tail {
            TAIL.map(|percent| self.latency[kind].percentile(percent).map_or(f32::NAN, |ns| ns.get() as f32))
        };
        HistoryPoint {
            end_s,
            span_s: self.span_s,
            iops: self.iops.map(|rate| rate as f32),
            bytes: self.bytes.map(|rate| rate as f32),
            latency: std::array::from_fn(tail),
        }
    }
}

/// One worker, or the sum of some, when it was last seen.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    at: Nanos,
    begun: Nanos,
    ios: [u64; 3],
    bytes: [u64; 3],
    service_ns: f64,
}

impl Before {
    fn of(glance: &Glance) -> Self {
        let sum = |kind: &meter::Latency| kind.moments.mean_ns() * kind.moments.count() as f64;
        let service_ns = glance.service.iter().map(sum).sum();
        Self { at: glance.at, begun: glance.begun, ios: glance.ios, bytes: glance.bytes, service_ns }
    }

    /// What one worker has done since. Each has its own clock of looks, so that its rate is exact whenever it is seen.
    fn step_to(&self, now: &Self) -> SampleStep {
        // What began anew has done since then what it has counted.
        let before = if now.begun > self.begun { &Self { at: now.begun, ..Self::default() } } else { self };
        let seconds = now.at.since(before.at).secs_f64();
        if seconds <= 0.0 {
            return SampleStep::default();
        }
        let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
        SampleStep {
            iops: std::array::from_fn(|kind| rate(now.ios[kind], before.ios[kind])),
            bytes: std::array::from_fn(|kind| rate(now.bytes[kind], before.bytes[kind])),
            in_flight: ((now.service_ns - before.service_ns) / 1e9 / seconds).max(0.0),
            ..SampleStep::default()
        }
    }
}

/// One worker over time.
#[derive(Clone, Debug)]
struct SampledWorker {
    before: Before,
    /// What it did between the last two times that it showed anything.
    last: SampleStep,
    shown: Instant,
}

/// A worker that shows nothing for so long waits for a device, or for a processor. It looks up five times a second, where
/// there are a thousand once.
const SILENT_AFTER: Duration = Duration::from_secs(3);

impl SampledWorker {
    /// Looks at it. Returns whether it has begun to count anew.
    fn look(&mut self, glance: &Glance, running: bool) -> bool {
        let now = Before::of(glance);
        if now.at > self.before.at {
            let anew = now.begun > self.before.begun;
            (self.last, self.shown) = (self.before.step_to(&now), Instant::now());
            self.before = now;
            return anew;
        }
        if !running || self.is_silent() {
            self.last = SampleStep::default();
        }
        false
    }

    fn is_silent(&self) -> bool {
        self.shown.elapsed() > SILENT_AFTER
    }
}

/// Whether a job waits for its turn, runs, or is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ScreenState {
    #[default]
    Waiting,
    Ramp,
    Running,
    /// It runs, and has published nothing for seconds.
    Silent,
    Over,
}

/// One job over time, or all of them together.
#[derive(Clone, Debug)]
pub(super) struct Track {
    pub(super) now: Now,
    pub(super) history: History,
    pub(super) state: ScreenState,
    pub(super) running: usize,
    recent: VecDeque<SampleStep>,
    workers: Vec<SampledWorker>,
    counted: [Histogram; 3],
    first_seen: Option<Instant>,
}

impl Track {
    pub(super) fn new(points_most: usize) -> Self {
        Self {
            now: Now::default(),
            history: History::new(points_most),
            state: ScreenState::Waiting,
            running: 0,
            recent: VecDeque::new(),
            workers: Vec::new(),
            counted: Default::default(),
            first_seen: None,
        }
    }

    /// Looks at a job, and says what it has done since the last time.
    fn look(&mut self, subject: &WatchedRun, job: &JobFacts) -> SampleStep {
        let fresh = || SampledWorker { before: Before::default(), last: SampleStep::default(), shown: Instant::now() };
        self.workers.resize_with(job.workers.len(), fresh);
        self.running = subject.running(job);
        let (mut step, mut sum, mut anew) = (SampleStep::default(), Glance::default(), false);
        for (&number, worker) in job.workers.iter().zip(&mut self.workers) {
            let glance = subject.glance(number);
            anew |= worker.look(&glance, subject.is_running(number));
            step.add(&worker.last);
            sum.merge(&glance);
        }
        for kind in 0..3 {
            let counted = &sum.latency(kind).histogram;
            let before = if anew { &Histogram::default() } else { &self.counted[kind] };
            step.latency[kind] = counted.since(before);
            self.counted[kind] = counted.clone();
        }
        self.see(&sum, job);
        step
    }

    fn see(&mut self, sum: &Glance, job: &JobFacts) {
        let begun = sum.at > Nanos::ZERO || self.running > 0;
        let since = begun.then(|| *self.first_seen.get_or_insert_with(Instant::now));
        self.state = match (since, self.running) {
            (None, _) => ScreenState::Waiting,
            (Some(_), 0) => ScreenState::Over,
            _ if self.workers.iter().all(SampledWorker::is_silent) => ScreenState::Silent,
            (Some(since), _) if since.elapsed() < Duration::from_nanos(job.ramp.get()) => ScreenState::Ramp,
            _ => ScreenState::Running,
        };
        let late = |percent| sum.lateness.histogram.percentile(percent);
        self.now.lateness = late(50.0).zip(late(99.0));
        self.now.errors = sum.errors;
        self.now.ios = sum.ios.iter().sum();
        self.now.in_flight = sum.service.iter().any(|kind| kind.moments.count() > 0).then_some(0.0);
    }

    /// Takes note of what was done since the last time.
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

/// A limit or a station of a modelled volume since the last look.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LimitNow {
    pub(super) name: String,
    pub(super) owner: String,
    /// How much of it is used, from 0 to 1; above while credits are spent.
    pub(super) used: f64,
    /// Of which share of the requests it set the admission.
    pub(super) decided: f64,
    /// What is left of its burst credits, from 0 to 1, and for how long that lasts at this pace.
    pub(super) credits: Option<(f64, Option<Duration>)>,
}

/// Everything that is drawn of jobs and limits.
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
            all: Track::new(POINTS_MOST / 16),
            jobs: Vec::new(),
            limits: Vec::new(),
            began: Instant::now(),
            last_s: 0.0,
            stages: Default::default(),
        }
    }

    /// Looks at what there is to see by now.
    pub(super) fn look(&mut self, subject: Option<&Arc<WatchedRun>>) {
        let Some(subject) = subject else { return };
        if self.subject.as_ref().is_none_or(|known| !Arc::ptr_eq(known, subject)) {
            self.turn_to(subject);
        }
        let now_s = self.began.elapsed().as_secs_f64();
        let span_s = now_s - std::mem::replace(&mut self.last_s, now_s);
        let mut all = SampleStep::default();
        for (track, job) in self.jobs.iter_mut().zip(&subject.jobs) {
            let step = track.look(subject, job);
            all.add(&step);
            track.push(step, now_s, span_s);
        }
        self.all.sum_up(&self.jobs);
        self.all.push(all, now_s, span_s);
        self.see_limits(subject);
    }

    fn turn_to(&mut self, subject: &Arc<WatchedRun>) {
        let points = (POINTS_MOST / subject.jobs.len().max(1)).min(POINTS_MOST / 16);
        self.jobs = subject.jobs.iter().map(|_| Track::new(points)).collect();
        self.stages = Default::default();
        self.limits.clear();
        self.subject = Some(Arc::clone(subject));
    }

    fn see_limits(&mut self, subject: &WatchedRun) {
        let now = subject.stages();
        if now.0 <= self.stages.0 {
            return;
        }
        let before = std::mem::replace(&mut self.stages, now);
        let pairs = self.stages.1.iter().enumerate().map(|(index, stage)| (stage, before.1.get(index)));
        self.limits = pairs.map(|(stage, known)| limit((self.stages.0, stage), (before.0, known))).collect();
        self.limits
            .sort_by(|a, b| (b.decided, b.used).partial_cmp(&(a.decided, a.used)).unwrap_or(std::cmp::Ordering::Equal));
    }
}

impl Track {
    /// What all jobs together are.
    fn sum_up(&mut self, jobs: &[Self]) {
        self.running = jobs.iter().map(|job| job.running).sum();
        let any = |state| jobs.iter().any(|job| job.state == state);
        self.state = match () {
            () if any(ScreenState::Running) => ScreenState::Running,
            () if any(ScreenState::Ramp) => ScreenState::Ramp,
            () if any(ScreenState::Silent) => ScreenState::Silent,
            () if any(ScreenState::Waiting) => ScreenState::Waiting,
            () => ScreenState::Over,
        };
        self.now.errors = jobs.iter().map(|job| job.now.errors).sum();
        self.now.ios = jobs.iter().map(|job| job.now.ios).sum();
        self.now.lateness = jobs.iter().filter_map(|job| job.now.lateness).max_by_key(|(_, p99)| *p99);
        self.now.in_flight = jobs.iter().any(|job| job.now.in_flight.is_some()).then_some(0.0);
    }
}

/// The effect of a limit between two instants; its utilization counts from the start.
fn limit((now, stage): (Nanos, &ServiceStage), (then, before): (Nanos, Option<&ServiceStage>)) -> LimitNow {
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
    LimitNow {
        name: stage.name.clone(),
        owner: stage.owner.clone(),
        used: used.max(0.0),
        decided: decided as f64 / passed.max(1) as f64,
        credits,
    }
}

#[cfg(test)]
pub(super) mod example {
    //! Runs that never were, for screens.

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

    /// A minute of operations of some kinds, with a wave in it.
    fn track(kinds: &[(usize, f64, u64)]) -> Track {
        let mut track = Track::new(1000);
        for tick in 1..=84_u64 {
            let wave = 1.0 + 0.2 * (tick as f64 / 6.0).sin() - if tick % 23 == 0 { 0.4 } else { 0.0 };
            let mut step = SampleStep { in_flight: 31.9, ..SampleStep::default() };
            for &(kind, iops, ns) in kinds {
                (step.iops[kind], step.bytes[kind]) = (iops * wave, iops * wave * 4096.0);
                for share in 1..=1000_u64 {
                    // A body around the median, and a tail of one in a hundred.
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

    /// Two jobs on a volume that they use up.
    pub(in crate::screen) fn mixed_on_a_model() -> (Vec<JobFacts>, ScreenSampler) {
        let kinds = [(0, 7000.0, 900_000), (1, 3000.0, 2_400_000)];
        let mut sampler = sampler(vec![track(&kinds), track(&kinds[1..])], &kinds);
        sampler.jobs[0].now.lateness = Some((Nanos::from_micros(3), Nanos::from_micros(90)));
        sampler.jobs[1].now.errors = 2;
        let limit = |name: &str, used, decided, credits| LimitNow {
            name: name.to_owned(),
            owner: "pd-ssd".to_owned(),
            used,
            decided,
            credits,
        };
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
