//! Fathom's own JSON format.

use analyse::Verdict;
use record::Run;
use serde::Serialize;

/// Returns the error for a document of a later layout version.
pub(crate) fn too_new(found: u32, known: u32) -> String {
    format!("written with schema {found}, but this program reads schemas up to {known}\nhelp: use a newer fathom")
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
