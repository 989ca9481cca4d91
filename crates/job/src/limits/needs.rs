//! Compares the resources that the workers of a plan need with those of the host.

use units::{Bytes, Nanos, Problem, ProblemCode, grouped};

use super::{DELAY_DAYS_MAX, FILES_MAX, IN_FLIGHT_MAX, WORKERS_MAX};
use crate::model::{EngineKind, Job, Plan};

/// Alignment of buffers in bytes, at least.
const BUFFER_ALIGN_BYTES: u64 = 4096;

/// Memory of a modelled worker apart from its buffers, histograms and counts over time.
const MODELLED_WORKER_BYTES: u64 = 32 << 10;
/// The same of a worker with a thread: also the used part of its stack, its arena and its file.
const WORKER_BYTES: u64 = 128 << 10;
/// Memory of a histogram of latencies.
const HISTOGRAM_BYTES: u64 = 15 << 10;
/// Copies of each histogram in results: those that were published, and those of the finished worker.
const RESULT_COPIES: u64 = 2;
/// Copies of each histogram of a worker with a thread: also that of the meter, which a modelled worker hands over.
const HISTOGRAM_COPIES: u64 = 3;
/// Memory of an interval of the counts over time of a worker, in all copies.
const INTERVAL_BYTES: u64 = 192;
/// Shortest interval, number of intervals that are shorter than a second, and maximum number of intervals.
const INTERVALS: (Nanos, u64, u64) = (Nanos::from_micros(31_250), 128, 4096);
/// Fraction of the memory that may be used for other things than buffers: they serve the measurement and must not
/// disturb it.
const BESIDE_BUFFERS: u64 = 4;
/// Memory of a helper thread: the used part of its stack.
const HELPER_BYTES: u64 = 16 << 10;
/// Address space of the stack of a helper thread.
const HELPER_STACK_BYTES: u64 = 256 << 10;
/// Memory of the log entries of a worker that logs each operation: chunks, and the text of one.
const LOG_BYTES: u64 = 2 << 20;
/// Memory of a planned file: its path, region and descriptor.
const FILE_BYTES: u64 = 512;
/// Memory of an operation in flight apart from its buffer.
const OPERATION_BYTES: u64 = 256;
/// Mappings of a worker's thread: stack, guard page, signal stack and its guard page, and one spare.
const THREAD_MAPPINGS: u64 = 5;
/// Mappings of a worker's buffers.
const BUFFER_MAPPINGS: u64 = 1;
/// Mappings of an `io_uring` ring: both queues and the entries.
const RING_MAPPINGS: u64 = 3;
/// Descriptors of a ring, and of the event or socket that it waits for.
const RING_DESCRIPTORS: u64 = 2;
const PIPE_DESCRIPTORS: u64 = 2;
/// Descriptors of the process apart from its workers.
const OWN_DESCRIPTORS: u64 = 12;
/// Mappings of the process apart from its workers, with the arenas of the allocator.
const OWN_MAPPINGS: u64 = 1024;
/// Maximum number of jobs that a message lists with their needs.
const PARTS_NAMED: usize = 3;

/// A resource limit of the host, with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostLimit {
    /// The maximum, in the unit of the resource.
    pub most: u64,
    /// The setting that imposes it, such as `kernel.threads-max` or `MemAvailable`.
    pub source: String,
}

/// Resources that the host has for workers; `None` is unlimited, as threads are in virtual time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capacity {
    /// Threads that can still be started.
    pub threads: Option<HostLimit>,
    /// Files that the process may have open.
    pub descriptors: Option<HostLimit>,
    /// Maximum number of files that the write gate holds open in addition to those of the workers.
    pub held_files: u64,
    /// Memory mappings that the process may have.
    pub mappings: Option<HostLimit>,
    /// Memory in bytes that can be used without taking it from other processes.
    pub memory: Option<HostLimit>,
    /// Bytes of address space that the process may still reserve.
    pub address_space: Option<HostLimit>,
    /// Maximum number of operations in one `io_uring` ring.
    pub ring_entries: Option<HostLimit>,
    /// Bytes of address space that the stack of a worker reserves.
    pub stack_bytes: u64,
    /// Whether workers have buffers; modelled operations have none.
    pub buffers: bool,
}

/// Resources of one job, for all its workers.
#[derive(Clone, Copy, Debug, Default)]
struct Needs {
    workers: u64,
    threads: u64,
    files: u64,
    in_flight: u64,
    descriptors: u64,
    mappings: u64,
    /// Buffers, and memory that the job locks.
    buffer_bytes: u64,
    /// All other memory.
    other_bytes: u64,
    /// Part of it that is kept until the end of the run.
    result_bytes: u64,
    stack_bytes: u64,
}

impl Needs {
    fn of(job: &Job, capacity: &Capacity) -> Self {
        let workers = u64::from(job.grouping.numjobs);
        let depth = depth(job);
        let helpers = if capacity.buffers { helpers(job) } else { 0 };
        let nrfiles = files(job);
        let engine = job.engine.kind;
        let has_files = !engine.has_no_storage() && !engine.is_remote() && engine != EngineKind::Model;
        let on_files = has_files && engine.name_call().is_none();
        let open = if on_files { u64::from(job.files.openfiles.unwrap_or(u32::MAX)).min(nrfiles) } else { 0 };
        let logs = &job.stats;
        let log_files =
            [(&logs.write_lat_log, 3), (&logs.write_bw_log, 1), (&logs.write_iops_log, 1), (&logs.write_hist_log, 1)];
        let log_files: u64 = log_files.iter().filter(|(log, _)| log.is_some()).map(|(_, files)| files).sum();
        let logs_operations = log_files > 0 && logs.log_avg == Nanos::ZERO;
        let log_bytes = if logs_operations { LOG_BYTES } else { 0 };
        let has_ring = matches!(
            job.engine.kind,
            EngineKind::IoUring | EngineKind::IoUringCmd | EngineKind::Posixaio | EngineKind::Nbd
        );
        let (ring_mappings, ring_descriptors) = if has_ring { (RING_MAPPINGS, RING_DESCRIPTORS) } else { (0, 0) };
        let connections = u64::from(job.engine.kind.is_of_objects());
        let pipe_descriptors = connections + if job.engine.kind == EngineKind::Splice { PIPE_DESCRIPTORS } else { 0 };
        let mapped = if job.engine.kind == EngineKind::Mmap { nrfiles } else { 0 };
        let buffers = if capacity.buffers { depth.saturating_mul(buffer_bytes(job)) } else { 0 };
        let locked = if capacity.buffers { job.host.lockmem.get() } else { 0 };
        let (worker_bytes, copies) =
            if capacity.buffers { (WORKER_BYTES, HISTOGRAM_COPIES) } else { (MODELLED_WORKER_BYTES, RESULT_COPIES) };
        let each = |n: u64| workers.saturating_mul(n);
        // With helpers, each of them has a target, and the worker has the files only.
        let (threads, targets) = (helpers + 1, helpers.max(1));
        Self {
            workers,
            threads: each(threads),
            files: each(nrfiles),
            in_flight: each(depth),
            descriptors: each(
                open.saturating_mul(threads)
                    .saturating_add(log_files)
                    .saturating_add(targets.saturating_mul(ring_descriptors + pipe_descriptors)),
            ),
            mappings: each(
                threads
                    .saturating_mul(THREAD_MAPPINGS)
                    .saturating_add(targets.saturating_mul(BUFFER_MAPPINGS + ring_mappings))
                    .saturating_add(mapped),
            ),
            buffer_bytes: each(buffers.saturating_add(locked)),
            stack_bytes: each(helpers.saturating_mul(HELPER_STACK_BYTES).saturating_add(capacity.stack_bytes)),
            result_bytes: each(histograms(job) * RESULT_COPIES * HISTOGRAM_BYTES),
            other_bytes: each(
                (worker_bytes + histograms(job) * copies * HISTOGRAM_BYTES + intervals(job) * INTERVAL_BYTES)
                    .saturating_add(helpers.saturating_mul(HELPER_BYTES))
                    .saturating_add(log_bytes)
                    .saturating_add(nrfiles.saturating_mul(FILE_BYTES))
                    .saturating_add(depth.saturating_mul(OPERATION_BYTES)),
            ),
        }
    }

    fn memory_bytes(&self) -> u64 {
        self.buffer_bytes.saturating_add(self.other_bytes)
    }

    fn address_bytes(&self) -> u64 {
        self.memory_bytes().saturating_add(self.stack_bytes)
    }
}

/// Returns the number of histograms of each worker of `job`.
fn histograms(job: &Job) -> u64 {
    let direction = job.pattern.direction;
    let directions = [direction.reads(), direction.writes(), direction.trims()].map(u64::from).iter().sum::<u64>();
    let stats = &job.stats;
    // With a schedule, responses are counted apart, and services do not share a histogram with latencies.
    let of_direction = [true, stats.lat_percentiles, stats.slat_percentiles, job.is_scheduled(), job.is_scheduled()];
    directions * of_direction.map(u64::from).iter().sum::<u64>()
}

/// Returns the maximum number of intervals in which operations of a worker of `job` are counted. Without a runtime it is
/// unknown; such jobs are seldom long.
fn intervals(job: &Job) -> u64 {
    let (shortest, few, most) = INTERVALS;
    let runtime_ns = job.extent.runtime.get();
    match runtime_ns.div_ceil(shortest.get()) {
        0 => few,
        intervals => intervals.min(few).max(runtime_ns / 1_000_000_000).min(most),
    }
}

/// Returns the queue depth of each worker of `job`.
fn depth(job: &Job) -> u64 {
    job.depth().into()
}

/// Returns the number of threads that help each worker of `job`.
fn helpers(job: &Job) -> u64 {
    if job.engine.offloads { depth(job) } else { 0 }
}

/// Returns the number of files of each worker.
fn files(job: &Job) -> u64 {
    (job.files.filenames.len() as u64).max(u64::from(job.files.nrfiles)).max(1)
}

/// Counts the files of all jobs that may write. Clones share named files; each clone generates its own unnamed ones.
fn held_files(plan: &Plan) -> u64 {
    let of = |job: &Job| {
        let engine = job.engine.kind;
        let (direction, on_files) =
            (job.pattern.direction, !engine.has_no_storage() && !engine.is_of_objects() && engine != EngineKind::Model);
        let writes = on_files && (direction.writes() || direction.trims()) && !job.verify.only;
        match job.files.filenames.len() as u64 {
            _ if !writes => 0,
            0 => u64::from(job.grouping.numjobs).saturating_mul(files(job)),
            named => named,
        }
    };
    plan.jobs.iter().map(of).fold(0, u64::saturating_add)
}

/// Returns the size of one buffer in bytes.
fn buffer_bytes(job: &Job) -> u64 {
    let (direction, sizes) = (job.pattern.direction, &job.pattern.block_sizes);
    let used = [(direction.reads(), &sizes.read), (direction.writes(), &sizes.write)];
    let largest = used.iter().filter(|(used, _)| *used).map(|(_, sizes)| u64::from(sizes.max())).max().unwrap_or(0);
    let align = u64::from(job.engine.iomem_align).checked_next_power_of_two().unwrap_or(u64::MAX >> 1);
    largest.checked_next_multiple_of(align.max(BUFFER_ALIGN_BYTES)).unwrap_or(u64::MAX).max(BUFFER_ALIGN_BYTES)
}

/// A limit on the sum of what all workers of a stage, or of the plan, need.
struct NeedRule {
    code: ProblemCode,
    limit: fn(&Capacity) -> Option<HostLimit>,
    /// The need of one job.
    needed: fn(&Needs) -> u64,
    /// The amount that the process uses apart from its workers.
    in_use: fn(&Plan, &Capacity) -> u64,
    format: fn(u64) -> String,
    resource: &'static str,
    /// The option to change: the one with the largest factor of the need.
    option: fn(&Job, &Capacity) -> &'static str,
    help: &'static str,
    /// Whether the sum is over the whole plan, which is laid out before anything runs, rather than over its largest
    /// stage.
    whole_plan: bool,
}

/// Template of rules that count something in each stage.
const STAGE_RULE: NeedRule = NeedRule {
    code: ProblemCode::TooManyWorkers,
    limit: |_| None,
    needed: |needs| needs.workers,
    in_use: |_, _| 0,
    format: grouped,
    resource: "workers",
    option: |_, _| "numjobs",
    help: "reduce `numjobs`, or raise that limit",
    whole_plan: false,
};

/// Template of rules on memory.
const MEMORY_RULE: NeedRule = NeedRule {
    code: ProblemCode::TooMuchMemory,
    limit: |capacity| capacity.memory.clone(),
    needed: Needs::memory_bytes,
    format: bytes,
    option: memory_option,
    ..STAGE_RULE
};

static RULES: [NeedRule; 10] = [
    NeedRule { limit: |_| constant(WORKERS_MAX), help: "reduce `numjobs`", whole_plan: true, ..STAGE_RULE },
    NeedRule {
        limit: |capacity| capacity.threads.clone(),
        needed: |needs| needs.threads,
        resource: "threads",
        option: |job, _| larger_factor(job, "iodepth", helpers(job)),
        help: "reduce `numjobs`, reduce `iodepth` with `io_submit_mode=offload`, or raise that limit",
        ..STAGE_RULE
    },
    NeedRule {
        code: ProblemCode::TooManyFiles,
        limit: |_| constant(FILES_MAX),
        needed: |needs| needs.files,
        resource: "files",
        option: files_option,
        help: "reduce `nrfiles` or `numjobs`",
        whole_plan: true,
        ..STAGE_RULE
    },
    NeedRule {
        code: ProblemCode::TooManyFiles,
        limit: |capacity| capacity.descriptors.clone(),
        needed: |needs| needs.descriptors,
        in_use: |plan, capacity| OWN_DESCRIPTORS + held_files(plan).min(capacity.held_files),
        resource: "open files",
        option: files_option,
        help: "reduce `nrfiles`, `openfiles` or `numjobs`, or raise that limit",
        ..STAGE_RULE
    },
    NeedRule {
        code: ProblemCode::TooManyInFlight,
        limit: |_| constant(IN_FLIGHT_MAX),
        needed: |needs| needs.in_flight,
        resource: "operations in flight",
        option: |job, _| larger_factor(job, "iodepth", depth(job)),
        help: "reduce `iodepth` or `numjobs`",
        ..STAGE_RULE
    },
    NeedRule {
        limit: |capacity| capacity.mappings.clone(),
        needed: |needs| needs.mappings,
        in_use: |_, _| OWN_MAPPINGS,
        resource: "memory mappings",
        ..STAGE_RULE
    },
    NeedRule { resource: "of memory", help: "reduce `numjobs`, `iodepth`, `bs` or `nrfiles`", ..MEMORY_RULE },
    NeedRule {
        limit: beside_buffers,
        needed: |needs| needs.other_bytes,
        resource: "of memory in addition to buffers",
        option: |job, _| largest_factor(counts(job)),
        help: "reduce `numjobs`, `nrfiles` or `iodepth`",
        ..MEMORY_RULE
    },
    NeedRule {
        limit: beside_buffers,
        needed: |needs| needs.result_bytes,
        resource: "of memory for results",
        option: |_, _| "numjobs",
        help: "reduce `numjobs`",
        whole_plan: true,
        ..MEMORY_RULE
    },
    NeedRule {
        limit: |capacity| capacity.address_space.clone(),
        needed: Needs::address_bytes,
        resource: "of address space",
        help: "reduce `numjobs`, `iodepth` or `bs`, or raise that limit",
        ..MEMORY_RULE
    },
];

/// The rule on block maps, whose size is known only after the files have been inspected.
static BLOCK_MAPS: NeedRule = NeedRule {
    resource: "of memory for block maps",
    option: |_, _| "size",
    help: "write `norandommap`, one block size, a larger `bs` or a smaller `size`",
    ..MEMORY_RULE
};

/// Returns how much memory may be used for other things than buffers.
fn beside_buffers(capacity: &Capacity) -> Option<HostLimit> {
    let limits = [&capacity.memory, &capacity.address_space].into_iter().flatten();
    let HostLimit { most, source } = limits.min_by_key(|limit| limit.most)?;
    Some(HostLimit { most: most / BESIDE_BUFFERS, source: format!("a quarter of {source}") })
}

fn constant(most: u64) -> Option<HostLimit> {
    Some(HostLimit { most, source: "Fathom's limit".to_owned() })
}

fn bytes(n: u64) -> String {
    if n == u64::MAX { "more than 16 EiB".to_owned() } else { Bytes::new(n).to_string() }
}

/// Returns the limits that a plan exceeds, each with the option to change in the job that needs most.
///
/// Only the largest stage counts: jobs after a `stonewall` start when those before it have ended.
#[must_use]
pub fn check(plan: &Plan, capacity: &Capacity) -> Vec<Problem> {
    let needs: Vec<Needs> = plan.jobs.iter().map(|job| Needs::of(job, capacity)).collect();
    let found = check_each(plan, capacity);
    if !found.is_empty() {
        return found;
    }
    let exceeds = |rule: &NeedRule| {
        let stage = if rule.whole_plan { 0..needs.len() } else { largest_stage(plan, &needs, rule.needed) };
        let parts: Vec<(usize, u64)> = stage.map(|job| (job, (rule.needed)(&needs[job]))).collect();
        check_sum(plan, &parts, capacity, rule)
    };
    RULES.iter().find_map(exceeds).into_iter().collect()
}

fn files_option(job: &Job, _: &Capacity) -> &'static str {
    larger_factor(job, name_of_files(job), files(job))
}

fn name_of_files(job: &Job) -> &'static str {
    if job.files.filenames.is_empty() { "nrfiles" } else { "filename" }
}

/// Returns `numjobs` or `other`, whichever multiplies the need more.
fn larger_factor(job: &Job, other: &'static str, count: u64) -> &'static str {
    if u64::from(job.grouping.numjobs) > count { "numjobs" } else { other }
}

/// Returns the option that is the largest factor of a job's memory.
fn memory_option(job: &Job, capacity: &Capacity) -> &'static str {
    let block = if capacity.buffers { buffer_bytes(job) / BUFFER_ALIGN_BYTES } else { 0 };
    let of_block = if u64::from(job.engine.iomem_align) > (1 << 20) { "iomem_align" } else { "bs" };
    largest_factor(counts(job).into_iter().chain([(block, of_block)]))
}

/// Returns what a job has many of, with the option of each.
fn counts(job: &Job) -> [(u64, &'static str); 3] {
    let numjobs = job.grouping.numjobs.into();
    [(numjobs, "numjobs"), (depth(job), "iodepth"), (files(job), name_of_files(job))]
}

/// Returns the option of the largest factor, of equal ones the first.
fn largest_factor(
    factors: impl IntoIterator<IntoIter: DoubleEndedIterator<Item = (u64, &'static str)>>,
) -> &'static str {
    factors.into_iter().rev().max_by_key(|(factor, _)| *factor).map_or("numjobs", |(_, option)| option)
}

/// Returns the limits that single jobs exceed.
fn check_each(plan: &Plan, capacity: &Capacity) -> Vec<Problem> {
    let mut found = Vec::new();
    let mut exceeds = |index: usize, option: &'static str, code: ProblemCode, message: String, help: &str| {
        let place = plan.jobs[index].origin.of(option).cloned();
        found.push(Problem::error(code, message).at(place).help(help));
    };
    for (index, job) in plan.jobs.iter().enumerate() {
        let ring = matches!(job.engine.kind, EngineKind::IoUring | EngineKind::IoUringCmd | EngineKind::Posixaio);
        if let Some(limit) = capacity.ring_entries.as_ref().filter(|limit| ring && depth(job) > limit.most) {
            let message = format!(
                "job `{}` keeps {} operations in flight, but a ring holds {}: {}",
                job.name,
                grouped(depth(job)),
                grouped(limit.most),
                limit.source
            );
            let help = "reduce `iodepth`, and use `numjobs` for more workers";
            exceeds(index, "iodepth", ProblemCode::TooManyInFlight, message, help);
        }
        let most = Nanos::from_secs(DELAY_DAYS_MAX * 86_400);
        let (extent, pace) = (&job.extent, &job.pace);
        for (option, time) in [
            ("startdelay", extent.startdelay.1),
            ("ramp_time", extent.ramp_time),
            ("thinktime", pace.thinktime),
            ("thinktime_spin", pace.thinktime_spin),
            ("thinktime_iotime", pace.thinktime_iotime),
        ] {
            if time > most {
                let message = format!("job `{}`: {option} is {time}, longer than {DELAY_DAYS_MAX} days", job.name);
                exceeds(index, option, ProblemCode::OutOfRange, message, &format!("write for example `{option}=10s`"));
            }
        }
    }
    found
}

/// Returns the jobs of the stage with the largest need.
fn largest_stage(plan: &Plan, needs: &[Needs], needed: fn(&Needs) -> u64) -> std::ops::Range<usize> {
    let mut starts: Vec<usize> = vec![0];
    starts.extend((1..plan.jobs.len()).filter(|&job| plan.jobs[job].stages_after_last() > 0));
    let ends = starts[1..].iter().copied().chain([plan.jobs.len()]);
    let stages = starts.iter().copied().zip(ends).map(|(start, end)| start..end);
    let sum = |stage: &std::ops::Range<usize>| needs[stage.clone()].iter().map(needed).fold(0, u64::saturating_add);
    stages.max_by_key(sum).unwrap_or(0..0)
}

fn check_sum(plan: &Plan, parts: &[(usize, u64)], capacity: &Capacity, rule: &NeedRule) -> Option<Problem> {
    let limit = (rule.limit)(capacity)?;
    let sum = parts.iter().map(|(_, needed)| *needed).fold((rule.in_use)(plan, capacity), u64::saturating_add);
    if sum <= limit.most {
        return None;
    }
    let mut largest = parts.to_vec();
    largest.sort_by_key(|(job, needed)| (std::cmp::Reverse(*needed), *job));
    let job = &plan.jobs[largest.first()?.0];
    let NeedRule { format: show, resource, .. } = *rule;
    let message =
        format!("the jobs need {} {resource}, but the limit is {} ({})", show(sum), show(limit.most), limit.source);
    let option = (rule.option)(job, capacity);
    let mut diagnostic = Problem::error(rule.code, message).at(job.origin.of(option).cloned()).help(rule.help);
    for (job, needed) in largest.iter().take(PARTS_NAMED) {
        let job = &plan.jobs[*job];
        diagnostic =
            diagnostic.note(format!("job `{}` needs {} {resource}: {}", job.name, show(*needed), factors(job)));
    }
    if largest.len() > PARTS_NAMED {
        diagnostic = diagnostic.note(format!("{} more jobs need the rest", largest.len() - PARTS_NAMED));
    }
    Some(diagnostic)
}

/// Formats the factors of a job's needs.
fn factors(job: &Job) -> String {
    let block = Bytes::new(buffer_bytes(job));
    format!("numjobs={}, iodepth={}, files={}, buffers of {block}", job.grouping.numjobs, depth(job), files(job))
}

/// Checks memory that is known only after the files have been inspected, as that of block maps is. `parts` are pairs of
/// job index and bytes.
#[must_use]
pub fn exceeds_memory(plan: &Plan, parts: &[(usize, u64)], capacity: &Capacity) -> Option<Problem> {
    check_sum(plan, parts, capacity, &BLOCK_MAPS)
}

#[cfg(test)]
mod tests;
