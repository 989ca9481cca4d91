//! Collects the results of workers.

use std::borrow::Cow;

use job::Job;
use meter::{DirectionSummary, Latency};

use crate::declared::Mixed;
use crate::{Declared, DepthSearchRecord, JobEvidence, JobResult, Measured, ReplayRecord, SteadyRecord, Verified};

/// The state of one worker, at its end or during a status report.
#[derive(Clone, Debug)]
pub struct WorkerRecord<'a> {
    /// Job of the worker.
    pub job: &'a Job,
    /// Worker number over all jobs, from zero.
    pub number: u32,
    /// Reporting group.
    pub group: u32,
    /// Process or thread ID.
    pub pid: u32,
    /// Start of its first operation, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// The same instant on the clock of `job_start_clock_id`.
    pub started_clock_ms: Option<u64>,
    /// Seconds since the program started, rounded up.
    pub elapsed_s: u64,
    /// Estimated remaining seconds.
    pub eta_s: u64,
    /// Error number that ended it; zero for none.
    pub error: i32,
    /// Facts about its environment.
    pub evidence: JobEvidence,
    /// Verification results.
    pub verified: Option<Verified>,
    /// What it replayed of a trace.
    pub replay: Option<ReplayRecord>,
    /// Steady state of the workers whose results merge, in the first of them.
    pub steady: Option<SteadyRecord>,
    /// Outcome of its search for a queue depth.
    pub depth_search: Option<DepthSearchRecord>,
    /// Number of zones that it has reset.
    pub zone_resets: u64,
    /// Measured results.
    pub summary: meter::Summary,
}

/// Returns the results of workers in order. A worker of a job with `group_reporting` is merged into the previous result
/// if that has the same group.
///
/// As in fio, a merged result has the name and description of its first worker, and the options of its last.
#[must_use]
pub fn collect(workers: &[WorkerRecord<'_>]) -> Vec<JobResult> {
    let merges = |a: &WorkerRecord<'_>, b: &WorkerRecord<'_>| b.job.grouping.group_reporting && a.group == b.group;
    let results: Vec<&[WorkerRecord<'_>]> = workers.chunk_by(merges).collect();
    let block_bytes = BLOCK_BYTES_MAX / results.len().max(1);
    results.into_iter().map(|together| result(together, block_bytes)).collect()
}

/// Maximum memory of the blocks of all results in bytes; in JSON they take half as much again.
const BLOCK_BYTES_MAX: usize = 256 << 10;

fn result(together: &[WorkerRecord<'_>], block_bytes: usize) -> JobResult {
    let (first, last) = (&together[0], &together[together.len() - 1]);
    let mut result = JobResult {
        untimed: false,
        name: first.job.name.clone(),
        description: first.job.description.clone(),
        group: first.group,
        number: first.number,
        error: together.iter().map(|worker| worker.error).find(|&error| error != 0).unwrap_or(0),
        eta_s: together.iter().map(|worker| worker.eta_s).max().unwrap_or(0),
        elapsed_s: together.iter().map(|worker| worker.elapsed_s).max().unwrap_or(0),
        started_unix_ms: first.started_unix_ms,
        started_clock_ms: first.started_clock_ms,
        pid: first.pid,
        workers: together.len() as u32,
        echo: last.job.echo.clone(),
        declared: Declared::of(last.job),
        result: Measured::default(),
        verified: None,
        replay: None,
        steady: together.iter().find_map(|worker| worker.steady.clone()),
        zone_resets: together.iter().map(|worker| worker.zone_resets).sum(),
        depth_search: together.iter().rev().find_map(|worker| worker.depth_search),
        probe: None,
        evidence: JobEvidence::default(),
        quotes: Vec::new(),
    };
    let mut summary = last.summary.clone();
    for worker in &together[..together.len() - 1] {
        summary.merge(&worker.summary);
        result.declared.add(&Declared::of(worker.job));
    }
    let is_group = together.len() > 1;
    for (kind, direction) in summary.directions.iter_mut().enumerate().filter(|_| is_group) {
        let priorities = by_priority(together, kind);
        if priorities.len() > 1 {
            direction.priorities = priorities;
        }
    }
    result.declared.mixed =
        Mixed::all(together.iter().map(|worker| (worker.job.name.as_str(), 1, Cow::Owned(Declared::of(worker.job)))));
    summary.blocks.shrink_to(block_bytes);
    result.evidence.add(together.iter().map(|worker| &worker.evidence));
    for worker in together {
        if let Some(more) = &worker.verified {
            result.verified.get_or_insert_default().merge(more);
        }
        match (&mut result.replay, &worker.replay) {
            (Some(replay), Some(more)) => replay.merge(more),
            (replay, more) => *replay = replay.take().or_else(|| more.clone()),
        }
    }
    result.result = (&summary).into();
    result
}

/// Returns the latencies of workers by the priorities of their operations, in the order in which they appear. Operations
/// of jobs without `cmdprio` options have the priority of their process.
fn by_priority(together: &[WorkerRecord<'_>], kind: usize) -> Vec<(u16, Latency)> {
    let mut sum = DirectionSummary::default();
    let mut add = |priority: u16, latency: &Latency| {
        if latency.moments.count() > 0 {
            sum.add_priority(priority, latency);
        }
    };
    for worker in together {
        let direction = &worker.summary.directions[kind];
        if direction.priorities.is_empty() {
            let whole = if worker.job.stats.lat_percentiles { &direction.latency } else { &direction.service };
            add(worker.job.host.raw_io_priority().unwrap_or(0), whole);
        }
        direction.priorities.iter().for_each(|(priority, latency)| add(*priority, latency));
    }
    sum.priorities
}
