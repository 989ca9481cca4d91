//! Collects the results of workers.

use std::borrow::Cow;

use job::Job;
use meter::{DirectionSummary, Latency};

use crate::declared::Mixed;
use crate::{Declared, JobEvidence, JobResult};

/// The state of one worker, at its end or during a status report.
#[derive(Clone, Debug)]
pub struct WorkerRecord<'a> {
    /// Job of the worker.
    pub job: &'a Job,
    /// Its result, without what follows from its job and its measured results.
    pub result: JobResult,
    /// Measured results.
    pub summary: meter::Summary,
}

/// Returns the results of workers in order. A worker of a job with `group_reporting` is merged into the previous result
/// if that has the same group.
///
/// As in fio, a merged result has the name and description of its first worker, and the options of its last.
#[must_use]
pub fn collect(workers: &[WorkerRecord<'_>]) -> Vec<JobResult> {
    let merges =
        |a: &WorkerRecord<'_>, b: &WorkerRecord<'_>| b.job.grouping.group_reporting && a.result.group == b.result.group;
    let results: Vec<&[WorkerRecord<'_>]> = workers.chunk_by(merges).collect();
    let block_bytes = BLOCK_BYTES_MAX / results.len().max(1);
    results.into_iter().map(|together| result(together, block_bytes)).collect()
}

/// Maximum memory of the blocks of all results in bytes; in JSON they take half as much again.
const BLOCK_BYTES_MAX: usize = 256 << 10;

fn result(together: &[WorkerRecord<'_>], block_bytes: usize) -> JobResult {
    let (first, last) = (&together[0], &together[together.len() - 1]);
    let results = || together.iter().map(|worker| &worker.result);
    let mut result = JobResult {
        name: first.job.name.clone(),
        description: first.job.description.clone(),
        error: results().map(|result| result.error).find(|&error| error != 0).unwrap_or(0),
        eta_s: results().map(|result| result.eta_s).max().unwrap_or(0),
        elapsed_s: results().map(|result| result.elapsed_s).max().unwrap_or(0),
        workers: together.len() as u32,
        echo: last.job.echo.clone(),
        declared: Declared::of(last.job),
        verified: None,
        replay: None,
        steady: results().find_map(|result| result.steady.clone()),
        zone_resets: results().map(|result| result.zone_resets).sum(),
        depth_search: results().rev().find_map(|result| result.depth_search),
        evidence: JobEvidence::default(),
        ..first.result.clone()
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
    result.evidence.add(results().map(|worker| &worker.evidence));
    for worker in results() {
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
