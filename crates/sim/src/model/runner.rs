//! Runs plans on modelled volumes, in virtual or in real time.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use drive::{DriveObserver, Stop};
use job::limits::Capacity;
use job::{Dialect, Job, Plan, PlanHosts};
use meter::Meter;
use record::{DiskUse, HostRecord, ModelRecord, Run};
use runner::policy::{self, Storage};
use runner::{
    AttachedVolume, CompletedRun, CreditPolicy, EndedJobs, LogPlan, LogSink, NoTraces, Observer, PageCacheUse,
    PreparedRun, Preview, ProgressTracker, RunContext, RunControl, RunCounters, RunFacts, RunOptions, RunState, Runner,
    Seeds, SteadyStates, TraceFiles, WorkerError, WorkerPlan, WorkerResult, assemble,
};
use target::{OpRecorder, RecordingTarget, Target};
use units::{Nanos, Problem, ProblemCode};
use volume::{Attachment, Burst, System};

use super::hosted::{HostedWorker, HostedWorkers};
use super::placement::Placement;
use super::volumes::{ReadFile, Volumes};
use super::{assumptions, results};
use crate::{Buffered, Clock, ModelClient, Virtual, World};

/// Runs plans on modelled volumes: all workers of a stage in one loop, on one clock.
#[derive(Clone)]
pub struct ModelRunner {
    /// The host in real time; `None` in virtual time, whose results do not depend on a host.
    host: Option<RealTime>,
    capacity: Capacity,
    read_file: ReadFile,
    logs: Arc<dyn LogSink + Send>,
    traces: Arc<dyn TraceFiles>,
    recorder: Option<SharedRecorder>,
}

/// Real time: a clock and facts of the host. Operations take their modelled time, so a dynamic call of the clock costs
/// them nothing; a type parameter would compile the whole loop again in each crate that runs a plan.
#[derive(Clone)]
struct RealTime {
    clock: fn() -> Box<dyn Clock>,
    facts: Arc<dyn RunFacts + Send + Sync>,
}

/// Receives the operations of all workers of a run.
pub type SharedRecorder = Arc<Mutex<dyn OpRecorder + Send>>;

impl ModelRunner {
    /// Creates a runner in virtual time, which jumps from event to event.
    #[must_use]
    pub fn in_virtual_time(capacity: Capacity, read_file: ReadFile, logs: Arc<dyn LogSink + Send>) -> Self {
        let traces = Arc::new(NoTraces);
        Self { host: None, capacity, read_file, logs, traces, recorder: None }
    }

    /// Reports the operations of runs to a recorder.
    #[must_use]
    pub fn recorded(self, recorder: SharedRecorder) -> Self {
        Self { recorder: Some(recorder), ..self }
    }

    /// Creates a runner in real time on a host.
    #[must_use]
    pub fn in_real_time(
        clock: fn() -> Box<dyn Clock>,
        facts: Arc<dyn RunFacts + Send + Sync>,
        capacity: Capacity,
        read_file: ReadFile,
        logs: Arc<dyn LogSink + Send>,
    ) -> Self {
        let host = Some(RealTime { clock, facts });
        Self { host, ..Self::in_virtual_time(capacity, read_file, logs) }
    }

    /// Sets what opens the traces that jobs replay.
    #[must_use]
    pub fn with_traces(self, traces: Arc<dyn TraceFiles>) -> Self {
        Self { traces, ..self }
    }

    fn facts(&self) -> Option<&(dyn RunFacts + Send + Sync)> {
        self.host.as_ref().map(|host| &*host.facts)
    }
}

impl Runner for ModelRunner {
    fn prepare(&self, plan: &Plan, seeds: Seeds) -> Result<Box<dyn PreparedRun + '_>, Vec<Problem>> {
        let mut plan = plan.clone();
        let problems = runner::resolve_replays(&mut plan, Dialect::Strict, &*self.traces);
        if !problems.is_empty() {
            return Err(problems);
        }
        let volumes = Volumes::resolve(&mut plan, self.capacity.clone(), self.read_file)?;
        let workers = HostedWorkers::new(&plan, seeds, &volumes)?;
        let placement = Placement::new(&plan, &workers, &volumes, self.read_file)?;
        Ok(Box::new(ModelRun { runner: self, plan, seeds, workers, placement }))
    }
}

/// A plan that is ready to run on modelled volumes.
struct ModelRun<'a> {
    runner: &'a ModelRunner,
    plan: Plan,
    seeds: Seeds,
    workers: HostedWorkers,
    placement: Placement,
}

impl PreparedRun for ModelRun<'_> {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn workers(&self) -> &[WorkerPlan] {
        &self.workers.plans
    }

    fn preview(&self) -> Preview<'_> {
        let mut seen = BTreeSet::new();
        // Hosts may share volumes.
        let is_new = |attachment: &&Attachment| self.plan.hosts.is_none() || seen.insert(attachment.volume.clone());
        let volumes = self.placement.attachments.iter().filter(is_new).map(|attachment| {
            let spec = &attachment.spec;
            let is_credit = |burst: &Burst| matches!(burst, Burst::Credits { at_start, .. } if *at_start > 0);
            AttachedVolume {
                path: attachment.volume.clone(),
                name: spec.name.clone(),
                title: spec.title.clone(),
                size: spec.size,
                has_credits: spec.limits.iter().any(|limit| is_credit(&limit.burst)),
            }
        });
        let volumes = volumes.collect();
        let jobs = self.plan.jobs.iter().enumerate();
        let page_caches = jobs.filter_map(|(index, job)| Some((index, self.page_cache(index, job)?)));
        Preview::Model { volumes, page_caches: page_caches.collect() }
    }

    fn run(
        &self,
        options: &RunOptions,
        control: &dyn RunControl,
        observer: &mut dyn Observer,
    ) -> Result<CompletedRun, Problem> {
        runner::write_merged_traces(&self.plan, &*self.runner.traces)?;
        let placement = self.placement.with_credits(&options.credits);
        let mut system = System::new(&placement.attachments, self.seeds.printed(&self.plan));
        let open = assumptions::open_routes(&self.plan, &self.workers.plans, &placement);
        open.for_each(|route| system.account_for_jitter(route));
        let counters = Arc::new(RunCounters::new(self.workers.plans.len()));
        observer.begin(&self.plan, &self.workers.plans, &counters);
        let has_credits = system.credit_levels(Nanos::ZERO).next().is_some();
        let flows = policy::Flows::of(&self.plan);
        let ramps = runner::SizedRamps::of(&self.plan, &self.workers.plans);
        let steady = RefCell::new(SteadyStates::of(&self.plan, &self.workers.plans));
        let host = self.runner.host.as_ref();
        let started_unix_ms = host.map_or(0, |host| host.facts.now().0);
        let execution = Execution {
            run: self,
            placement: &placement,
            options,
            control,
            counters: &counters,
            flows,
            ramps,
            steady,
            has_credits,
        };
        let (mut workers, model) = match host {
            None => execution.run(World::new(system, Virtual::default()), observer),
            Some(host) => execution.run(World::new(system, (host.clock)()), observer),
        };
        let signal = control.end();
        let state = if signal.is_some() { RunState::Interrupted } else { RunState::Over };
        let context = RunContext {
            plan: &self.plan,
            workers: &self.workers.plans,
            seeds: self.seeds,
            command_line: &options.command_line,
            started_unix_ms,
            facts: &ModelFacts { model: &model, host: self.runner.facts() },
        };
        let run = match &self.plan.hosts {
            None => assemble(&context, &counters, &workers, state),
            Some(hosts) => self.of_hosts(hosts, &context, &model, &mut workers, state),
        };
        Ok(CompletedRun { run, workers, signal, elsewhere: Vec::new() })
    }
}

impl ModelRun<'_> {
    /// Returns the record of simulated hosts. That of the models is common to all.
    fn of_hosts(
        &self,
        hosts: &PlanHosts,
        context: &RunContext<'_>,
        model: &ModelRecord,
        finished: &mut [WorkerResult],
        state: RunState,
    ) -> Run {
        let (virtual_time, elapsed_ns) = (model.virtual_time, model.elapsed_ns);
        let of_each = ModelRecord { virtual_time, elapsed_ns, ..ModelRecord::default() };
        let facts = ModelFacts { model: &of_each, host: self.runner.facts() };
        let run = self.workers.assemble(hosts, &RunContext { facts: &facts, ..*context }, finished, state);
        Run { model: Some(model.clone()), ..run }
    }

    /// Returns how a job uses a page cache; `None` if its host does not run it.
    fn page_cache(&self, index: usize, job: &Job) -> Option<PageCacheUse> {
        let worker = self.workers.plans.iter().find(|worker| worker.job == index)?;
        let attachment = self.placement.attachments_of(worker.number).next();
        let machine = attachment.map(|attachment| &attachment.spec.host).filter(|_| Buffered::of_job(job).is_some());
        Some(machine.map_or(PageCacheUse::Bypassed, |machine| PageCacheUse::Buffered {
            machine: machine.clone(),
            memory: self.placement.memory_of(machine),
        }))
    }

    fn job(&self, worker: &WorkerPlan) -> &Job {
        &self.plan.jobs[worker.job]
    }
}

impl Placement {
    /// Returns the placement with other burst credits at the start.
    fn with_credits(&self, credits: &CreditPolicy) -> Cow<'_, Self> {
        let fraction = |limit: &str| match credits {
            CreditPolicy::AsDefined => None,
            CreditPolicy::Spent => Some(0),
            CreditPolicy::Left(left) => left.get(limit).copied(),
        };
        if *credits == CreditPolicy::AsDefined {
            return Cow::Borrowed(self);
        }
        let mut placement = self.clone();
        let specs = placement.attachments.iter_mut().map(|attachment| &mut attachment.spec);
        for limit in specs.flat_map(|spec| &mut spec.limits) {
            if let (Burst::Credits { most, at_start }, Some(fraction)) = (&mut limit.burst, fraction(&limit.name)) {
                *at_start = (u128::from(*most) * u128::from(fraction) / 1_000_000_000) as u64;
            }
        }
        Cow::Owned(placement)
    }
}

/// Facts about a run on models: virtual time has neither date nor host.
struct ModelFacts<'a> {
    model: &'a ModelRecord,
    host: Option<&'a (dyn RunFacts + Send + Sync)>,
}

impl RunFacts for ModelFacts<'_> {
    fn now(&self) -> (u64, i32) {
        self.host.map_or_else(|| (Nanos::new(self.model.elapsed_ns).millis(), 0), RunFacts::now)
    }

    fn pid(&self) -> u32 {
        self.host.map_or(0, RunFacts::pid)
    }

    fn host(&self) -> HostRecord {
        self.host.map_or_else(HostRecord::default, RunFacts::host)
    }

    fn disk_use(&self) -> Vec<DiskUse> {
        Vec::new()
    }

    fn model(&self) -> Option<&ModelRecord> {
        Some(self.model)
    }
}

/// Interval at which limits are published, in model time.
const STAGES_EVERY: Nanos = Nanos::from_millis(250);
/// Interval at which signals are checked and progress is published, in real time.
const OBSERVE_EVERY: Duration = Duration::from_millis(50);

/// Shortest time between two observations for a steady state.
const STEADY_LOOK: Nanos = Nanos::from_millis(1);

/// State shared by all stages of a run.
struct Execution<'a> {
    run: &'a ModelRun<'a>,
    placement: &'a Placement,
    options: &'a RunOptions,
    control: &'a dyn RunControl,
    counters: &'a Arc<RunCounters>,
    flows: policy::Flows,
    ramps: runner::SizedRamps,
    steady: RefCell<SteadyStates>,
    /// Whether any volume has burst credits, whose level is recorded.
    has_credits: bool,
}

/// Workers of a stage that are ready to run.
#[derive(Default)]
struct PreparedWorld {
    workers: Vec<drive::DriveWorker>,
    clients: Vec<ModelClient>,
    numbers: Vec<usize>,
}

impl Execution<'_> {
    fn run<C: Clock + 'static>(
        &self,
        mut world: World<C>,
        observer: &mut dyn Observer,
    ) -> (Vec<WorkerResult>, ModelRecord) {
        let (mut finished, stop) = (Vec::new(), Stop::new());
        if self.counters.is_watched() {
            let counters = Arc::clone(self.counters);
            world.show(STAGES_EVERY, move |now, system| counters.publish_stages(now, system.stages(now)));
        }
        let mut tracker = ProgressTracker::new(&self.run.plan, &self.run.workers.plans);
        for stage in self.run.workers.plans.chunk_by(|a, b| a.stage == b.stage) {
            if self.control.end().is_some() {
                break;
            }
            self.stage(stage, &mut world, &stop, &mut finished, &mut tracker, &mut *observer);
            if finished.iter().any(|one| self.ends_run(one)) {
                break;
            }
        }
        finished.sort_by_key(|finished| finished.number);
        finished.iter_mut().for_each(|one| one.steady = self.steady.borrow().record(one.number));
        let elapsed = world.now();
        let (plan, workers) = (&self.run.plan, self.run.workers.plans.as_slice());
        let virtual_time = self.run.runner.host.is_none();
        let model = results::model(&world, plan, workers, self.placement, virtual_time, elapsed, &finished);
        (finished, model)
    }

    /// Reports whether no further stage begins after a worker has ended (`exit_what=all`).
    fn ends_run(&self, one: &WorkerResult) -> bool {
        let worker = &self.run.workers.plans[one.number];
        let job = self.run.job(worker);
        let has_failed = one.ending.is_none() || one.fails_as_in_fio(job);
        policy::ended_jobs(worker, job, has_failed) == Some(EndedJobs::All)
    }

    fn stage<C: Clock + 'static>(
        &self,
        workers: &[WorkerPlan],
        world: &mut World<C>,
        stop: &Stop,
        finished: &mut Vec<WorkerResult>,
        tracker: &mut ProgressTracker,
        observer: &mut dyn Observer,
    ) {
        let mut ready = PreparedWorld::default();
        for worker in workers {
            if self.run.job(worker).files.create_only {
                let ending = Some(drive::Ending::Complete);
                finished.push(WorkerResult { number: worker.number, ending, ..WorkerResult::default() });
            } else if let Err(error) = self.prepare(worker, world.now(), &mut ready) {
                finished.push(WorkerResult::not_started(worker.number, error.into()));
            }
        }
        let PreparedWorld { mut workers, clients, numbers } = ready;
        world.connect(clients);
        self.invalidate(&numbers, &workers, world);
        let (control, counters, virtual_time) = (self.control, self.counters, self.run.runner.host.is_none());
        let mut watcher = RunWatcher {
            counters,
            control,
            numbers: &numbers,
            stop,
            tracker,
            observer,
            finished,
            virtual_time,
            records_credits: self.has_credits,
            steady: &self.steady,
            stride: Nanos::from_millis(10),
            last_observed: control.elapsed(),
        };
        numbers.iter().for_each(|&number| counters.worker(number).set_running(true));
        match &self.run.runner.recorder {
            None => drive::drive(&mut workers, world, stop, &mut watcher),
            Some(recorder) => {
                let mut recorder = recorder.lock().unwrap_or_else(PoisonError::into_inner);
                let of_tag = |(worker, number): (&drive::DriveWorker, &usize)| {
                    std::iter::repeat_n(*number as u32, worker.depth() as usize)
                };
                let tags = workers.iter().zip(&numbers).flat_map(of_tag).collect();
                let mut target = RecordingTarget::new(world, &mut *recorder, tags);
                drive::drive(&mut workers, &mut target, stop, &mut watcher);
            }
        }
        numbers.iter().for_each(|&number| counters.worker(number).set_running(false));
        let now = world.now();
        for (index, worker) in workers.iter_mut().enumerate() {
            watcher.look(index, worker.meter_mut(), now);
            counters.publish_last(counters.worker(numbers[index]), worker.meter_mut(), now);
        }
        if counters.is_watched() {
            counters.publish_stages(now, world.system().stages(now));
        }
        let RunWatcher { finished, .. } = watcher;
        finished.extend(workers.into_iter().zip(&numbers).map(|(mut worker, &number)| {
            let error = worker.meter_mut().finish_log().err().map(|problem| WorkerError::new(problem, Some(0)));
            let summary = worker.meter_mut().finished();
            let (ending, failures) = (worker.ending(), worker.failures().to_vec());
            let (verification, replay) = (worker.verification(), worker.replay_outcome());
            let error = error.or_else(|| WorkerError::of_replay(replay.as_ref()));
            let found_depth = worker.found_depth();
            WorkerResult {
                number,
                summary,
                ending,
                verification,
                replay,
                found_depth,
                failures,
                error,
                ..WorkerResult::default()
            }
        }));
    }

    /// Drops clean cached pages of the jobs' files, except for jobs with `invalidate=0`.
    fn invalidate<C: Clock>(&self, numbers: &[usize], workers: &[drive::DriveWorker], world: &mut World<C>) {
        let mut first = 0;
        for (&number, worker) in numbers.iter().zip(workers) {
            let planned = &self.run.workers.plans[number];
            world.turn_to(target::Tag(first));
            let files = (0..).zip(&planned.files.files).filter(|_| self.run.job(planned).files.invalidate);
            for (file, planned) in files {
                world.invalidate(file, planned.extent.start, planned.extent.length);
            }
            first += worker.depth();
        }
    }

    fn prepare(&self, worker: &WorkerPlan, now: Nanos, ready: &mut PreparedWorld) -> Result<(), Problem> {
        let job = &policy::verified_job(self.run.job(worker), Storage::Model);
        // Random numbers depend on the host, and on the number of the worker there.
        let HostedWorker { host, .. } = self.run.workers.hosted[worker.number];
        let seed = self.run.seeds.of_rank(host).of(job);
        let local = self.run.workers.on_its_host(worker.number, 0);
        let (layout, traces) = (local.files.layout(), &*self.run.runner.traces);
        let issuer = runner::issuer(job, local.worker(), &layout, seed, traces)?;
        let plan = LogPlan::of(job, worker.number, self.log_epoch(job, now)?);
        let log = plan.map(|plan| self.run.runner.logs.create(&plan)).transpose()?;
        let mut policy = policy::policy(&local, job, seed);
        (policy.job, policy.after) = (worker.job, worker.after);
        policy.rules.flow = self.flows.member(job);
        policy.ramp_bytes = self.ramps.ramp(worker);
        // Model time stands still while operations are submitted, so small batches have no advantage.
        policy.batch = policy.batch.or(Some(policy.depth));
        let meter = policy::meter_options(job, self.options.intervals, self.run.workers.plans.len());
        let trimmed = runner::trimmed_range(job, issuer.regions())?;
        let meter = Meter::new(meter).logging_to(log).counting_trims(trimmed);
        ready.workers.push(drive::DriveWorker::new(issuer, meter, policy));
        ready.clients.push(ModelClient {
            depth: job.depth(),
            files: self.placement.places[worker.number].clone(),
            buffered: Buffered::of_job(job),
        });
        ready.numbers.push(worker.number);
        Ok(())
    }

    /// Returns what to add to model time for the times of log entries. Virtual time begins at zero on every clock.
    fn log_epoch(&self, job: &Job, now: Nanos) -> Result<Option<u64>, Problem> {
        let Some(host) = self.run.runner.facts().filter(|_| job.stats.log_alternate_epoch) else {
            return Ok(None);
        };
        if job.stats.log_clock != 0 {
            let clock = job.stats.log_clock;
            let what = format!("log_alternate_epoch_clock_id={clock}: model runs support Unix time only");
            return Err(Problem::error(ProblemCode::Unfit, what).help("omit it, or use 0"));
        }
        let unix_ns = host.now().0.saturating_mul(1_000_000);
        Ok(Some(unix_ns.wrapping_sub(now.get())))
    }
}

/// Checks signals, publishes counters and progress, and hands over log entries while the loop runs.
struct RunWatcher<'a> {
    counters: &'a RunCounters,
    control: &'a dyn RunControl,
    numbers: &'a [usize],
    stop: &'a Stop,
    tracker: &'a mut ProgressTracker,
    observer: &'a mut dyn Observer,
    finished: &'a mut Vec<WorkerResult>,
    virtual_time: bool,
    records_credits: bool,
    steady: &'a RefCell<SteadyStates>,
    /// Model time between two observations; adjusted to about [`OBSERVE_EVERY`] in real time.
    stride: Nanos,
    /// Time of the last observation, by [`RunControl::elapsed`].
    last_observed: Duration,
}

impl RunWatcher<'_> {
    fn since_observation(&self) -> Duration {
        self.control.elapsed().saturating_sub(self.last_observed)
    }
}

impl DriveObserver for RunWatcher<'_> {
    fn next_look(&mut self, now: Nanos) -> Nanos {
        let took = self.since_observation();
        self.last_observed += took;
        if took < OBSERVE_EVERY / 2 {
            self.stride = self.stride + self.stride;
        } else if took > OBSERVE_EVERY * 2 {
            self.stride = Nanos::new((self.stride.get() / 2).max(1_000_000));
        }
        let look = now + self.stride;
        let look = if self.records_credits { look.min(crate::next_note(now)) } else { look };
        // An instant in the past is that of a group that has not begun.
        let due = self.steady.borrow().next_due();
        look.min(due.max(now + STEADY_LOOK))
    }

    fn ended(&mut self, now: Nanos) -> Vec<usize> {
        let ended = self.steady.borrow_mut().update(now, self.counters);
        ended.iter().filter_map(|number| self.numbers.iter().position(|known| known == number)).collect()
    }

    fn is_overdue(&mut self) -> bool {
        self.since_observation() > OBSERVE_EVERY * 2
    }

    fn look(&mut self, index: usize, meter: &mut Meter, now: Nanos) {
        self.counters.publish(self.counters.worker(self.numbers[index]), meter, now);
        meter.hand_over_log(now);
        if index == 0 {
            if self.control.end().is_some() {
                self.stop.set();
            }
            // The remaining simulation may take longer than the user waits.
            if self.control.gives_up() {
                self.stop.abandon();
            }
            let mut progress = self.tracker.update(now, self.counters, self.finished);
            if self.virtual_time {
                progress.eta = None;
            }
            self.observer.progress(&progress);
        }
    }
}
