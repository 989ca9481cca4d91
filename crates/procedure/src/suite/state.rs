//! Finished steps of a suite, so that an interrupted run continues.

use std::collections::BTreeMap;

use report::suite::SuiteOutcome;
use serde::{Deserialize, Serialize};

use super::question::SuiteQuestion;

/// The version of the file's layout.
const SCHEMA: u32 = 2;

/// The saved state of a suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuiteState {
    fathom_suite_state: u32,
    /// What was asked for.
    asked: Vec<(String, String)>,
    /// What everything random derives from.
    pub seed: u64,
    taken: Vec<TakenStep>,
    /// Under which id an earlier command has kept the records of its steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
}

/// A step that is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TakenStep {
    pub step: String,
    /// Zero for what comes before the rounds.
    pub round: usize,
    pub measured: Option<SuiteOutcome>,
    pub modelled: Option<SuiteOutcome>,
    /// What it left of the model's credits.
    #[serde(default, skip_serializing_if = "StepCredits::is_empty")]
    pub credits: StepCredits,
}

/// Fill levels of a model's burst credits by limit, in billionths: whole numbers survive a round trip.
pub(crate) type StepCredits = BTreeMap<String, u64>;

/// All that has to be the same for a run to go on.
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
    /// Returns the state of a suite of which nothing is done.
    #[must_use]
    pub fn new(question: &SuiteQuestion<'_>, seed: u64) -> Self {
        Self { fathom_suite_state: SCHEMA, asked: asked(question), seed, taken: Vec::new(), kept: None }
    }

    /// Adds a finished step.
    pub(crate) fn add(&mut self, taken: TakenStep) {
        self.taken.push(taken);
    }

    /// What the last step left of the model's credits.
    pub(crate) fn credits(&self) -> StepCredits {
        self.taken.last().map(|taken| taken.credits.clone()).unwrap_or_default()
    }

    /// What a step brought in one round.
    pub(crate) fn of(&self, step: &str, round: usize) -> Option<&TakenStep> {
        self.taken.iter().find(|taken| taken.step == step && taken.round == round)
    }

    /// Returns how many steps are done.
    #[must_use]
    pub fn done(&self) -> usize {
        self.taken.len()
    }

    /// Reads a saved state. `name` is what errors call it.
    ///
    /// # Errors
    ///
    /// It is not a state, or one of another run.
    pub fn parse(name: &str, text: &str, question: &SuiteQuestion<'_>, seed: Option<u64>) -> Result<Self, String> {
        let remedy = "give another file with --state, or start again with --restart";
        let state: Self = serde_json::from_str(text)
            .map_err(|error| format!("{name} holds no state of a suite: {error}\nhelp: {remedy}"))?;
        if state.fathom_suite_state != SCHEMA {
            return Err(format!("{name} is of another version of fathom\nhelp: {remedy}"));
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
        Err(format!("the state {name} is of another run: {differing}\nhelp: repeat the command as it was, {remedy}"))
    }

    /// Returns the state as it is saved.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// FNV-1a, which is the same in every version.
#[must_use]
pub fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
