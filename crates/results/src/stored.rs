//! JSON of results, and results that are read again.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use units::{Problem, ProblemCode};

/// Serializes a result as JSON on several lines, with a final newline.
pub fn pretty(result: &impl Serialize) -> String {
    // Keys are strings and numbers that are not finite become null, so serialization cannot fail.
    serde_json::to_string_pretty(result).unwrap_or_default() + "\n"
}

/// Serializes a result as [`pretty`] does, with its keys in alphabetical order.
pub fn sorted(result: &impl Serialize) -> String {
    pretty(&serde_json::to_value(result).unwrap_or_default())
}

/// Refuses a document of a later layout version.
///
/// # Errors
///
/// Returns an error if `found` is greater than `known`.
pub fn check_schema(found: u32, known: u32) -> Result<(), Problem> {
    if found <= known {
        return Ok(());
    }
    let what = format!("written with schema {found}, but this program reads schemas up to {known}");
    Err(Problem::error(ProblemCode::TooNew, what).help("use a newer fathom"))
}

/// A result that is written to a file of its own and read again.
pub trait StoredResult: Serialize + DeserializeOwned {
    /// Key that identifies the document; its value is the version of the layout.
    const KEY: &'static str;
    /// Version of the layout.
    const SCHEMA: u32 = 1;

    /// Returns the document.
    fn json(&self) -> String {
        self.json_beside(&NothingBeside {})
    }

    /// Returns the document with what stands beside the result, such as its sentences.
    fn json_beside(&self, more: &impl Serialize) -> String {
        let layout = BTreeMap::from([(Self::KEY, Self::SCHEMA)]);
        pretty(&StoredEnvelope { layout, version: env!("CARGO_PKG_VERSION"), more, result: self })
    }

    /// Reads a document.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not such a document, or has a later layout version.
    fn read(text: &str) -> Result<Self, Problem> {
        read(text)
    }
}

/// Reads a document of a known layout version.
pub(crate) fn read<T: StoredResult>(text: &str) -> Result<T, Problem> {
    check_schema(parsed::<StoredLayout>(text)?.schema, T::SCHEMA)?;
    parsed(text)
}

fn parsed<T: DeserializeOwned>(text: &str) -> Result<T, Problem> {
    serde_json::from_str(text).map_err(|error| Problem::error(ProblemCode::UnreadableInput, error.to_string()))
}

/// A result as written.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StoredEnvelope<'a, M, T> {
    #[serde(flatten)]
    #[schemars(skip)]
    layout: BTreeMap<&'static str, u32>,
    /// Version of Fathom.
    version: &'static str,
    #[serde(flatten)]
    more: &'a M,
    #[serde(flatten)]
    result: &'a T,
}

/// Nothing stands beside the result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NothingBeside {}

/// The version of the layout of any document, whose first key tells what it is.
#[derive(Deserialize)]
struct StoredLayout {
    #[serde(alias = "fathom_grid", alias = "fathom_suite", alias = "fathom_sweep")]
    schema: u32,
}
