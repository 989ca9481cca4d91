//! Expands a plan into workers: one per clone of each job, with its files and its place in the order of execution.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use job::limits::{self, Capacity};
use job::{Dialect, Job, Plan};
use units::{Problem, ZoneReport};
use workload::{FileFact, FilePlan, JobLayout, Operations, PlannedFile, WorkerIndex, Writers};

use crate::Seeds;
use crate::trimmed::trimmed_bytes;

/// A worker that has not begun.
#[derive(Clone, Debug, Default)]
pub struct WorkerPlan {
    /// Index of the job in the plan.
    pub job: usize,
    /// Index among the clones of the job.
    pub clone: u32,
    /// Index among all workers of the plan.
    pub number: usize,
    /// Reporting group.
    pub group: u32,
    /// Stage: workers of one stage run concurrently, and stages run one after another.
    pub stage: usize,
    /// Index of a job of the stage whose workers must all have ended before this one starts.
    pub after: Option<usize>,
    /// Files of the worker.
    pub files: FilePlan,
    /// Identities of the files in headers of verified blocks; empty if the job does not verify.
    identities: Vec<u32>,
    /// Regions that the workers of the stage write and verify.
    writers: Option<Arc<Writers>>,
}

impl WorkerPlan {
    /// Returns the index for the workload crate.
    #[must_use]
    pub fn worker(&self) -> WorkerIndex {
        WorkerIndex { index: self.number as u32, clone: self.clone }
    }

    /// Returns the worker with its numbers in another plan, which has the jobs and workers of several hosts.
    #[must_use]
    pub fn renumbered(self, number: usize, job: usize) -> Self {
        // Jobs of one host have consecutive indices.
        let after = self.after.map(|after| job - (self.job - after));
        Self { number, job, after, ..self }
    }

    /// Returns the layout of the files, for the issuer.
    #[must_use]
    pub fn layout(&self) -> JobLayout {
        JobLayout { identities: self.identities.clone(), writers: self.writers.clone(), ..self.files.layout() }
    }
}

/// The environment of a plan's files: the host, or modelled volumes.
pub trait Environment {
    /// Returns the state of a path. A path that cannot be inspected counts as absent; opening it reports the reason.
    fn fact(&self, job: &Job, path: &str) -> Option<FileFact>;

    /// Returns the resources available to all workers together.
    fn capacity(&self) -> Capacity;

    /// Checks whether a job can run in this environment.
    ///
    /// # Errors
    ///
    /// Returns the option to change and the reason.
    fn check(&self, job: &Job) -> Result<(), Problem>;

    /// Checks the files of a worker before touching anything.
    ///
    /// # Errors
    ///
    /// Returns the option to change and the reason.
    fn check_files(&self, job: &Job, files: &FilePlan) -> Result<(), Problem>;

    /// Returns the zones of a zoned device; `None` for anything else.
    ///
    /// # Errors
    ///
    /// Returns the option to change and the reason if the zones cannot be used.
    fn zones(&self, job: &Job, path: &str) -> Result<Option<ZoneReport>, Problem>;

    /// Returns a path without links and `..`, even of a file that does not exist.
    fn resolve(&self, path: &str) -> String;
}

/// Expands the jobs of a plan into workers, in order. Returns the first problem of each job that cannot run.
pub fn plan_workers(
    plan: &Plan,
    dialect: Dialect,
    seeds: Seeds,
    environment: &dyn Environment,
) -> (Vec<WorkerPlan>, Vec<Problem>) {
    let (mut workers, mut unrunnable) = (Vec::new(), Vec::new());
    let capacity = environment.capacity();
    let exceeded = limits::check(plan, &capacity);
    if !exceeded.is_empty() {
        return (workers, exceeded);
    }
    let mut maps: Vec<(usize, u64)> = Vec::new();
    let (mut group, mut stage, mut stages) = (0, 0, Vec::new());
    let mut planned = Planned::default();
    for (index, job) in plan.jobs.iter().enumerate() {
        stage += job.ranks.stages_skipped as usize;
        group += job.ranks.groups_skipped;
        if index > 0 {
            stage += usize::from(job.grouping.stonewall);
            group += u32::from(job.grouping.stonewall || job.grouping.new_group);
        }
        maps.push((index, 0));
        stages.push(stage);
        let after = waited_for(plan, job).filter(|&other| stages[other] == stage);
        for clone in clones(job.grouping.numjobs) {
            let mut worker =
                WorkerPlan { job: index, clone, number: workers.len(), group, stage, after, ..WorkerPlan::default() };
            let expected = |path: &str| planned.expected(path, environment.fact(job, path));
            let planned_files = environment
                .check(job)
                .and_then(|()| workload::plan_files(job, dialect, worker.worker(), seeds.of(job), &expected))
                .and_then(|files| files.part_of_rank(job))
                .and_then(|files| files.in_zones(job, &|path| environment.zones(job, path)))
                .and_then(|files| environment.check_files(job, &files).map(|()| files))
                .and_then(|files| Ok((block_bytes(job, &files.layout())?, files)));
            match planned_files {
                Ok((map, files)) => {
                    maps[index].1 = maps[index].1.saturating_add(map);
                    worker.files = planned.add(files, &|path| environment.fact(job, path));
                    workers.push(worker);
                }
                Err(error) => {
                    unrunnable.push(error);
                    break;
                }
            }
        }
    }
    identify(plan, &mut workers, environment);
    unrunnable.extend(limits::exceeds_memory(plan, &maps, &capacity));
    (workers, unrunnable)
}

/// Returns the memory in bytes that a worker takes for blocks: their maps, and counts of their trims.
fn block_bytes(job: &Job, layout: &JobLayout) -> Result<u64, Problem> {
    Ok(workload::map_bytes(job, layout)?.saturating_add(trimmed_bytes(job, &layout.files)?))
}

/// Returns the index of the job that a job waits for. Other ranks' jobs are not waited for.
fn waited_for(plan: &Plan, job: &Job) -> Option<usize> {
    let name = job.grouping.wait_for.as_ref()?;
    plan.jobs.iter().position(|other| other.name == *name)
}

/// Sets the identities of files of verifying workers, and the regions that concurrent workers write.
fn identify(plan: &Plan, workers: &mut [WorkerPlan], environment: &dyn Environment) {
    let verifies = |worker: &WorkerPlan| plan.jobs[worker.job].verify.method.is_some();
    let mut known = BTreeMap::new();
    for worker in workers.iter_mut().filter(|worker| verifies(worker)) {
        let identity = |file: &PlannedFile| {
            *known.entry(file.path.clone()).or_insert_with(|| workload::file_identity(&environment.resolve(&file.path)))
        };
        worker.identities = worker.files.files.iter().map(identity).collect();
    }
    for stage in workers.chunk_by_mut(|a, b| a.stage == b.stage) {
        let mut writers = Writers::default();
        for worker in stage.iter().filter(|worker| Operations::of(&plan.jobs[worker.job]).write) {
            for (identity, file) in worker.identities.iter().zip(&worker.files.files) {
                writers.add(worker.number as u32, *identity, file.extent);
            }
        }
        let writers = Arc::new(writers);
        stage.iter_mut().for_each(|worker| worker.writers = Some(Arc::clone(&writers)));
    }
}

/// Returns the clones of a job in fio's order of execution and reporting: the first, then the others backwards.
fn clones(numjobs: u32) -> impl Iterator<Item = u32> {
    std::iter::once(0).chain((1..numjobs).rev())
}

/// Files that earlier workers will have created, for workers whose sizes depend on them.
#[derive(Default)]
struct Planned {
    sizes: BTreeMap<String, u64>,
}

impl Planned {
    /// Returns the expected state of a path whose current state is `now`.
    fn expected(&self, path: &str, now: Option<FileFact>) -> Option<FileFact> {
        match (now, self.sizes.get(path)) {
            (Some(now), Some(planned)) => Some(FileFact { size: now.size.max(*planned), ..now }),
            (None, Some(planned)) => Some(FileFact { size: *planned, is_planned: true, ..FileFact::default() }),
            (now, None) => now,
        }
    }

    /// Records the files of a worker, and restores their current state from `now`.
    fn add(&mut self, mut files: FilePlan, now: &dyn Fn(&str) -> Option<FileFact>) -> FilePlan {
        for file in &mut files.files {
            match self.sizes.entry(file.path.clone()) {
                Entry::Vacant(entry) => drop(entry.insert(file.needed)),
                Entry::Occupied(mut entry) => {
                    file.existing = now(&file.path);
                    let size = entry.get_mut();
                    *size = file.needed.max(*size);
                }
            }
        }
        files
    }
}
