use std::io;
use std::path::{Path, PathBuf};

/// An error of the store.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}\nhelp: {remedy}", .path.display())]
pub struct Error {
    /// File or folder concerned.
    pub path: PathBuf,
    pub reason: Reason,
    /// How to fix it.
    pub remedy: String,
}

/// Reason of an error.
#[derive(Debug, thiserror::Error)]
pub enum Reason {
    /// A system call failed.
    #[error("{doing}: {error}")]
    Io {
        /// Operation.
        doing: &'static str,
        /// Error of the system.
        error: io::Error,
    },
    /// The content differs from what was written.
    #[error("damaged: {0}")]
    Damaged(String),
    /// It is not a run of this program.
    #[error("not a saved run: {0}")]
    Foreign(String),
    /// A later version of the program wrote it.
    #[error("of version {found}, but this program knows versions up to {known}")]
    TooNew {
        /// Its version.
        found: u32,
        /// Latest supported version.
        known: u32,
    },
    /// No run has this name.
    #[error("no run \"{0}\"")]
    Unknown(String),
    /// Several runs match the name.
    #[error("\"{name}\" may mean any of {}", .candidates.join(", "))]
    Ambiguous {
        /// Requested name.
        name: String,
        /// Matching names.
        candidates: Vec<String>,
    },
    /// Another process has held the lock for too long.
    #[error("another process has held the store's lock for {0} s")]
    Busy(u64),
    /// It cannot be stored as a run.
    #[error("{0}")]
    Refused(String),
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(path: &Path, reason: Reason, remedy: impl Into<String>) -> Self {
        Self { path: path.to_owned(), reason, remedy: remedy.into() }
    }

    pub(crate) fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::new(path, Reason::Damaged(what.into()), "copy it back from elsewhere, or remove the run")
    }

    pub(crate) fn too_new(path: &Path, found: u32, known: u32) -> Self {
        Self::new(path, Reason::TooNew { found, known }, "use a newer fathom")
    }

    pub(crate) fn io(path: &Path, doing: &'static str, error: io::Error) -> Self {
        let remedy = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "make room, remove runs, or keep them elsewhere"
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                "make it accessible to you, or save runs elsewhere"
            }
            io::ErrorKind::NotFound => "check the path",
            _ => "check the file system, or save runs elsewhere",
        };
        Self::new(path, Reason::Io { doing, error }, remedy)
    }
}
