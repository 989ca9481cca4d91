//! Jobs that `run` and `sim` carry out, on this host or on modelled volumes, once or several times.

use std::path::Path;
use std::sync::Arc;

use engine::gate::Gate;
use job::{Dialect, Plan, Words};
use meter::Widths;
use store::Kind;

use crate::args::RunOptions;
use crate::exit::Exit;
use crate::growth::Growth;
use crate::measure::{Measurement, Request, Show};
use crate::members::{self, HostGround};
use crate::modelled::{self, Pace, Use};
use crate::refusal::Refusal;
use crate::run::{Checked, command_line};
use crate::seeds::Seeds;
use crate::signals::Signals;
use crate::sim::{self, Scene};
use crate::source::Outside;
use crate::worker::unix_ms;
use crate::{diagnostics, preview};

/// What is carried out together.
pub(crate) struct Trial {
    pub(crate) kind: Kind,
    /// What it is about: its file or its first job.
    pub(crate) name: String,
    /// What its repeats are called together.
    pub(crate) series: String,
    /// The jobs as they were written.
    pub(crate) written: String,
    plan: Plan,
    place: Place,
    seeds: Seeds,
    gate: Arc<Gate>,
}

/// Where jobs are carried out.
#[derive(Clone, Copy)]
enum Place {
    Host,
    Models(Pace),
}

impl Trial {
    /// What is wrong with the jobs is on standard error.
    pub(crate) fn all(options: &RunOptions, jobs: &[String], pace: Pace) -> Result<Vec<Self>, Exit> {
        let lots = if options.repeat.is_some() { one_for_each_file(jobs)? } else { vec![jobs.to_vec()] };
        let gate = options.conduct.gate();
        let trials: Result<Vec<Self>, Exit> =
            lots.iter().map(|words| Self::read(options, words, pace, &gate)).collect();
        let mut trials = trials?;
        for (trial, salt) in trials.iter_mut().zip(std::process::id()..) {
            trial.series = store::series_name(&trial.name, unix_ms(), salt);
        }
        Ok(trials)
    }

    fn read(options: &RunOptions, words: &[String], pace: Pace, gate: &Arc<Gate>) -> Result<Self, Exit> {
        let (around, outside) = (sim::around(options.on.as_deref()), Outside::default());
        let parsed = job::parse_job_arguments(words, &options.of_jobs.section, &around, Dialect::Strict, &outside);
        diagnostics::print(&parsed.diagnostics);
        let (plan, _) = parsed.into_result().map_err(|_| Exit::Usage)?;
        let place = match (pace, modelled::used(&plan)) {
            (Pace::Real, Use::Nowhere) => Place::Host,
            (Pace::Real, Use::Mixed) => {
                let problem = "some jobs are on modelled volumes and some are not: run them one after the other";
                return Err(Refusal::Words(vec![problem.to_owned()]).told());
            }
            _ => Place::Models(pace),
        };
        let kind = if matches!(place, Place::Models(Pace::Virtual)) { Kind::Sim } else { Kind::Run };
        let (name, written) = (name_of(words, &plan), outside.written(words));
        let (series, seeds) = (String::new(), Seeds::new(options.conduct.seed));
        let gate = Arc::clone(gate);
        Ok(Self { kind, name, series, written, plan, place, seeds, gate })
    }

    /// Ready to be carried out for the first time (0) or again, then from another seed: repeats in virtual time would be
    /// the same to the last bit, and caches remember where reads went.
    pub(crate) fn ready(&self, round: u32) -> Result<Ready, Refusal> {
        let again = || Seeds::new(Some(self.seeds.printed(&self.plan).wrapping_add(u64::from(round))));
        let seeds = if round == 0 { self.seeds } else { again() };
        self.stage(self.plan.clone(), seeds)
    }

    /// Ready to be carried out with other jobs in the same places, from another seed.
    pub(crate) fn ready_with(&self, plan: Plan) -> Result<Ready, Refusal> {
        let seeds = Seeds::new(Some(self.seeds.printed(&plan).wrapping_add(1)));
        self.stage(plan, seeds)
    }

    fn stage(&self, plan: Plan, seeds: Seeds) -> Result<Ready, Refusal> {
        let stage = match self.place {
            Place::Models(pace) => Stage::Models(Scene::set(plan, seeds).map_err(Refusal::Jobs)?, pace),
            Place::Host => {
                let (members, unfit) =
                    members::enlist(&plan, Dialect::Strict, seeds, &HostGround::new(Dialect::Strict));
                if !unfit.is_empty() {
                    return Err(Refusal::Jobs(unfit.iter().map(|unfit| unfit.diagnostic(&plan)).collect()));
                }
                let checked = Checked::of(&plan, members, seeds, &self.gate);
                Stage::Host(plan, checked)
            }
        };
        Ok(Ready { seeds, stage })
    }
}

/// The first file without its ending, or else the first job.
pub(crate) fn name_of(words: &[String], plan: &Plan) -> String {
    let file = Words::of(words, Dialect::Strict).files.first().map(|&index| words[index].clone());
    let file = file.filter(|file| file != "-");
    let stem = |file: &String| Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let job = || plan.jobs.first().map(|job| job.name.clone());
    file.as_ref().and_then(stem).or_else(job).unwrap_or_default()
}

/// Where several files are repeated, each is a trial of its own, with all other words.
fn one_for_each_file(words: &[String]) -> Result<Vec<Vec<String>>, Exit> {
    let Words { files, has_jobs, .. } = Words::of(words, Dialect::Strict);
    if files.len() < 2 {
        return Ok(vec![words.to_vec()]);
    }
    if has_jobs {
        let problem = "--repeat: each of several files is repeated in its turn, and --name belongs to none: put that \
                       job into a file of its own";
        return Err(Refusal::Words(vec![problem.to_owned()]).told());
    }
    let lot = |kept: &usize| {
        let is_other = |index: &usize| files.contains(index) && index != kept;
        (0..words.len()).filter(|index| !is_other(index)).map(|index| words[index].clone()).collect()
    };
    Ok(files.iter().map(lot).collect())
}

/// A trial that can begin.
pub(crate) struct Ready {
    seeds: Seeds,
    stage: Stage,
}

enum Stage {
    Host(Plan, Checked),
    Models(Scene, Pace),
}

impl Ready {
    pub(crate) fn plan(&self) -> &Plan {
        match &self.stage {
            Stage::Host(plan, _) => plan,
            Stage::Models(scene, _) => &scene.plan,
        }
    }

    /// Why it must not begin, a line each.
    pub(crate) fn dangers(&self) -> &[String] {
        match &self.stage {
            Stage::Host(_, checked) => &checked.dangers,
            Stage::Models(..) => &[],
        }
    }

    /// Files that it makes or extends.
    pub(crate) fn growths(&self) -> &[Growth] {
        match &self.stage {
            Stage::Host(_, checked) => &checked.growths,
            Stage::Models(..) => &[],
        }
    }

    /// What it would touch.
    pub(crate) fn told(&self) -> String {
        match &self.stage {
            Stage::Host(plan, Checked { members, growths, dangers, .. }) => {
                preview::dry_run(plan, members, growths, dangers)
            }
            Stage::Models(scene, _) => scene.told(),
        }
    }

    pub(crate) fn request(&self, words: &[String]) -> Request<'_> {
        match &self.stage {
            Stage::Host(plan, Checked { members, layouts, .. }) => Request {
                plan,
                dialect: Dialect::Strict,
                members,
                layouts,
                seeds: self.seeds,
                command_line: command_line(words),
                status_every: None,
                intervals: Widths::suited(),
            },
            Stage::Models(scene, _) => scene.request(self.seeds, words),
        }
    }

    pub(crate) fn measure(
        &self,
        request: &Request<'_>,
        signals: &Signals,
        show: &mut dyn Show,
    ) -> Result<Measurement, engine::Error> {
        match &self.stage {
            Stage::Host(_, checked) => checked.measure(request, signals, show),
            Stage::Models(scene, pace) => Ok(modelled::measure(request, &scene.fitting, *pace, signals, show)),
        }
    }
}
