//! Errors before the first operation, each with place, reason and remedy.

use std::path::Path;
use std::{fmt, io};
use units::{Problem, ProblemCode};

/// An error before the first operation.
///
/// Failures of single operations are not errors; their completions report them.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{problem}")]
pub struct Error {
    /// Kind of failure.
    pub kind: ErrorKind,
    /// What could not be done and why: `cannot open /dev/shm/x: Invalid argument (os error 22)`.
    pub problem: Box<Problem>,
    /// The system's error number, if there is one.
    pub errno: Option<i32>,
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        *error.problem
    }
}

/// Kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A file or device cannot be opened, read, written or removed.
    File,
    /// `O_DIRECT` is not possible, or not with these block sizes.
    Direct,
    /// A filesystem has too little free space.
    NoSpace,
    /// The user cancelled it.
    Cancelled,
    /// The write gate refused it.
    Gate,
    /// An export of an NBD server is unavailable.
    Export,
    /// The engine is unavailable on this host or with these options.
    Engine,
    /// Memory for buffers cannot be allocated.
    Memory,
    /// A setting of the thread or the host cannot be changed or read.
    Host,
}

impl Error {
    /// Creates an error from a failed system call.
    pub(crate) fn system(
        kind: ErrorKind,
        operation: &'static str,
        place: impl Into<String>,
        error: &io::Error,
    ) -> Self {
        Self { errno: error.raw_os_error(), ..Self::found(kind, operation, place, error.to_string()) }
    }

    /// Creates an error from a failed system call on a file, with its remedy if one is known.
    pub(crate) fn file(operation: &'static str, path: &Path, error: &io::Error) -> Self {
        let failed = Self::system(ErrorKind::File, operation, path.display().to_string(), error);
        Self { problem: Box::new(failed.problem.maybe_help(remedy(error).map(str::to_owned))), ..failed }
    }

    /// Creates an error that does not come from a system call.
    pub(crate) fn found(
        kind: ErrorKind,
        operation: &'static str,
        place: impl Into<String>,
        reason: impl Into<String>,
    ) -> Self {
        let code = if kind == ErrorKind::Gate { ProblemCode::Overwrite } else { ProblemCode::Device };
        let what = format!("cannot {operation} {}: {}", place.into(), reason.into());
        Self { kind, problem: Box::new(Problem::error(code, what)), errno: None }
    }

    /// Adds what the user can do about it.
    pub(crate) fn with_remedy(self, help: impl Into<String>) -> Self {
        Self { problem: Box::new(self.problem.help(help)), ..self }
    }
}

/// Returns the problem `subject: error` of a failed system call, with its remedy if one is known.
#[must_use]
pub fn io_problem(code: ProblemCode, subject: impl fmt::Display, error: &io::Error) -> Problem {
    Problem::error(code, error.to_string()).of(subject).maybe_help(remedy(error).map(str::to_owned))
}

/// Returns the remedy for a system error on a file, if one is known.
#[must_use]
pub fn remedy(error: &io::Error) -> Option<&'static str> {
    Some(match error.raw_os_error()? {
        libc::ENOENT => "correct the path, or create its directory or the target of the link",
        libc::ENOTDIR => "correct the path: one of its components is a file, not a directory",
        libc::EISDIR => "specify a file in the directory",
        libc::EACCES | libc::EPERM => "run as a user with access, or change its owner or mode (see ls -l)",
        libc::EROFS => "use another filesystem: this one is mounted read-only",
        libc::ENOSPC => "free space on its filesystem (see df), or use another filesystem",
        libc::EDQUOT => "free space (the quota is exhausted, see quota), or use another path",
        libc::EFBIG => "raise the file size limit (ulimit -f), or use a smaller size",
        libc::ENAMETOOLONG => "use a shorter name",
        libc::ELOOP => "fix the symbolic links: they form a loop",
        libc::EMFILE | libc::ENFILE => "raise the open-file limit (ulimit -n)",
        libc::EBUSY | libc::ETXTBSY => "stop the program that uses it (see fuser or lsof), or use another file",
        libc::EIO => "see the kernel log (dmesg): the device reported the error",
        libc::ENXIO | libc::ENODEV => "see lsblk and the kernel log (dmesg): the device is gone or never existed",
        _ => return None,
    })
}

/// Returns the error number of the last failed system call, never zero.
pub(crate) fn last_errno() -> i32 {
    io::Error::last_os_error().raw_os_error().filter(|&errno| errno != 0).unwrap_or(libc::EIO)
}
