//! Runs with what was found, and repeated runs of the same jobs.

use std::borrow::Cow;

use analyse::{JobSpread, Verdict};
use record::Run;
use schemars::JsonSchema;
use serde::Serialize;

use crate::stored::pretty;

/// A run and the findings about it, one entry per job.
///
/// The layout is that of [`Run`], versioned by its `schema`; [`record::from_json`] parses the run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunResult<'a> {
    #[serde(flatten)]
    pub run: Cow<'a, Run>,
    pub verdicts: Cow<'a, [Verdict]>,
}

impl<'a> RunResult<'a> {
    /// Returns the result of a run with the findings about it.
    #[must_use]
    pub fn new(run: &'a Run, verdicts: &'a [Verdict]) -> Self {
        Self { run: Cow::Borrowed(run), verdicts: Cow::Borrowed(verdicts) }
    }
}

/// Repeated runs of the same jobs.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct RepeatsResult<'a> {
    /// Identifier of the series.
    pub series: String,
    /// Name of the series.
    pub name: String,
    /// Requested number of runs.
    pub of: u32,
    /// Variation of the figures of each job.
    pub jobs: Vec<JobSpread>,
    /// Completed runs in chronological order.
    pub runs: Vec<RunResult<'a>>,
}

/// Several series of repeated runs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RepeatsDocument<'a> {
    /// Version of the document's layout.
    fathom_repeats: u32,
    series: &'a [RepeatsResult<'a>],
}

impl RepeatsDocument<'_> {
    /// Version of the layout.
    pub const SCHEMA: u32 = 1;
}

/// Returns repeats as JSON: for each series the variation of its figures (units of one, bytes, nanoseconds) and its runs.
pub fn repeats_json(series: &[RepeatsResult<'_>]) -> String {
    pretty(&RepeatsDocument { fathom_repeats: RepeatsDocument::SCHEMA, series })
}
