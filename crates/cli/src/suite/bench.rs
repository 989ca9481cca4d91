//! One step of a suite, on the host or on a modelled volume.

use job::Diagnostic;
use record::{Figure, Run, RunOutcome as Ending};
use report::suite::SuiteOutcome;
use runner::{CreditPolicy, PreparedRun, RunOptions, Runner, Seeds};
use sim::model::{Use, used};

use super::ask::{SuitePlace, SuiteQuestion};
use super::schema::StepSpec;
use super::state;
use crate::display::Display;
use crate::runners::failures;
use crate::signals::Signals;
use report::preview;
use runner::Refusal;

/// One step of a suite, with the seeds that it is carried out with.
#[derive(Clone, Copy)]
pub(super) struct SuiteBench<'a> {
    pub(super) question: &'a SuiteQuestion,
    pub(super) step: &'a StepSpec,
    pub(super) seeds: Seeds,
}

/// Checks every step before anything is touched.
pub(super) fn check_all(question: &SuiteQuestion, seeds: Seeds) -> Result<(), Refusal> {
    let mut dangers: Vec<String> = Vec::new();
    let mut written = false;
    for step in &question.suite.steps {
        let bench = SuiteBench { question, step, seeds };
        for place in question.places() {
            let runner = question.runner(place);
            // What an earlier step writes is there by then.
            let prepared = bench.prepare(&*runner, place, written)?;
            dangers.extend(
                prepared.refusals().iter().filter(|danger| !dangers.contains(danger)).cloned().collect::<Vec<_>>(),
            );
        }
        written |= step.writes();
    }
    if dangers.is_empty() { Ok(()) } else { Err(Refusal::Words(dangers)) }
}

impl SuiteBench<'_> {
    /// What would be touched.
    pub(super) fn told(&self) -> Result<String, Refusal> {
        let of_place = |place| {
            let runner = self.question.runner(place);
            Ok(preview::prepared(&*self.prepare(&*runner, place, false)?))
        };
        self.question.places().map(of_place).collect()
    }

    /// Carries the step out, on a model with the credits that are left there: what it brought, and the record of it;
    /// `None` where it was interrupted.
    pub(super) fn carry_out(
        &self,
        place: SuitePlace,
        signals: &Signals,
        display: &mut Display,
        credits: &mut state::Credits,
    ) -> Option<(SuiteOutcome, Option<Run>)> {
        let ran = self.run(place, signals, display, credits);
        if signals.end().is_some() {
            return None;
        }
        let figures: Vec<Figure> = self.step.figures.iter().map(|measured| measured.figure).collect();
        Some(match ran.and_then(usable) {
            Ok(run) => (SuiteOutcome::of(&run, &analyse::analyse(&run), &figures), Some(run)),
            Err(reason) => (SuiteOutcome::Failed(reason), None),
        })
    }

    fn run(
        &self,
        place: SuitePlace,
        signals: &Signals,
        display: &mut Display,
        credits: &mut state::Credits,
    ) -> Result<Run, String> {
        let runner = self.question.runner(place);
        let prepared = self.prepare(&*runner, place, false).map_err(|refusal| refusal.line())?;
        if let refusals @ [_, ..] = prepared.refusals() {
            return Err(refusals.join("; "));
        }
        let start = if self.question.suite.drained { CreditPolicy::Spent } else { CreditPolicy::Left(credits.clone()) };
        let options = RunOptions { credits: start, ..RunOptions::default() };
        let completed = prepared.run(&options, signals, display).map_err(|error| error.to_string())?;
        let failures = failures(prepared.plan(), prepared.workers(), &completed);
        // What a model could not start is in its record.
        if !failures.is_empty() && place == SuitePlace::Host {
            return Err(failures.join("; "));
        }
        credits.extend(left(&completed.run));
        Ok(completed.run)
    }

    /// Prepares the step; `later` where earlier steps will have changed its files by then.
    fn prepare<'r>(
        &self,
        runner: &'r dyn Runner,
        place: SuitePlace,
        later: bool,
    ) -> Result<Box<dyn PreparedRun + 'r>, Refusal> {
        let Self { question, step, seeds } = *self;
        let plan = question.plan(step, place).map_err(Refusal::Jobs)?;
        if place == SuitePlace::Host && used(&plan) != Use::Nowhere {
            let message =
                format!("the step `{}` names a modelled volume, but is to be measured on a target", step.name);
            let problem = Diagnostic::error("suite", message).at(question.suite.text.place(&step.at));
            let remedy = "leave `volume` and ioengine=model out of the suite, and give the volume with --on";
            return Err(Refusal::Jobs(vec![problem.remedy(remedy)]));
        }
        let prepared = if later { runner.prepare_later(&plan, seeds) } else { runner.prepare(&plan, seeds) };
        prepared.map_err(|problems| self.located(place, problems))
    }

    fn located(&self, place: SuitePlace, problems: Vec<Diagnostic>) -> Refusal {
        Refusal::Jobs(self.question.located(self.step, place, problems))
    }
}

/// What a simulation leaves of each limit's credits, in billionths.
fn left(run: &Run) -> impl Iterator<Item = (String, u64)> {
    let stages = run.model.iter().flat_map(|model| &model.stages);
    stages.filter_map(|stage| {
        let credits = stage.credits.filter(|credits| credits.most > 0.0)?;
        Some((stage.name.clone(), (1e9 * (credits.left / credits.most).clamp(0.0, 1.0)) as u64))
    })
}

fn usable(run: Run) -> Result<Run, String> {
    if run.outcome == Ending::Failed {
        return Err("a worker failed".to_owned());
    }
    match run.jobs.iter().any(|job| job.result.ios() > 0) {
        true => Ok(run),
        false => Err("no operation completed: give it more time with a larger --scale".to_owned()),
    }
}
