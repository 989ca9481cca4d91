//! Operations that never completed.

use serde::{Deserialize, Serialize};

/// A call that a target had not answered when the run ended without it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StuckOperation {
    /// The job's name.
    pub job: String,
    /// The file, device or export; empty where it is not known.
    pub file: String,
    /// What it was to do.
    pub kind: StuckKind,
    /// Where it begins, in bytes from the start of the file.
    pub offset: u64,
    /// How many bytes it was to transfer; zero where it transfers none.
    pub length: u32,
    /// How long it had been waiting, in nanoseconds.
    pub waited_ns: u64,
}

/// The kind of a stuck operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StuckKind {
    /// Read.
    #[default]
    Read,
    /// Write.
    Write,
    /// Give space back.
    Trim,
    /// `fsync`.
    Fsync,
    /// `fdatasync`.
    Fdatasync,
    /// Open a file.
    Open,
    /// Close files.
    Close,
    /// Not known: the worker's thread does not answer.
    Unknown,
}

impl StuckKind {
    /// Its name, as in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Fsync => "fsync",
            Self::Fdatasync => "fdatasync",
            Self::Open => "open",
            Self::Close => "close",
            Self::Unknown => "unknown",
        }
    }
}
