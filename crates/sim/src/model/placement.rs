//! Placement of files on modelled volumes.

use std::collections::BTreeMap;

use job::{Diagnostic, Plan};
use runner::WorkerPlan;
use units::Bytes;
use volume::catalogue::Problem;
use volume::pagecache::PageCacheSettings;
use volume::{Attachment, Spec};

use super::checks;
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
    /// Volume text of each route, and the job that specifies it.
    words: Vec<(String, usize)>,
    /// Routes by machine and volume.
    routes: BTreeMap<(String, String), usize>,
    /// Allocated bytes of each volume, and the position of each file.
    allocated: BTreeMap<String, u64>,
    files: BTreeMap<(String, String), ClientPlace>,
}

impl Placement {
    /// Places the files of all workers. Each path under `/dev` is a volume of its own; other files of jobs on the same
    /// volume lie on it side by side. A device on several machines (`host=`) is one shared volume.
    pub(super) fn new(
        plan: &Plan,
        workers: &[WorkerPlan],
        volumes: &Volumes,
        read_file: ReadFile,
    ) -> Result<Self, Vec<Diagnostic>> {
        let (mut placement, mut problems) = (Self::default(), Vec::new());
        for worker in workers {
            let job = &plan.jobs[worker.job];
            let Some((spec, words)) = volumes.of(job).zip(job.engine.volume.as_ref()) else { continue };
            let mut place = |path: &str, needed| {
                let place = placement.place(spec, path, needed);
                placement.words.resize(placement.attachments.len(), (words.clone(), worker.job));
                if let Some(other) =
                    place.as_ref().ok().map(|place| &placement.words[place.route]).filter(|_| is_device(path))
                    && other.0 != *words
                {
                    problems.push(conflicting_volumes(plan, path, other, worker.job));
                }
                place
            };
            let places = worker.files.files.iter().map(|file| place(&file.path, file.needed));
            let places: Vec<_> = places.collect();
            placement.places.push(places.iter().filter_map(|place| place.as_ref().ok().copied()).collect());
            for problem in places.into_iter().filter_map(Result::err) {
                problems.push(
                    Diagnostic::error("volume-full", format!("job `{}`: {problem}", job.name))
                        .at(job.origin.of("size").cloned())
                        .remedy("give the volume a larger `size=`, or the job a smaller one"),
                );
            }
        }
        problems.dedup();
        problems.extend(checks::check(plan, workers, volumes));
        if problems.is_empty() {
            problems = placement.resolve_together(plan, read_file);
        }
        if problems.is_empty() { Ok(placement) } else { Err(problems) }
    }

    /// Resolves all volumes together: some limits depend on the other volumes of the machine.
    fn resolve_together(&mut self, plan: &Plan, read_file: ReadFile) -> Vec<Diagnostic> {
        let words: Vec<&str> = self.words.iter().map(|(words, _)| words.as_str()).collect();
        match volumes::look_up_all(&words, read_file) {
            Ok(specs) => {
                for (attachment, spec) in self.attachments.iter_mut().zip(specs) {
                    attachment.spec = spec;
                }
                Vec::new()
            }
            Err(problems) => {
                let job = |problem: &Problem| {
                    let known = self.words.iter().find(|(words, _)| **words == *problem.place.text);
                    &plan.jobs[known.map_or(0, |(_, job)| *job)]
                };
                problems.iter().map(|problem| volumes::diagnostic(job(problem), problem)).collect()
            }
        }
    }

    fn place(&mut self, spec: &Spec, path: &str, needed: u64) -> Result<ClientPlace, String> {
        let size = spec.size.get();
        if is_device(path) {
            let route = self.route(spec, path);
            return Ok(ClientPlace { route, base: 0, bytes: size });
        }
        // Files of jobs that name different volumes on one machine lie on different volumes, even with equal titles.
        let titled = format!("{FILES} on {}", spec.title);
        let known = self.routes.get(&(spec.host.clone(), titled.clone()));
        let other = known.is_some_and(|&route| self.attachments[route].spec.name != spec.name);
        let volume = if other { format!("{FILES} on {}", spec.name) } else { titled };
        let route = self.route(spec, &volume);
        let allocated = self.allocated.entry(volume.clone()).or_default();
        let key = (volume, path.to_owned());
        if let Some(place) = self.files.get(&key).filter(|place| place.bytes >= needed) {
            return Ok(ClientPlace { route, ..*place });
        }
        let base = *allocated;
        if needed > size.saturating_sub(base) {
            let (needed, free) = (Bytes::new(needed), Bytes::new(size.saturating_sub(base)));
            return Err(format!("{path} takes {needed}, and {} has {free} left of {}", spec.name, spec.size));
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

    fn route(&mut self, spec: &Spec, volume: &str) -> usize {
        let next = self.attachments.len();
        let route = *self.routes.entry((spec.host.clone(), volume.to_owned())).or_insert(next);
        if route == next {
            self.attachments.push(Attachment { spec: spec.clone(), volume: volume.to_owned() });
        }
        route
    }
}

/// Reports a device of one machine that is used as two volumes.
fn conflicting_volumes(plan: &Plan, path: &str, other: &(String, usize), job: usize) -> Diagnostic {
    let (job, known) = (&plan.jobs[job], &plan.jobs[other.1]);
    let here = job.engine.volume.as_deref().unwrap_or_default();
    let message = format!(
        "job `{}`: {path} is {here} here and {} for job `{}` on the same machine",
        job.name, other.0, known.name
    );
    Diagnostic::error("volume", message)
        .at(job.origin.of("volume").or(job.origin.title.as_ref()).cloned())
        .remedy("give the jobs different files, volumes of the same words, or different machines (host=)")
}
