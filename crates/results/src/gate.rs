//! Assertions checked against a run.

use analyse::gate::{Assertion, JudgedAssertion};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Answer;

use crate::compare::NamedRun;

/// An assertion and its outcome.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GateCheck {
    /// Text of the assertion.
    pub text: String,
    /// The parsed assertion.
    pub expectation: Assertion,
    /// Outcome.
    #[serde(flatten)]
    pub judged: JudgedAssertion,
    /// Whether the assertion counts as passed.
    pub passed: bool,
    /// Outcome in a few words.
    pub words: String,
}

/// The result of a gate.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GateResult {
    /// Version of the layout.
    pub schema: u32,
    /// Checked runs.
    pub runs: Vec<NamedRun>,
    /// Runs that percentage bounds refer to.
    pub baseline: Vec<NamedRun>,
    /// Tolerated differences between the conditions of the runs and the baseline.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<String>,
    /// Host of the runs, for JUnit.
    #[serde(skip)]
    pub hostname: String,
    /// Total measured time in seconds.
    pub seconds: f64,
    /// Outcomes of the assertions, in the order given.
    pub checks: Vec<GateCheck>,
    /// Why the figures cannot be trusted, unless an assertion is about that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub distrust: Vec<String>,
    /// Whether all assertions passed and the figures can be trusted.
    pub passed: bool,
    pub answer: Answer,
}

impl GateResult {
    /// Version of the layout.
    pub const SCHEMA: u32 = 1;
}
