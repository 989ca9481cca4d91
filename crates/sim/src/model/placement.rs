//! Placement of files on modelled volumes.

use std::collections::BTreeMap;

use job::{Plan, PlanHosts, limits};
use units::{Bytes, Problem, ProblemCode};
use volume::catalogue::DEFAULT_HOST;
use volume::pagecache::PageCacheSettings;
use volume::{Attachment, Limit, Scope, Spec};
use workload::PlannedFile;

use super::checks;
use super::hosted::HostedWorkers;
use super::volumes::{self, ReadFile, Volumes, is_device};
use crate::ClientPlace;

/// File alignment, as on a filesystem with large extents.
const FILE_ALIGN: u64 = 1 << 20;
const FILES: &str = "files";

/// Routes to volumes, and the positions of each worker's files on them.
#[derive(Clone, Debug, Default)]
pub(super) struct Placement {
    /// Routes, in the order in which workers first use them.
    pub(super) attachments: Vec<Attachment>,
    /// Positions of each worker's files, by worker number.
    pub(super) places: Vec<Vec<ClientPlace>>,
    /// Origin of each route.
    pub(super) origins: Vec<RouteOrigin>,
    /// Routes by machine and volume.
    routes: BTreeMap<(String, String), usize>,
    /// Allocated bytes of each volume, and the position of each file.
    allocated: BTreeMap<String, u64>,
    files: BTreeMap<(String, String), ClientPlace>,
}

/// Where a route comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RouteOrigin {
    /// Simulated host, from zero.
    pub(super) host: u32,
    /// Kind of the host, by the jobs that it runs.
    pub(super) kind: usize,
    /// Volume text.
    words: String,
    /// Job that specifies it.
    job: usize,
}

impl Placement {
    /// Places the files of all workers. Each path under `/dev` is a volume of its own; other files of jobs on the same
    /// volume lie on it side by side. A device on several machines (`host=`, simulated hosts) is one shared volume.
    pub(super) fn new(
        plan: &Plan,
        workers: &HostedWorkers,
        volumes: &Volumes,
        read_file: ReadFile,
    ) -> Result<Self, Vec<Problem>> {
        let (mut placement, mut problems) = (Self::default(), Vec::new());
        let sizes = file_sizes(plan, workers);
        for (worker, hosted) in workers.plans.iter().zip(&workers.hosted) {
            let job = &plan.jobs[worker.job];
            let Some((spec, words)) = volumes.of(job).zip(job.engine.volume.as_ref()) else { continue };
            let (host, kind) = (hosted.host, workers.kinds[hosted.host as usize]);
            let origin = RouteOrigin { host, kind, words: words.clone(), job: worker.job };
            let machine = if plan.hosts.is_some() { machine_of(hosted.host, &spec.host) } else { spec.host.clone() };
            let mut place = |path: &str, needed| {
                let place = placement.place((spec, &machine), path, needed);
                placement.origins.resize(placement.attachments.len(), origin.clone());
                if let Some(other) =
                    place.as_ref().ok().map(|place| &placement.origins[place.route]).filter(|_| is_device(path))
                    && other.words != *words
                {
                    problems.push(conflicting_volumes(plan, path, other, worker.job));
                }
                place
            };
            let size = |file: &PlannedFile| sizes.get(&(words, &file.path)).copied().unwrap_or(file.needed);
            let places = worker.files.files.iter().map(|file| place(&file.path, size(file)));
            let places: Vec<_> = places.collect();
            placement.places.push(places.iter().filter_map(|place| place.as_ref().ok().copied()).collect());
            for problem in places.into_iter().filter_map(Result::err) {
                problems.push(
                    problem
                        .of(format_args!("job `{}`", job.name))
                        .at(job.origin.of("size").cloned())
                        .help("use a larger `size=` for the volume, or a smaller one for the job"),
                );
            }
            if problems.len() > limits::PROBLEMS_MAX {
                break;
            }
        }
        problems.dedup();
        problems.extend(checks::check(plan, &workers.plans, volumes));
        if problems.is_empty() {
            problems = placement.resolve_together(plan, read_file);
        }
        if problems.is_empty() { Ok(placement) } else { Err(problems) }
    }

    /// Resolves all volumes of each host together: some limits depend on the other volumes of the machine.
    fn resolve_together(&mut self, plan: &Plan, read_file: ReadFile) -> Vec<Problem> {
        let mut routes: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (route, origin) in self.origins.iter().enumerate() {
            routes.entry(origin.host).or_default().push(route);
        }
        let mut known: BTreeMap<Vec<&str>, Vec<Spec>> = BTreeMap::new();
        for routes in routes.values() {
            let words: Vec<&str> = routes.iter().map(|&route| self.origins[route].words.as_str()).collect();
            if !known.contains_key(&words) {
                match volumes::look_up_all(&words, read_file) {
                    Ok(specs) => drop(known.insert(words.clone(), specs)),
                    Err(problems) => return self.described(plan, problems),
                }
            }
            for (&route, spec) in routes.iter().zip(&known[&words]) {
                let attached = &mut self.attachments[route].spec;
                *attached = Spec { host: std::mem::take(&mut attached.host), ..spec.clone() };
            }
        }
        if plan.hosts.as_ref().is_some_and(|hosts| !hosts.own_jobs.is_empty()) {
            self.differences(plan)
        } else {
            Vec::new()
        }
    }

    fn described(&self, plan: &Plan, problems: Vec<Problem>) -> Vec<Problem> {
        let job = |problem: &Problem| {
            let text = problem.place.as_ref().map(|place| &*place.text);
            let known = self.origins.iter().find(|origin| text == Some(&origin.words));
            &plan.jobs[known.map_or(0, |origin| origin.job)]
        };
        problems.into_iter().map(|problem| volumes::located(job(&problem), problem)).collect()
    }

    /// Reports volumes that differ from host to host although they have one path.
    fn differences(&self, plan: &Plan) -> Vec<Problem> {
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        let mut problems = Vec::new();
        for (route, attachment) in self.attachments.iter().enumerate() {
            let other = *first.entry(&attachment.volume).or_insert(route);
            if !is_same_volume(&self.attachments[other].spec, &attachment.spec) && problems.is_empty() {
                let (here, there) = (&self.origins[route], &self.origins[other]);
                let job = &plan.jobs[here.job];
                let message = format!(
                    "job `{}`: {} is one volume, but {} on {} and {} on {}",
                    job.name,
                    attachment.volume,
                    there.words,
                    PlanHosts::name(there.host),
                    here.words,
                    PlanHosts::name(here.host)
                );
                let place = job.origin.of("volume").or(job.origin.title.as_ref()).cloned();
                let remedy =
                    "use a separate path per host, such as filename=/dev/data${RANK}, or the same volume on all";
                problems.push(Problem::error(ProblemCode::Volume, message).at(place).help(remedy));
            }
        }
        problems
    }

    fn place(&mut self, on: (&Spec, &str), path: &str, needed: u64) -> Result<ClientPlace, Problem> {
        let (spec, machine) = on;
        let size = spec.size.get();
        if is_device(path) {
            let route = self.route(on, path);
            return Ok(ClientPlace { route, base: 0, bytes: size });
        }
        // Files of jobs that name different volumes on one machine lie on different volumes, even with equal titles.
        let titled = format!("{FILES} on {}", spec.title);
        let known = self.routes.get(&(machine.to_owned(), titled.clone()));
        let other = known.is_some_and(|&route| self.attachments[route].spec.name != spec.name);
        let volume = if other { format!("{FILES} on {}", spec.name) } else { titled };
        let route = self.route(on, &volume);
        let allocated = self.allocated.entry(volume.clone()).or_default();
        let key = (volume, path.to_owned());
        if let Some(place) = self.files.get(&key).filter(|place| place.bytes >= needed) {
            return Ok(ClientPlace { route, ..*place });
        }
        let base = *allocated;
        if needed > size.saturating_sub(base) {
            let (needed, free) = (Bytes::new(needed), Bytes::new(size.saturating_sub(base)));
            let what = format!("{path} needs {needed}, but {} has {free} left of {}", spec.name, spec.size);
            return Err(Problem::error(ProblemCode::VolumeFull, what));
        }
        *allocated = (base + needed).next_multiple_of(FILE_ALIGN);
        let place = ClientPlace { route, base, bytes: needed };
        self.files.insert(key, place);
        Ok(place)
    }

    pub(super) fn attachments_of(&self, worker: usize) -> impl Iterator<Item = &Attachment> {
        self.places.get(worker).into_iter().flatten().filter_map(|place| self.attachments.get(place.route))
    }

    pub(super) fn memory_of(&self, host: &str) -> Bytes {
        let on_it = self.attachments.iter().filter(|attachment| attachment.spec.host == host);
        let memory = on_it.filter_map(|attachment| attachment.spec.buffering.memory).max();
        memory.unwrap_or(PageCacheSettings::default().memory)
    }

    fn route(&mut self, (spec, machine): (&Spec, &str), volume: &str) -> usize {
        let next = self.attachments.len();
        let route = *self.routes.entry((machine.to_owned(), volume.to_owned())).or_insert(next);
        if route == next {
            let spec = Spec { host: machine.to_owned(), ..spec.clone() };
            self.attachments.push(Attachment { spec, volume: volume.to_owned() });
        }
        route
    }
}

/// Returns the size of each file by its volume and path: the largest that any worker needs. Parts of divided work need
/// different sizes of one file.
fn file_sizes<'a>(plan: &'a Plan, workers: &'a HostedWorkers) -> BTreeMap<(&'a String, &'a String), u64> {
    let mut sizes = BTreeMap::new();
    for worker in &workers.plans {
        let Some(words) = &plan.jobs[worker.job].engine.volume else { continue };
        for file in worker.files.files.iter().filter(|file| !is_device(&file.path)) {
            let size: &mut u64 = sizes.entry((words, &file.path)).or_default();
            *size = file.needed.max(*size);
        }
    }
    sizes
}

/// Returns the name of the machine on which a simulated host runs a job whose volume names a machine.
fn machine_of(host: u32, named: &str) -> String {
    let host = PlanHosts::name(host);
    if named == DEFAULT_HOST { host } else { format!("{host}/{named}") }
}

/// Reports whether two specs are of the same volume, on whichever machines.
fn is_same_volume(a: &Spec, b: &Spec) -> bool {
    let own = |spec: &Spec| -> Vec<Limit> {
        spec.limits.iter().filter(|limit| limit.scope == Scope::Volume).cloned().collect()
    };
    (&a.title, a.size, &a.behaviour) == (&b.title, b.size, &b.behaviour) && own(a) == own(b)
}

/// Reports a device of one machine that is used as two volumes.
fn conflicting_volumes(plan: &Plan, path: &str, other: &RouteOrigin, job: usize) -> Problem {
    let (job, known) = (&plan.jobs[job], &plan.jobs[other.job]);
    let here = job.engine.volume.as_deref().unwrap_or_default();
    let message = format!(
        "job `{}`: {path} is {here} here, but {} for job `{}` on the same machine",
        job.name, other.words, known.name
    );
    Problem::error(ProblemCode::Volume, message)
        .at(job.origin.of("volume").or(job.origin.title.as_ref()).cloned())
        .help("use different files, the same volume specification, or different machines (host=)")
}
