//! Runs the steps of a suite. They follow each other on a model as on a device: each step begins with the burst credits
//! that the last one left, and no time passes between them.

use std::time::Duration;

use record::Run;
use results::events::Event;
use results::suite::SuiteOutcome;
use runner::{RunControl, Seeds};
use units::{Problem, ProblemCode};

use super::document::rounds_end;
use super::question::{SuitePlace, SuiteQuestion};
use super::schema::StepSpec;
use super::state::{FinishedStep, SuiteState};
use super::step::StepRunner;
use crate::host::ProcedureObserver;

/// A running suite.
pub struct SuiteSession<'a> {
    /// The request.
    pub question: &'a SuiteQuestion<'a>,
    /// Finished steps.
    pub state: SuiteState,
    pub save: &'a dyn Fn(&SuiteState) -> Result<(), Problem>,
    /// Signals and deadlines.
    pub control: &'a dyn RunControl,
    /// Observes the steps.
    pub observer: &'a mut dyn ProcedureObserver,
    /// Runs of the steps of this session, with their names.
    pub parts: Vec<(String, Run)>,
    /// Start time on the clock of `control`.
    pub begun: Duration,
}

impl std::fmt::Debug for SuiteSession<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SuiteSession").field("state", &self.state).finish_non_exhaustive()
    }
}

/// How a suite ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SuiteEnd {
    /// All steps are finished.
    Finished,
    /// A signal ended the suite.
    Signal,
    /// A target stopped responding.
    Stuck,
    /// The state could not be saved.
    Unkept(Problem),
}

impl SuiteSession<'_> {
    /// Runs all unfinished steps.
    pub fn all_steps(&mut self) -> SuiteEnd {
        let suite = &self.question.suite;
        // Save before the first step: an unwritable file is detected before hours are spent.
        if let Err(problem) = (self.save)(&self.state) {
            return SuiteEnd::Unkept(problem);
        }
        let once = |step: &&StepSpec| step.once || suite.rounds.is_none();
        for step in suite.steps.iter().filter(once) {
            if let Some(ended) = self.one(step, 0) {
                return ended;
            }
        }
        for round in 1..=suite.rounds.as_ref().map_or(0, |rounds| rounds.most) {
            if rounds_end(self.question, &self.state, round - 1) {
                break;
            }
            for step in suite.steps.iter().filter(|step| !step.once) {
                if let Some(ended) = self.one(step, round) {
                    return ended;
                }
            }
        }
        SuiteEnd::Finished
    }

    /// Runs one step of one round, unless it is finished.
    fn one(&mut self, step: &StepSpec, round: usize) -> Option<SuiteEnd> {
        if self.state.of(&step.name, round).is_some() {
            return None;
        }
        let seeds = Seeds::fixed(self.state.seed.wrapping_add(round as u64));
        let steps = &self.question.suite.steps;
        let number = steps.iter().position(|known| known.name == step.name).map_or(0, |at| at + 1);
        let of_round = if round > 0 { format!("round {round}, ") } else { String::new() };
        self.observer.set_prefix(&format!("{of_round}step {number} of {}, {}: ", steps.len(), step.name));
        self.observer.show_status("starting");
        let credits = self.state.credits();
        let mut taken = FinishedStep { step: step.name.clone(), round, measured: None, modelled: None, credits };
        let step_runner = StepRunner { question: self.question, step, seeds };
        for place in self.question.places() {
            let outcome = step_runner.execute(place, self.control, &mut *self.observer, &mut taken.credits);
            let Some((outcome, run)) = outcome else { return self.control.end().map(|_| SuiteEnd::Signal) };
            run.into_iter().for_each(|run| self.add_part(step, round, place, run));
            if let (SuiteOutcome::Failed(reason), true) = (&outcome, self.control.is_stuck()) {
                self.observer.warn(&Problem::warning(ProblemCode::Operation, reason).of(&step.name));
                return Some(SuiteEnd::Stuck);
            }
            if let SuiteOutcome::Failed(reason) = &outcome {
                let what = format!("{} failed, continuing with the other steps: {reason}", step.name);
                self.observer.warn(&Problem::warning(ProblemCode::Operation, what));
            }
            match place {
                SuitePlace::Host => taken.measured = Some(outcome),
                SuitePlace::Model => taken.modelled = Some(outcome),
            }
        }
        self.state.add(taken);
        (self.save)(&self.state).err().map(SuiteEnd::Unkept)
    }

    fn add_part(&mut self, step: &StepSpec, round: usize, place: SuitePlace, run: Run) {
        let of_round = if round > 0 { format!("@{round}") } else { String::new() };
        let is_beside = place == SuitePlace::Model && self.question.target.is_some();
        let name = format!("{}{of_round}{}", step.name, if is_beside { ":model" } else { "" });
        let elapsed_s = (self.control.elapsed().saturating_sub(self.begun)).as_secs_f64();
        Event::parts(&name, &run, elapsed_s).for_each(|event| self.observer.event(&event));
        self.parts.push((name, run));
    }
}
