//! Reconciles interdependent settings of a job.

use units::{Nanos, PerKind, Problem, ProblemCode, Rate};

use crate::draft::JobDraft;
use crate::model::*;
use crate::strict::StrictContext;
use crate::{network, nvme, object_store, processor, replay, zones};

/// Turns a draft into a job, with errors for impossible combinations.
pub(crate) fn reconcile(draft: JobDraft, context: &StrictContext<'_>) -> (Job, Vec<Problem>) {
    let mut problems = Vec::new();
    let block_sizes = block_sizes(&draft, context, &mut problems);
    let zones = zones::strided(&draft.zones, context, &mut problems);
    let zoned = zones::zoned(&draft.zones, context, &mut problems);
    let has_trace = !draft.replay.trace.is_empty();
    let mut job = draft.job;
    zones::resolve_sizes(&draft.zones, &mut job.extent, context, &mut problems);
    (job.pattern.zones, job.pattern.zoned) = (zones, zoned);
    if let Some(zoned) = zoned {
        zones::check(&job, &zoned, has_trace, context, &mut problems);
        job.pattern.norandommap |= zoned.writes_remainder;
    }
    job.extent.steady = (draft.steady.duration > Nanos::ZERO).then_some(draft.steady);
    job.pattern.blockalign = block_align(draft.align, &block_sizes);
    job.pattern.block_sizes = block_sizes;
    reconcile_map(&mut job.pattern, draft.sequence_stride);
    job.pattern.preconditioning = draft.preconditioning.0.then_some(draft.preconditioning.1);
    if draft.preconditioning.0 {
        problems.extend(check_preconditioning(&job.pattern, has_trace, context));
    }
    if !draft.replay.trace.is_empty() {
        let ReplayOptions { speed_ppm, .. } = draft.replay;
        let merge = replay::merge(&draft.merge, &draft.replay.trace, context).unwrap_or_else(|problem| {
            problems.push(problem);
            None
        });
        let mut options = ReplayOptions {
            speed_ppm: speed_ppm.filter(|_| !draft.no_stall),
            is_redirected: draft.redirect.is_some(),
            ..draft.replay
        };
        if let Some(merge) = &merge {
            options.trace.clone_from(&merge.file);
        }
        job.replay = Some(ReplayOptions { merge, ..options });
        reconcile_replay(&mut job, draft.redirect);
        problems.extend(replay::check(&job, context));
    }
    problems.extend(nvme::check(&job, context));
    reconcile_engine(&mut job.engine);
    if !matches!(job.engine.kind, EngineKind::IoUring | EngineKind::IoUringCmd | EngineKind::Libaio) {
        job.command_priorities = CommandPriorities::default();
    }
    network::complete(&mut job);
    let impossible = network::check(&job, context)
        .or_else(|| object_store::check(&job, context))
        .or_else(|| processor::check(&job, context))
        .or_else(|| missing_donor(&job, context))
        .or_else(|| misplaced_offload(&job, context));
    problems.extend(impossible);
    if job.engine.kind.traits().metadata {
        // No data are transferred that could be verified.
        job.verify.method = None;
    }
    // Without a `runtime`, a job ends with its data.
    job.extent.time_based &= job.extent.runtime > Nanos::ZERO;
    processor::complete(&mut job);
    let checks = [no_workers, unknown_latency, two_rates, unlogged_issue_time, two_priorities];
    problems.extend(checks.iter().filter_map(|check| check(&job, context)));
    if !job.files.filenames.is_empty() {
        // If a later `nrfiles` is smaller than the number of names, fio uses the first ones.
        job.files.filenames.truncate(job.files.nrfiles as usize);
        job.files.nrfiles = job.files.filenames.len() as u32;
    }
    problems.extend(uncounted_trims(&job, context));
    (job, problems)
}

fn no_workers(job: &Job, context: &StrictContext<'_>) -> Option<Problem> {
    (job.grouping.numjobs == 0).then(|| {
        context
            .error(ProblemCode::OutOfRange, "numjobs", "a job without workers has no effect")
            .note("fio clones it until it runs out of job slots, and fails")
            .help("write `numjobs=1`, or leave the job out")
    })
}

/// Returns an error for a kind of operation with a rate or floor in bytes and one in operations.
fn two_rates(job: &Job, context: &StrictContext<'_>) -> Option<Problem> {
    let given = |rates: &PerKind<Option<Rate>>| [rates.read, rates.write, rates.trim].map(|rate| rate.is_some());
    let (rates, floor) = (&job.pace, &job.pace.floor);
    let (bytes, floor_bytes) = (given(&rates.rate), given(&floor.bytes));
    let (iops, floor_iops) = (given(&rates.rate_iops), given(&floor.operations));
    let has_two = (0..3).any(|kind| (bytes[kind] || floor_bytes[kind]) && (iops[kind] || floor_iops[kind]));
    has_two.then(|| excluding(context, "rate_iops", "rates in bytes and in operations exclude each other"))
}

fn two_priorities(job: &Job, context: &StrictContext<'_>) -> Option<Problem> {
    let CommandPriorities { percentage, split, .. } = &job.command_priorities;
    let has_two = percentage.iter().any(|percentage| *percentage > 0) && split.iter().any(|split| !split.is_empty());
    let message = "`cmdprio_percentage` and `cmdprio_bssplit` exclude each other";
    has_two.then(|| excluding(context, "cmdprio_bssplit", message))
}

fn excluding(context: &StrictContext<'_>, option: &str, message: &str) -> Problem {
    let problem = context.error(ProblemCode::ConflictingOptions, option, message);
    problem.note("fio refuses a job that sets both").help("keep one of them")
}

fn unlogged_issue_time(job: &Job, context: &StrictContext<'_>) -> Option<Problem> {
    let is_logged = job.stats.write_lat_log.is_some() && job.stats.log_offset;
    (job.stats.log_issue_time && !is_logged).then(|| {
        let message = "`log_issue_time` needs `write_lat_log` and `log_offset`";
        context
            .error(ProblemCode::MissingOption, "log_issue_time", message)
            .note("fio refuses it without them")
            .help("write `write_lat_log=PREFIX` and `log_offset=1`, or leave `log_issue_time` out")
    })
}

/// Returns why the trims of each block cannot be counted.
fn uncounted_trims(job: &Job, context: &StrictContext<'_>) -> Option<Problem> {
    let option = "block_error_percentiles";
    let problem =
        |message: String, help: &str| Some(context.error(ProblemCode::ConflictingOptions, option, &message).help(help));
    if !job.counts_block_trims() {
        return None;
    }
    if job.files.nrfiles > 1 {
        let message = format!("blocks can be counted in one file only, but the job has {}", job.files.nrfiles);
        return problem(message, "write one job per file, or leave `block_error_percentiles` out");
    }
    if job.engine.nvme.ranges > 1 {
        let message = "trims of several ranges cannot be counted per block".to_owned();
        return problem(message, "leave `num_range` or `block_error_percentiles` out");
    }
    None
}

fn missing_donor(job: &Job, context: &StrictContext<'_>) -> Option<Problem> {
    (job.engine.kind == EngineKind::E4defrag && job.engine.defragment.donor.is_empty()).then(|| {
        context
            .error(ProblemCode::MissingOption, "ioengine", "`e4defrag` needs a donor file")
            .note("fio refuses the job")
            .help("write `donorname=FILE`, naming a new file or one that may be overwritten")
    })
}

fn misplaced_offload(job: &Job, context: &StrictContext<'_>) -> Option<Problem> {
    let engine = job.engine.kind;
    (job.engine.offloads && !engine.traits().offloads).then(|| {
        context
            .error(
                ProblemCode::Offload,
                "io_submit_mode",
                &format!("helper threads cannot execute operations of the engine `{}`", engine.name()),
            )
            .note("its operations share a connection, a mapping or a program")
            .help("leave `io_submit_mode` out, or write for example `ioengine=psync`")
    })
}

/// Replaces the files by that of `replay_redirect`. A trace has its own offsets, so there is no map of blocks.
fn reconcile_replay(job: &mut Job, redirect: Option<String>) {
    if let Some(path) = redirect {
        let directory = job.files.directories.first().map(String::as_str);
        job.files.filenames = vec![FileOptions::path_under(directory, &path)];
        job.files.nrfiles = 1;
    }
    job.pattern.norandommap = true;
}

/// Returns an error for a job that ends with a steady latency but measures none.
fn unknown_latency(job: &Job, context: &StrictContext<'_>) -> Option<Problem> {
    let needs = job.extent.steady.is_some_and(|steady| steady.measure == SteadyMeasure::Latency);
    (needs && job.stats.disable_clat).then(|| {
        context
            .error(
                ProblemCode::SteadyState,
                "steadystate",
                "steady-state latency needs completion latencies, which are not measured",
            )
            .help("leave `disable_clat` and `gtod_reduce` out")
    })
}

fn block_sizes(draft: &JobDraft, context: &StrictContext<'_>, problems: &mut Vec<Problem>) -> PerKind<BlockSizes> {
    PerKind::from_slots(|slot| {
        let (sizes, option) = match (&draft.splits[slot], draft.ranges[slot]) {
            (Some(split), _) => (split.iter().map(|&(size, share)| (narrow(size), share)).collect(), "bssplit"),
            (None, Some((low, high))) => (vec![(narrow(low), 0), (narrow(high), 0)], "bsrange"),
            (None, None) => (vec![(narrow(draft.bs[slot]), 100)], "bs"),
        };
        if sizes.iter().any(|(size, _)| !(1..=BLOCK_MAX_BYTES).contains(size)) {
            let message = format!("block sizes range from 1 byte to {} MiB", BLOCK_MAX_BYTES >> 20);
            problems.push(context.error(ProblemCode::BlockSize, option, &message));
        }
        match (sizes.as_slice(), option) {
            ([(low, _), (high, _)], "bsrange") if low != high => BlockSizes::Range(*low, *high),
            (_, "bssplit") if sizes.len() > 1 => BlockSizes::Split(sizes),
            _ => BlockSizes::Fixed(sizes[0].0),
        }
    })
}

/// Maximum block size: Linux takes no larger request.
const BLOCK_MAX_BYTES: u32 = 1 << 30;

/// Saturates, so that a size out of range is found too large.
fn narrow(size: u64) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

fn block_align([read, write, trim]: [Option<u64>; 3], sizes: &PerKind<BlockSizes>) -> Option<PerKind<u32>> {
    let align = |given: Option<u64>, sizes: &BlockSizes| given.map_or(sizes.min(), narrow);
    read.or(write).or(trim)?;
    Some(PerKind { read: align(read, &sizes.read), write: align(write, &sizes.write), trim: align(trim, &sizes.trim) })
}

/// Turns off the map of blocks if some blocks are more frequent than others or blocks may overlap. `advances` says whether
/// sequences of blocks do.
fn reconcile_map(pattern: &mut Pattern, advances: bool) {
    for slot in 0..3 {
        if let Distribution::Sequence { strided, .. } = pattern.distribution.slot(slot) {
            *strided = advances;
        }
    }
    let distributions = [&pattern.distribution.read, &pattern.distribution.write, &pattern.distribution.trim];
    let skewed = distributions.iter().any(|distribution| **distribution != Distribution::Uniform);
    pattern.norandommap |= skewed || pattern.blockalign.is_some();
}

/// Resets options that the job's engine does not use.
fn reconcile_engine(options: &mut EngineSpec) {
    let commands = options.kind == EngineKind::IoUringCmd;
    let ring = options.kind == EngineKind::IoUring || commands;
    // Neither an export nor a modelled volume has a page cache of this host in front of it, and commands bypass it. Other
    // engines on a modelled volume have one, as on a device.
    options.direct |=
        matches!(options.kind, EngineKind::Model | EngineKind::Sg) || options.kind.is_remote() || commands;
    options.direct &= !options.kind.is_of_network();
    options.direct &= !options.kind.traits().metadata;
    options.uri = options.uri.take().filter(|_| options.kind == EngineKind::Nbd);
    options.hipri &= ring || matches!(options.kind, EngineKind::Pvsync2 | EngineKind::Sg);
    let libaio = options.kind == EngineKind::Libaio;
    let per_call = ring && !commands || options.kind == EngineKind::Pvsync2;
    options.vectored &= ring || libaio;
    options.nowait &= per_call || libaio;
    options.uncached &= per_call;
    options.atomic &= per_call || libaio;
    options.direct |= options.atomic;
    if !commands {
        options.nvme = NvmeOptions::default();
    }
    let has_fua = commands || options.kind == EngineKind::Sg;
    options.read_fua &= has_fua;
    options.write_fua &= has_fua;
    options.thp &= options.kind == EngineKind::Mmap;
    if !options.kind.is_of_network() {
        options.network = NetworkOptions::default();
    }
    if !options.kind.is_of_objects() {
        options.objects = ObjectStoreOptions::default();
    }
    options.force_async = if ring { options.force_async } else { 0 };
    options.fixedbufs &= ring;
    options.registerfiles &= ring;
    options.sqthread_poll &= ring;
    options.sqthread_poll_cpu = options.sqthread_poll_cpu.filter(|_| ring);
}

/// Returns why a pattern does not fit `sprandom`, which chooses all offsets itself.
fn check_preconditioning(pattern: &Pattern, has_trace: bool, context: &StrictContext<'_>) -> Option<Problem> {
    let size = match pattern.block_sizes.write {
        BlockSizes::Fixed(size) => Some(size),
        _ => None,
    };
    let is_skewed = pattern.distribution.write != Distribution::Uniform;
    let aligned = pattern.blockalign.as_ref().is_none_or(|PerKind { write, .. }| Some(*write) == size);
    let is_other = pattern.zones.is_some() || pattern.zoned.is_some() || pattern.modifier > 1;
    let is_partly_sequential = pattern.percentage_random.write != 100;
    let (option, message, help) = match () {
        () if has_trace => ("read_iolog", "a trace has its own offsets", "leave `sprandom` or the trace out"),
        () if pattern.direction != Direction::Write || !pattern.random => {
            ("rw", "`sprandom` needs random writes only", "write `rw=randwrite`")
        }
        () if !size.is_some_and(u32::is_power_of_two) => {
            ("bs", "`sprandom` needs one block size that is a power of two", "write, for example, `bs=4k`")
        }
        () if !aligned => ("blockalign", "`sprandom` aligns writes to the block size", "leave `blockalign` out"),
        () if is_skewed => {
            ("random_distribution", "`sprandom` chooses offsets itself", "leave `random_distribution` out")
        }
        () if is_partly_sequential => {
            ("percentage_random", "`sprandom` chooses offsets itself", "leave `percentage_random` out")
        }
        () if is_other => {
            ("sprandom", "`sprandom` covers the whole region at random", "leave zones and `rw=...:N` out")
        }
        () => return None,
    };
    Some(context.error(ProblemCode::ConflictingOptions, option, message).help(help))
}
