//! State of a suite's finished steps, so that an interrupted run can continue.

use std::collections::BTreeMap;

use results::suite::SuiteOutcome;
use serde::{Deserialize, Serialize};
use units::{Problem, ProblemCode};

use super::question::SuiteQuestion;

/// Version of the file format.
const SCHEMA: u32 = 2;

/// The saved state of a suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuiteState {
    fathom_suite_state: u32,
    /// Request that the state belongs to.
    asked: Vec<(String, String)>,
    /// Seed for all random choices.
    pub seed: u64,
    taken: Vec<FinishedStep>,
    /// ID under which an earlier command has saved the runs of its steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FinishedStep {
    pub step: String,
    /// Zero for steps before the rounds.
    pub round: usize,
    pub measured: Option<SuiteOutcome>,
    pub modelled: Option<SuiteOutcome>,
    /// Remaining burst credits of the model.
    #[serde(default, skip_serializing_if = "StepCredits::is_empty")]
    pub credits: StepCredits,
}

/// Fill levels of a model's burst credits by limit, in billionths: whole numbers survive a round trip, so that an
/// interrupted suite ends with the same figures.
pub(crate) type StepCredits = BTreeMap<String, u64>;

/// Returns the properties that must not change for a run to continue.
fn asked(question: &SuiteQuestion<'_>) -> Vec<(String, String)> {
    let suite = &question.suite;
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "nothing".to_owned());
    let pairs = [
        ("the suite", suite.name.clone()),
        ("procedure", format!("{:016x}", hash(&suite.text.text))),
        ("--target", or_none(question.target_path.clone())),
        ("--on", or_none(question.on.clone())),
        ("--scale", question.scale.to_string()),
        ("the size used of the target in bytes", or_none(question.target_bytes.map(|bytes| bytes.to_string()))),
        ("the size used of the volume in bytes", or_none(question.volume_bytes.map(|bytes| bytes.to_string()))),
    ];
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

impl SuiteState {
    /// Returns the state of a suite without finished steps.
    #[must_use]
    pub fn new(question: &SuiteQuestion<'_>, seed: u64) -> Self {
        Self { fathom_suite_state: SCHEMA, asked: asked(question), seed, taken: Vec::new(), kept: None }
    }

    pub(crate) fn add(&mut self, taken: FinishedStep) {
        self.taken.push(taken);
    }

    /// Returns the burst credits after the last step.
    pub(crate) fn credits(&self) -> StepCredits {
        self.taken.last().map(|taken| taken.credits.clone()).unwrap_or_default()
    }

    pub(crate) fn of(&self, step: &str, round: usize) -> Option<&FinishedStep> {
        self.taken.iter().find(|taken| taken.step == step && taken.round == round)
    }

    /// Returns the number of finished steps.
    #[must_use]
    pub fn done(&self) -> usize {
        self.taken.len()
    }

    /// Parses a saved state. `name` is its name in errors.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not a state, or of another run.
    pub fn parse(name: &str, text: &str, question: &SuiteQuestion<'_>, seed: Option<u64>) -> Result<Self, Problem> {
        let remedy = "use another file with --state, or start over with --restart";
        let state: Self = serde_json::from_str(text).map_err(|error| {
            Problem::error(ProblemCode::Suite, format!("{name} is not a suite state: {error}")).help(remedy)
        })?;
        if state.fathom_suite_state != SCHEMA {
            return Err(Problem::error(ProblemCode::Suite, format!("{name} was written by another version of fathom"))
                .help(remedy));
        }
        let wanted = asked(question);
        let mut differing: Vec<String> = Vec::new();
        for (name, value) in &wanted {
            let before = state.asked.iter().find(|(known, _)| known == name).map_or("nothing", |(_, value)| value);
            if before != value {
                differing.push(match name.as_str() {
                    "procedure" => "the steps of the suite have changed".to_owned(),
                    name => format!("{name} was {before} and is now {value}"),
                });
            }
        }
        if let Some(seed) = seed.filter(|seed| *seed != state.seed) {
            differing.push(format!("--seed was {} and is now {seed}", state.seed));
        }
        if differing.is_empty() {
            return Ok(state);
        }
        let differing = differing.join(", ");
        Err(Problem::error(ProblemCode::Suite, format!("the state {name} belongs to a different run: {differing}"))
            .help(format!("repeat the original command, {remedy}")))
    }

    /// Serializes the state.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Returns the FNV-1a hash, which is the same in every version.
#[must_use]
pub fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
