use std::io;
use std::path::{Path, PathBuf};

use units::{Problem, ProblemCode};

/// A problem of a file or folder of the store.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}: {problem}", .path.display())]
pub struct Error {
    pub path: PathBuf,
    pub problem: Box<Problem>,
    pub(crate) is_unknown: bool,
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        error.problem.of(error.path.display())
    }
}

impl Error {
    pub(crate) fn new(path: &Path, code: ProblemCode, what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { path: path.to_owned(), problem: Box::new(Problem::error(code, what).help(help)), is_unknown: false }
    }

    /// Reports whether no run has the requested name.
    #[must_use]
    pub const fn is_unknown(&self) -> bool {
        self.is_unknown
    }

    pub(crate) fn with_help(self, help: &str) -> Self {
        Self { problem: Box::new(self.problem.help(help)), ..self }
    }

    pub(crate) fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::new(
            path,
            ProblemCode::Damaged,
            format!("damaged: {}", what.into()),
            "restore it from a copy, or remove the run",
        )
    }

    pub(crate) fn too_new(path: &Path, found: u32, known: u32) -> Self {
        let what = format!("version {found} is not supported: this program supports versions up to {known}");
        Self::new(path, ProblemCode::Store, what, "use a newer fathom")
    }

    #[expect(clippy::needless_pass_by_value, reason = "`map_err` passes it by value")]
    pub(crate) fn io(path: &Path, doing: &str, error: io::Error) -> Self {
        let remedy = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "free space, remove runs, or save them elsewhere"
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                "change its permissions, or save runs elsewhere"
            }
            io::ErrorKind::NotFound => "check the path",
            _ => "check the filesystem, or save runs elsewhere",
        };
        Self::new(path, ProblemCode::Store, format!("cannot {doing}: {error}"), remedy)
    }
}
