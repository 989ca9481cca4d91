//! The thread of one worker.

use std::path::Path;

use drive::{DriveObserver, Ending, FailureCause, Stop};
use engine::{BlockedCall, ErrorKind, InCall, Opening, Visitor};
use job::{Dialect, Job};
use meter::{Meter, WorkerLog};
use runner::policy::{self, Storage};
use runner::{LogPlan, PendingOperation, RunCounters, WorkerCounters, WorkerError, WorkerPlan, WorkerResult};
use target::Target;
use units::{CallKind, Nanos, Problem, ProblemCode};

use crate::attributes::{self, CommandTime};
use crate::failure;
use crate::host_stats::unix_ms;
use crate::iolog::OperationLog;
use crate::opening;
use crate::shared_run::{SharedRun, worker_error};
use crate::traces::HostTraces;
use crate::verify_files;

/// Interval at which a worker publishes its counters, and notices a stop if nothing completes.
const PUBLISH_EVERY: Nanos = Nanos::from_millis(200);

/// Runs one worker to its end. Calls `start` when it is ready, which returns when its stage begins, with the delay from
/// the agreed instant.
pub(crate) fn run(
    worker_plan: &WorkerPlan,
    job: &Job,
    shared: &SharedRun,
    stop: &Stop,
    start: &dyn Fn() -> Option<Nanos>,
) -> WorkerResult {
    let mut finished =
        WorkerResult { number: worker_plan.number, thread: engine::thread::id(), ..WorkerResult::default() };
    shared.counters.worker(worker_plan.number).set_thread(finished.thread);
    (shared.checkpoint)(&format!("worker {}", job.name));
    shared.debug.begins(worker_plan, job, finished.thread);
    if let Err(error) = attempt(worker_plan, job, shared, stop, start, &mut finished) {
        finished.error = Some(error);
    }
    shared.debug.ends(worker_plan, job, &finished);
    shared.counters.worker(worker_plan.number).set_running(false);
    finished
}

fn attempt(
    worker_plan: &WorkerPlan,
    job: &Job,
    shared: &SharedRun,
    stop: &Stop,
    start: &dyn Fn() -> Option<Nanos>,
    finished: &mut WorkerResult,
) -> Result<(), WorkerError> {
    if let Some(error) = worker_plan.files.files.iter().find_map(|file| shared.failed_files.get(Path::new(&file.path)))
    {
        return Err(worker_error(error));
    }
    if job.files.create_only {
        finished.ending = Some(Ending::Complete);
        return Ok(());
    }
    engine::thread::exact_timers().map_err(|error| worker_error(&error))?;
    let _locked = attributes::set(worker_plan, job)?;
    let _group = shared.control_groups.join(&job.host.control_group)?;
    let seed = shared.seeds.of(job);
    let storage = Storage::Device { dialect: shared.dialect, nonce: shared.nonce };
    let job = &policy::verified_job(job, storage);
    let mut issuer = runner::issuer(job, worker_plan.worker(), &worker_plan.layout(), seed, &HostTraces)?;
    if job.verify.state_load && job.verify.method.is_some() {
        let state = verify_files::load(&shared.aux_path, job, worker_plan)?;
        issuer = issuer.checking_only_written(state);
    }
    let issuer = issuer.in_zones(shared.zones.of_worker(worker_plan, job)?);
    attributes::set_io_scheduler(worker_plan, job)?;
    let log = create_log(job, worker_plan.number, shared)?;
    attributes::set_user(job)?;
    attributes::run_command(worker_plan, job, CommandTime::Before)?;
    let files = opening::open(worker_plan, job, shared, stop)?;
    let setup = opening::target(worker_plan, job, shared, &issuer, seed)?;
    let counters = shared.counters.worker(worker_plan.number);
    let in_call = &shared.calls[worker_plan.number];
    let meter = Meter::new(policy::meter_options(job, shared.intervals, shared.counters.worker_count()));
    let trimmed = runner::trimmed_range(job, issuer.regions())?;
    let meter = meter.logging_to(log).counting_trims(trimmed).counting_cpu(engine::cpu_use_of_worker);
    let strict = shared.dialect == Dialect::Strict;
    let mut policy = drive::Policy {
        verify_after_runtime: strict,
        settle_before_verify: strict,
        ..policy::policy(worker_plan, job, seed)
    };
    policy.rules.flow = shared.flows.member(job);
    policy.rules.locks = shared.locks.of_worker(worker_plan, job);
    policy.ramp_bytes = shared.ramps.ramp(worker_plan);
    // The thread was started when the other job had ended.
    policy.after = None;
    let mut worker = drive::DriveWorker::new(issuer, meter, policy);
    finished.started_clock_ms = clock_ms(job.stats.start_clock)?;
    let start_clock = finished.started_clock_ms.map(|_| job.stats.start_clock);
    if let Some(log) = OperationLog::create(worker_plan, job)? {
        worker.record(log);
    }
    if let Some(lines) = shared.debug.recorder(worker_plan, job) {
        worker.record(lines);
    }
    let publisher = Publisher {
        counters: &shared.counters,
        worker: counters,
        yield_after: shared.yield_after,
        summary_at: Nanos::ZERO,
    };
    let drive = WorkerDrive { worker, stop, publisher, in_call, start, start_clock, finished };
    if let Some(most) = policy::longest_wait(job) {
        in_call.await_peer_until(shared.clock.now() + most);
    }
    let logged = match engine::with_target(&setup, files, drive) {
        // The run was ended before a peer came, which is no failure.
        Err(error) if error.kind == ErrorKind::Cancelled && stop.is_set() => {
            finished.ending = Some(Ending::Stopped);
            return Ok(());
        }
        visited => visited.map_err(|error| worker_error(&error))?,
    };
    report_reasons(&setup, worker_plan, finished)?;
    shared.journals.explain(worker_plan.number, &mut finished.failures);
    if job.files.unlink && job.engine.kind.traits().has_files() && finished.pending.is_empty() {
        for file in &worker_plan.files.files {
            shared.gate.remove(Path::new(&file.path)).map_err(|error| worker_error(&error))?;
        }
    }
    attributes::run_command(worker_plan, job, CommandTime::After)?;
    logged.map_err(|problem| WorkerError::new(problem, Some(0)))
}

/// Adds what a target knows beyond error numbers: why a device did not carry out a command, and why it ended.
fn report_reasons(setup: &Opening, worker_plan: &WorkerPlan, finished: &mut WorkerResult) -> Result<(), WorkerError> {
    if let (Some(reason), Some(first)) = (setup.failure.reason(), finished.failures.first_mut())
        && matches!(first.cause, FailureCause::Errno(_))
    {
        first.detail = Some(failure::of_disk(first, worker_plan, setup.spec.kind, reason));
    }
    setup.failure.error().map_or(Ok(()), |error| Err(worker_error(error)))
}

/// Creates the log files of a worker, if its job has any.
fn create_log(job: &Job, number: usize, shared: &SharedRun) -> Result<Option<Box<dyn WorkerLog>>, Problem> {
    let epoch = if job.stats.log_alternate_epoch {
        let clock = job.stats.log_clock;
        let now_ns = engine::clock_ns(clock)
            .map_err(|error| unreadable_clock("log_alternate_epoch_clock_id", clock, &error, "0 for Unix time"))?;
        Some(now_ns.wrapping_sub(shared.clock.now().get()))
    } else {
        None
    };
    let plan = LogPlan::of(job, number, epoch);
    plan.map(|plan| shared.logs.create(&plan)).transpose()
}

/// Returns the time of a clock of `job_start_clock_id` in milliseconds; `None` for Unix time.
fn clock_ms(clock: u32) -> Result<Option<u64>, Problem> {
    if clock == 0 {
        return Ok(None);
    }
    let now_ns = engine::clock_ns(clock)
        .map_err(|error| unreadable_clock("job_start_clock_id", clock, &error, "1 for the time since boot"))?;
    Ok(Some(now_ns / 1_000_000))
}

fn unreadable_clock(option: &str, clock: u32, error: &std::io::Error, example: &str) -> Problem {
    engine::io_problem(ProblemCode::Host, format_args!("{option}={clock}: cannot read this clock"), error)
        .also_help(format!("use a clock number of clock_gettime(2), such as {example}"))
}

/// The drive loop of a worker, compiled once per engine.
struct WorkerDrive<'a> {
    worker: drive::DriveWorker,
    stop: &'a Stop,
    publisher: Publisher<'a>,
    in_call: &'a InCall,
    start: &'a dyn Fn() -> Option<Nanos>,
    /// Clock of `job_start_clock_id`, which is known to work.
    start_clock: Option<u32>,
    finished: &'a mut WorkerResult,
}

impl Visitor for WorkerDrive<'_> {
    /// The failure to write a log.
    type Output = Result<(), Problem>;

    fn visit<T: Target>(self, mut target: T) -> Self::Output {
        let Self { mut worker, stop, mut publisher, in_call, start, start_clock, finished } = self;
        finished.start_delay = start();
        publisher.worker.set_running(true);
        finished.started_unix_ms = unix_ms();
        finished.started_clock_ms = start_clock.and_then(|clock| clock_ms(clock).ok().flatten());
        publisher.worker.set_started_unix_ms(finished.started_unix_ms);
        drive::drive(std::slice::from_mut(&mut worker), &mut target, stop, &mut publisher);
        let now = target.now();
        DriveObserver::look(&mut publisher, 0, worker.meter_mut(), now);
        publisher.counters.publish_last(publisher.worker, worker.meter_mut(), now);
        finished.summary = worker.meter_mut().finished();
        finished.ending = worker.ending();
        finished.verification = worker.verification();
        finished.replay = worker.replay_outcome();
        finished.write_progress = worker.write_progress();
        finished.found_depth = worker.found_depth();
        finished.zone_resets = worker.zone_resets();
        let recorded = worker.take_recorders().into_iter().try_for_each(drive::OperationRecorder::finish);
        let zones = worker.waited_in_vain().then(WorkerError::of_zones);
        finished.error =
            WorkerError::of_replay(finished.replay.as_ref()).or(recorded.err().map(WorkerError::from)).or(zones);
        finished.failures = worker.failures().to_vec();
        finished.pending = worker.abandoned().iter().map(PendingOperation::from).collect();
        if finished.pending.is_empty() {
            // Closing files may hang as well.
            publisher.worker.publish_final(finished.summary.clone());
            in_call.enter(BlockedCall { kind: CallKind::Close, file: 0, offset: 0, length: 0, since: now });
            drop(target);
            in_call.leave();
        } else {
            // Dropping the target would wait for operations in flight, because the kernel uses its buffers.
            std::mem::forget(target);
        }
        worker.meter_mut().finish_log()
    }
}

/// Publishes the counters of one worker and hands over its log entries.
struct Publisher<'a> {
    counters: &'a RunCounters,
    worker: &'a WorkerCounters,
    /// Time after which the worker yields to others; `None` if the scheduler does it.
    yield_after: Option<Nanos>,
    /// When the next summary is due.
    summary_at: Nanos,
}

impl DriveObserver for Publisher<'_> {
    fn next_look(&mut self, now: Nanos) -> Nanos {
        now + PUBLISH_EVERY
    }

    fn next_turn(&mut self, now: Nanos) -> Nanos {
        self.yield_after.map_or(Nanos::MAX, |yield_after| now + yield_after)
    }

    fn give_way(&mut self) {
        std::thread::yield_now();
    }

    fn look(&mut self, _: usize, meter: &mut Meter, now: Nanos) {
        self.counters.publish(self.worker, meter, now);
        let requested = self.counters.requested();
        if !self.worker.has_answered(requested) || now >= self.summary_at {
            self.summary_at = now + self.counters.summary_every();
            self.worker.publish_summary(meter.summary(now), requested);
        }
        meter.hand_over_log(now);
    }
}
