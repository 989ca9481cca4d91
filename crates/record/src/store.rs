//! The JSON form of a run.

use serde::Deserialize;

use crate::Run;
use crate::printable::{may_hide, printable};

/// The version of the layout that this program writes.
pub const SCHEMA: u32 = 1;

/// Reason why a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A later version of the program wrote it.
    #[error("written with schema {found}, but this program reads schemas up to {SCHEMA}\nhelp: use a newer fathom")]
    TooNew {
        /// The schema it was written with.
        found: u32,
    },
    /// It carries no schema.
    #[error("not a record of a run: no \"schema\" in it")]
    NoSchema,
    /// It is no fio output that carries JSON.
    #[error("no JSON document that begins a line with \"{{\"")]
    NoDocument,
    /// It is not JSON, or not of the layout that it claims.
    #[error("{0}")]
    Malformed(#[from] serde_json::Error),
}

#[derive(Deserialize)]
struct VersionedRun {
    schema: Option<u32>,
}

/// A run as JSON, on one line.
#[must_use]
pub fn to_json(run: &Run) -> String {
    // Strings for keys, and numbers that serde_json prints as null where they are not finite: nothing can fail.
    serde_json::to_string(run).unwrap_or_default()
}

/// Reads a run back. Documents with more in them than a run are accepted.
///
/// # Errors
///
/// [`ReadError::TooNew`] where a later version wrote it, otherwise what is wrong with the text.
pub fn from_json(text: &str) -> Result<Run, ReadError> {
    match serde_json::from_str::<VersionedRun>(text)?.schema {
        None => Err(ReadError::NoSchema),
        Some(found) if found > SCHEMA => Err(ReadError::TooNew { found }),
        Some(_) => {
            let run: Run = serde_json::from_str(text)?;
            Ok(if may_hide(text) { printable(run) } else { run })
        }
    }
}
