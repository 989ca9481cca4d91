//! Comparisons of runs.

use analyse::compare::{Comparison, ComparisonSettings};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Answer;

/// A run with its name and a description.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NamedRun {
    /// Name from the command line, or the saved run's identifier.
    pub name: String,
    /// Load of its first job.
    pub load: String,
    /// When it began, in its host's time zone; `None` in virtual time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began: Option<String>,
}

/// A comparison with the names of the compared runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ComparisonResult {
    /// Version of the layout.
    pub schema: u32,
    pub baseline: Vec<NamedRun>,
    pub candidate: Vec<NamedRun>,
    pub options: ComparisonSettings,
    /// Results.
    #[serde(flatten)]
    pub comparison: Comparison,
    pub answer: Answer,
}

impl ComparisonResult {
    /// Version of the layout.
    pub const SCHEMA: u32 = 1;
}
