//! Resolves the volumes of jobs.

use std::collections::BTreeMap;

use job::limits::{self, Capacity};
use job::{EngineKind, Job, Plan};
use runner::Environment;
use units::{Place, Problem, ProblemCode};
use volume::Spec;
use volume::catalogue;
use workload::{FileFact, FilePlan};

/// Path of the volume itself, for jobs without a file.
const WHOLE_VOLUME: &str = "/dev/modelled";

/// Use of modelled volumes by the jobs of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// By no job.
    Nowhere,
    /// By all jobs.
    Everywhere,
    /// By some jobs. They cannot run together, because a model and a device have different clocks.
    Mixed,
}

/// Reports which jobs use models, by their own options (`ioengine=model`) or by `--on`, which assigns a volume to every
/// job.
#[must_use]
pub fn used(plan: &Plan) -> Use {
    let is_modelled = |job: &&Job| job.engine.kind == EngineKind::Model || job.engine.volume.is_some();
    let modelled = plan.jobs.iter().filter(is_modelled).count();
    match modelled {
        0 => Use::Nowhere,
        all if all == plan.jobs.len() => Use::Everywhere,
        _ => Use::Mixed,
    }
}

/// Volumes of a plan, by their text.
pub(super) struct Volumes {
    specs: BTreeMap<String, Spec>,
    capacity: Capacity,
}

/// Returns the text of a file of volumes, or why it cannot be read.
pub type ReadFile = fn(&str) -> Result<String, Problem>;

impl Volumes {
    /// Resolves all volumes. Jobs without a file and a size get the whole volume.
    pub(super) fn resolve(plan: &mut Plan, capacity: Capacity, read_file: ReadFile) -> Result<Self, Vec<Problem>> {
        let (mut specs, mut problems) = (BTreeMap::new(), Vec::new());
        for job in &mut plan.jobs {
            use_whole_volume(job);
            let Some(words) = &job.engine.volume else {
                problems.push(no_volume(job));
                continue;
            };
            if specs.contains_key(words) {
                continue;
            }
            match look_up_all(&[words], read_file) {
                Ok(mut found) => drop(specs.insert(words.clone(), found.remove(0))),
                Err(found) => {
                    let found = found.into_iter().map(|problem| located(job, problem));
                    // Jobs of many hosts have the same problems.
                    let is_new = |problem: &Problem| plan.hosts.is_none() || !problems.contains(problem);
                    problems.extend(found.filter(is_new).collect::<Vec<_>>());
                }
            }
            if problems.len() > limits::PROBLEMS_MAX {
                break;
            }
        }
        if problems.is_empty() { Ok(Self { specs, capacity }) } else { Err(problems) }
    }

    pub(super) fn of(&self, job: &Job) -> Option<&Spec> {
        self.specs.get(job.engine.volume.as_ref()?)
    }
}

/// Resolves the volumes of one run together.
pub(super) fn look_up_all(words: &[&str], read_file: ReadFile) -> Result<Vec<Spec>, Vec<Problem>> {
    let resolved = catalogue::resolve_all(words, &read_file)?;
    Ok(resolved.into_iter().map(|volume| volume.spec).collect())
}

/// Returns the name of a volume with one key replaced.
#[must_use]
pub fn with_key(words: &str, key: &str, value: &str) -> String {
    let is_key = |part: &&str| part.split_once('=').is_some_and(|(name, _)| name.trim() == key);
    let kept = words.split(',').filter(|part| !is_key(part)).collect::<Vec<_>>().join(",");
    format!("{kept},{key}={value}")
}

/// Reports whether a path is a device, and therefore a volume of its own.
pub(super) fn is_device(path: &str) -> bool {
    path.starts_with("/dev/")
}

impl Environment for Volumes {
    fn fact(&self, job: &Job, path: &str) -> Option<FileFact> {
        let spec = self.of(job).filter(|_| is_device(path))?;
        Some(FileFact { size: spec.size.get(), block_device: true, ..FileFact::default() })
    }

    fn capacity(&self) -> Capacity {
        self.capacity.clone()
    }

    /// A model is of a volume, without a filesystem.
    fn zones(&self, job: &Job, _: &str) -> Result<Option<units::ZoneReport>, Problem> {
        Err(job
            .unfit("zonemode", "modelled volumes have no zones")
            .help("omit zonemode=zbd, or run the job on a device"))
    }

    fn check(&self, job: &Job) -> Result<(), Problem> {
        let engine = job.engine.kind;
        let refuse = |what: String, help: &str| Err(job.unfit("ioengine", what).help(help));
        let name = engine.name();
        if engine.is_of_network() {
            return refuse(
                format!("engine {name} measures a connection, but models simulate volumes"),
                "run the job without a model, or use a storage engine such as io_uring",
            );
        }
        if engine.is_of_objects() {
            return refuse(
                "engine http uses an object store, but models simulate volumes".to_owned(),
                "run the job without a model, or use a storage engine such as io_uring",
            );
        }
        if engine.moves_nothing() {
            let what = if engine == EngineKind::Cpuio { "loads a CPU" } else { "runs a program" };
            return refuse(format!("engine {name} {what}, but models simulate volumes"), "run the job without a model");
        }
        if !engine.traits().metadata {
            return Ok(());
        }
        refuse(
            format!("engine {name} measures a filesystem, but models simulate volumes without one"),
            "run the job on a directory of this host, or use an engine that transfers data, such as psync",
        )
    }

    fn check_files(&self, _: &Job, _: &FilePlan) -> Result<(), Problem> {
        Ok(())
    }

    fn resolve(&self, path: &str) -> String {
        path.to_owned()
    }
}

fn use_whole_volume(job: &mut Job) {
    let files = &mut job.files;
    let names_nothing = files.filenames.is_empty() && files.directories.iter().all(String::is_empty);
    if names_nothing && files.nrfiles == 1 && files.filesize.is_none() && job.extent.size.is_none() {
        files.filenames.push(WHOLE_VOLUME.to_owned());
    }
}

fn no_volume(job: &Job) -> Problem {
    Problem::error(ProblemCode::Volume, format!("job `{}` has no volume", job.name))
        .at(job.origin.title.clone())
        .help("use `--on VOLUME`, or `volume=VOLUME` in the job; `fathom catalog` lists volumes")
}

/// Moves a problem of a volume's name to its place in the job file or on the command line.
pub(super) fn located(job: &Job, problem: Problem) -> Problem {
    let Some(there) = problem.place.as_deref().filter(|place| job.engine.volume.as_deref() == Some(&*place.text))
    else {
        return problem;
    };
    let given = job.origin.options.iter().rev().find(|(name, _)| *name == "volume");
    match given.map(|(_, place)| place) {
        None => {
            let place = Place { source: "--on".into(), ..there.clone() };
            problem.at(place)
        }
        // The text is the option's value, so its columns continue those of the job file.
        Some(value) if value.marked() == *there.text => problem.within(value),
        Some(_) => problem,
    }
}
