//! Runs of jobs on modelled volumes, and their latencies.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use job::{EmptySource, HostSource, JobArguments, Plan};
use record::{LatencyStats, Run};
use runner::{NullObserver, RunControl, RunOptions, Runner, Seeds};
use sim::model::{ModelRunner, SharedRecorder};
use target::{ExecutedOp, Op, OpRecorder};
use trace::{Backlog, BacklogCounts, Characterizer, LoadLatency, TraceOperation, TraceProfile, TraceRequest};
use units::{Nanos, Problem};

/// Name of a job file that is in memory.
const JOB_FILE: &str = "job.fio";

/// A source with one job file.
struct OneFile<'a>(&'a str);

impl HostSource for OneFile<'_> {
    fn read(&self, path: &str) -> Result<Vec<u8>, Problem> {
        if path == JOB_FILE { Ok(self.0.as_bytes().to_vec()) } else { EmptySource.read(path) }
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn page_size_bytes(&self) -> u64 {
        EmptySource.page_size_bytes()
    }

    fn memory_mib(&self) -> u64 {
        EmptySource.memory_mib()
    }

    fn cpus(&self) -> u64 {
        EmptySource.cpus()
    }
}

/// Parses a job file for a modelled volume.
///
/// # Errors
///
/// Returns the problems of the job.
pub(super) fn plan_on(job_file: &str, volume: &str) -> Result<Plan, Vec<Problem>> {
    let (words, around) = ([JOB_FILE.to_owned()], crate::jobs::around(Some(volume)));
    let source = &OneFile(job_file);
    let arguments = JobArguments { words: &words, sections: &[], around: &around, source };
    job::parse_on_hosts(arguments, None, None).into_result().map(|(plan, _)| plan)
}

/// Runs a plan in virtual time.
///
/// # Errors
///
/// Returns why it could not run.
pub(super) fn run_plan(plan: &Plan, runner: &dyn Runner, control: &dyn RunControl) -> Result<Run, Vec<Problem>> {
    let prepared = runner.prepare(plan, Seeds::fixed(Seeds::REPEATED))?;
    let completed = prepared.run(&RunOptions::default(), control, &mut NullObserver);
    completed.map(|completed| completed.run).map_err(Vec::from)
}

/// Runs a plan, characterizes its operations and counts their waits before limits.
pub(super) fn characterize_plan(
    plan: &Plan,
    runner: &ModelRunner,
    control: &dyn RunControl,
) -> Result<(TraceProfile, Vec<Backlog>), Vec<Problem>> {
    let recorder = Arc::new(Mutex::new(ProfileRecorder::default()));
    let shared: SharedRecorder = Arc::<Mutex<ProfileRecorder>>::clone(&recorder);
    run_plan(plan, &runner.clone().recorded(shared), control)?;
    let recorder = std::mem::take(&mut *recorder.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(recorder.finish())
}

/// Returns rate and latency of all jobs of a run together.
pub(super) fn load_latency(run: &Run) -> LoadLatency {
    let duration_ns = run.model.as_ref().map_or(0, |model| model.elapsed_ns);
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    let mut ios = 0;
    for (_, kind) in run.jobs.iter().flat_map(|job| job.result.kinds()) {
        ios += kind.ios;
        // Closed loops have no schedule to respond to, and latencies without percentiles.
        let known = [&kind.response, &kind.latency, &kind.service];
        let times: &LatencyStats = known.into_iter().find(|times| !times.buckets.is_empty()).unwrap_or(&kind.service);
        times.bins().for_each(|(ns, count)| *counts.entry(ns).or_default() += count);
    }
    let all: u64 = counts.values().sum();
    let percentile = |percent: f64| {
        let wanted = (percent / 100.0 * all as f64).ceil().max(1.0) as u64;
        let mut sum = 0;
        let at = counts.iter().find(|(_, count)| {
            sum += **count;
            sum >= wanted
        });
        at.map_or(0, |(ns, _)| *ns)
    };
    LoadLatency {
        iops: ios as f64 / (duration_ns.max(1) as f64 / 1e9),
        p50_ns: percentile(50.0),
        p99_ns: percentile(99.0),
        p99_9_ns: percentile(99.9),
    }
}

/// Characterizes operations in the order of their submission, although they complete in any order.
#[derive(Debug, Default)]
pub(super) struct ProfileRecorder {
    characterizer: Characterizer,
    backlog: BacklogCounts,
    /// Requests from the first that has not completed, and whether each has.
    pending: VecDeque<(TraceRequest, bool)>,
    /// Number of requests before these.
    passed: u64,
    /// Number of the request of each tag.
    numbers: Vec<u64>,
}

impl ProfileRecorder {
    /// Returns the characteristics of everything recorded, and its waits before limits.
    pub(super) fn finish(mut self) -> (TraceProfile, Vec<Backlog>) {
        self.pending.iter().for_each(|(request, _)| self.characterizer.add(request));
        (self.characterizer.finish(), self.backlog.finish())
    }
}

impl OpRecorder for ProfileRecorder {
    fn submit(&mut self, op: &Op, at: Nanos) {
        let index = op.tag.index();
        if index >= self.numbers.len() {
            self.numbers.resize(index + 1, 0);
        }
        self.numbers[index] = self.passed + self.pending.len() as u64;
        let request = TraceRequest {
            issued_ns: at.get(),
            offset: op.offset,
            length: op.length,
            operation: op.kind.into(),
            device: u16::try_from(op.file).unwrap_or(u16::MAX),
            ..TraceRequest::default()
        };
        if request.operation != TraceOperation::Flush {
            self.backlog.add(at.get(), op.length);
        }
        self.pending.push_back((request, false));
    }

    fn complete(&mut self, executed: &ExecutedOp) {
        let number = self.numbers.get(executed.op.tag.index()).copied().unwrap_or(0);
        let Some((request, is_complete)) =
            number.checked_sub(self.passed).and_then(|at| self.pending.get_mut(at as usize))
        else {
            return;
        };
        request.service_ns = Some(executed.completed.since(executed.submitted).get());
        request.process = u16::try_from(executed.worker).unwrap_or(u16::MAX);
        request.has_failed = executed.result < 0;
        *is_complete = true;
        while let Some((request, true)) = self.pending.front() {
            self.characterizer.add(request);
            self.pending.pop_front();
            self.passed += 1;
        }
    }
}
