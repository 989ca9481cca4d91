//! The thread of one worker.

use std::path::Path;
use std::sync::Arc;

use drive::{DriveObserver, Ending, Stop};
use engine::files::{self, Access, CacheAdvice};
use engine::gate::WriteGate;
use engine::{BlockedCall, CallKind, EngineKind, InCall, MemoryKind, MonotonicClock, Setup, Visitor};
use job::{BufferMemory, CacheHint, Dialect, Engine, Job, WriteHint};
use meter::{IntervalWidths, Meter, Summary, WorkerLog};
use record::StuckKind;
use runner::policy::{self, Storage};
use runner::{
    LogPlan, LogSink, PendingOperation, RunCounters, Seeds, WorkerCounters, WorkerError, WorkerPlan, WorkerResult,
};
use target::Target;
use units::{CpuUse, Nanos, OpKind};
use workload::{FileExtent, Issuer, Operations};

use crate::attributes::{self, CommandTime};
use crate::failure::worker_error;
use crate::host_stats::unix_ms;
use crate::iolog::OperationLog;
use crate::layout::FailedFiles;
use crate::traces::HostTraces;

/// Interval at which a worker publishes its counters, and notices a stop if nothing completes.
const PUBLISH_EVERY: Nanos = Nanos::from_millis(200);

/// State shared by all workers.
pub(crate) struct SharedRun {
    pub(crate) clock: MonotonicClock,
    pub(crate) seeds: Seeds,
    /// Trims of regular files punch holes in the strict dialect and fail in fio's.
    pub(crate) dialect: Dialect,
    /// The nonce of blocks of jobs without `verify_nonce`; zero for none, as in fio's dialect.
    pub(crate) nonce: u32,
    pub(crate) counters: Arc<RunCounters>,
    /// Flows that workers share.
    pub(crate) flows: policy::Flows,
    /// The current system call of each worker.
    pub(crate) calls: Vec<Arc<InCall>>,
    /// Time after which workers yield, see [`crate::stages::yield_after`].
    pub(crate) yield_after: Option<Nanos>,
    /// Widths of the intervals of the series.
    pub(crate) intervals: IntervalWidths,
    /// Files that could not be created.
    pub(crate) failed_files: FailedFiles,
    /// The gate that admits writes.
    pub(crate) gate: Arc<WriteGate>,
    pub(crate) logs: Arc<dyn LogSink + Send>,
    pub(crate) checkpoint: fn(&str),
}

/// Converts a system call that has not returned by `now` into a pending operation.
pub(crate) fn pending_call(call: &BlockedCall, now: Nanos) -> PendingOperation {
    let kind = match call.kind {
        CallKind::Open => StuckKind::Open,
        CallKind::Close => StuckKind::Close,
        CallKind::Operation(OpKind::Read) => StuckKind::Read,
        CallKind::Operation(OpKind::Write) => StuckKind::Write,
        CallKind::Operation(OpKind::Trim) => StuckKind::Trim,
        CallKind::Operation(OpKind::Sync) => StuckKind::Fsync,
        CallKind::Operation(OpKind::DataSync) => StuckKind::Fdatasync,
    };
    let (file, offset, length) = (call.file, call.offset, call.length);
    PendingOperation { kind, file, offset, length, waited: now.since(call.since) }
}

/// Runs one worker to its end. Calls `start` when it is ready, which returns when its stage begins, with the delay from
/// the agreed instant.
pub(crate) fn run(
    worker_plan: &WorkerPlan,
    job: &Job,
    shared: &SharedRun,
    stop: &Stop,
    start: &dyn Fn() -> Option<Nanos>,
) -> WorkerResult {
    let mut finished = WorkerResult { number: worker_plan.number, thread: thread_id(), ..WorkerResult::default() };
    shared.counters.worker(worker_plan.number).set_thread(finished.thread);
    (shared.checkpoint)(&format!("worker {}", job.name));
    if let Err(error) = attempt(worker_plan, job, shared, stop, start, &mut finished) {
        finished.error = Some(error);
    }
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
    let seed = shared.seeds.of(job);
    let storage = Storage::Device { dialect: shared.dialect, nonce: shared.nonce };
    let job = &policy::verified_job(job, storage);
    let issuer = runner::issuer(job, worker_plan.worker(), &worker_plan.layout(), seed, &HostTraces)?;
    attributes::set_io_scheduler(worker_plan, job)?;
    let log = create_log(job, worker_plan.number, shared)?;
    attributes::set_user(job)?;
    attributes::run_command(worker_plan, job, CommandTime::Before)?;
    let files = open(worker_plan, job, shared, stop)?;
    let counters = shared.counters.worker(worker_plan.number);
    let in_call = &shared.calls[worker_plan.number];
    let setup = Setup { in_call: Some(Arc::clone(in_call)), ..setup(job, &issuer, shared.clock) };
    let meter = Meter::new(policy::meter_options(job, shared.intervals, shared.counters.worker_count()));
    let meter = meter.logging_to(log);
    let strict = shared.dialect == Dialect::Strict;
    let mut policy = drive::Policy {
        verify_after_runtime: strict,
        settle_before_verify: strict,
        ..policy::policy(worker_plan, job, seed)
    };
    policy.rules.flow = shared.flows.member(job);
    // The thread was started when the other job had ended.
    policy.after = None;
    let mut worker = drive::DriveWorker::new(issuer, meter, policy);
    if let Some(log) = OperationLog::create(worker_plan, job).map_err(WorkerError::new)? {
        worker.record(log);
    }
    let publisher = Publisher {
        counters: &shared.counters,
        worker: counters,
        used_before: CpuUse::default(),
        yield_after: shared.yield_after,
        summary_at: Nanos::ZERO,
    };
    let drive = WorkerDrive { worker, stop, publisher, in_call, start, finished };
    let logged = engine::with_target(&setup, files, drive).map_err(|error| worker_error(&error))?;
    if job.files.unlink && finished.pending.is_empty() {
        for file in &worker_plan.files.files {
            shared.gate.remove(Path::new(&file.path)).map_err(|error| worker_error(&error))?;
        }
    }
    attributes::run_command(worker_plan, job, CommandTime::After)?;
    logged.map_err(|text| WorkerError { text, errno: 0 })
}

/// Creates the log files of a worker, if its job has any.
fn create_log(job: &Job, number: usize, shared: &SharedRun) -> Result<Option<Box<dyn WorkerLog>>, WorkerError> {
    let epoch = if job.stats.log_alternate_epoch {
        let clock = job.stats.log_clock;
        let now_ns = engine::clock_ns(clock).map_err(|error| {
            let reason = engine::describe(&error);
            let remedy = "help: write the number of a clock of clock_gettime(2), such as 0 for Unix time";
            WorkerError::new(format!(
                "log_alternate_epoch_clock_id={clock}: cannot read this clock: {reason}\n{remedy}"
            ))
        })?;
        Some(now_ns.wrapping_sub(shared.clock.now().get()))
    } else {
        None
    };
    let plan = LogPlan::of(job, number, epoch);
    plan.map(|plan| shared.logs.create(&plan)).transpose().map_err(WorkerError::new)
}

/// The drive loop of a worker, compiled once per engine.
struct WorkerDrive<'a> {
    worker: drive::DriveWorker,
    stop: &'a Stop,
    publisher: Publisher<'a>,
    in_call: &'a InCall,
    start: &'a dyn Fn() -> Option<Nanos>,
    finished: &'a mut WorkerResult,
}

impl Visitor for WorkerDrive<'_> {
    /// The failure to write a log.
    type Output = Result<(), String>;

    fn visit<T: Target>(self, mut target: T) -> Self::Output {
        let Self { mut worker, stop, mut publisher, in_call, start, finished } = self;
        finished.start_delay = start();
        publisher.worker.set_running(true);
        finished.started_unix_ms = unix_ms();
        publisher.worker.set_started_unix_ms(finished.started_unix_ms);
        publisher.used_before = engine::cpu_use_of_thread();
        drive::drive(std::slice::from_mut(&mut worker), &mut target, stop, &mut publisher);
        let used = publisher.used();
        let now = target.now();
        DriveObserver::look(&mut publisher, 0, worker.meter_mut(), now);
        publisher.counters.publish_last(publisher.worker, worker.meter_mut(), now);
        finished.summary = worker.meter_mut().finished();
        finished.summary.cpu = used;
        finished.ending = worker.ending();
        finished.verification = worker.verification();
        finished.replay = worker.replay_outcome();
        finished.found_depth = worker.found_depth();
        let recorded = worker.take_recorder().map_or(Ok(()), drive::IssueRecorder::finish);
        finished.error = WorkerError::of_replay(finished.replay.as_ref()).or(recorded.err().map(WorkerError::new));
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

fn open(worker_plan: &WorkerPlan, job: &Job, shared: &SharedRun, stop: &Stop) -> Result<Vec<files::File>, WorkerError> {
    if matches!(job.engine.engine, Engine::Null | Engine::Nbd) {
        return Ok(Vec::new());
    }
    let direction = job.pattern.direction;
    let writes = Operations::of(job).writes();
    let access = Access {
        read: direction.reads() || job.verify.method.is_some() || job.engine.engine == Engine::Mmap,
        write: writes,
        direct: job.engine.direct && job.engine.engine != Engine::Mmap,
        sync: match job.files.open_sync {
            job::OpenSync::None => files::SyncFlags::None,
            job::OpenSync::Sync => files::SyncFlags::Sync,
            job::OpenSync::Dsync => files::SyncFlags::Dsync,
        },
        punch_holes: shared.dialect == Dialect::Strict,
    };
    let mut opened = Vec::with_capacity(worker_plan.files.files.len());
    let limited = job.files.openfiles.is_some_and(|most| (most as usize) < worker_plan.files.files.len());
    let in_call = &shared.calls[worker_plan.number];
    for (index, planned) in (0..).zip(&worker_plan.files.files) {
        let since = shared.clock.now();
        in_call.enter(BlockedCall { kind: CallKind::Open, file: index, offset: 0, length: 0, since });
        let path = Path::new(&planned.path);
        let file = if writes { shared.gate.open(path, access) } else { files::open(path, access) };
        in_call.leave();
        let file = file.map_err(|error| worker_error(&error))?;
        if access.direct {
            file.check_block(policy::block_unit(job)).map_err(|error| unaligned(job, error))?;
        }
        prepare_cache(&file, planned.extent, job, stop).map_err(|error| worker_error(&error))?;
        if limited {
            file.close();
        }
        opened.push(file);
    }
    Ok(opened)
}

/// Sets the state of a file's page cache and what the kernel may expect of the job.
fn prepare_cache(file: &files::File, extent: FileExtent, job: &Job, stop: &Stop) -> Result<(), engine::Error> {
    if job.files.pre_read {
        files::read_into_cache(file, extent.start, extent.length, &|| stop.is_set())?;
    } else if job.files.invalidate {
        // Only root may do this on block devices. The run then starts with a warm cache, which its verdict reports.
        let _ = files::invalidate(file, extent.start, extent.length);
    }
    // Without advice, the kernel reads ahead of random reads.
    let advice = match job.files.advice {
        CacheHint::None => None,
        CacheHint::OfPattern if job.pattern.random => Some(CacheAdvice::Random),
        CacheHint::OfPattern | CacheHint::Sequential => Some(CacheAdvice::Sequential),
        CacheHint::Random => Some(CacheAdvice::Random),
        CacheHint::NoReuse => Some(CacheAdvice::NoReuse),
    };
    if let Some(advice) = advice {
        files::advise(file, advice);
    }
    let Some(hint) = job.files.write_hint else { return Ok(()) };
    files::set_write_hint(
        file,
        match hint {
            WriteHint::None => 1,
            WriteHint::Short => 2,
            WriteHint::Medium => 3,
            WriteHint::Long => 4,
            WriteHint::Extreme => 5,
        },
    )
}

/// Returns the error of a job whose blocks are not those of its target. The offsets of a trace can be aligned to them.
fn unaligned(job: &Job, error: engine::Error) -> WorkerError {
    let remedy = "write replay_align=4k, or direct=0 to replay through the page cache";
    let remedy = if job.replay.is_some() { Some(remedy.to_owned()) } else { error.remedy };
    worker_error(&engine::Error { remedy, ..error })
}

fn setup(job: &Job, issuer: &Issuer, clock: MonotonicClock) -> Setup {
    let options = &job.engine;
    let engine = match options.engine {
        Engine::IoUring | Engine::Posixaio => EngineKind::IoUring,
        Engine::Libaio => EngineKind::Libaio,
        Engine::Psync => EngineKind::Psync,
        Engine::Sync => EngineKind::Sync,
        Engine::Vsync => EngineKind::Vsync,
        Engine::Pvsync => EngineKind::Pvsync,
        Engine::Pvsync2 => EngineKind::Pvsync2,
        Engine::Mmap => EngineKind::Mmap,
        Engine::Nbd => EngineKind::Nbd,
        // Jobs on models do not reach this crate.
        Engine::Null | Engine::Model => EngineKind::Null,
    };
    Setup {
        align: options.iomem_align,
        memory: match options.mem {
            BufferMemory::Malloc => MemoryKind::Malloc,
            BufferMemory::Shm => MemoryKind::Shm,
            BufferMemory::ShmHuge => MemoryKind::ShmHuge,
            BufferMemory::Mmap => MemoryKind::Mmap,
            BufferMemory::MmapHuge => MemoryKind::MmapHuge,
            BufferMemory::MmapShared => MemoryKind::MmapShared,
        },
        hipri: options.hipri,
        fixedbufs: options.fixedbufs,
        registerfiles: options.registerfiles,
        sqpoll: options.sqthread_poll,
        sqpoll_cpu: options.sqthread_poll_cpu,
        uri: options.uri.clone(),
        writes: Operations::of(job).writes(),
        durable: job.files.open_sync != job::OpenSync::None && job.pattern.direction.writes(),
        ..Setup::new(engine, policy::depth(job), issuer.most_bytes(), clock)
    }
}

/// Publishes the counters of one worker and hands over its log entries.
struct Publisher<'a> {
    counters: &'a RunCounters,
    worker: &'a WorkerCounters,
    /// CPU time of the thread before the worker began.
    used_before: CpuUse,
    /// Time after which the worker yields to others; `None` if the scheduler does it.
    yield_after: Option<Nanos>,
    /// When the next summary is due.
    summary_at: Nanos,
}

impl Publisher<'_> {
    /// Returns the CPU time that the worker has used. Must be called on its thread.
    fn used(&self) -> CpuUse {
        engine::cpu_use_of_thread().since(self.used_before)
    }
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
            self.worker.publish_summary(Summary { cpu: self.used(), ..meter.summary(now) }, requested);
        }
        meter.hand_over_log(now);
    }
}

/// Returns the ID of the calling thread, as shown by `ps` and `top`.
fn thread_id() -> u32 {
    let link = std::fs::read_link("/proc/thread-self").ok();
    let number = link.as_deref().and_then(Path::file_name).and_then(|name| name.to_str()?.parse().ok());
    number.unwrap_or_else(std::process::id)
}
