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
    /// What distinguishes it from the runs of the other side: a volume, a depth, a build, a host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Load of its first job.
    pub load: String,
    /// Whether its slowest operations follow from an assumed distribution of latencies.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tail_assumed: bool,
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

/// Comparisons of three or more runs, each with the first.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ComparisonsResult {
    /// Version of the layout.
    pub schema: u32,
    /// One comparison for each run but the first, which is the baseline of all.
    pub comparisons: Vec<ComparisonResult>,
    pub answer: Answer,
}
