//! One step of a suite, on a device or on a model.

use record::{Figure, Run, RunOutcome as Ending};
use results::suite::SuiteOutcome;
use runner::{CreditPolicy, PreparedRun, RunControl, RunOptions, Runner, Seeds};
use sim::model::{Use, used};

use super::question::{SuitePlace, SuiteQuestion};
use super::schema::StepSpec;
use super::state::StepCredits;
use crate::host::ProcedureObserver;
use units::{Problem, ProblemCode};

#[derive(Clone, Copy)]
pub(crate) struct StepRunner<'a> {
    pub(crate) question: &'a SuiteQuestion<'a>,
    pub(crate) step: &'a StepSpec,
    pub(crate) seeds: Seeds,
}

/// Checks every step before a device is touched.
///
/// # Errors
///
/// Returns all problems of the first wrong step, or everything that would be overwritten.
pub fn check_all(question: &SuiteQuestion<'_>, seeds: Seeds) -> Result<(), Vec<Problem>> {
    let mut refusals: Vec<Problem> = Vec::new();
    let mut written = false;
    for step in &question.suite.steps {
        let step_runner = StepRunner { question, step, seeds };
        for place in question.places() {
            let runner = question.runner(place);
            // What an earlier step writes is there by then.
            let prepared = step_runner.prepare(&*runner, place, written)?;
            refusals.extend(
                prepared.refusals().iter().filter(|refusal| !refusals.contains(refusal)).cloned().collect::<Vec<_>>(),
            );
        }
        written |= step.writes();
    }
    if refusals.is_empty() { Ok(()) } else { Err(refusals) }
}

/// Describes what each step would touch, by name.
///
/// # Errors
///
/// Returns all problems of the first wrong step.
pub fn described(question: &SuiteQuestion<'_>, seeds: Seeds) -> Result<Vec<(String, String)>, Vec<Problem>> {
    let of_step = |step: &StepSpec| Ok((step.name.clone(), StepRunner { question, step, seeds }.describe()?));
    question.suite.steps.iter().map(of_step).collect()
}

impl StepRunner<'_> {
    pub(crate) fn describe(&self) -> Result<String, Vec<Problem>> {
        let of_place = |place| {
            let runner = self.question.runner(place);
            Ok((self.question.host.preview)(&*self.prepare(&*runner, place, false)?))
        };
        self.question.places().map(of_place).collect()
    }

    /// Runs the step, on a model with the remaining credits. Returns its outcome and its run; `None` if it was
    /// interrupted.
    pub(crate) fn execute(
        &self,
        place: SuitePlace,
        control: &dyn RunControl,
        observer: &mut dyn ProcedureObserver,
        credits: &mut StepCredits,
    ) -> Option<(SuiteOutcome, Option<Run>)> {
        let ran = self.run(place, control, observer, credits);
        if control.end().is_some() {
            return None;
        }
        let figures: Vec<Figure> = self.step.figures.iter().map(|measured| measured.figure).collect();
        Some(match ran.and_then(check_usable) {
            Ok(run) => (SuiteOutcome::of(&run, &figures, self.question.host.finding), Some(run)),
            Err(problems) => {
                let reasons: Vec<String> = problems.iter().map(Problem::to_string).collect();
                (SuiteOutcome::Failed(reasons.join("; ")), None)
            }
        })
    }

    fn run(
        &self,
        place: SuitePlace,
        control: &dyn RunControl,
        observer: &mut dyn ProcedureObserver,
        credits: &mut StepCredits,
    ) -> Result<Run, Vec<Problem>> {
        let runner = self.question.runner(place);
        let prepared = self.prepare(&*runner, place, false)?;
        if let refusals @ [_, ..] = prepared.refusals() {
            return Err(refusals.to_vec());
        }
        let start = if self.question.suite.drained { CreditPolicy::Spent } else { CreditPolicy::Left(credits.clone()) };
        let options = RunOptions { credits: start, ..RunOptions::default() };
        let completed = prepared.run(&options, control, observer)?;
        let failures = (self.question.host.failures)(&*prepared, &completed);
        // The record contains what a model could not start.
        if !failures.is_empty() && place == SuitePlace::Host {
            return Err(failures);
        }
        credits.extend(remaining_credits(&completed.run));
        Ok(completed.run)
    }

    /// Prepares the step; `later` if earlier steps will have changed its files by then.
    fn prepare<'r>(
        &self,
        runner: &'r dyn Runner,
        place: SuitePlace,
        later: bool,
    ) -> Result<Box<dyn PreparedRun + 'r>, Vec<Problem>> {
        let Self { question, step, seeds } = *self;
        let plan = question.plan(step, place)?;
        if place == SuitePlace::Host && used(&plan) != Use::Nowhere {
            let message = format!("step `{}` uses a modelled volume, but measures a target", step.name);
            let problem = Problem::error(ProblemCode::Suite, message).at(question.suite.text.place(&step.at));
            let remedy = "remove `volume` and ioengine=model from the suite, and set the volume with --on";
            return Err(problem.help(remedy).into());
        }
        let prepared = if later { runner.prepare_later(&plan, seeds) } else { runner.prepare(&plan, seeds) };
        prepared.map_err(|problems| question.located(step, place, problems))
    }
}

/// Returns the burst credits of each limit after a simulation, in billionths.
fn remaining_credits(run: &Run) -> impl Iterator<Item = (String, u64)> {
    let stages = run.model.iter().flat_map(|model| &model.stages);
    stages.filter_map(|stage| {
        let credits = stage.credits.filter(|credits| credits.most > 0.0)?;
        Some((stage.name.clone(), (1e9 * (credits.left / credits.most).clamp(0.0, 1.0)) as u64))
    })
}

fn check_usable(run: Run) -> Result<Run, Vec<Problem>> {
    if run.outcome == Ending::Failed {
        return Err(Problem::error(ProblemCode::Operation, "a worker failed").into());
    }
    match run.jobs.iter().any(|job| job.result.ios() > 0) {
        true => Ok(run),
        false => Err(Problem::error(ProblemCode::Operation, "no operation completed")
            .help("use a larger --scale for a longer step")
            .into()),
    }
}
