//! Jobs that `run` and `sim` measure together, once or repeatedly.

use std::path::Path;
use std::sync::Arc;

use engine::gate::WriteGate;
use job::{Dialect, JobArguments, JobWords, Plan};
use procedure::jobs::around;
use record::RunKind;
use runner::{PreparedRun, RunPlace, Runner, Seeds};
use sim::model::{Use, used};
use units::{Problem, ProblemCode};

use crate::args::RunCommandOptions;
use crate::exit::Exit;
use crate::source::LocalSource;
use crate::{diagnostics, rank, runners};

/// Jobs of one run, or of one series of repeats.
pub(crate) struct RunTrial {
    pub(crate) kind: RunKind,
    /// Name of its job file or of its first job.
    pub(crate) name: String,
    /// Name of the series of its repeats.
    pub(crate) series: String,
    /// The jobs as written.
    pub(crate) written: String,
    pub(crate) place: RunPlace,
    plan: Plan,
    runner: Box<dyn Runner>,
    seeds: Seeds,
}

impl RunTrial {
    /// Parses the jobs into trials: one for each job file with `--repeat`, otherwise one. Prints problems.
    pub(crate) fn all(options: &RunCommandOptions, jobs: &[String], is_virtual: bool) -> Result<Vec<Self>, Exit> {
        let trials = if options.repeat.is_some() { one_per_file(jobs)? } else { vec![jobs.to_vec()] };
        let gate = options.common.gate();
        let trials: Result<Vec<Self>, Exit> =
            trials.iter().map(|words| Self::parse(options, words, is_virtual, &gate)).collect();
        let mut trials = trials?;
        for (trial, salt) in trials.iter_mut().zip(std::process::id()..) {
            trial.series = store::series_name(&trial.name, device::unix_ms(), salt);
        }
        Ok(trials)
    }

    fn parse(
        options: &RunCommandOptions,
        words: &[String],
        is_virtual: bool,
        gate: &Arc<WriteGate>,
    ) -> Result<Self, Exit> {
        let (around, source) = (&around(options.on.as_deref()), LocalSource::default());
        let sections = options.job_files.section.as_slice();
        let (arguments, split) = (JobArguments { words, sections, around, source: &source }, options.split);
        let parsed = job::parse_on_hosts(arguments, options.hosts, split);
        diagnostics::print(&parsed.diagnostics);
        let (plan, _) = parsed.into_result().map_err(|_| Exit::Usage)?;
        let place = match (is_virtual, used(&plan)) {
            (true, _) => RunPlace::Virtual,
            (false, Use::Nowhere) => RunPlace::Device,
            (false, Use::Everywhere) if rank::joined().is_some() => return Err(Exit::invalid(rank::own_volume())),
            (false, Use::Everywhere) => RunPlace::Paced,
            (false, Use::Mixed) => {
                let problem =
                    Problem::error(ProblemCode::Arguments, "some jobs are on modelled volumes and some are not")
                        .help("run them separately");
                return Err(Exit::invalid(problem));
            }
        };
        let kind = if place == RunPlace::Virtual { RunKind::Sim } else { RunKind::Run };
        let (name, written) = (name_of(words, &plan), source.written(words));
        let (series, seeds) = (String::new(), runners::seeds(options.common.seed));
        Ok(Self { kind, name, series, written, place, plan, runner: runners::runner(place, gate), seeds })
    }

    /// Prepares a round. Each round has a seed of its own: repeats in virtual time would be identical otherwise, and
    /// reads would hit what the last round left in caches.
    pub(crate) fn prepare(&self, round: u32) -> Result<Box<dyn PreparedRun + '_>, Vec<Problem>> {
        let later = || Seeds::fixed(self.seeds.printed(&self.plan).wrapping_add(u64::from(round)));
        let seeds = if round == 0 { self.seeds } else { later() };
        self.runner.prepare(&self.plan, seeds)
    }

    /// Prepares another plan on the same runner, with another seed.
    pub(crate) fn prepare_plan(&self, plan: &Plan) -> Result<Box<dyn PreparedRun + '_>, Vec<Problem>> {
        let seeds = Seeds::fixed(self.seeds.printed(plan).wrapping_add(1));
        self.runner.prepare(plan, seeds)
    }
}

/// Returns the name of the first job file without its extension, or else that of the first job.
pub(crate) fn name_of(words: &[String], plan: &Plan) -> String {
    let file = JobWords::of(words, Dialect::Strict).files.first().map(|&index| words[index].clone());
    let file = file.filter(|file| file != "-");
    let stem = |file: &String| Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let job = || plan.jobs.first().map(|job| job.name.clone());
    file.as_ref().and_then(stem).or_else(job).unwrap_or_default()
}

/// Returns the arguments of one trial for each job file, each with all arguments that are not job files.
fn one_per_file(words: &[String]) -> Result<Vec<Vec<String>>, Exit> {
    let JobWords { files, has_jobs, .. } = JobWords::of(words, Dialect::Strict);
    if files.len() < 2 {
        return Ok(vec![words.to_vec()]);
    }
    if has_jobs {
        let what = "--repeat: job files are repeated separately, and --name belongs to none of them";
        let help = "put that job into a separate file";
        return Err(Exit::invalid(Problem::error(ProblemCode::Arguments, what).help(help)));
    }
    let with_file = |file: &usize| {
        let is_other = |index: &usize| files.contains(index) && index != file;
        (0..words.len()).filter(|index| !is_other(index)).map(|index| words[index].clone()).collect()
    };
    Ok(files.iter().map(with_file).collect())
}
