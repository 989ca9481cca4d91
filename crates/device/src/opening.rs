//! Opens what a worker works on, and translates the options of its engine.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use drive::Stop;
use engine::files::{self, Access, CacheAdvice, SyncRangeFlags};
use engine::gate::WriteGate;
use engine::{
    BlockedCall, BurstSetup, CallKind, EngineKind, MemoryKind, MonotonicClock, NamedTarget, PathCall, Setup,
    TransferFlags,
};
use job::{
    BlockSizes, BufferMemory, CacheHint, Dialect, Engine, EngineOptions, Job, ProcessorWork, StatCall,
    SyncRangeOptions, WriteHint,
};
use runner::{WorkerError, WorkerPlan, policy};
use workload::{FileExtent, Issuer, Operations, PlannedFile};

use crate::safety;
use crate::shared_run::{SharedRun, worker_error};

/// Opens the files of a worker.
pub(crate) fn open(
    worker_plan: &WorkerPlan,
    job: &Job,
    shared: &SharedRun,
    stop: &Stop,
) -> Result<Vec<files::File>, WorkerError> {
    let engine = job.engine.engine;
    if engine.has_no_storage() || engine.is_remote() || engine == Engine::Sg || engine.name_call().is_some() {
        return Ok(Vec::new());
    }
    let direction = job.pattern.direction;
    let writes = safety::opens_for_writing(job);
    let access = Access {
        read: direction.reads()
            || job.verify.method.is_some()
            || matches!(job.engine.engine, Engine::Mmap | Engine::E4defrag),
        write: writes,
        direct: job.engine.direct && !matches!(job.engine.engine, Engine::Mmap | Engine::IoUringCmd),
        sync: match job.files.open_sync {
            job::OpenSync::None => files::SyncFlags::None,
            job::OpenSync::Sync => files::SyncFlags::Sync,
            job::OpenSync::Dsync => files::SyncFlags::Dsync,
        },
        punch_holes: shared.dialect == Dialect::Strict,
        sync_range: sync_range(job),
        ..Access::default()
    };
    let mut filesystems = Filesystems::default();
    let mut opened = Vec::with_capacity(worker_plan.files.files.len());
    let limited = job.files.openfiles.is_some_and(|most| (most as usize) < worker_plan.files.files.len());
    let waits = limited && !job.files.pre_read && job.files.write_hint.is_none();
    let in_call = &shared.calls[worker_plan.number];
    for (index, planned) in (0..).zip(&worker_plan.files.files) {
        let since = shared.clock.now();
        in_call.enter(BlockedCall { kind: CallKind::Open, file: index, offset: 0, length: 0, since });
        let path = Path::new(&planned.path);
        let access = Access {
            zone_trim: shared.zones.trim_of(job, &planned.path),
            shares_filesystem: job.sync.end_syncfs && filesystems.include(path),
            ..access
        };
        let file = match job.engine.engine {
            Engine::IoUringCmd if writes => shared.gate.open_namespace(path, access),
            _ if writes && waits => shared.gate.open_later(path, access),
            _ if writes => shared.gate.open(path, access),
            _ if waits => files::open_later(path, access),
            _ => files::open(path, access),
        };
        in_call.leave();
        let file = file.map_err(|error| worker_error(&error))?;
        if access.direct {
            file.check_block(policy::block_unit(job)).map_err(|error| unaligned(job, error))?;
        }
        prepare_cache(&file, planned.extent, job, stop).map_err(|error| worker_error(&error))?;
        if limited {
            file.close();
        }
        let renews = job.files.unlink_each_loop;
        opened.push(if renews { file.renewed_by(Arc::clone(&shared.gate)) } else { file });
    }
    if let Some(donor) = job.donor_path(worker_plan.clone) {
        let access = Access { read: true, ..Access::default() };
        opened.push(shared.gate.open(Path::new(&donor), access).map_err(|error| worker_error(&error))?);
    }
    Ok(opened)
}

/// The filesystems of the files of a worker.
#[derive(Default)]
struct Filesystems(Vec<u64>);

impl Filesystems {
    /// Adds that of a file. Returns whether it is known already.
    fn include(&mut self, path: &Path) -> bool {
        let Ok(device) = std::fs::metadata(path).map(|facts| facts.dev()) else { return false };
        let is_known = self.0.contains(&device);
        if !is_known {
            self.0.push(device);
        }
        is_known
    }
}

fn sync_range(job: &Job) -> SyncRangeFlags {
    let SyncRangeOptions { wait_before, write, wait_after, .. } = job.sync.range;
    SyncRangeFlags { wait_before, write, wait_after }
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

/// Returns the names that a worker works on; none for an engine that opens files.
pub(crate) fn names(
    worker_plan: &WorkerPlan,
    job: &Job,
    gate: &Arc<WriteGate>,
) -> Result<Vec<NamedTarget>, WorkerError> {
    let engine = job.engine.engine;
    if engine.name_call().is_none() {
        return Ok(Vec::new());
    }
    let EngineKind::Names(call) = kind(&job.engine) else { return Ok(Vec::new()) };
    let least = job.pattern.used_sizes().map(BlockSizes::min).min().unwrap_or(1);
    let name = |planned: &PlannedFile| {
        let path = Path::new(&planned.path);
        let named =
            NamedTarget::new(call, path, planned.extent.length, least, gate).map_err(|error| worker_error(&error))?;
        Ok(if job.files.unlink_each_loop { named.renewed_by(Arc::clone(gate)) } else { named })
    };
    worker_plan.files.files.iter().map(name).collect()
}

/// Returns the bursts of a worker that loads the processor.
fn burst(job: &Job) -> Option<BurstSetup> {
    let load = &job.engine.processor;
    let sorts = load.work == ProcessorWork::Qsort;
    (job.engine.engine == Engine::Cpuio).then_some(BurstSetup { length: load.burst, sorts })
}

fn stat_call(call: StatCall) -> PathCall {
    match call {
        StatCall::Stat => PathCall::Stat,
        StatCall::Lstat => PathCall::Lstat,
        StatCall::Statx => PathCall::Statx,
    }
}

/// Returns the error of a job whose blocks are not those of its target. The offsets of a trace can be aligned to them.
fn unaligned(job: &Job, error: engine::Error) -> WorkerError {
    let remedy = "write replay_align=4k, or direct=0 to replay through the page cache";
    let remedy = if job.replay.is_some() { Some(remedy.to_owned()) } else { error.remedy };
    worker_error(&engine::Error { remedy, ..error })
}

fn kind(options: &EngineOptions) -> EngineKind {
    match options.engine {
        Engine::IoUring | Engine::Posixaio => EngineKind::IoUring,
        Engine::IoUringCmd => EngineKind::IoUringCmd,
        Engine::Libaio => EngineKind::Libaio,
        Engine::Psync => EngineKind::Psync,
        Engine::Sync => EngineKind::Sync,
        Engine::Vsync => EngineKind::Vsync,
        Engine::Pvsync => EngineKind::Pvsync,
        Engine::Pvsync2 => EngineKind::Pvsync2,
        Engine::Splice => EngineKind::Splice,
        Engine::Mmap => EngineKind::Mmap,
        Engine::Sg => EngineKind::Scsi,
        Engine::Nbd => EngineKind::Nbd,
        Engine::Filecreate => EngineKind::Names(PathCall::CreateFile),
        Engine::Dircreate => EngineKind::Names(PathCall::CreateDirectory),
        Engine::Filestat | Engine::Dirstat => EngineKind::Names(stat_call(options.stat_call)),
        Engine::Filedelete => EngineKind::Names(PathCall::DeleteFile),
        Engine::Dirdelete => EngineKind::Names(PathCall::DeleteDirectory),
        Engine::Ftruncate => EngineKind::Ftruncate,
        Engine::Falloc => EngineKind::Falloc,
        Engine::E4defrag => EngineKind::Defragment { in_place: options.defragment.in_place },
        Engine::Net | Engine::Netsplice => EngineKind::Network,
        Engine::Http => EngineKind::Objects,
        Engine::Cpuio => EngineKind::Processor,
        Engine::Exec => EngineKind::Program,
        // Jobs on models do not reach this crate.
        Engine::Null | Engine::Model => EngineKind::Null,
    }
}

/// Returns the settings of a job's target.
pub(crate) fn setup(job: &Job, issuer: &Issuer, clock: MonotonicClock) -> Setup {
    let options = &job.engine;
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
        offloads: options.offloads,
        hipri: options.hipri,
        fixedbufs: options.fixedbufs,
        registerfiles: options.registerfiles,
        sqpoll: options.sqthread_poll,
        sqpoll_cpu: options.sqthread_poll_cpu,
        transfer: TransferFlags { nowait: options.nowait, uncached: options.uncached, atomic: options.atomic },
        vectored: options.vectored,
        divides_calls: job.pace.batch.is_none(),
        complete_max: job.pace.batch_complete_max.map_or(u32::MAX, |most| most.max(job.pace.batch_complete_min)),
        force_async: options.force_async,
        hipri_percentage: options.hipri_percentage,
        thp: options.thp,
        huge_page_bytes: options.hugepage_bytes,
        burst: burst(job),
        uri: options.uri.clone(),
        writes: Operations::of(job).writes(),
        durable: job.files.open_sync != job::OpenSync::None && job.pattern.direction.writes(),
        ..Setup::new(kind(options), job.depth(), issuer.most_bytes(), clock)
    }
}
