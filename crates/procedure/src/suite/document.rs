//! The result of a suite.

use analyse::knee::steady::SteadyWindow;
use results::suite::{SuiteOutcome, SuiteResult, SuiteRounds, SuiteRow, SuiteStep};

use super::question::SuiteQuestion;
use super::schema::{MeasuredStep, StepSpec};
use super::state::{FinishedStep, SuiteState};

/// Returns the first figure of a step in each of the first `rounds` rounds; `None` if one failed.
fn followed(question: &SuiteQuestion<'_>, state: &SuiteState, step: &str, rounds: usize) -> Option<Vec<f64>> {
    let value = |round| {
        let taken = state.of(step, round)?;
        let outcome = if question.target.is_some() { &taken.measured } else { &taken.modelled };
        outcome.as_ref()?.value(0)
    };
    (1..=rounds).map(value).collect()
}

fn is_steady(question: &SuiteQuestion<'_>, state: &SuiteState, rounds: usize) -> bool {
    let steady = |step: &String| {
        let values = followed(question, state, step, rounds).unwrap_or_default();
        SteadyWindow::of(&values).is_some_and(|window| window.is_steady())
    };
    question.suite.rounds.as_ref().is_some_and(|of| of.follow.iter().all(steady))
}

/// Reports whether the rounds end after `rounds`: they are steady, or that cannot be determined.
pub(crate) fn rounds_end(question: &SuiteQuestion<'_>, state: &SuiteState, rounds: usize) -> bool {
    let Some(of) = &question.suite.rounds else { return true };
    let lost = of.follow.iter().any(|step| followed(question, state, step, rounds).is_none());
    lost || is_steady(question, state, rounds)
}

/// Number of rounds whose mean is the result of a step.
const WINDOW: usize = 5;

/// Returns the result of a suite, in the order of its steps.
#[must_use]
pub fn document(
    question: &SuiteQuestion<'_>,
    state: &SuiteState,
    command_line: Vec<String>,
    finished: bool,
) -> SuiteResult {
    let suite = &question.suite;
    let steps = suite.steps.iter().filter_map(|step| result(step, state)).collect();
    let rounds = suite.rounds.as_ref().map(|rounds| {
        let complete = |round: &usize| {
            suite.steps.iter().filter(|step| !step.once).all(|step| state.of(&step.name, *round).is_some())
        };
        let done = (1..=rounds.most).take_while(complete).count();
        SuiteRounds { done, most: rounds.most, steady: is_steady(question, state, done) }
    });
    SuiteResult {
        suite: suite.name.clone(),
        title: suite.title.clone(),
        source: suite.source.clone(),
        date: suite.date.clone(),
        command_line,
        seed: state.seed,
        target: question.target.clone(),
        on: question.on.clone(),
        scale: question.scale,
        target_bytes: question.target_bytes,
        volume_bytes: question.volume_bytes,
        drained: suite.drained,
        preconditions: suite.preconditions.clone(),
        rounds,
        steps,
        of_steps: suite.steps.len(),
        finished,
    }
}

/// Returns the result of a step: means of the last five rounds, and findings of the last.
fn result(step: &StepSpec, state: &SuiteState) -> Option<SuiteStep> {
    let rounds = (1..).take_while(|round| state.of(&step.name, *round).is_some()).count();
    let window: Vec<&FinishedStep> = match rounds {
        0 => state.of(&step.name, 0).into_iter().collect(),
        rounds => {
            let first = rounds.saturating_sub(WINDOW) + 1;
            (first..=rounds).filter_map(|round| state.of(&step.name, round)).collect()
        }
    };
    let last = *window.last()?;
    let mean = |of: fn(&FinishedStep) -> &Option<SuiteOutcome>, index: usize| {
        let values: Option<Vec<f64>> = window.iter().map(|taken| of(taken).as_ref()?.value(index)).collect();
        values.filter(|values| !values.is_empty()).map(|values| values.iter().sum::<f64>() / values.len() as f64)
    };
    let row = |(index, measured): (usize, &MeasuredStep)| SuiteRow {
        figure: measured.figure,
        published: measured.published.clone(),
        measured: mean(|taken| &taken.measured, index),
        modelled: mean(|taken| &taken.modelled, index),
    };
    Some(SuiteStep {
        name: step.name.clone(),
        title: step.title.clone(),
        measured: last.measured.clone(),
        modelled: last.modelled.clone(),
        rows: step.figures.iter().enumerate().map(row).collect(),
    })
}
