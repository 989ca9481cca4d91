//! Operations that never completed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::CallKind;

/// A call that had not returned when the run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StuckOperation {
    pub job: String,
    /// File, device or export; empty if unknown.
    pub file: String,
    /// Kind of operation.
    pub kind: CallKind,
    /// Offset in bytes from the start of the file.
    pub offset: u64,
    /// Length in bytes; zero for operations without data.
    pub length: u32,
    /// Time it had been waiting, in nanoseconds.
    pub waited_ns: u64,
}
