//! Where the files of jobs lie on modelled volumes.

use std::collections::BTreeMap;

use job::{Diagnostic, Plan};
use sim::Place;
use units::Bytes;
use volume::catalogue::Problem;
use volume::pagecache::Settings;
use volume::{Attachment, Spec};

use super::sanity;
use super::volumes::{self, Volumes, is_device};
use crate::members::Member;

/// Files begin at multiples of this, as on a filesystem with large extents.
const FILE_ALIGN: u64 = 1 << 20;
/// What the volume under the files of jobs is called.
const FILES: &str = "files";

/// The ways to volumes, and where on them each member's files lie.
#[derive(Debug, Default)]
pub(crate) struct Fitting {
    /// The ways, in the order in which members first take them.
    pub(crate) attachments: Vec<Attachment>,
    /// Of each member, by its number, the places of its files.
    pub(crate) places: Vec<Vec<Place>>,
    /// The words of each way's volume, and the job that has them.
    words: Vec<(String, usize)>,
    /// Which way leads to a volume from a machine.
    routes: BTreeMap<(String, String), usize>,
    /// What is taken of each volume that holds files, and where each file lies.
    taken: BTreeMap<String, u64>,
    files: BTreeMap<(String, String), Place>,
}

impl Fitting {
    /// Each path under `/dev` is a volume of its own; all other files of jobs on the same volume lie on one, side by
    /// side. The same device on several machines (`host=`) is one volume that they share.
    pub(crate) fn new(plan: &Plan, members: &[Member], volumes: &Volumes) -> Result<Self, Vec<Diagnostic>> {
        let (mut fitting, mut problems) = (Self::default(), Vec::new());
        for member in members {
            let job = &plan.jobs[member.job];
            let Some((spec, words)) = volumes.of(job).zip(job.engine.volume.as_ref()) else { continue };
            let mut place = |path: &str, needed| {
                let place = fitting.place(spec, path, needed);
                fitting.words.resize(fitting.attachments.len(), (words.clone(), member.job));
                if let Some(other) =
                    place.as_ref().ok().map(|place| &fitting.words[place.route]).filter(|_| is_device(path))
                    && other.0 != *words
                {
                    problems.push(two_of_one_path(plan, path, other, member.job));
                }
                place
            };
            let places = member.files.files.iter().map(|file| place(&file.path, file.needed));
            let places: Vec<_> = places.collect();
            fitting.places.push(places.iter().filter_map(|place| place.as_ref().ok().copied()).collect());
            for problem in places.into_iter().filter_map(Result::err) {
                problems.push(
                    Diagnostic::error("volume-full", format!("job `{}`: {problem}", job.name))
                        .at(job.origin.of("size").cloned())
                        .remedy("give the volume a larger `size=`, or the job a smaller one"),
                );
            }
        }
        problems.dedup();
        problems.extend(sanity::check(plan, members, volumes));
        if problems.is_empty() {
            problems = fitting.acquaint(plan);
        }
        if problems.is_empty() { Ok(fitting) } else { Err(problems) }
    }

    /// Looks all volumes up once more, together: some limits go by what else hangs on the machine.
    fn acquaint(&mut self, plan: &Plan) -> Vec<Diagnostic> {
        let words: Vec<&str> = self.words.iter().map(|(words, _)| words.as_str()).collect();
        match volumes::look_up_all(&words) {
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

    fn place(&mut self, spec: &Spec, path: &str, needed: u64) -> Result<Place, String> {
        let size = spec.size.get();
        if is_device(path) {
            let route = self.route(spec, path);
            return Ok(Place { route, base: 0, bytes: size });
        }
        // On one machine, files of jobs that name different volumes lie on different ones, however alike they are.
        let titled = format!("{FILES} on {}", spec.title);
        let known = self.routes.get(&(spec.host.clone(), titled.clone()));
        let other = known.is_some_and(|&route| self.attachments[route].spec.name != spec.name);
        let volume = if other { format!("{FILES} on {}", spec.name) } else { titled };
        let route = self.route(spec, &volume);
        let taken = self.taken.entry(volume.clone()).or_default();
        let key = (volume, path.to_owned());
        if let Some(place) = self.files.get(&key).filter(|place| place.bytes >= needed) {
            return Ok(Place { route, ..*place });
        }
        let base = *taken;
        if needed > size.saturating_sub(base) {
            let (needed, free) = (Bytes::new(needed), Bytes::new(size.saturating_sub(base)));
            return Err(format!("{path} takes {needed}, and {} has {free} left of {}", spec.name, spec.size));
        }
        *taken = (base + needed).next_multiple_of(FILE_ALIGN);
        let place = Place { route, base, bytes: needed };
        self.files.insert(key, place);
        Ok(place)
    }

    /// The ways of a job to its volumes.
    pub(crate) fn ways_of(&self, member: usize) -> impl Iterator<Item = &Attachment> {
        self.places.get(member).into_iter().flatten().filter_map(|place| self.attachments.get(place.route))
    }

    /// The memory of a machine for the page cache.
    pub(crate) fn memory_of(&self, host: &str) -> Bytes {
        let on_it = self.attachments.iter().filter(|attachment| attachment.spec.host == host);
        let said = on_it.filter_map(|attachment| attachment.spec.buffering.memory).max();
        said.unwrap_or(Settings::default().memory)
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

/// One device of one machine cannot be two volumes.
fn two_of_one_path(plan: &Plan, path: &str, other: &(String, usize), job: usize) -> Diagnostic {
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
