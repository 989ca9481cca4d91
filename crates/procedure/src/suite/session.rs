//! Carries out the steps of a suite.

use std::time::Duration;

use record::Run;
use report::Event;
use report::suite::SuiteOutcome;
use runner::{RunControl, Seeds};

use super::document::rounds_end;
use super::question::{SuitePlace, SuiteQuestion};
use super::schema::StepSpec;
use super::state::{SuiteState, TakenStep};
use super::step::StepRunner;
use crate::host::ProcedureObserver;

/// A suite that is carried out.
pub struct SuiteSession<'a> {
    /// What is asked for.
    pub question: &'a SuiteQuestion<'a>,
    /// What is done of it.
    pub state: SuiteState,
    /// Saves what is done.
    pub save: &'a dyn Fn(&SuiteState) -> Result<(), String>,
    /// Signals and deadlines.
    pub control: &'a dyn RunControl,
    /// Observes the steps.
    pub observer: &'a mut dyn ProcedureObserver,
    /// The records of the steps that were carried out now, with their names.
    pub parts: Vec<(String, Run)>,
    /// When it began, on the clock of `control`.
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
    /// All steps are done.
    Finished,
    /// A signal has come.
    Signal,
    /// A target has not answered.
    Stuck,
    /// What was done cannot be saved.
    Unkept(String),
}

impl SuiteSession<'_> {
    /// Carries out all steps that are not done.
    pub fn all_steps(&mut self) -> SuiteEnd {
        let suite = &self.question.suite;
        // Before the first step: a place that cannot be written to is known before an hour is spent.
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

    /// One step of one round, unless it is done.
    fn one(&mut self, step: &StepSpec, round: usize) -> Option<SuiteEnd> {
        if self.state.of(&step.name, round).is_some() {
            return None;
        }
        let seeds = Seeds::fixed(self.state.seed.wrapping_add(round as u64));
        let steps = &self.question.suite.steps;
        let number = steps.iter().position(|known| known.name == step.name).map_or(0, |at| at + 1);
        let of_round = if round > 0 { format!("round {round}, ") } else { String::new() };
        self.observer.set_prefix(&format!("{of_round}step {number} of {}, {}: ", steps.len(), step.name));
        self.observer.show_status("begins");
        let credits = self.state.credits();
        let mut taken = TakenStep { step: step.name.clone(), round, measured: None, modelled: None, credits };
        let bench = StepRunner { question: self.question, step, seeds };
        for place in self.question.places() {
            let outcome = bench.carry_out(place, self.control, &mut *self.observer, &mut taken.credits);
            let Some((outcome, run)) = outcome else { return self.control.end().map(|_| SuiteEnd::Signal) };
            run.into_iter().for_each(|run| self.add_part(step, round, place, run));
            if let (SuiteOutcome::Failed(reason), true) = (&outcome, self.control.is_stuck()) {
                self.observer.warn(&format!("{}: {reason}", step.name));
                return Some(SuiteEnd::Stuck);
            }
            if let SuiteOutcome::Failed(reason) = &outcome {
                self.observer.warn(&format!("{}: failed, and the other steps continue: {reason}", step.name));
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
