//! A fio job that loads a volume as a trace does.
//!
//! A [`JobSynthesizer`] sees each request once, divides the requests into classes (by operation, size, and whether they
//! continue a stream or a process waits for them) and characterizes each class and the whole. From that follow the
//! sections of a job: rates and phases of an open loop, or workers and think times of a closed one. [`load_distance`]
//! compares what the job does with the trace.
//!
//! Memory: 6 MiB, and 16 MiB for each class in use, of which there are about five. Out of scope: running the job.

mod backlog;
mod bursts;
mod class;
mod closed;
mod difference;
mod episodes;
mod layout;
mod open;
mod phases;
mod schedule;
mod search;
mod section;
mod sizes;
mod text;

pub use backlog::{Backlog, BacklogCounts, BacklogLimit};
pub use difference::{JobComparison, LoadLatency, VolumeComparison};
pub use difference::{LoadDifference, LoadDimension, load_distance, wait_distance};
pub use section::{JobSection, SectionPace, SectionPattern};

use class::{ClassCounts, ClassKey};
use open::{OpenLoad, OpenSections};
use units::{Problem, ProblemCode};

use crate::characterize::{Characterizer, TraceProfile};
use crate::{TraceOperation, TraceRequest};

/// Threshold of the closed-loop score from which a trace is taken as a closed loop, and the least fraction of requests
/// that have a score.
const CLOSED_SCORE_MIN: f64 = 0.7;
const SCORED_MIN: f64 = 0.5;

/// Finds the job for a trace in one pass.
#[derive(Clone, Debug)]
pub struct JobSynthesizer {
    total: Characterizer,
    backlog: BacklogCounts,
    classes: [Option<Box<ClassCounts>>; ClassKey::COUNT],
    /// Class of the last write of each process, plus one; zero if there is none.
    last_writes: Vec<u8>,
    /// Class of the last write of any process, likewise, and of the last one that flushes follow closely.
    last_write: u8,
    last_commit: u8,
    /// Writes since the last flush.
    unflushed: u32,
    /// Flushes before any write.
    early_flushes: u64,
    unknown_requests: u64,
    empty_requests: u64,
}

/// How a job issues requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobLoop {
    /// At the instants of a schedule, however long requests take.
    Open,
    /// When earlier requests complete.
    Closed,
}

/// A job for a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct SynthesizedJob {
    /// Sections in the order of the job file.
    pub sections: Vec<JobSection>,
    /// How it issues requests.
    pub job_loop: JobLoop,
    /// Bytes of the device or file that it uses.
    pub bytes: u64,
    /// Duration in nanoseconds.
    pub runtime_ns: u64,
    /// What the sections leave out or change.
    pub omissions: Vec<JobOmission>,
    /// Waits of the requests of the trace before limits.
    pub waits: Vec<Backlog>,
}

/// Something of a trace that its job does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobOmission {
    /// Operations other than reads, writes, flushes and discards.
    UnknownOperations { requests: u64 },
    /// Reads, writes and discards of no bytes.
    EmptyRequests { requests: u64 },
    /// Flushes that no write precedes: jobs flush after writes.
    FlushesWithoutWrites { flushes: u64 },
    /// More flushes than writes, of which jobs make one each at most.
    FlushesAboveWrites {
        /// Number of flushes too many.
        flushes: u64,
    },
    /// Requests that are divided because they are larger than 16 MiB.
    DividedRequests { requests: u64 },
    /// Phases that are averaged because there would be too many sections.
    AveragedPhases { phases: u64 },
    /// Bursts at irregular instants that are repeated at equal intervals, with a few sizes.
    RepeatedBursts { bursts: u64 },
    /// Devices whose requests are laid next to each other on one.
    JoinedDevices { devices: u64 },
}

/// Why there is no job for a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SynthesisError {
    /// The trace has no request.
    NoRequests,
    /// The trace has flushes or unknown operations only.
    NoData,
}

impl From<SynthesisError> for Problem {
    fn from(error: SynthesisError) -> Self {
        let (why, help) = match error {
            SynthesisError::NoRequests => ("it has no requests", "capture for longer, or a device that is in use"),
            SynthesisError::NoData => {
                ("it has only flushes, and jobs flush only after writes", "capture the device while it reads or writes")
            }
        };
        Self::error(ProblemCode::Trace, format!("cannot create a job from this trace: {why}")).help(help)
    }
}

impl Default for JobSynthesizer {
    fn default() -> Self {
        Self::new()
    }
}

impl JobSynthesizer {
    /// Creates a synthesizer that has seen no request.
    #[must_use]
    pub fn new() -> Self {
        Self {
            total: Characterizer::new(),
            backlog: BacklogCounts::new(),
            classes: [const { None }; ClassKey::COUNT],
            last_writes: Vec::new(),
            last_write: 0,
            last_commit: 0,
            unflushed: 0,
            early_flushes: 0,
            unknown_requests: 0,
            empty_requests: 0,
        }
    }

    /// Adds the next request, in the order of issue as for [`Characterizer::add`].
    #[inline]
    pub fn add(&mut self, request: &TraceRequest) {
        let (at, before) = self.total.add_located(request);
        match request.operation {
            TraceOperation::Flush => self.add_flush(request.owner()),
            TraceOperation::Other => self.unknown_requests += 1,
            _ if request.length == 0 => self.empty_requests += 1,
            _ => self.add_data(at, before, request),
        }
    }

    #[inline]
    fn add_data(&mut self, at: u64, before: u64, request: &TraceRequest) {
        let key = ClassKey::of(request, before, self.unflushed);
        let class = self.classes[key.index()].get_or_insert_with(|| Box::new(ClassCounts::new()));
        class.add(at, request);
        self.backlog.add(at, request.length);
        if key.is_write() {
            let is_stable = request.is_fua || request.is_preflush;
            class.flushes += u64::from(is_stable);
            self.unflushed = if is_stable { 0 } else { self.unflushed.saturating_add(1) };
            let process = usize::from(request.owner());
            if process >= self.last_writes.len() {
                self.last_writes.resize(process + 1, 0);
            }
            self.last_write = key.index() as u8 + 1;
            self.last_writes[process] = self.last_write;
            if key.is_sync {
                self.last_commit = self.last_write;
            }
        }
    }

    /// Counts a flush with the last write of its process if that is a commit. The kernel issues many flushes from threads
    /// of its own; they are counted with the last commit of any process, or with the last write if there is none.
    fn add_flush(&mut self, process: u16) {
        self.unflushed = 0;
        let own = self.last_writes.get(usize::from(process)).copied().unwrap_or(0);
        let is_commit = own > 0 && ClassKey::of_index(usize::from(own) - 1).is_sync;
        let candidates = [if is_commit { own } else { 0 }, self.last_commit, own, self.last_write];
        let class = candidates.into_iter().find(|class| *class > 0);
        match class.and_then(|class| self.classes[usize::from(class) - 1].as_mut()) {
            Some(class) => class.flushes += 1,
            None => self.early_flushes += 1,
        }
    }

    /// Returns the characteristics of the trace, and the job.
    pub fn finish(self) -> (TraceProfile, Result<SynthesizedJob, SynthesisError>) {
        let profile = self.total.finish();
        let mut omissions = Vec::new();
        let mut omit = |count: u64, omission: JobOmission| omissions.extend((count > 0).then_some(omission));
        omit(self.unknown_requests, JobOmission::UnknownOperations { requests: self.unknown_requests });
        omit(self.empty_requests, JobOmission::EmptyRequests { requests: self.empty_requests });
        omit(self.early_flushes, JobOmission::FlushesWithoutWrites { flushes: self.early_flushes });
        let job = job(&profile, self.classes, &self.backlog.finish(), omissions);
        (profile, job)
    }
}

fn job(
    profile: &TraceProfile,
    classes: [Option<Box<ClassCounts>>; ClassKey::COUNT],
    waits: &[Backlog],
    mut omissions: Vec<JobOmission>,
) -> Result<SynthesizedJob, SynthesisError> {
    if profile.totals.requests.total() == 0 {
        return Err(SynthesisError::NoRequests);
    }
    let mut classes = class::finished(classes, &profile.totals);
    if classes.is_empty() {
        return Err(SynthesisError::NoData);
    }
    let mut omit = |count: u64, omission: JobOmission| omissions.extend((count > 0).then_some(omission));
    let above = class::spread_flushes(&mut classes);
    omit(above, JobOmission::FlushesAboveWrites { flushes: above });
    let divided = classes.iter().map(|class| class.divided).sum();
    omit(divided, JobOmission::DividedRequests { requests: divided });
    let devices = profile.devices.len() as u64;
    omit(devices.saturating_sub(1), JobOmission::JoinedDevices { devices });
    let (regions, bytes) = layout::regions(&classes, profile);
    let job_loop = job_loop(profile);
    let runtime_ns = runtime_ns(profile);
    let OpenSections { sections, averaged, repeated } = match job_loop {
        JobLoop::Closed => closed::sections(&classes, &regions, profile, runtime_ns).into(),
        JobLoop::Open => search::sections(&OpenLoad { classes: &classes, regions: &regions, runtime_ns, waits }),
    };
    omissions.extend((averaged > 0).then_some(JobOmission::AveragedPhases { phases: averaged }));
    omissions.extend((repeated > 0).then_some(JobOmission::RepeatedBursts { bursts: repeated }));
    Ok(SynthesizedJob { sections, job_loop, bytes, runtime_ns, omissions, waits: waits.to_vec() })
}

/// Returns the time in which as many requests arrive at the mean rate: the time from the first to the last issue, and one
/// mean gap.
fn runtime_ns(profile: &TraceProfile) -> u64 {
    let (duration_ns, gaps) = (profile.totals.issue_duration_ns, profile.totals.requests.total().saturating_sub(1));
    duration_ns.saturating_add(duration_ns / gaps.max(1))
}

fn job_loop(profile: &TraceProfile) -> JobLoop {
    let scored = profile.loops.as_ref().filter(|loops| loops.scored_fraction >= SCORED_MIN);
    let is_closed = scored.is_some_and(|loops| loops.closed_loop_score >= CLOSED_SCORE_MIN);
    let has_time = profile.totals.issue_duration_ns > 0;
    if is_closed && has_time && !is_scheduled(profile) { JobLoop::Closed } else { JobLoop::Open }
}

/// Reports whether issues are so even that they do not wait for completions: otherwise, gaps would vary at least as much
/// as service times do. Where both are even and short, a schedule and a closed loop look the same; a schedule is simpler.
fn is_scheduled(profile: &TraceProfile) -> bool {
    const EVEN: f64 = 0.02;
    let Some(gap) = profile.arrivals.gap_ns else { return true };
    let known = [profile.service_ns.read, profile.service_ns.write];
    let times = known.iter().flatten().max_by_key(|times| times.weight);
    let service = times.map_or(0.0, |times| times.mean * times.coefficient_of_variation);
    let chains = profile.depth.as_ref().and_then(|depth| depth.depth).map_or(1.0, |depth| depth.mean.max(1.0));
    gap.coefficient_of_variation < EVEN || chains * gap.mean * gap.coefficient_of_variation < 0.5 * service
}
