//! Opens what a worker works on.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use drive::Stop;
use engine::files::{self, Access};
use engine::gate::{Existing, WriteGate, create_output};
use engine::scsi::ScsiDevice;
use engine::{
    BlockedCall, NamedTarget, NetworkPeer, NvmeUse, ObjectsOfWorker, Opening, PlacementRange, ProgramUse, ScsiDisk,
    StoredObjects, parse_placement_scheme,
};
use job::{
    BlockSizes, CacheAdvice, CacheHint, Dialect, Direction, EngineKind, Job, PlacementKind, PlacementSelect, Plan,
    ScsiWriteCommand, WriteHint,
};
use runner::{WorkerError, WorkerPlan, policy};
use units::{CallKind, Problem, ProblemCode};
use workload::{FileExtent, Issuer, Operations, PlannedFile};

use crate::attributes::stream_path;
use crate::safety;
use crate::shared_run::{SharedRun, worker_error};

/// Opens the files of a worker.
pub(crate) fn open(
    worker_plan: &WorkerPlan,
    job: &Job,
    shared: &SharedRun,
    stop: &Stop,
) -> Result<Vec<files::File>, WorkerError> {
    let engine = job.engine.kind;
    if engine.has_no_storage() || engine.is_remote() || engine == EngineKind::Sg || engine.name_call().is_some() {
        return Ok(Vec::new());
    }
    let direction = job.pattern.direction;
    let writes = safety::opens_for_writing(job);
    let access = Access {
        read: direction.reads()
            || job.verify.method.is_some()
            || matches!(job.engine.kind, EngineKind::Mmap | EngineKind::E4defrag),
        write: writes,
        direct: job.engine.direct && !matches!(job.engine.kind, EngineKind::Mmap | EngineKind::IoUringCmd),
        sync: job.files.open_sync,
        punch_holes: shared.dialect == Dialect::Strict,
        sync_range: job.sync.range.flags,
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
        let file = match job.engine.kind {
            EngineKind::IoUringCmd if writes => shared.gate.open_namespace(path, access),
            _ if writes && waits => shared.gate.open_later(path, access),
            _ if writes => shared.gate.open(path, access),
            _ if waits => files::open_later(path, access),
            _ => files::open(path, access),
        };
        in_call.leave();
        let file = file.map_err(|error| worker_error(&error))?;
        if access.direct {
            file.check_block(policy::block_unit(job)).map_err(|error| unaligned(job, &error))?;
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
        CacheHint::OfPattern => Some(CacheAdvice::Sequential),
        CacheHint::Given(advice) => Some(advice),
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
    let Some(call) = job.engine.kind.name_call() else { return Ok(Vec::new()) };
    let least = job.pattern.used_sizes().map(BlockSizes::min).min().unwrap_or(1);
    let name = |planned: &PlannedFile| {
        let path = Path::new(&planned.path);
        let named =
            NamedTarget::new(call, path, planned.extent.length, least, gate).map_err(|error| worker_error(&error))?;
        Ok(if job.files.unlink_each_loop { named.renewed_by(Arc::clone(gate)) } else { named })
    };
    worker_plan.files.files.iter().map(name).collect()
}

/// Returns the error of a job whose blocks are not those of its target. The offsets of a trace can be aligned to them.
fn unaligned(job: &Job, error: &engine::Error) -> WorkerError {
    let mut failed = worker_error(error);
    if job.replay.is_some() {
        failed.problem.help = Some("set replay_align=4k, or direct=0 to replay through the page cache".to_owned());
    }
    failed
}

/// Returns what a worker's target is opened with: its engine, and what it works on other than open files.
pub(crate) fn target(
    worker_plan: &WorkerPlan,
    job: &Job,
    shared: &SharedRun,
    issuer: &Issuer,
    seed: u64,
) -> Result<Opening, WorkerError> {
    let kind = job.engine.kind;
    Ok(Opening {
        spec: job.engine.clone(),
        divides_calls: job.pace.batch.is_none(),
        complete_max: job.pace.batch_complete_max.map_or(u32::MAX, |most| most.max(job.pace.batch_complete_min)),
        writes: Operations::of(job).writes(),
        durable: job.files.open_sync != job::OpenSync::None && job.pattern.direction.writes(),
        names: names(worker_plan, job, &shared.gate)?,
        network: peer(worker_plan, job),
        objects: if kind.is_of_objects() { Some(objects(worker_plan, job, shared)?) } else { None },
        nvme: if kind == EngineKind::IoUringCmd { Some(nvme(job, issuer.most_bytes(), seed)?) } else { None },
        disks: if kind == EngineKind::Sg { disks(worker_plan, job, shared)? } else { Vec::new() },
        program: if kind == EngineKind::Exec { Some(program(worker_plan, job, shared.dialect)?) } else { None },
        in_call: Some(Arc::clone(&shared.calls[worker_plan.number])),
        ..Opening::new(kind, job.depth(), issuer.most_bytes(), shared.clock)
    })
}

/// Returns the peer of a worker; none for an engine of storage.
pub(crate) fn peer(worker_plan: &WorkerPlan, job: &Job) -> Option<NetworkPeer> {
    let only_reads = job.pattern.direction == Direction::Read;
    NetworkPeer::of(&job.engine, worker_plan.clone, only_reads, job.verify.method.is_some())
}

/// Returns the problems of jobs that listen on all addresses of the host.
pub fn listeners(plan: &Plan, workers: &[WorkerPlan]) -> impl Iterator<Item = Problem> {
    workers.chunk_by(|a, b| a.job == b.job).filter_map(|clones| {
        let job = &plan.jobs[clones[0].job];
        let peer = peer(&clones[0], job).filter(NetworkPeer::listens_on_all_addresses)?;
        let (name, port) = (&job.name, peer.port);
        let what = format!("job {name} listens on all addresses of this host, port {port}: any host can connect");
        Some(Problem::error(ProblemCode::Network, what))
    })
}

/// Returns the objects of a worker, with the permission to change them if its job does.
fn objects(worker_plan: &WorkerPlan, job: &Job, shared: &SharedRun) -> Result<ObjectsOfWorker, WorkerError> {
    let objects = worker_plan.files.files.iter().map(|file| {
        let url = file.path.clone();
        let permit = safety::changes_targets(job).then(|| shared.gate.admit_objects(&url)).transpose();
        let permit = permit.map_err(|denied| worker_error(&denied.into()))?;
        Ok(StoredObjects { path: job.engine.objects.path(&url).to_owned(), url, permit })
    });
    let journal = shared.journals.of_worker(worker_plan.number);
    Ok(ObjectsOfWorker { objects: objects.collect::<Result<_, WorkerError>>()?, journal })
}

/// Opens the disks of a worker.
fn disks(worker_plan: &WorkerPlan, job: &Job, shared: &SharedRun) -> Result<Vec<ScsiDisk>, WorkerError> {
    let options = &job.engine.scsi;
    let writes = safety::opens_for_writing(job);
    let in_call = &shared.calls[worker_plan.number];
    let mut devices = Vec::with_capacity(worker_plan.files.files.len());
    for (file, planned) in (0..).zip(&worker_plan.files.files) {
        let since = shared.clock.now();
        in_call.enter(BlockedCall { kind: CallKind::Open, file, offset: 0, length: 0, since });
        let path = Path::new(&planned.path);
        let opened = if writes { ScsiDevice::open_admitted(path, &shared.gate) } else { ScsiDevice::open(path) };
        let opened = opened.and_then(|mut device| {
            device.check_block(policy::block_unit(job))?;
            if writes && options.write_command == ScsiWriteCommand::WriteStream {
                device.use_stream(options.stream)?;
            }
            Ok(device)
        });
        in_call.leave();
        let device = opened.map_err(|error| worker_error(&error))?;
        let end = planned.extent.start.saturating_add(planned.extent.length);
        if end > device.bytes() {
            let (path, bytes) = (planned.path.as_str(), device.bytes());
            let what = format!("{path} has {bytes} bytes (READ CAPACITY), but the job uses {end}");
            return Err(Problem::error(ProblemCode::Device, what).help("use a smaller size or offset").into());
        }
        devices.push(device.into_disk());
    }
    Ok(devices)
}

/// Returns how a job uses its namespaces, after reading the file of a placement scheme.
fn nvme(job: &Job, most_bytes: u32, seed: u64) -> Result<NvmeUse, Problem> {
    let placement = &job.engine.nvme.placement;
    let scheme = placement
        .scheme
        .as_ref()
        .filter(|_| placement.effective() != PlacementKind::None && placement.select == PlacementSelect::Scheme);
    Ok(NvmeUse {
        transfer_bytes: if job.pattern.direction == Direction::Trim { 0 } else { most_bytes },
        block_unit: policy::block_unit(job),
        verifies: job.verify.method.is_some(),
        scheme: scheme.map(|path| read_scheme(path)).transpose()?,
        seed,
    })
}

fn read_scheme(path: &str) -> Result<Vec<PlacementRange>, Problem> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        engine::io_problem(ProblemCode::File, format_args!("dp_scheme={path}: cannot read the file"), &error)
    })?;
    parse_placement_scheme(&text).map_err(|line| {
        let shown = text.lines().nth(line - 1).unwrap_or_default();
        let what = format!("dp_scheme={path}: line {line} is not an offset range: `{shown}`");
        Problem::error(ProblemCode::Placement, what).help("use start, end and index, for example `0, 1048576, 2`")
    })
}

/// Returns how a worker runs its program.
fn program(worker_plan: &WorkerPlan, job: &Job, dialect: Dialect) -> Result<ProgramUse, Problem> {
    let options = &job.engine.program;
    let open = |stream: &str| {
        create_output(Path::new(&stream_path(worker_plan, job, stream)), Existing::Replace)
            .map_err(|denied| Problem::from(denied).of("std_redirect"))
    };
    Ok(ProgramUse {
        arguments: options.words(&job.name, job.extent.runtime),
        output: if options.redirects { Some(Arc::new((open("stdout")?, open("stderr")?))) } else { None },
        // fio ignores it.
        checks_exit: dialect == Dialect::Strict,
    })
}
