//! Resources that the workers of a plan need, against those of the host.

use units::{Bytes, Nanos, grouped};

use super::{DELAY_DAYS_MAX, FILES_MAX, IN_FLIGHT_MAX, WORKERS_MAX};
use crate::diagnostic::Diagnostic;
use crate::model::{Engine, Job, Plan};

/// Buffers begin on multiples of this.
const BUFFER_ALIGN_BYTES: u64 = 4096;

/// Memory of a worker beside its buffers: its stack as far as it is used, its counters and its histograms.
const WORKER_BYTES: u64 = 64 << 10;
/// Memory of a planned file: its path, region and descriptor.
const FILE_BYTES: u64 = 512;
/// Memory of an operation in flight beside its buffer.
const OPERATION_BYTES: u64 = 256;
/// Mappings of a worker's thread: stack, guard page, signal stack and its guard page, one to spare.
const THREAD_MAPPINGS: u64 = 5;
/// Mappings of a worker's buffers.
const BUFFER_MAPPINGS: u64 = 1;
/// Mappings of a ring of `io_uring`: both queues and the entries.
const RING_MAPPINGS: u64 = 3;
/// Descriptors of a ring and of the event or socket that it waits for.
const RING_DESCRIPTORS: u64 = 2;
/// Descriptors that the process has anyway.
const OWN_DESCRIPTORS: u64 = 12;
/// Mappings that the process has anyway, with the arenas of the allocator.
const OWN_MAPPINGS: u64 = 1024;
/// The most parts of a sum that a message names.
const PARTS_NAMED: usize = 3;

/// A resource limit of the host, with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostLimit {
    /// How much there is.
    pub most: u64,
    /// What sets it, such as `kernel.threads-max` or `MemAvailable`.
    pub source: String,
}

/// Resources of the host for workers; `None` where unlimited, as threads are in virtual time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capacity {
    /// Threads that can still be started.
    pub threads: Option<HostLimit>,
    /// Files that the process may have open.
    pub descriptors: Option<HostLimit>,
    /// Files that are held open beside the workers at most, so that nothing else happens to what is written.
    pub held_files: u64,
    /// Memory mappings that the process may have.
    pub mappings: Option<HostLimit>,
    /// Memory in bytes that can be used without taking it from others.
    pub memory: Option<HostLimit>,
    /// Bytes of address space that the process may still reserve.
    pub address_space: Option<HostLimit>,
    /// Operations that one ring of `io_uring` takes.
    pub ring_entries: Option<HostLimit>,
    /// Bytes of address space that the stack of a worker reserves.
    pub stack_bytes: u64,
    /// Whether workers have buffers, which modelled operations have not.
    pub buffers: bool,
}

/// Resources of one job, for all its workers.
#[derive(Clone, Copy, Debug, Default)]
struct Needs {
    workers: u64,
    files: u64,
    in_flight: u64,
    descriptors: u64,
    mappings: u64,
    buffer_bytes: u64,
    other_bytes: u64,
    stack_bytes: u64,
}

impl Needs {
    fn of(job: &Job, capacity: &Capacity) -> Self {
        let workers = u64::from(job.grouping.numjobs);
        let depth = depth(job);
        let nrfiles = files(job);
        let on_files = !matches!(job.engine.engine, Engine::Null | Engine::Nbd | Engine::Model);
        let open = if on_files { u64::from(job.files.openfiles.unwrap_or(u32::MAX)).min(nrfiles) } else { 0 };
        let logs = &job.stats;
        let log_files = [(&logs.write_lat_log, 3), (&logs.write_bw_log, 1), (&logs.write_iops_log, 1)];
        let log_files: u64 = log_files.iter().filter(|(log, _)| log.is_some()).map(|(_, files)| files).sum();
        let has_ring = matches!(job.engine.engine, Engine::IoUring | Engine::Posixaio | Engine::Nbd);
        let (ring_mappings, ring_descriptors) = if has_ring { (RING_MAPPINGS, RING_DESCRIPTORS) } else { (0, 0) };
        let mapped = if job.engine.engine == Engine::Mmap { nrfiles } else { 0 };
        let buffers = if capacity.buffers { depth.saturating_mul(buffer_bytes(job)) } else { 0 };
        let each = |n: u64| workers.saturating_mul(n);
        Self {
            workers,
            files: each(nrfiles),
            in_flight: each(depth),
            descriptors: each(open.saturating_add(log_files).saturating_add(ring_descriptors)),
            mappings: each(THREAD_MAPPINGS + BUFFER_MAPPINGS + ring_mappings + mapped),
            buffer_bytes: each(buffers),
            stack_bytes: each(capacity.stack_bytes),
            other_bytes: each(
                WORKER_BYTES
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

/// Operations that a worker of this job has in flight.
fn depth(job: &Job) -> u64 {
    if job.engine.engine.is_async() { u64::from(job.pace.iodepth.max(1)) } else { 1 }
}

/// Files of each worker.
fn files(job: &Job) -> u64 {
    (job.files.filenames.len() as u64).max(u64::from(job.files.nrfiles)).max(1)
}

/// Files of all jobs that may write. Clones share files that are named, and have other files of their own.
fn held_files(plan: &Plan) -> u64 {
    let of = |job: &Job| {
        let (direction, on_files) = (job.pattern.direction, !matches!(job.engine.engine, Engine::Null | Engine::Model));
        let writes = on_files && (direction.writes() || direction.trims()) && !job.verify.only;
        match job.files.filenames.len() as u64 {
            _ if !writes => 0,
            0 => u64::from(job.grouping.numjobs).saturating_mul(files(job)),
            named => named,
        }
    };
    plan.jobs.iter().map(of).fold(0, u64::saturating_add)
}

/// Bytes of one buffer.
fn buffer_bytes(job: &Job) -> u64 {
    let (direction, sizes) = (job.pattern.direction, &job.pattern.block_sizes);
    let used = [(direction.reads(), &sizes.read), (direction.writes(), &sizes.write)];
    let largest = used.iter().filter(|(used, _)| *used).map(|(_, sizes)| u64::from(sizes.max())).max().unwrap_or(0);
    let align = u64::from(job.engine.iomem_align).checked_next_power_of_two().unwrap_or(u64::MAX >> 1);
    largest.checked_next_multiple_of(align.max(BUFFER_ALIGN_BYTES)).unwrap_or(u64::MAX).max(BUFFER_ALIGN_BYTES)
}

/// A limit that a plan exceeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excess {
    /// The job that asks for most of it, by its place in the plan.
    pub job: usize,
    /// The option that would have to change.
    pub option: &'static str,
    /// What is exceeded, where, by which jobs, and what to write instead.
    pub diagnostic: Diagnostic,
}

/// A quantity that is limited for all workers of a stage, or of the plan, together.
struct NeedRule {
    code: &'static str,
    limit: fn(&Capacity) -> Option<HostLimit>,
    /// How much of it a job needs.
    needed: fn(&Needs) -> u64,
    /// How much of it the process has in use anyway.
    own: fn(&Plan, &Capacity) -> u64,
    show: fn(u64) -> String,
    what: &'static str,
    /// The option to change, by the part of the need that it sets.
    option: fn(&Job, &Capacity) -> &'static str,
    remedy: &'static str,
    /// Whether it is for the whole plan, not for its largest stage: what is planned before anything runs.
    whole: bool,
}

static RULES: [NeedRule; 8] = [
    NeedRule {
        code: "too-many-workers",
        limit: |_| constant(WORKERS_MAX),
        needed: |needs| needs.workers,
        own: |_, _| 0,
        show: count,
        what: "workers",
        option: |_, _| "numjobs",
        remedy: "write a smaller `numjobs`",
        whole: true,
    },
    NeedRule {
        code: "too-many-workers",
        limit: |capacity| capacity.threads.clone(),
        needed: |needs| needs.workers,
        own: |_, _| 0,
        show: count,
        what: "threads",
        option: |_, _| "numjobs",
        remedy: "write a smaller `numjobs`, or raise that limit",
        whole: false,
    },
    NeedRule {
        code: "too-many-files",
        limit: |_| constant(FILES_MAX),
        needed: |needs| needs.files,
        own: |_, _| 0,
        show: count,
        what: "files",
        option: files_option,
        remedy: "write a smaller `nrfiles` or `numjobs`",
        whole: true,
    },
    NeedRule {
        code: "too-many-files",
        limit: |capacity| capacity.descriptors.clone(),
        needed: |needs| needs.descriptors,
        own: |plan, capacity| OWN_DESCRIPTORS + held_files(plan).min(capacity.held_files),
        show: count,
        what: "open files",
        option: files_option,
        remedy: "write a smaller `nrfiles`, `openfiles` or `numjobs`, or raise that limit",
        whole: false,
    },
    NeedRule {
        code: "too-many-in-flight",
        limit: |_| constant(IN_FLIGHT_MAX),
        needed: |needs| needs.in_flight,
        own: |_, _| 0,
        show: count,
        what: "operations in flight",
        option: |job, _| many(job, "iodepth", depth(job)),
        remedy: "write a smaller `iodepth` or `numjobs`",
        whole: false,
    },
    NeedRule {
        code: "too-many-workers",
        limit: |capacity| capacity.mappings.clone(),
        needed: |needs| needs.mappings,
        own: |_, _| OWN_MAPPINGS,
        show: count,
        what: "memory mappings",
        option: |_, _| "numjobs",
        remedy: "write a smaller `numjobs`, or raise that limit",
        whole: false,
    },
    NeedRule {
        code: "too-much-memory",
        limit: |capacity| capacity.memory.clone(),
        needed: Needs::memory_bytes,
        own: |_, _| 0,
        show: bytes,
        what: "of memory",
        option: memory_option,
        remedy: "write a smaller `numjobs`, `iodepth`, `bs` or `nrfiles`",
        whole: false,
    },
    NeedRule {
        code: "too-much-memory",
        limit: |capacity| capacity.address_space.clone(),
        needed: Needs::address_bytes,
        own: |_, _| 0,
        show: bytes,
        what: "of address space",
        option: memory_option,
        remedy: "write a smaller `numjobs`, `iodepth` or `bs`, or raise that limit",
        whole: false,
    },
];

/// Maps of blocks are known only once the files were looked at.
static MAPS: NeedRule = NeedRule {
    code: "too-much-memory",
    limit: |capacity| capacity.memory.clone(),
    needed: Needs::memory_bytes,
    own: |_, _| 0,
    show: bytes,
    what: "of memory for maps of their blocks",
    option: |_, _| "size",
    remedy: "write `norandommap`, one block size, a larger `bs`, or a smaller `size`",
    whole: false,
};

fn constant(most: u64) -> Option<HostLimit> {
    Some(HostLimit { most, source: "the maximum of Fathom".to_owned() })
}

fn count(n: u64) -> String {
    grouped(n)
}

fn bytes(n: u64) -> String {
    if n == u64::MAX { "more than 16 EiB".to_owned() } else { Bytes::new(n).to_string() }
}

/// Returns the limits that a plan exceeds, each at the option of the job that asks for most of it.
///
/// Jobs of one stage run at the same time; those behind a `stonewall` come later, so only the largest stage counts.
#[must_use]
pub fn check(plan: &Plan, capacity: &Capacity) -> Vec<Excess> {
    let needs: Vec<Needs> = plan.jobs.iter().map(|job| Needs::of(job, capacity)).collect();
    let mut found = alone(plan, capacity);
    for rule in &RULES {
        if found.is_empty() {
            found.extend(rule.broken(plan, &needs, capacity));
        }
    }
    found
}

fn files_option(job: &Job, _: &Capacity) -> &'static str {
    many(job, name_of_files(job), files(job))
}

fn name_of_files(job: &Job) -> &'static str {
    if job.files.filenames.is_empty() { "nrfiles" } else { "filename" }
}

/// Which of `numjobs` and another option multiplies most.
fn many(job: &Job, other: &'static str, count: u64) -> &'static str {
    if u64::from(job.grouping.numjobs) > count { "numjobs" } else { other }
}

/// The option behind the largest factor of a job's memory.
fn memory_option(job: &Job, capacity: &Capacity) -> &'static str {
    let block = if capacity.buffers { buffer_bytes(job) / BUFFER_ALIGN_BYTES } else { 0 };
    let factors = [
        (u64::from(job.grouping.numjobs), "numjobs"),
        (depth(job), "iodepth"),
        (files(job), name_of_files(job)),
        (block, if u64::from(job.engine.iomem_align) > (1 << 20) { "iomem_align" } else { "bs" }),
    ];
    factors.iter().rev().max_by_key(|(factor, _)| *factor).map_or("numjobs", |(_, option)| option)
}

/// Limits that a single job exceeds.
fn alone(plan: &Plan, capacity: &Capacity) -> Vec<Excess> {
    let mut found = Vec::new();
    let mut tell = |index: usize, option: &'static str, code: &'static str, message: String, remedy: &str| {
        let place = plan.jobs[index].origin.of(option).cloned();
        let diagnostic = Diagnostic::error(code, message).at(place).remedy(remedy);
        found.push(Excess { job: index, option, diagnostic });
    };
    for (index, job) in plan.jobs.iter().enumerate() {
        let ring = matches!(job.engine.engine, Engine::IoUring | Engine::Posixaio);
        if let Some(limit) = capacity.ring_entries.as_ref().filter(|limit| ring && depth(job) > limit.most) {
            let message = format!(
                "job `{}` keeps {} operations in flight, but a ring takes {}: {}",
                job.name,
                grouped(depth(job)),
                grouped(limit.most),
                limit.source
            );
            let remedy = "write a smaller `iodepth`, and `numjobs` for more workers";
            tell(index, "iodepth", "too-many-in-flight", message, remedy);
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
                tell(index, option, "too-long", message, &format!("write for example `{option}=10s`"));
            }
        }
    }
    found
}

impl NeedRule {
    /// The problem, where the largest stage needs more than there is.
    fn broken(&self, plan: &Plan, needs: &[Needs], capacity: &Capacity) -> Option<Excess> {
        let stage = if self.whole { 0..needs.len() } else { largest_stage(plan, needs, self.needed) };
        let parts: Vec<(usize, u64)> = stage.map(|job| (job, (self.needed)(&needs[job]))).collect();
        exceeding(plan, &parts, capacity, self)
    }
}

/// The jobs of the stage that needs most.
fn largest_stage(plan: &Plan, needs: &[Needs], needed: fn(&Needs) -> u64) -> std::ops::Range<usize> {
    let mut starts: Vec<usize> = vec![0];
    starts.extend((1..plan.jobs.len()).filter(|&job| plan.jobs[job].grouping.stonewall));
    let ends = starts[1..].iter().copied().chain([plan.jobs.len()]);
    let stages = starts.iter().copied().zip(ends).map(|(start, end)| start..end);
    let sum = |stage: &std::ops::Range<usize>| needs[stage.clone()].iter().map(needed).fold(0, u64::saturating_add);
    stages.max_by_key(sum).unwrap_or(0..0)
}

fn exceeding(plan: &Plan, parts: &[(usize, u64)], capacity: &Capacity, rule: &NeedRule) -> Option<Excess> {
    let limit = (rule.limit)(capacity)?;
    let sum = parts.iter().map(|(_, needed)| *needed).fold((rule.own)(plan, capacity), u64::saturating_add);
    if sum <= limit.most {
        return None;
    }
    let mut largest = parts.to_vec();
    largest.sort_by_key(|(job, needed)| (std::cmp::Reverse(*needed), *job));
    let index = largest.first()?.0;
    let job = &plan.jobs[index];
    let show = rule.show;
    let what = rule.what;
    let source = &limit.source;
    let message = format!("the jobs need {} {what}, but there are {} ({source})", show(sum), show(limit.most));
    let message = if what.starts_with("of ") { message.replace("there are", "there is") } else { message };
    let option = (rule.option)(job, capacity);
    let mut diagnostic = Diagnostic::error(rule.code, message).at(job.origin.of(option).cloned()).remedy(rule.remedy);
    for (job, needed) in largest.iter().take(PARTS_NAMED) {
        let job = &plan.jobs[*job];
        diagnostic = diagnostic.note(format!("job `{}` needs {} {what}: {}", job.name, show(*needed), factors(job)));
    }
    if largest.len() > PARTS_NAMED {
        diagnostic = diagnostic.note(format!("{} more jobs need the rest", largest.len() - PARTS_NAMED));
    }
    Some(Excess { job: index, option, diagnostic })
}

/// Describes the factors of a job's needs.
fn factors(job: &Job) -> String {
    let block = Bytes::new(buffer_bytes(job));
    format!("numjobs={}, iodepth={}, files={}, buffers of {block}", job.grouping.numjobs, depth(job), files(job))
}

/// Why memory that is known only after files were looked at does not suffice, as maps of blocks do not: `parts` are the
/// bytes of each job.
#[must_use]
pub fn exceeds_memory(plan: &Plan, parts: &[(usize, u64)], capacity: &Capacity) -> Option<Excess> {
    exceeding(plan, parts, capacity, &MAPS)
}

#[cfg(test)]
mod tests;
