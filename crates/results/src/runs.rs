//! Saved runs: the list, and the details of one run.

use record::{EnvironmentRecord, Run, SavedRun};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// Saved runs, and what the store skipped.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunsResult<'a> {
    /// Version of the document's layout.
    pub fathom_runs: u32,
    /// Path of the store.
    pub store: String,
    pub runs: Vec<RunEntry<'a>>,
    pub skipped: Vec<SkippedRun>,
}

impl RunsResult<'_> {
    /// Version of the layout.
    pub const SCHEMA: u32 = 1;
}

/// A saved run, as its manifest has it, with what is not written there.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunEntry<'a> {
    #[serde(flatten)]
    pub manifest: &'a SavedRun,
    /// Whether the run is exempt from retention.
    pub kept: bool,
    pub bytes: u64,
}

impl<'a> From<&'a SavedRun> for RunEntry<'a> {
    fn from(run: &'a SavedRun) -> Self {
        Self { manifest: run, kept: run.kept, bytes: run.bytes() }
    }
}

/// An entry of the store that is not a readable run.
#[derive(Clone, Debug, JsonSchema)]
pub struct SkippedRun {
    /// Name in the store.
    pub name: String,
    /// Path of the file with the problem.
    #[schemars(skip)]
    pub path: String,
    /// The path, the problem and its remedy.
    pub problem: String,
}

impl Serialize for SkippedRun {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let problem = format!("{}: {}", self.path, self.problem);
        serializer.collect_map([("name", &self.name), ("problem", &problem)])
    }
}

/// A run with the data saved beside its record.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunDetails<'a> {
    /// Version of the document's layout.
    pub fathom_run: u32,
    /// Entry in the store; `None` if the run is not from a store.
    pub entry: Option<RunEntry<'a>>,
    /// Path of its directory.
    pub folder: Option<String>,
    /// Host and devices.
    pub environment: EnvironmentRecord,
    /// Text of the job file.
    pub job: Option<String>,
    /// Record of the run.
    pub run: &'a Run,
}

impl RunDetails<'_> {
    /// Version of the layout.
    pub const SCHEMA: u32 = 1;
}

/// A series of repeats.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SeriesDetails<'a> {
    /// Version of the document's layout.
    pub fathom_series: u32,
    pub runs: &'a [RunDetails<'a>],
}

impl SeriesDetails<'_> {
    /// Version of the layout.
    pub const SCHEMA: u32 = 1;
}
