//! One worker's thread: from its files to its results.

use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use drive::{Abandoned, Ending, Failure, Stop, Verification};
use engine::files::{self, Access, Advice};
use engine::gate::Gate;
use engine::probe::Usage;
use engine::{Call, CallKind, Clock, EngineKind, MemoryKind, Setup, Visitor};
use job::{Arrivals, BlockSizes, Dialect, Engine, Job, Memory, VerifyMethod};
use meter::{LogOptions, Meter, Summary, Widths};
use record::StuckKind;
use target::{Kind, Target};
use units::Nanos;
use workload::{Issuer, OpKind, Operations};

use crate::board::{Board, SeatWatch};
use crate::exit::Exit;
use crate::layout::Unmade;
use crate::logs::LogFiles;
use crate::members::Member;
use crate::seeds::Seeds;
use crate::shutdown;

/// What all workers share.
pub(crate) struct Shared {
    pub(crate) clock: Clock,
    pub(crate) seeds: Seeds,
    /// Trims of regular files punch holes in our own dialect, and fail in fio's.
    pub(crate) dialect: Dialect,
    /// What blocks are marked with whose job gives no `verify_nonce`; zero for nothing, as fio's runs are.
    pub(crate) nonce: u32,
    pub(crate) board: Arc<Board>,
    /// [`SeatWatch::turn`].
    pub(crate) turn: Option<Nanos>,
    /// Lengths of the intervals of the series.
    pub(crate) intervals: Widths,
    /// Files that could not be made.
    pub(crate) unmade: Unmade,
    /// What may be written to.
    pub(crate) gate: Arc<Gate>,
}

/// One worker at the end.
#[derive(Debug, Default)]
pub(crate) struct Finished {
    /// Its place among all members.
    pub(crate) number: usize,
    /// What it measured; empty if it could not begin.
    pub(crate) summary: Summary,
    /// Why it ended; `None` if it could not begin.
    pub(crate) ending: Option<Ending>,
    /// What it wrote and verified.
    pub(crate) verification: Verification,
    /// Its first failures.
    pub(crate) failures: Vec<Failure>,
    /// Why it could not begin, or what went wrong beside its operations.
    pub(crate) trouble: Option<Trouble>,
    /// When it began, in milliseconds since 1970.
    pub(crate) started_unix_ms: u64,
    /// Its thread's number.
    pub(crate) thread: u32,
    /// What it was still waiting for when it was no longer waited for.
    pub(crate) stuck: Vec<Stuck>,
}

/// Something that a target had not answered when the run ended without it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stuck {
    pub(crate) kind: StuckKind,
    /// Which of the worker's files.
    pub(crate) file: u32,
    pub(crate) offset: u64,
    pub(crate) length: u32,
    /// How long it had been waiting.
    pub(crate) waited: Nanos,
}

impl Stuck {
    /// A system call that has not returned by `now`.
    pub(crate) fn of_call(call: &Call, now: Nanos) -> Self {
        let kind = match call.kind {
            CallKind::Open => StuckKind::Open,
            CallKind::Close => StuckKind::Close,
            CallKind::Operation(Kind::Read) => StuckKind::Read,
            CallKind::Operation(Kind::Write) => StuckKind::Write,
            CallKind::Operation(Kind::Trim) => StuckKind::Trim,
            CallKind::Operation(Kind::Sync) => StuckKind::Fsync,
            CallKind::Operation(Kind::DataSync) => StuckKind::Fdatasync,
        };
        let (file, offset, length) = (call.file, call.offset, call.length);
        Self { kind, file, offset, length, waited: now.since(call.since) }
    }
}

impl From<&Abandoned> for Stuck {
    fn from(Abandoned { decision, waited }: &Abandoned) -> Self {
        let kind = match decision.kind {
            OpKind::Read => StuckKind::Read,
            OpKind::Write => StuckKind::Write,
            OpKind::Trim => StuckKind::Trim,
            OpKind::Sync => StuckKind::Fsync,
            OpKind::DataSync => StuckKind::Fdatasync,
        };
        let (file, offset, length) = (decision.file, decision.offset, decision.length);
        Self { kind, file, offset, length, waited: *waited }
    }
}

impl Finished {
    /// The error number that its result carries, zero for none.
    pub(crate) fn errno(&self) -> i32 {
        match &self.trouble {
            Some(trouble) => trouble.errno,
            None if self.summary.first_error == 0 && !self.stuck.is_empty() => ETIMEDOUT,
            None => self.summary.first_error,
        }
    }

    /// How bad its end is; `None` where all went well or was to be passed over (`continue_on_error`). A block that is not
    /// what was written is a failed verification however the run went on.
    pub(crate) fn exit(&self, job: &Job) -> Option<Exit> {
        if self.trouble.is_some() || !self.stuck.is_empty() {
            return Some(Exit::Environment);
        }
        let is_damaged = job.verify.method.is_some() && self.verification.mismatches > 0;
        match self.ending {
            _ if is_damaged => Some(Exit::Failed),
            Some(Ending::Failed) => Some(Exit::Environment),
            _ => None,
        }
    }

    /// Whether fio counts its job among those that failed.
    pub(crate) fn fails_as_in_fio(&self, job: &Job) -> bool {
        let ended = self.ending != Some(Ending::Failed);
        let exit = self.exit(job);
        exit.is_some() && !(exit == Some(Exit::Failed) && ended && job.on_error.continue_on_verify)
    }
}

/// What keeps a worker from beginning.
#[derive(Clone, Debug)]
pub(crate) struct Trouble {
    /// In words, with the remedy.
    pub(crate) text: String,
    /// The system's error number; `EINVAL` where the system was not asked.
    pub(crate) errno: i32,
}

const EINVAL: i32 = 22;
/// What stands in results for an operation that was never answered.
const ETIMEDOUT: i32 = 110;

impl Trouble {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), errno: EINVAL }
    }
}

impl From<engine::Error> for Trouble {
    fn from(error: engine::Error) -> Self {
        Self::from(&error)
    }
}

impl From<&engine::Error> for Trouble {
    fn from(error: &engine::Error) -> Self {
        Self { text: error.to_string(), errno: error.errno.unwrap_or(EINVAL) }
    }
}

/// Runs one member to its end. `start` is called when it is ready, and returns when all of its stage are.
pub(crate) fn run(member: &Member, job: &Job, shared: &Shared, stop: &Stop, start: &dyn Fn()) -> Finished {
    let mut finished = Finished { number: member.number, thread: thread_id(), ..Finished::default() };
    shared.board.seat(member.number).set_thread(finished.thread);
    shutdown::panic_if_asked(&format!("worker {}", job.name));
    if let Err(trouble) = attempt(member, job, shared, stop, start, &mut finished) {
        finished.trouble = Some(trouble);
    }
    shared.board.seat(member.number).set_running(false);
    finished
}

fn attempt(
    member: &Member,
    job: &Job,
    shared: &Shared,
    stop: &Stop,
    start: &dyn Fn(),
    finished: &mut Finished,
) -> Result<(), Trouble> {
    if let Some(error) = member.files.files.iter().find_map(|file| shared.unmade.get(Path::new(&file.path))) {
        return Err(error.into());
    }
    engine::thread::exact_timers()?;
    pin(member, job)?;
    let seed = shared.seeds.of(job);
    let job = &verifiable(job, shared);
    let issuer =
        Issuer::new(job, member.worker(), &member.layout(), seed).map_err(|error| Trouble::new(error.to_string()))?;
    let files = open(member, job, shared)?;
    let mut logs = LogFiles::create(&job.stats, member.number).map_err(Trouble::new)?;
    let seat = shared.board.seat(member.number);
    let in_call = Some(Arc::clone(seat.in_call()));
    let setup = Setup { in_call, ..setup(job, &issuer, shared.clock) };
    let meter = Meter::new(meter_options(job, shared.intervals, shared.board.workers()));
    let strict = shared.dialect == Dialect::Strict;
    let policy =
        drive::Policy { verify_after_runtime: strict, settle_before_verify: strict, ..policy(member, job, seed) };
    let worker = drive::Worker::new(issuer, meter, policy);
    let (used_before, account_at) = (Usage::default(), Nanos::ZERO);
    let watch =
        SeatWatch { board: &shared.board, seat, logs: logs.as_mut(), used_before, turn: shared.turn, account_at };
    engine::with_target(&setup, files, Drive { worker, stop, watch, start, finished })?;
    match logs.map(LogFiles::finish) {
        Some(Err(text)) => Err(Trouble { text, errno: 0 }),
        _ => Ok(()),
    }
}

/// A job as it is verified: with a nonce, and as fio does it where fio's rules hold. Where no device could give anything
/// back, all is taken for good, as by fio.
fn verifiable(job: &Job, shared: &Shared) -> Job {
    let mut job = job.clone();
    if job.engine.engine == Engine::Null {
        job.verify.method = job.verify.method.map(|_| VerifyMethod::Null);
    }
    if job.pattern.direction.writes() && !job.verify.only {
        job.verify.nonce.get_or_insert(shared.nonce);
    }
    if shared.dialect == Dialect::Fio && never_verified_by_fio(&job) {
        job.verify.do_verify = false;
    }
    job
}

/// Whether fio 3.33 goes on writing until the runtime is over, and then reads nothing back: where one operation at a time
/// is in flight whatever the depth.
pub(crate) fn never_verified_by_fio(job: &Job) -> bool {
    let queues = job.engine.engine.is_async() && (job.engine.engine != Engine::Null || job.pace.iodepth > 1);
    job.extent.time_based && job.pattern.direction.writes() && !queues
}

/// What is done with the target, compiled once for each engine.
struct Drive<'a> {
    worker: drive::Worker,
    stop: &'a Stop,
    watch: SeatWatch<'a>,
    start: &'a dyn Fn(),
    finished: &'a mut Finished,
}

impl Visitor for Drive<'_> {
    type Output = ();

    fn visit<T: Target>(self, mut target: T) {
        let Self { mut worker, stop, mut watch, start, finished } = self;
        start();
        watch.seat.set_running(true);
        finished.started_unix_ms = unix_ms();
        watch.seat.set_started_unix_ms(finished.started_unix_ms);
        watch.used_before = Usage::of_thread();
        drive::drive(std::slice::from_mut(&mut worker), &mut target, stop, &mut watch);
        let used = watch.used();
        let now = target.now();
        drive::Watch::look(&mut watch, 0, worker.meter_mut(), now);
        watch.board.see_last(watch.seat, worker.meter_mut(), now);
        finished.summary = worker.meter_mut().finished();
        finished.summary.cpu = used;
        finished.ending = worker.ending();
        finished.verification = worker.verification();
        finished.failures = worker.failures().to_vec();
        finished.stuck = worker.abandoned().iter().map(Stuck::from).collect();
        if finished.stuck.is_empty() {
            // Closing files may hang as well.
            watch.seat.publish_last(finished.summary.clone());
            watch.seat.in_call().enter(Call { kind: CallKind::Close, file: 0, offset: 0, length: 0, since: now });
            drop(target);
            watch.seat.in_call().leave();
        } else {
            // To drop it would be to wait for what is in flight, for which the kernel needs its buffers.
            std::mem::forget(target);
        }
    }
}

/// Keeps one member to the processors that it may use: all of `cpus_allowed`, or one of them.
fn pin(member: &Member, job: &Job) -> Result<(), Trouble> {
    let Some(allowed) = &job.grouping.cpus_allowed else { return Ok(()) };
    if allowed.is_empty() {
        return Err(Trouble::new("cpus_allowed names no processor; write for example cpus_allowed=0-3,5"));
    }
    let one = member.clone as usize % allowed.len();
    engine::thread::pin(if job.grouping.cpus_split { &allowed[one..=one] } else { allowed })?;
    Ok(())
}

fn open(member: &Member, job: &Job, shared: &Shared) -> Result<Vec<files::File>, Trouble> {
    if matches!(job.engine.engine, Engine::Null | Engine::Nbd) {
        return Ok(Vec::new());
    }
    let direction = job.pattern.direction;
    let writes = Operations::of(job).changes_data();
    let access = Access {
        read: direction.reads() || job.verify.method.is_some() || job.engine.engine == Engine::Mmap,
        write: writes,
        direct: job.engine.direct && job.engine.engine != Engine::Mmap,
        sync: match job.files.open_sync {
            job::OpenSync::None => files::OpenSync::None,
            job::OpenSync::Sync => files::OpenSync::Sync,
            job::OpenSync::Dsync => files::OpenSync::Dsync,
        },
        punch_holes: shared.dialect == Dialect::Strict,
    };
    let mut opened = Vec::with_capacity(member.files.files.len());
    let limited = job.files.openfiles.is_some_and(|most| (most as usize) < member.files.files.len());
    let in_call = shared.board.seat(member.number).in_call();
    for (index, planned) in (0..).zip(&member.files.files) {
        let since = shared.clock.now();
        in_call.enter(Call { kind: CallKind::Open, file: index, offset: 0, length: 0, since });
        let path = Path::new(&planned.path);
        let file = if writes { shared.gate.open(path, access) } else { files::open(path, access) };
        in_call.leave();
        let file = file?;
        if access.direct {
            file.check_block(block_unit(job))?;
        }
        if job.files.invalidate {
            // Refused to other users than root on block devices; the run is then warm, which the verdict sees.
            let _ = files::invalidate(&file, planned.extent.start, planned.extent.length);
        }
        // As fio does unless told otherwise: else the kernel reads ahead of random reads.
        files::advise(&file, if job.pattern.random { Advice::Random } else { Advice::Sequential });
        if limited {
            file.close();
        }
        opened.push(file);
    }
    Ok(opened)
}

/// What all offsets and lengths of a job are multiples of, in bytes.
pub(crate) fn block_unit(job: &Job) -> u32 {
    let (direction, sizes) = (job.pattern.direction, &job.pattern.block_sizes);
    let used = [(direction.reads(), &sizes.read), (direction.writes(), &sizes.write), (direction.trims(), &sizes.trim)];
    let mut unit = 0;
    for (_, sizes) in used.into_iter().filter(|(used, _)| *used) {
        unit = match sizes {
            BlockSizes::Range(..) if job.pattern.bs_unaligned => 1,
            BlockSizes::Fixed(size) | BlockSizes::Range(size, _) => gcd(unit, *size),
            BlockSizes::Split(parts) => parts.iter().fold(unit, |unit, (size, _)| gcd(unit, *size)),
        };
    }
    unit.max(1)
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn setup(job: &Job, issuer: &Issuer, clock: Clock) -> Setup {
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
        // Jobs on models are no work for an engine; the loop for them is elsewhere.
        Engine::Null | Engine::Model => EngineKind::Null,
    };
    Setup {
        align: options.iomem_align,
        memory: match options.mem {
            Memory::Malloc => MemoryKind::Malloc,
            Memory::Shm => MemoryKind::Shm,
            Memory::ShmHuge => MemoryKind::ShmHuge,
            Memory::Mmap => MemoryKind::Mmap,
            Memory::MmapHuge => MemoryKind::MmapHuge,
            Memory::MmapShared => MemoryKind::MmapShared,
        },
        hipri: options.hipri,
        fixedbufs: options.fixedbufs,
        registerfiles: options.registerfiles,
        sqpoll: options.sqthread_poll,
        sqpoll_cpu: options.sqthread_poll_cpu,
        uri: options.uri.clone(),
        writes: Operations::of(job).changes_data(),
        durable: job.files.open_sync != job::OpenSync::None && job.pattern.direction.writes(),
        ..Setup::new(engine, depth(job), issuer.most_bytes(), clock)
    }
}

/// Operations that a worker of this job can have in flight.
pub(crate) fn depth(job: &Job) -> u32 {
    if job.engine.engine.is_async() { job.pace.iodepth.max(1) } else { 1 }
}

/// How a worker of this job keeps its queue filled.
pub(crate) fn policy(member: &Member, job: &Job, seed: u64) -> drive::Policy {
    let (extent, pace) = (&job.extent, &job.pace);
    drive::Policy {
        depth: depth(job),
        batch: pace.batch,
        complete_min: pace.batch_complete_min,
        complete_max: pace.batch_complete_max,
        low: pace.iodepth_low,
        scheduled: is_scheduled(job),
        delay: delay(member, job, seed),
        ramp: extent.ramp_time,
        runtime: if extent.runtime == Nanos::ZERO { Nanos::MAX } else { extent.runtime },
        on_error: drive::OnError {
            continue_on_read: job.on_error.continue_on_read,
            continue_on_write: job.on_error.continue_on_write,
            continue_on_verify: job.on_error.continue_on_verify,
        },
        // As in fio; the strict dialect sets both.
        verify_after_runtime: false,
        settle_before_verify: false,
        verify_fatal: job.verify.fatal,
        keep_damaged: job.verify.dump,
        ends_others: job.grouping.exitall,
    }
}

/// Whether arrivals follow a schedule.
pub(crate) fn is_scheduled(job: &Job) -> bool {
    let (bytes, iops) = (&job.pace.rate, &job.pace.rate_iops);
    let limits = [bytes.read, bytes.write, bytes.trim, iops.read, iops.write, iops.trim];
    limits.iter().any(Option::is_some) || job.pace.process == Arrivals::Poisson
}

fn delay(member: &Member, job: &Job, seed: u64) -> Nanos {
    let (least, most) = job.extent.startdelay;
    let spread = most.since(least).get();
    let mut random = units::random::Random::new(seed, 0xde1a_0000 + member.number as u64);
    least + Nanos::new(if spread == 0 { 0 } else { random.below(spread + 1) })
}

/// What the blocks of all workers may take in memory.
const BLOCK_BYTES: usize = 32 << 20;

/// What is counted of a job, as one of so many `workers`.
pub(crate) fn meter_options(job: &Job, intervals: Widths, workers: usize) -> meter::Options {
    let stats = &job.stats;
    let latencies = stats.stats && !stats.gtod_reduce;
    // Who carries out an operation at once never submits; fio has no such figure either.
    let submission = latencies && !stats.disable_slat && job.engine.engine.is_async();
    meter::Options {
        submission,
        service: latencies && !stats.disable_clat,
        latency: latencies && !stats.disable_lat,
        submission_percentiles: stats.slat_percentiles,
        // Not only for percentiles: fio's shares of latency classes come from the histogram too.
        service_percentiles: true,
        latency_percentiles: stats.lat_percentiles,
        open_loop: is_scheduled(job),
        bandwidth: stats.stats && !stats.disable_bw,
        logs: LogOptions {
            submission: submission && stats.write_lat_log.is_some(),
            latency: stats.write_lat_log.is_some(),
            bandwidth: stats.write_bw_log.is_some(),
            iops: stats.write_iops_log.is_some(),
            window: stats.log_avg,
        },
        intervals,
        block_bytes: (BLOCK_BYTES / workers.max(1)).min(meter::BLOCK_BYTES_MAX),
        ..meter::Options::default()
    }
}

/// Milliseconds since 1970.
pub(crate) fn unix_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}

/// The number of the calling thread, as `ps` and `top` show it.
fn thread_id() -> u32 {
    let link = std::fs::read_link("/proc/thread-self").ok();
    let number = link.as_deref().and_then(Path::file_name).and_then(|name| name.to_str()?.parse().ok());
    number.unwrap_or_else(std::process::id)
}
