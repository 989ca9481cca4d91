//! Operations that never completed.

use serde::{Deserialize, Serialize};

/// A call that had not returned when the run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StuckOperation {
    pub job: String,
    /// File, device or export; empty if unknown.
    pub file: String,
    /// Kind of operation.
    pub kind: StuckKind,
    /// Offset in bytes from the start of the file.
    pub offset: u64,
    /// Length in bytes; zero for operations without data.
    pub length: u32,
    /// Time it had been waiting, in nanoseconds.
    pub waited_ns: u64,
}

/// Kinds of stuck operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StuckKind {
    #[default]
    Read,
    Write,
    Trim,
    /// `fsync`.
    Fsync,
    /// `fdatasync`.
    Fdatasync,
    /// `sync_file_range`.
    #[serde(rename = "sync_file_range")]
    SyncFileRange,
    /// `syncfs`.
    Syncfs,
    Open,
    Close,
    /// Unknown, because the worker's thread does not respond.
    Unknown,
}

impl StuckKind {
    /// Returns the name as in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Fsync => "fsync",
            Self::Fdatasync => "fdatasync",
            Self::SyncFileRange => "sync_file_range",
            Self::Syncfs => "syncfs",
            Self::Open => "open",
            Self::Close => "close",
            Self::Unknown => "unknown",
        }
    }
}
