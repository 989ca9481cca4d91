//! Jobs that `run` and `sim` measure together, once or repeatedly.

use std::path::Path;
use std::sync::Arc;

use engine::gate::WriteGate;
use job::{Dialect, JobWords, Plan};
use procedure::jobs::around;
use runner::{PreparedRun, Refusal, RunPlace, Runner, Seeds};
use sim::model::{Use, used};
use store::RunKind;

use crate::args::RunCommandOptions;
use crate::exit::Exit;
use crate::refusal::Refused;
use crate::source::LocalSource;
use crate::{diagnostics, runners};

/// Jobs that are measured together.
pub(crate) struct RunTrial {
    pub(crate) kind: RunKind,
    /// Its file or its first job.
    pub(crate) name: String,
    /// The common name of its repeats.
    pub(crate) series: String,
    /// The jobs as they were written.
    pub(crate) written: String,
    plan: Plan,
    runner: Box<dyn Runner>,
    seeds: Seeds,
}

impl RunTrial {
    /// Reads all jobs. Problems are printed on standard error.
    pub(crate) fn all(options: &RunCommandOptions, jobs: &[String], is_virtual: bool) -> Result<Vec<Self>, Exit> {
        let lots = if options.repeat.is_some() { one_for_each_file(jobs)? } else { vec![jobs.to_vec()] };
        let gate = options.common.gate();
        let trials: Result<Vec<Self>, Exit> =
            lots.iter().map(|words| Self::read(options, words, is_virtual, &gate)).collect();
        let mut trials = trials?;
        for (trial, salt) in trials.iter_mut().zip(std::process::id()..) {
            trial.series = store::series_name(&trial.name, device::unix_ms(), salt);
        }
        Ok(trials)
    }

    fn read(
        options: &RunCommandOptions,
        words: &[String],
        is_virtual: bool,
        gate: &Arc<WriteGate>,
    ) -> Result<Self, Exit> {
        let (around, source) = (around(options.on.as_deref()), LocalSource::default());
        let parsed = job::parse_job_arguments(words, &options.job_files.section, &around, Dialect::Strict, &source);
        diagnostics::print(&parsed.diagnostics);
        let (plan, _) = parsed.into_result().map_err(|_| Exit::Usage)?;
        let place = match (is_virtual, used(&plan)) {
            (true, _) => RunPlace::Virtual,
            (false, Use::Nowhere) => RunPlace::Device,
            (false, Use::Everywhere) => RunPlace::Paced,
            (false, Use::Mixed) => {
                let problem = "some jobs are on modelled volumes and some are not\nhelp: run them one after the other";
                return Err(Refusal::Words(vec![problem.to_owned()]).report());
            }
        };
        let kind = if place == RunPlace::Virtual { RunKind::Sim } else { RunKind::Run };
        let (name, written) = (name_of(words, &plan), source.written(words));
        let (series, seeds) = (String::new(), runners::seeds(options.common.seed));
        Ok(Self { kind, name, series, written, plan, runner: runners::runner(place, gate), seeds })
    }

    /// Prepares the first round (0) or a later one, then from another seed: repeats in virtual time would be identical, and
    /// caches remember where reads went.
    pub(crate) fn ready(&self, round: u32) -> Result<Box<dyn PreparedRun + '_>, Refusal> {
        let again = || Seeds::fixed(self.seeds.printed(&self.plan).wrapping_add(u64::from(round)));
        let seeds = if round == 0 { self.seeds } else { again() };
        self.runner.prepare(&self.plan, seeds).map_err(Refusal::Jobs)
    }

    /// Prepares other jobs in the same places, from another seed.
    pub(crate) fn ready_with(&self, plan: &Plan) -> Result<Box<dyn PreparedRun + '_>, Refusal> {
        let seeds = Seeds::fixed(self.seeds.printed(plan).wrapping_add(1));
        self.runner.prepare(plan, seeds).map_err(Refusal::Jobs)
    }
}

/// The first file without its ending, or else the first job.
pub(crate) fn name_of(words: &[String], plan: &Plan) -> String {
    let file = JobWords::of(words, Dialect::Strict).files.first().map(|&index| words[index].clone());
    let file = file.filter(|file| file != "-");
    let stem = |file: &String| Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let job = || plan.jobs.first().map(|job| job.name.clone());
    file.as_ref().and_then(stem).or_else(job).unwrap_or_default()
}

/// Splits the words so that each job file is a trial of its own, with all other words.
fn one_for_each_file(words: &[String]) -> Result<Vec<Vec<String>>, Exit> {
    let JobWords { files, has_jobs, .. } = JobWords::of(words, Dialect::Strict);
    if files.len() < 2 {
        return Ok(vec![words.to_vec()]);
    }
    if has_jobs {
        let problem = "--repeat: each job file is repeated in turn, and --name belongs to none of them\nhelp: put that \
                       job into a file of its own";
        return Err(Refusal::Words(vec![problem.to_owned()]).report());
    }
    let lot = |kept: &usize| {
        let is_other = |index: &usize| files.contains(index) && index != kept;
        (0..words.len()).filter(|index| !is_other(index)).map(|index| words[index].clone()).collect()
    };
    Ok(files.iter().map(lot).collect())
}
