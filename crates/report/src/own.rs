//! Fathom's own JSON format.

use analyse::Verdict;
use record::Run;
use serde::Serialize;
use serde::de::DeserializeOwned;
use units::{Problem, ProblemCode};

/// Returns the error for a document of a later layout version.
pub(crate) fn too_new(found: u32, known: u32) -> Problem {
    let what = format!("written with schema {found}, but this program reads schemas up to {known}");
    Problem::error(ProblemCode::TooNew, what).help("use a newer fathom")
}

/// Parses JSON.
pub(crate) fn parsed<T: DeserializeOwned>(text: &str) -> Result<T, Problem> {
    serde_json::from_str(text).map_err(|error| Problem::error(ProblemCode::UnreadableInput, error.to_string()))
}

/// Serializes a document as JSON on several lines, with a final newline.
pub(crate) fn pretty(document: &impl Serialize) -> String {
    // Keys are strings and numbers that are not finite become null, so serialization cannot fail.
    serde_json::to_string_pretty(document).unwrap_or_default() + "\n"
}

#[derive(Serialize)]
pub(crate) struct OwnDocument<'a> {
    #[serde(flatten)]
    pub(crate) run: &'a Run,
    pub(crate) verdicts: &'a [Verdict],
}

/// Returns a run and the findings about it as one JSON document. [`record::from_json`] parses the run.
///
/// The layout is that of [`Run`], versioned by its `schema`; `verdicts` holds one entry per job.
#[must_use]
pub fn json(run: &Run, verdicts: &[Verdict]) -> String {
    pretty(&OwnDocument { run, verdicts })
}
