//! Errors of the store.

use std::io;
use std::path::{Path, PathBuf};

/// An error of the store.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}\nhelp: {remedy}", .path.display())]
pub struct Error {
    /// The file or folder it is about.
    pub path: PathBuf,
    /// What is wrong.
    pub reason: Reason,
    /// What to do about it.
    pub remedy: String,
}

/// Reason of an error.
#[derive(Debug, thiserror::Error)]
pub enum Reason {
    /// The system refused.
    #[error("{doing}: {error}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        error: io::Error,
    },
    /// It is not what was once written.
    #[error("damaged: {0}")]
    Damaged(String),
    /// It was not made by this program.
    #[error("not a run that was kept: {0}")]
    Foreign(String),
    /// A later version of the program made it.
    #[error("of version {found}, but this program knows versions up to {known}")]
    TooNew {
        /// Its version.
        found: u32,
        /// The latest version that is known.
        known: u32,
    },
    /// No run has this name.
    #[error("no run \"{0}\"")]
    Unknown(String),
    /// Several runs have names that begin so.
    #[error("\"{name}\" may mean any of {}", .candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        name: String,
        /// What it may mean.
        candidates: Vec<String>,
    },
    /// Another process has held the lock for too long.
    #[error("another process has held the store's lock for {0} s")]
    Busy(u64),
    /// It cannot be taken in as a run.
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
                "make it accessible to you, or keep runs elsewhere"
            }
            io::ErrorKind::NotFound => "check the path",
            _ => "check the file system, or keep runs elsewhere",
        };
        Self::new(path, Reason::Io { doing, error }, remedy)
    }
}
