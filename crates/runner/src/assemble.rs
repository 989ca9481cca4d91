//! Assembles the record of a run.

use drive::{Ending, Verification};
use job::{Direction, EngineKind, Job, Plan, ReplayLoop, ReplayOptions, VerifyMethod};
use record::{
    DepthSearchRecord, DiskUse, HostRecord, JobEvidence, JobResult, ModelRecord, Note, ReplayRecord, RequestedRun, Run,
    RunOutcome, StuckOperation, TargetFacts, Throttle, Tool, Unchecked, Verified,
};
use units::Nanos;
use workload::Operations;

use crate::{PendingOperation, RunCounters, Seeds, WorkerPlan, WorkerResult};

/// Facts about a run that its record needs.
#[derive(Clone, Copy)]
pub struct RunContext<'a> {
    pub plan: &'a Plan,
    pub workers: &'a [WorkerPlan],
    pub seeds: Seeds,
    pub command_line: &'a [String],
    /// Start time in milliseconds since 1970; zero in virtual time.
    pub started_unix_ms: u64,
    /// Observations of the environment.
    pub facts: &'a dyn RunFacts,
}

/// Facts about the environment of a run.
pub trait RunFacts {
    /// Returns milliseconds since 1970, and the offset from UTC in seconds. Virtual time begins at zero.
    fn now(&self) -> (u64, i32);

    /// Returns the process ID, for workers that have no thread of their own yet.
    fn pid(&self) -> u32;

    /// Returns the host; empty in virtual time, where results do not depend on it.
    fn host(&self) -> HostRecord;

    /// Returns the devices' counts since the run began.
    fn disk_use(&self) -> Vec<DiskUse> {
        Vec::new()
    }

    /// Returns the facts about a file or device.
    fn target(&self, _path: &str) -> Option<TargetFacts> {
        None
    }

    /// Returns the throttles of the devices below a file or device.
    fn throttles(&self, _path: &str) -> &[Throttle] {
        &[]
    }

    /// Returns the results of modelled volumes; `None` on devices.
    fn model(&self) -> Option<&ModelRecord> {
        None
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// The run is in progress.
    Running,
    /// The run has ended.
    Over,
    /// The run was ended early.
    Interrupted,
}

/// Assembles the record of a run, at its end or while it runs.
#[must_use]
pub fn assemble(context: &RunContext<'_>, counters: &RunCounters, finished: &[WorkerResult], state: RunState) -> Run {
    let (now, utc_offset_s) = context.facts.now();
    let workers: Vec<_> =
        context.workers.iter().map(|worker| of_worker(context, counters, finished, worker, now)).collect();
    let failed = workers.iter().any(|worker| worker.result.error != 0);
    let run = Run {
        schema: record::SCHEMA,
        tool: Tool::this(),
        started_unix_ms: context.started_unix_ms,
        taken_unix_ms: now,
        utc_offset_s,
        command_line: context.command_line.to_vec(),
        seed: Some(context.seeds.printed(context.plan)),
        host: context.facts.host(),
        globals: context.plan.globals.clone(),
        asked: requested(context.plan, context.workers),
        jobs: record::collect(&workers),
        disks: context.facts.disk_use(),
        idleness: None,
        notes: notes(context.plan, context.workers, finished),
        model: context.facts.model().cloned(),
        outcome: match state {
            RunState::Running => RunOutcome::Running,
            RunState::Interrupted => RunOutcome::Interrupted,
            RunState::Over if failed => RunOutcome::Failed,
            RunState::Over => RunOutcome::Completed,
        },
        stuck: pending_operations(context.plan, context.workers, finished),
        quotes: Vec::new(),
        repeat: None,
        fleet: None,
    };
    if has_hidden(context.plan) { record::printable(run) } else { run }
}

/// Reports whether a name in the jobs has characters that would affect a terminal.
fn has_hidden(plan: &Plan) -> bool {
    let hidden = |text: &String| text.chars().any(units::is_hidden);
    plan.globals.iter().chain(plan.jobs.iter().flat_map(|job| &job.echo)).any(|(_, value)| hidden(value))
        || plan.jobs.iter().any(|job| hidden(&job.name))
}

/// Returns the operations that workers still waited for at the end.
#[must_use]
pub fn pending_operations(plan: &Plan, workers: &[WorkerPlan], finished: &[WorkerResult]) -> Vec<StuckOperation> {
    let of = |one: &WorkerResult, pending: &PendingOperation| {
        let worker = &workers[one.number];
        let file = worker.files.files.get(pending.file as usize).map(|file| file.path.clone());
        StuckOperation {
            job: plan.jobs[worker.job].name.clone(),
            file: file.unwrap_or_default(),
            kind: pending.kind,
            offset: pending.offset,
            length: pending.length,
            waited_ns: pending.waited.get(),
        }
    };
    finished.iter().flat_map(|one| one.pending.iter().map(move |pending| of(one, pending))).collect()
}

fn of_worker<'a>(
    context: &RunContext<'a>,
    counters: &RunCounters,
    finished: &[WorkerResult],
    worker: &WorkerPlan,
    now: u64,
) -> record::WorkerRecord<'a> {
    let job = &context.plan.jobs[worker.job];
    let end = finished.iter().find(|finished| finished.number == worker.number);
    let summary = end.map(|end| end.summary.clone()).or_else(|| counters.summary(worker.number)).unwrap_or_default();
    let result = JobResult {
        number: worker.number as u32,
        group: worker.group,
        pid: match end.map_or_else(|| counters.worker(worker.number).thread(), |end| end.thread) {
            0 => context.facts.pid(),
            thread => thread,
        },
        started_unix_ms: end.map_or(context.started_unix_ms, |end| end.started_unix_ms),
        started_clock_ms: end.and_then(|end| end.started_clock_ms),
        elapsed_s: now.saturating_sub(context.started_unix_ms).div_ceil(1000),
        error: end.map_or(0, WorkerResult::errno),
        evidence: evidence(context, worker),
        replay: end.and_then(|end| replayed(job, end)),
        verified: end.and_then(|end| verified(job, end, context.facts.model().is_some())),
        steady: end.and_then(|end| end.steady.clone()),
        zone_resets: end.map_or(0, |end| end.zone_resets),
        depth_search: end.and_then(|end| depth_search(job, end)),
        ..JobResult::default()
    };
    record::WorkerRecord { job, result, summary }
}

/// Returns the outcome of a worker's search for a queue depth.
fn depth_search(job: &Job, end: &WorkerResult) -> Option<DepthSearchRecord> {
    let (found, target) = (end.found_depth?, &job.pace.target);
    Some(DepthSearchRecord {
        target_ns: target.latency.get(),
        window_ns: target.window.get(),
        percentile: target.percentile,
        depth: found.depth,
        is_met: found.is_met,
        latency_ns: found.latency.map(Nanos::get),
        above_ns: found.above.map(Nanos::get),
    })
}

/// Returns what a worker replayed of a trace; `None` if its job replays none or did not begin.
fn replayed(job: &Job, end: &WorkerResult) -> Option<ReplayRecord> {
    let (options, outcome) = (job.replay.as_ref()?, end.replay.as_ref()?);
    let facts = options.facts.as_ref()?;
    let speed = options.speed_ppm.map(|ppm| ppm as f64 / ReplayOptions::ORIGINAL_SPEED as f64);
    Some(ReplayRecord {
        trace: options.trace.clone(),
        requests: facts.all(),
        issued: outcome.issued,
        first_ns: facts.first.get(),
        last_ns: facts.last.get(),
        due_last_ns: options.duration().map(|_| outcome.due_last.get()),
        speed,
        closed_loop: options.dependence == ReplayLoop::Closed && speed.is_some(),
        behind_max_ns: outcome.behind_max.get(),
        behind_last_ns: outcome.behind_last.get(),
        in_flight_max: outcome.in_flight_max,
        depth: job.depth(),
        notes: facts.notes.clone(),
    })
}

/// Returns the verification result of a worker; `None` if its job does not verify or did not begin.
fn verified(job: &Job, end: &WorkerResult, is_modelled: bool) -> Option<Verified> {
    let method = job.verify.method?;
    let ending = end.ending?;
    let Verification { written, checked, headers_only, overwritten, mismatches, cached, nonce } = end.verification;
    if is_modelled {
        return Some(Verified { written, unchecked: Some(Unchecked::Model), ..Verified::default() });
    }
    let only_checks = job.verify.only || job.pattern.direction == Direction::Read;
    let unwritten = !only_checks && written == 0;
    let whole = match ending {
        // An earlier run may have written more than this one was to read.
        _ if only_checks => checked > 0 && (ending == Ending::Complete || !job.verify.only),
        _ => !unwritten && checked >= written,
    };
    let (unchecked, checked) = match ending {
        _ if job.engine.kind == EngineKind::Null => (Some(Unchecked::NullEngine), 0),
        _ if method == VerifyMethod::Null => (Some(Unchecked::NullMethod), 0),
        _ if whole && cached => (Some(Unchecked::Cached), checked),
        _ if whole && headers_only > 0 && method != VerifyMethod::Meta => (Some(Unchecked::Payload), checked),
        _ if whole => (None, checked),
        _ if !only_checks && !job.verify.do_verify => (Some(Unchecked::DoVerify), checked),
        _ if unwritten && !Operations::of(job).write => (Some(Unchecked::Unwritten), checked),
        Ending::Stopped => (Some(Unchecked::Stopped), checked),
        Ending::Complete | Ending::Runtime if unwritten => (Some(Unchecked::Unwritten), checked),
        _ if overwritten > 0 && checked + overwritten >= written => (Some(Unchecked::Overwritten), checked),
        Ending::Runtime => (Some(Unchecked::Runtime), checked),
        Ending::Complete if only_checks && end.summary.errors == 0 => (Some(Unchecked::Nothing), checked),
        Ending::Complete | Ending::Failed => (Some(Unchecked::Failed), checked),
    };
    Some(Verified { written, checked, headers_only, mismatches, nonces: nonce.into_iter().collect(), unchecked })
}

/// Returns the jobs as they were requested.
#[must_use]
pub fn requested(plan: &Plan, workers: &[WorkerPlan]) -> Vec<RequestedRun> {
    let first_of_each = workers.chunk_by(|a, b| a.job == b.job).map(|workers| &workers[0]);
    first_of_each.map(|worker| RequestedRun::of(&plan.jobs[worker.job], worker.group)).collect()
}

fn evidence(context: &RunContext<'_>, worker: &WorkerPlan) -> JobEvidence {
    if context.plan.jobs[worker.job].engine.kind.has_no_storage() {
        return JobEvidence::default();
    }
    let mut evidence = JobEvidence::default();
    for file in &worker.files.files {
        evidence.targets.extend(context.facts.target(&file.path));
        for throttle in context.facts.throttles(&file.path) {
            if !evidence.throttles.contains(throttle) {
                evidence.throttles.push(throttle.clone());
            }
        }
    }
    evidence
}

/// Returns notes on jobs that their numbers do not show.
fn notes(plan: &Plan, workers: &[WorkerPlan], finished: &[WorkerResult]) -> Vec<Note> {
    let mut notes = Vec::new();
    for job in &plan.jobs {
        let mut note = |text: String| notes.push(Note { job: Some(job.name.clone()), text, ..Note::default() });
        let engine = job.engine.kind;
        if !job.has_queue() && job.pace.iodepth > 1 {
            note(format!(
                "iodepth={} has no effect: {} executes one operation at a time",
                job.pace.iodepth,
                engine.name()
            ));
        }
        if engine == EngineKind::Posixaio {
            note("ioengine=posixaio runs on io_uring".to_owned());
        }
    }
    notes.extend(finished.iter().filter(|end| end.errno() == 0).filter_map(|end| {
        let job = &plan.jobs[workers[end.number].job];
        Some(Note {
            job: Some(job.name.clone()),
            text: depth_note(&depth_search(job, end)?, job.depth()),
            ..Note::default()
        })
    }));
    notes
}

fn depth_note(search: &DepthSearchRecord, most: u32) -> String {
    let DepthSearchRecord { target_ns, percentile, depth, is_met, latency_ns, above_ns, .. } = *search;
    let target = Nanos::new(target_ns);
    let at = |depth: u32, latency: u64| format!("p{percentile} {} at depth {depth}", Nanos::new(latency));
    match (is_met, latency_ns, above_ns) {
        (true, Some(latency), Some(above)) => format!(
            "depth {depth} is the highest that keeps p{percentile} within {target}: {}, {}",
            at(depth, latency),
            at(depth + 1, above)
        ),
        (true, Some(latency), None) if depth == most => {
            format!(
                "p{percentile} stays within {target} up to iodepth={most}: {}; raise iodepth to find the limit",
                at(depth, latency)
            )
        }
        (false, Some(latency), _) => format!("no depth keeps p{percentile} within {target}: {}", at(depth, latency)),
        _ => {
            "the run ended before the search found a depth: set a longer runtime or a shorter latency_window".to_owned()
        }
    }
}
