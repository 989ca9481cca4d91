//! Runs plans on the files and devices of this host.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use engine::files::FileLayout;
use engine::gate::WriteGate;
use engine::{InCall, MonotonicClock};
use job::{DebugOptions, Dialect, Job, Plan};
use runner::{
    CompletedRun, EndedJobs, FileGrowth, LogSink, Observer, PreparedRun, Preview, ProgressTracker, RunContext,
    RunControl, RunCounters, RunOptions, RunState, Runner, Seeds, StageStart, SteadyStates, WorkerPlan, WorkerResult,
    assemble, policy,
};
use units::random::mix;
use units::{Nanos, Problem, ProblemClass, ProblemCode};
use workload::Operations;

use crate::control_groups::ControlGroups;
use crate::debug::DebugLines;
use crate::environment::HostEnvironment;
use crate::file_locks::SharedLocks;
use crate::host_stats::{HostStats, unix_ms};
use crate::journals::RequestJournals;
use crate::layout::{self, FailedFiles, LaidFiles};
use crate::opendir;
use crate::shared_run::SharedRun;
use crate::stages::{self, Continuation, Supervise, Workers};
use crate::stuck::{self, DetachedError, run_detached, run_detached_for};
use crate::traces::{self, HostTraces};
use crate::zones::{self, SharedZones};
use crate::{growth, opening, outputs, pattern_files, safety};

/// Runs plans on the files and devices of this host.
#[derive(Clone)]
pub struct DeviceRunner {
    rules: RunnerRules,
    logs: Arc<dyn LogSink + Send>,
    checkpoint: fn(&str),
    /// Directory of the states that jobs with `verify_state_load` read.
    aux_path: PathBuf,
    debug: DebugLines,
}

/// The rules that decide what may be written to.
#[derive(Clone)]
enum RunnerRules {
    /// Fathom's rules: whatever this gate admits.
    Strict { gate: Arc<WriteGate> },
    /// fio's rules: whatever is not in use.
    Fio { ledger: Option<PathBuf>, readonly: bool },
}

impl DeviceRunner {
    /// Creates a runner whose plans may write to everything that `gate` admits.
    #[must_use]
    pub fn strict(gate: Arc<WriteGate>, logs: Arc<dyn LogSink + Send>) -> Self {
        Self::new(RunnerRules::Strict { gate }, logs)
    }

    /// Creates a runner with fio's rules. `ledger` is the directory of the write gate's entries; `readonly` refuses
    /// every write.
    #[must_use]
    pub fn as_fio(ledger: Option<PathBuf>, readonly: bool, logs: Arc<dyn LogSink + Send>) -> Self {
        Self::new(RunnerRules::Fio { ledger, readonly }, logs)
    }

    fn new(rules: RunnerRules, logs: Arc<dyn LogSink + Send>) -> Self {
        Self { rules, logs, checkpoint: |_| {}, aux_path: PathBuf::from("."), debug: DebugLines::none() }
    }

    /// Sets a function that is called at named points of a run, for tests of panics.
    #[must_use]
    pub fn with_checkpoint(self, checkpoint: fn(&str)) -> Self {
        Self { checkpoint, ..self }
    }

    /// Sets the directory of the states that jobs with `verify_state_load` read, instead of the working directory.
    #[must_use]
    pub fn with_aux_path(self, aux_path: &Path) -> Self {
        Self { aux_path: aux_path.to_owned(), ..self }
    }

    /// Prints lines about what happens.
    #[must_use]
    pub fn with_debug(self, options: &DebugOptions, print: fn(&str)) -> Self {
        Self { debug: DebugLines::new(options, print), ..self }
    }

    fn dialect(&self) -> Dialect {
        match self.rules {
            RunnerRules::Strict { .. } => Dialect::Strict,
            RunnerRules::Fio { .. } => Dialect::Fio,
        }
    }

    fn expand(&self, plan: &Plan, seeds: Seeds) -> (Vec<WorkerPlan>, Vec<Problem>) {
        runner::plan_workers(plan, self.dialect(), seeds, &HostEnvironment::new(self.dialect()))
    }

    fn prepare_strict(
        &self,
        plan: &Plan,
        seeds: Seeds,
        gate: &Arc<WriteGate>,
        files_are_final: bool,
    ) -> Result<DeviceRun<'_>, Vec<Problem>> {
        let plan = &self.with_contents_read(plan)?;
        let (workers, unrunnable) = self.expand(plan, seeds);
        if !unrunnable.is_empty() {
            return Err(unrunnable);
        }
        let mut run = self.prepared(plan, seeds, workers, Vec::new(), Arc::clone(gate));
        if !gate.permits_any_peer() {
            let remedy = "set `hostname` to an address of this host, such as 127.0.0.1, or add --insecure to permit it";
            run.refusals.extend(opening::listeners(plan, &run.workers).map(|problem| problem.help(remedy)));
        }
        if files_are_final {
            run.refusals.extend(growth::creation_refusals(plan, &run.workers));
            run.refusals.extend(growth::permission_refusals(&run.growths, gate));
        }
        Ok(run.checked_for_space())
    }

    /// Returns the plan with what its traces, its directories and the files of its patterns contain.
    fn with_contents_read(&self, plan: &Plan) -> Result<Plan, Vec<Problem>> {
        let mut plan = plan.clone();
        let mut problems = opendir::resolve(&mut plan);
        problems.extend(runner::resolve_replays(&mut plan, self.dialect(), &HostTraces));
        problems.extend(pattern_files::resolve(&mut plan));
        if problems.is_empty() { Ok(plan) } else { Err(problems) }
    }

    fn prepare_as_fio(&self, plan: &Plan, seeds: Seeds, ledger: Option<&Path>, readonly: bool) -> DeviceRun<'_> {
        let plan = match self.with_contents_read(plan) {
            Ok(plan) => plan,
            Err(refusals) => {
                let gate = safety::gate_of_fio(plan, &[], ledger);
                return self.prepared(plan, seeds, Vec::new(), refusals, gate);
            }
        };
        let plan = &plan;
        // As in fio, also jobs whose engine transfers nothing.
        let is_refused = |job: &&Job| readonly && (safety::changes_targets(job) || Operations::of(job).writes());
        let writing = plan.jobs.iter().filter(is_refused);
        let forbidden = |job: &Job| format!("job {} writes, which --readonly forbids", job.name);
        let mut refusals: Vec<Problem> =
            writing.map(|job| Problem::error(ProblemCode::Unfit, forbidden(job))).collect();
        let (workers, unrunnable) = self.expand(plan, seeds);
        refusals.extend(unrunnable);
        let gate = safety::gate_of_fio(plan, &workers, ledger);
        let mut run = self.prepared(plan, seeds, workers, refusals, gate);
        run.refusals.extend(growth::creation_refusals(plan, &run.workers));
        if readonly {
            run.refusals.extend(growth::readonly_refusals(&run.growths));
        }
        run.checked_for_space()
    }

    fn prepared(
        &self,
        plan: &Plan,
        seeds: Seeds,
        workers: Vec<WorkerPlan>,
        mut refusals: Vec<Problem>,
        gate: Arc<WriteGate>,
    ) -> DeviceRun<'_> {
        refusals.extend(safety::check(plan, &workers, &gate));
        refusals.extend(traces::overwritten(plan, &workers));
        refusals.extend(outputs::refusals(plan, &workers, &self.aux_path));
        refusals.extend(outputs::files_refused(plan, &workers));
        refusals.extend(zones::refusals(plan, &workers, &HostEnvironment::new(self.dialect())));
        let (growths, lack_of_space) = growth::of(&layout::planned(plan, &workers, seeds));
        let (plan, workers) = (Arc::new(plan.clone()), workers.into());
        DeviceRun { runner: self, plan, seeds, workers, growths, lack_of_space, refusals, gate }
    }
}

impl Runner for DeviceRunner {
    fn prepare(&self, plan: &Plan, seeds: Seeds) -> Result<Box<dyn PreparedRun + '_>, Vec<Problem>> {
        Ok(match &self.rules {
            RunnerRules::Strict { gate } => Box::new(self.prepare_strict(plan, seeds, gate, true)?),
            RunnerRules::Fio { ledger, readonly } => {
                Box::new(self.prepare_as_fio(plan, seeds, ledger.as_deref(), *readonly))
            }
        })
    }

    fn prepare_later(&self, plan: &Plan, seeds: Seeds) -> Result<Box<dyn PreparedRun + '_>, Vec<Problem>> {
        match &self.rules {
            RunnerRules::Strict { gate } => Ok(Box::new(self.prepare_strict(plan, seeds, gate, false)?)),
            RunnerRules::Fio { .. } => self.prepare(plan, seeds),
        }
    }
}

/// A plan that is ready to run on this host. Its threads share it: a job may have very many files.
struct DeviceRun<'a> {
    runner: &'a DeviceRunner,
    plan: Arc<Plan>,
    seeds: Seeds,
    workers: Arc<[WorkerPlan]>,
    growths: Vec<FileGrowth>,
    /// The error if there is not enough free space for the files and their writes.
    lack_of_space: Option<Problem>,
    refusals: Vec<Problem>,
    gate: Arc<WriteGate>,
}

/// Poll interval of the end of the layout on all ranks.
const LAYOUT_POLL: Duration = Duration::from_millis(1);

/// Interval of attempts on files that other ranks are laying out. Each takes a few calls per file, which a network
/// filesystem sends to its server.
const LAYOUT_RETRY: Duration = Duration::from_millis(10);

/// Minimum time limit for inspecting the targets after a run, however short the grace period is.
const MIN_INSPECTION_TIMEOUT: Duration = Duration::from_secs(2);

impl PreparedRun for DeviceRun<'_> {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn workers(&self) -> &[WorkerPlan] {
        &self.workers
    }

    fn refusals(&self) -> &[Problem] {
        &self.refusals
    }

    fn preview(&self) -> Preview<'_> {
        Preview::Device { growths: &self.growths }
    }

    /// Lays out the files, runs all jobs and collects their results.
    ///
    /// Other threads make all calls that may hang in a target, so the run always ends.
    fn run(
        &self,
        options: &RunOptions,
        control: &dyn RunControl,
        observer: &mut dyn Observer,
    ) -> Result<CompletedRun, Problem> {
        let started_unix_ms = unix_ms();
        runner::write_merged_traces(&self.plan, &HostTraces)?;
        engine::thread::raise_file_limit();
        self.gate.begin();
        self.runner.debug.planned(&self.plan, &self.workers);
        let failed_files = self.lay_out_all(control, observer)?;
        let stats = self.inspect(control)?;
        let zones = self.zones(control)?;
        let counters = Arc::new(RunCounters::new(self.workers.len()));
        observer.begin(&self.plan, &self.workers, &counters);
        let journals = RequestJournals::of(&self.workers);
        let workers = {
            let context = self.context(options, started_unix_ms, &stats);
            let (tracker, started) = (ProgressTracker::new(&self.plan, &self.workers), Instant::now());
            let mut supervisor = Supervisor {
                context,
                counters: &counters,
                control,
                status_every: options.status_every,
                observer,
                checkpoint: self.runner.checkpoint,
                tracker,
                started,
                last_status: started,
                requested: false,
                reported: 0,
                steady: SteadyStates::of(&self.plan, &self.workers),
                journals: journals.clone(),
            };
            let workers = self.threads(options, control, &counters, (failed_files, zones, journals.clone()), &stats);
            let mut finished = stages::run(&Arc::new(workers), &mut supervisor);
            finished.iter_mut().for_each(|one| one.steady = supervisor.steady.record(one.number));
            finished
        };
        journals.report(observer);
        let stats = self.inspect_again(stats, control);
        if let Err(problem) = self.record_in_gate(control) {
            observer.note(&problem.what);
        }
        let signal = control.end();
        let is_cut_short = signal.is_some() || workers.iter().any(|one| !one.pending.is_empty());
        let state = if is_cut_short { RunState::Interrupted } else { RunState::Over };
        let run = assemble(&self.context(options, started_unix_ms, &stats), &counters, &workers, state);
        Ok(CompletedRun { run, workers, signal, elsewhere: Vec::new() })
    }
}

impl DeviceRun<'_> {
    /// Adds the refusal for too little free space, and removes duplicates. Nothing has failed yet: the jobs do not fit.
    fn checked_for_space(mut self) -> Self {
        self.refusals.extend(self.lack_of_space.take());
        let mut known = BTreeSet::new();
        self.refusals.retain(|refusal| known.insert(refusal.to_string()));
        for refusal in self.refusals.iter_mut().filter(|refusal| refusal.code.class() == ProblemClass::Host) {
            refusal.code = ProblemCode::Unfit;
        }
        self
    }

    fn context<'a>(&'a self, options: &'a RunOptions, started_unix_ms: u64, facts: &'a HostStats) -> RunContext<'a> {
        let (plan, workers, seeds) = (&*self.plan, &*self.workers, self.seeds);
        RunContext { plan, workers, seeds, command_line: &options.command_line, started_unix_ms, facts }
    }

    fn threads(
        &self,
        options: &RunOptions,
        control: &dyn RunControl,
        counters: &Arc<RunCounters>,
        (failed_files, zones, journals): (FailedFiles, SharedZones, RequestJournals),
        stats: &HostStats,
    ) -> Workers {
        let dialect = self.runner.dialect();
        let shared = SharedRun {
            clock: MonotonicClock::start(),
            seeds: self.seeds,
            dialect,
            nonce: if dialect == Dialect::Strict { nonce() } else { 0 },
            counters: Arc::clone(counters),
            flows: policy::Flows::of(&self.plan),
            locks: SharedLocks::default(),
            ramps: runner::SizedRamps::of(&self.plan, &self.workers),
            calls: self.workers.iter().map(|_| Arc::new(InCall::default())).collect(),
            yield_after: stages::yield_after(&self.workers),
            intervals: options.intervals,
            failed_files,
            zones,
            gate: Arc::clone(&self.gate),
            logs: Arc::clone(&self.runner.logs),
            checkpoint: self.runner.checkpoint,
            journals,
            aux_path: self.runner.aux_path.clone(),
            debug: self.runner.debug.clone(),
            control_groups: ControlGroups::default(),
        };
        let (plan, plans) = (Arc::clone(&self.plan), Arc::clone(&self.workers));
        Workers { plan, plans, shared, grace: control.grace(), devices: stats.devices(&self.workers) }
    }

    /// Lays out the files together with the other ranks of the run, and returns those that could not be created.
    fn lay_out_all(&self, control: &dyn RunControl, observer: &mut dyn Observer) -> Result<FailedFiles, Problem> {
        let layouts = layout::planned(&self.plan, &self.workers, self.seeds);
        let mut laid = self.lay_out(layouts, control, observer)?;
        let start = loop {
            match control.layout_end() {
                StageStart::Wait if !control.gives_up() => std::thread::sleep(LAYOUT_POLL),
                start => break start,
            }
        };
        // If the run ends before it begins, nothing is missing.
        if matches!(start, StageStart::Never | StageStart::Wait) {
            return Ok(laid.failed);
        }
        // Ranks that need other sizes of a file, or wait for one that fails, compete for it again.
        while !laid.elsewhere.is_empty() {
            let elsewhere = std::mem::take(&mut laid.elsewhere);
            laid.add(self.lay_out(elsewhere, control, observer)?);
            if control.end().is_some() || control.gives_up() {
                break;
            }
            if !laid.elsewhere.is_empty() {
                std::thread::sleep(LAYOUT_RETRY);
            }
        }
        Ok(laid.into_failed())
    }

    fn lay_out(
        &self,
        layouts: Vec<FileLayout>,
        control: &dyn RunControl,
        observer: &mut dyn Observer,
    ) -> Result<LaidFiles, Problem> {
        // A thread costs as much as the rest of a short run.
        if layouts.is_empty() {
            return Ok(LaidFiles::default());
        }
        let cancel = Arc::new(AtomicBool::new(false));
        let (sender, progress) = mpsc::channel::<(PathBuf, u64, u64)>();
        let mut last = None;
        let mut tick = || {
            if control.end().is_some() {
                cancel.store(true, Ordering::Relaxed);
            }
            if let Some((path, written, total)) = progress.try_iter().last() {
                observer.layout(&path, written, total);
                last = Some(path);
            }
        };
        let (gate, cancelled) = (Arc::clone(&self.gate), Arc::clone(&cancel));
        let work = move || {
            layout::create(&layouts, &gate, &cancelled, &mut |path, written, total| {
                let _ = sender.send((path.to_owned(), written, total));
            })
        };
        let made = run_detached(control, &mut tick, work);
        made.unwrap_or_else(|why| Err(detached_error("lay out", last.as_deref(), &why))).map_err(Problem::from)
    }

    /// Inspects the host before the run. A signal that arrives meanwhile ends the run itself.
    fn inspect(&self, control: &dyn RunControl) -> Result<HostStats, Problem> {
        if !self.reaches_targets() {
            return Ok(HostStats::before(&self.plan, &self.workers));
        }
        let (plan, workers) = (Arc::clone(&self.plan), Arc::clone(&self.workers));
        let seen = run_detached(control, &mut || {}, move || HostStats::before(&plan, &workers));
        seen.map_err(|why| detached_error("inspect", None, &why).into())
    }

    /// Reads the zones of the devices, for jobs that work in them.
    fn zones(&self, control: &dyn RunControl) -> Result<SharedZones, Problem> {
        if self.plan.jobs.iter().all(|job| job.pattern.zoned.is_none()) {
            return Ok(SharedZones::default());
        }
        let (plan, workers, dialect) = (Arc::clone(&self.plan), Arc::clone(&self.workers), self.runner.dialect());
        let read = move || SharedZones::of(&plan, &workers, &HostEnvironment::new(dialect));
        run_detached(control, &mut || {}, read)
            .unwrap_or_else(|why| Err(detached_error("read the zones of", None, &why).into()))
    }

    /// Reports whether any job has a target that may hang.
    fn reaches_targets(&self) -> bool {
        self.plan.jobs.iter().any(|job| !job.engine.kind.has_no_storage())
    }

    /// Inspects the host after the run. If a target does not answer, returns the previous statistics.
    fn inspect_again(&self, before: HostStats, control: &dyn RunControl) -> HostStats {
        if stuck::is_stuck() || control.is_urgent() || !self.reaches_targets() {
            return before;
        }
        let before = Arc::new(before);
        let watched = Arc::clone(&before);
        let inspected = run_detached_for(control, inspection_timeout(control), move || watched.inspect_again());
        // An inspection that hangs keeps its share.
        let mut stats = Arc::try_unwrap(before).unwrap_or_else(|before| HostStats::clone(&before));
        if let Ok(inspected) = inspected {
            stats.finish(inspected);
        }
        stats
    }

    /// Makes the gate record what the run left behind, so that the next run recognizes it.
    fn record_in_gate(&self, control: &dyn RunControl) -> Result<(), Problem> {
        if stuck::is_stuck() || control.is_urgent() {
            self.gate.abandon();
            return Ok(());
        }
        if self.gate.is_empty() {
            return Ok(());
        }
        let gate = Arc::clone(&self.gate);
        let noted = run_detached_for(control, inspection_timeout(control), move || gate.finish());
        noted.map(drop).map_err(|why| {
            let why = match why {
                DetachedError::NoThread(error) => format!("cannot start a thread: {error}"),
                DetachedError::GivenUp => "a file or device did not respond in time".to_owned(),
            };
            let what = format!(
                "cannot record the files the run wrote: {why}; if the next run refuses them, permit it with \
                 --allow-overwrite=FILE or --allow-destroy=DEVICE"
            );
            Problem::error(ProblemCode::Host, what)
        })
    }
}

/// Returns the time limit for inspecting the targets after a run.
fn inspection_timeout(control: &dyn RunControl) -> Duration {
    control.grace().max(MIN_INSPECTION_TIMEOUT)
}

/// Draws a random number to mark the blocks of verified writes. It is independent of the seed, because a run must not
/// mistake the blocks of an earlier run with the same seed for its own.
fn nonce() -> u32 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let drawn = mix(now.as_nanos() as u64, u64::from(std::process::id())) >> 33;
    // 31 bits, as in job options. Zero means none.
    (drawn as u32).max(1)
}

/// Describes an operation on targets that was not completed.
fn detached_error(operation: &'static str, path: Option<&Path>, why: &DetachedError) -> engine::Error {
    let place = path.map_or_else(|| "the jobs' files".to_owned(), |path| path.display().to_string());
    let (kind, reason, errno, remedy) = match why {
        DetachedError::GivenUp => (
            engine::ErrorKind::Cancelled,
            "the device or filesystem does not respond".to_owned(),
            None,
            "check the device or its server (see dmesg)",
        ),
        DetachedError::NoThread(error) => (
            engine::ErrorKind::Engine,
            format!("cannot start a thread: {error}"),
            error.raw_os_error(),
            "raise the process and memory limits (ulimit -u, -v)",
        ),
    };
    let problem = Problem::error(ProblemCode::Device, format!("cannot {operation} {place}: {reason}")).help(remedy);
    engine::Error { kind, problem: Box::new(problem), errno }
}

/// Interval of progress reports.
const PROGRESS_EVERY: Nanos = Nanos::from_millis(250);

/// Supervises the workers on the main thread: signals, progress, intermediate results.
struct Supervisor<'a> {
    context: RunContext<'a>,
    counters: &'a RunCounters,
    control: &'a dyn RunControl,
    status_every: Option<Duration>,
    observer: &'a mut dyn Observer,
    checkpoint: fn(&str),
    tracker: ProgressTracker,
    started: Instant,
    last_status: Instant,
    /// Whether summaries were requested and not all of them have arrived.
    requested: bool,
    /// Number of finished workers that were reported.
    reported: usize,
    steady: SteadyStates,
    journals: RequestJournals,
}

impl Supervisor<'_> {
    fn report_failure(&mut self, one: &WorkerResult) {
        let job = &self.context.plan.jobs[self.context.workers[one.number].job];
        if let Some(error) = &one.error {
            self.observer.note(&format!("{}: {}", job.name, error.problem.what));
        }
    }

    fn report_status(&mut self, now: Instant, finished: &[WorkerResult]) {
        let due = self.status_every.is_some_and(|every| now.duration_since(self.last_status) >= every);
        let requested = self.control.take_status_request();
        if (due || requested) && !self.requested {
            self.last_status = now;
            self.counters.request_summaries();
            self.requested = true;
        }
        if self.requested && self.counters.has_summaries() {
            self.requested = false;
            self.observer.status(&assemble(&self.context, self.counters, finished, RunState::Running));
        }
    }
}

impl Supervise for Supervisor<'_> {
    fn tick(&mut self, finished: &[WorkerResult]) -> Continuation {
        let now = Instant::now();
        for one in finished.iter().skip(std::mem::replace(&mut self.reported, finished.len())) {
            self.report_failure(one);
        }
        self.journals.report(self.observer);
        let elapsed = stages::nanos(now.duration_since(self.started));
        if elapsed.since(self.tracker.updated_at()) >= PROGRESS_EVERY {
            (self.checkpoint)("overseer");
            self.observer.progress(&self.tracker.update(elapsed, self.counters, finished));
        }
        self.report_status(now, finished);
        match self.control.end() {
            None => Continuation::Continue,
            Some(_) if self.control.gives_up() => Continuation::Abandon,
            Some(_) => Continuation::Stop,
        }
    }

    fn stage_start(&mut self, stage: usize) -> StageStart {
        self.control.stage_start(stage)
    }

    fn steady_workers(&mut self) -> Vec<usize> {
        if self.steady.next_due() == Nanos::MAX {
            return Vec::new();
        }
        self.steady.update(stages::nanos(self.started.elapsed()), self.counters)
    }

    fn end_jobs(&mut self, jobs: EndedJobs) {
        self.control.end_jobs(jobs);
    }

    fn have_ended(&mut self, jobs: EndedJobs) -> bool {
        self.control.have_ended(jobs)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn two_runs_draw_different_nonces() {
        let drawn: BTreeSet<u32> = (0..100).map(|_| super::nonce()).collect();
        assert!(drawn.len() > 90 && !drawn.contains(&0), "{drawn:?}");
    }
}
