//! Fathom's JSON.

use analyse::Verdict;
use record::Run;
use serde::Serialize;

/// Error for a document of a later version.
pub(crate) fn too_new(found: u32, known: u32) -> String {
    format!("written with schema {found}, but this program reads schemas up to {known}\nhelp: use a newer fathom")
}

#[derive(Serialize)]
pub(crate) struct OwnDocument<'a> {
    #[serde(flatten)]
    pub(crate) run: &'a Run,
    pub(crate) verdicts: &'a [Verdict],
}

/// A run with what was found in it, as one JSON document on several lines. [`record::from_json`] reads the run back.
///
/// The layout is that of [`Run`], versioned by its `schema`; `verdicts` holds one entry for each of `jobs`.
#[must_use]
pub fn json(run: &Run, verdicts: &[Verdict]) -> String {
    // Keys are strings and numbers that are not finite become null: nothing can fail.
    let mut text = serde_json::to_string_pretty(&OwnDocument { run, verdicts }).unwrap_or_default();
    text.push('\n');
    text
}
