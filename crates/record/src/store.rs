//! JSON form of a run.

use serde::Deserialize;
use units::{Problem, ProblemCode};

use crate::Run;
use crate::measurable::{is_beyond_measure, without_impossible_disks};
use crate::printable::{may_hide, printable};

/// Layout version that this program writes.
pub const SCHEMA: u32 = 1;

/// Reason why a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It was written by a newer version of the program.
    #[error("written with schema {found}, but this program reads schemas up to {SCHEMA}")]
    TooNew {
        /// Schema of the record.
        found: u32,
    },
    /// It has no schema.
    #[error("not a run record: it has no \"schema\"")]
    NoSchema,
    /// It has counts or times that no program can have measured.
    #[error("its counts or times are impossibly large: the record is damaged")]
    Impossible,
    /// It is not fio output with JSON.
    #[error("no JSON document starts a line with \"{{\"")]
    NoDocument,
    /// It is not JSON, or does not match its schema.
    #[error("{0}")]
    Malformed(#[from] serde_json::Error),
}

impl From<ReadError> for Problem {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::TooNew { .. } => Self::error(ProblemCode::TooNew, error.to_string()).help("use a newer fathom"),
            _ => Self::error(ProblemCode::UnreadableInput, error.to_string()),
        }
    }
}

#[derive(Deserialize)]
struct VersionedRun {
    schema: Option<u32>,
}

/// Serializes a run as JSON on one line.
#[must_use]
pub fn to_json(run: &Run) -> String {
    // Serialization cannot fail: all keys are strings, and non-finite numbers become null.
    serde_json::to_string(run).unwrap_or_default()
}

/// Parses a run. Unknown fields are ignored.
///
/// # Errors
///
/// Returns [`ReadError::TooNew`] for a record of a newer version, or an error for one that is invalid or
/// impossible.
pub fn from_json(text: &str) -> Result<Run, ReadError> {
    match serde_json::from_str::<VersionedRun>(text)?.schema {
        None => Err(ReadError::NoSchema),
        Some(found) if found > SCHEMA => Err(ReadError::TooNew { found }),
        Some(_) => {
            let mut run: Run = serde_json::from_str(text)?;
            without_impossible_disks(&mut run);
            if is_beyond_measure(&run) {
                return Err(ReadError::Impossible);
            }
            Ok(if may_hide(text) { printable(run) } else { run })
        }
    }
}
