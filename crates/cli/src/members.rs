//! Who does what: one member for each clone of each job, with its files and its place in the order of things.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use job::limits::{self, Capacity, Excess};
use job::{Diagnostic, Dialect, Engine, Job, Plan};
use workload::{FileFact, FilePlan, Layout, Operations, PlannedFile, Worker, WorkloadError, Writers};

use crate::capacity;
use crate::exports::Exports;
use crate::seeds::Seeds;

/// One worker before it begins.
#[derive(Clone, Debug, Default)]
pub(crate) struct Member {
    /// Which job of the plan.
    pub(crate) job: usize,
    /// Its place among the clones of its job.
    pub(crate) clone: u32,
    /// Its place among all members.
    pub(crate) number: usize,
    /// Its reporting group.
    pub(crate) group: u32,
    /// Members of one stage run together, stage after stage.
    pub(crate) stage: usize,
    /// Its files.
    pub(crate) files: FilePlan,
    /// What tells its files apart in the headers of verified blocks; empty in jobs that verify nothing.
    identities: Vec<u32>,
    /// What the members of its stage write, where they verify it.
    writers: Option<Arc<Writers>>,
}

impl Member {
    /// What the workload knows it by.
    pub(crate) fn worker(&self) -> Worker {
        Worker { index: self.number as u32, clone: self.clone }
    }

    /// What its issuer needs of its files.
    pub(crate) fn layout(&self) -> Layout {
        Layout { identities: self.identities.clone(), writers: self.writers.clone(), ..self.files.layout() }
    }
}

/// A job that cannot run, and why.
#[derive(Clone, Debug)]
pub(crate) struct Unfit {
    /// Which job of the plan.
    pub(crate) job: usize,
    /// What is wrong with it.
    pub(crate) error: WorkloadError,
    /// The same with its place and the jobs that are to blame, of a limit that all jobs together exceed.
    exceeded: Option<Diagnostic>,
}

impl From<Excess> for Unfit {
    fn from(excess: Excess) -> Self {
        let Excess { job, option, diagnostic } = excess;
        let remedy = diagnostic.remedy.as_deref().unwrap_or_default();
        let message = format!("{}; {remedy}", diagnostic.message);
        Self { job, error: WorkloadError { option, message }, exceeded: Some(diagnostic) }
    }
}

impl Unfit {
    /// What is wrong, at the option that would have to change.
    pub(crate) fn diagnostic(&self, plan: &Plan) -> Diagnostic {
        if let Some(exceeded) = &self.exceeded {
            return exceeded.clone();
        }
        let job = &plan.jobs[self.job];
        let place = job.origin.of(self.error.option).cloned();
        Diagnostic::error("unfit", format!("job `{}`: {}", job.name, self.error)).at(place)
    }
}

/// What the files of jobs stand on: the host's, or a modelled volume's.
pub(crate) trait Ground {
    /// What is at a path. One that cannot be looked at counts as absent; opening it will tell why.
    fn fact(&self, job: &Job, path: &str) -> Option<FileFact>;

    /// What there is for all workers together.
    fn capacity(&self) -> Capacity;

    /// What keeps a job from being here at all.
    fn check(&self, job: &Job) -> Result<(), WorkloadError>;

    /// What is wrong with one of them; found before anything is touched.
    fn check_files(&self, job: &Job, files: &FilePlan) -> Result<(), WorkloadError>;
}

/// The files and devices of this host, and exports that it is let in to.
pub(crate) struct HostGround {
    dialect: Dialect,
    exports: Exports,
}

impl HostGround {
    /// The ground of one plan.
    pub(crate) fn new(dialect: Dialect) -> Self {
        Self { dialect, exports: Exports::default() }
    }
}

impl Ground for HostGround {
    fn fact(&self, job: &Job, path: &str) -> Option<FileFact> {
        match job.engine.engine {
            Engine::Null => return None,
            // As a block device it has its size and cannot grow.
            Engine::Nbd => {
                return self.exports.of(path).ok().map(|export| FileFact { size: export.bytes, block_device: true });
            }
            _ => {}
        }
        let seen = engine::files::look(Path::new(path)).ok().flatten()?;
        Some(FileFact { size: seen.bytes, block_device: seen.kind == engine::files::FileKind::Block })
    }

    fn capacity(&self) -> Capacity {
        capacity::of_host()
    }

    /// `directory` is not made where it is missing: it is likely misspelt, or a filesystem that is not mounted.
    fn check(&self, job: &Job) -> Result<(), WorkloadError> {
        let missing = job.files.directories.iter().find(|path| !path.is_empty() && !Path::new(path).is_dir());
        missing.map_or_else(
            || processors_exist(job).and_then(|()| self.exports.check(job, self.dialect)),
            |path| {
                let message = format!("{path} is not a directory: make or mount it first, or correct the path");
                Err(WorkloadError { option: "directory", message })
            },
        )
    }

    /// What is neither a file nor a device is refused.
    fn check_files(&self, job: &Job, files: &FilePlan) -> Result<(), WorkloadError> {
        if matches!(job.engine.engine, Engine::Null | Engine::Nbd) {
            return Ok(());
        }
        let refused = files.files.iter().find_map(|file| engine::files::look(Path::new(&file.path)).err());
        match refused.filter(|error| error.errno.is_none()) {
            Some(error) => Err(WorkloadError { option: "filename", message: error.to_string() }),
            None => Ok(()),
        }
    }
}

/// All members of a plan, in order; and for each job that cannot run the first reason.
pub(crate) fn enlist(plan: &Plan, dialect: Dialect, seeds: Seeds, ground: &dyn Ground) -> (Vec<Member>, Vec<Unfit>) {
    let (mut members, mut unfit) = (Vec::new(), Vec::new());
    let capacity = ground.capacity();
    let exceeded = limits::check(plan, &capacity);
    if !exceeded.is_empty() {
        return (members, exceeded.into_iter().map(Unfit::from).collect());
    }
    let mut maps: Vec<(usize, u64)> = Vec::new();
    let (mut group, mut stage) = (0, 0);
    let mut planned = Planned::default();
    for (index, job) in plan.jobs.iter().enumerate() {
        if index > 0 {
            stage += usize::from(job.grouping.stonewall);
            group += u32::from(job.grouping.stonewall || job.grouping.new_group);
        }
        maps.push((index, 0));
        for clone in clones(job.grouping.numjobs) {
            let mut member = Member { job: index, clone, number: members.len(), group, stage, ..Member::default() };
            let expected = |path: &str| planned.expected(path, ground.fact(job, path));
            let planned_files = ground
                .check(job)
                .and_then(|()| workload::plan_files(job, dialect, member.worker(), seeds.of(job), &expected))
                .and_then(|files| ground.check_files(job, &files).map(|()| files))
                .and_then(|files| Ok((workload::map_bytes(job, &files.layout())?, files)));
            match planned_files {
                Ok((map, files)) => {
                    maps[index].1 = maps[index].1.saturating_add(map);
                    member.files = planned.add(files, &|path| ground.fact(job, path));
                    members.push(member);
                }
                Err(error) => {
                    unfit.push(Unfit { job: index, error, exceeded: None });
                    break;
                }
            }
        }
    }
    identify(plan, &mut members);
    unfit.extend(limits::exceeds_memory(plan, &maps, &capacity).map(Unfit::from));
    (members, unfit)
}

/// Has members that verify know their files, and what others write at the same time.
fn identify(plan: &Plan, members: &mut [Member]) {
    let verifies = |member: &Member| plan.jobs[member.job].verify.method.is_some();
    let mut known = BTreeMap::new();
    for member in members.iter_mut().filter(|member| verifies(member)) {
        let identity = |file: &PlannedFile| {
            *known.entry(file.path.clone()).or_insert_with(|| workload::file_identity(&resolved(&file.path)))
        };
        member.identities = member.files.files.iter().map(identity).collect();
    }
    for stage in members.chunk_by_mut(|a, b| a.stage == b.stage) {
        let mut writers = Writers::default();
        for member in stage.iter().filter(|member| Operations::of(&plan.jobs[member.job]).write) {
            for (identity, file) in member.identities.iter().zip(&member.files.files) {
                writers.add(member.number as u32, *identity, file.extent);
            }
        }
        let writers = Arc::new(writers);
        stage.iter_mut().for_each(|member| member.writers = Some(Arc::clone(&writers)));
    }
}

/// The path without links and detours, also of a file that is still to be made; the text where there is none.
fn resolved(path: &str) -> String {
    let path = Path::new(path);
    let in_directory = || {
        let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(directory.canonicalize().ok()?.join(path.file_name()?))
    };
    let resolved = path.canonicalize().ok().or_else(in_directory);
    resolved.as_deref().unwrap_or(path).to_string_lossy().into_owned()
}

/// As fio does, and before anything is touched: a processor that is not there is likely another host's.
fn processors_exist(job: &Job) -> Result<(), WorkloadError> {
    let last = engine::probe::last_processor();
    let asked = job.grouping.cpus_allowed.iter().flatten().find(|&&cpu| cpu > last);
    asked.map_or(Ok(()), |cpu| {
        let message = format!("there is no processor {cpu} on this host: name some from 0 to {last}");
        Err(WorkloadError { option: "cpus_allowed", message })
    })
}

/// The clones of a job in the order in which they run and are reported: fio's, the first and then backwards.
fn clones(numjobs: u32) -> impl Iterator<Item = u32> {
    std::iter::once(0).chain((1..numjobs).rev())
}

/// The files that members before this one will have made, for those that find their own sizes by them.
#[derive(Default)]
struct Planned {
    sizes: BTreeMap<String, u64>,
}

impl Planned {
    /// What will be at a path where this is there now.
    fn expected(&self, path: &str, now: Option<FileFact>) -> Option<FileFact> {
        match (now, self.sizes.get(path)) {
            (Some(now), Some(planned)) => Some(FileFact { size: now.size.max(*planned), ..now }),
            (None, Some(planned)) => Some(FileFact { size: *planned, block_device: false }),
            (now, None) => now,
        }
    }

    /// Takes note of the files of a member, and puts back what is there `now`.
    fn add(&mut self, mut files: FilePlan, now: &dyn Fn(&str) -> Option<FileFact>) -> FilePlan {
        for file in &mut files.files {
            file.existing = now(&file.path);
            let size = self.sizes.entry(file.path.clone()).or_default();
            *size = file.needed.max(*size);
        }
        files
    }
}
