//! State file of a command that continues after an interruption: read, replaced atomically, locked.

use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use engine::gate::{Existing, create_output};
use engine::io_problem;
use units::{Problem, ProblemCode};

use crate::input;

/// Reads a state; `None` if there is none.
///
/// # Errors
///
/// Returns why it cannot be read, with what to do.
pub fn read(path: &Path) -> Result<Option<String>, Problem> {
    match input::read_text(path, input::STATE) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => {
            Err(cannot("read", path, &error).also_help("use another file with --state, or start over with --restart"))
        }
    }
}

/// Replaces a state atomically: a reader sees the old or the new one.
///
/// # Errors
///
/// Returns why it cannot be written, with what to do.
pub fn replace(path: &Path, text: &str) -> Result<(), Problem> {
    let new = hidden_sibling(path, "new");
    let write = || {
        let mut file = create_output(&new, Existing::Replace)?;
        file.write_all(text.as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        std::fs::rename(&new, path)
    };
    write().map_err(|error| cannot("written", path, &error).also_help(OTHER_FILE))
}

const OTHER_FILE: &str = "use another file with --state";

fn cannot(doing: &str, state: &Path, error: &std::io::Error) -> Problem {
    io_problem(ProblemCode::File, format_args!("the state file {} cannot be {doing}", state.display()), error)
}

/// Exclusive lock of a state, held until dropped.
#[derive(Debug)]
pub struct StateLock {
    path: PathBuf,
    _file: File,
}

impl StateLock {
    /// Locks the state at a path.
    ///
    /// # Errors
    ///
    /// Fails if another process holds the lock, or the file of the lock cannot be created.
    pub fn acquire(state: &Path) -> Result<Self, Problem> {
        let path = hidden_sibling(state, "lock");
        let cannot = |error: &std::io::Error| cannot("locked", state, error).also_help(OTHER_FILE);
        let file = create_output(&path, Existing::Replace).map_err(|denied| cannot(&denied.into()))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { path, _file: file }),
            Err(TryLockError::WouldBlock) => {
                let what = format!("another fathom process is using the state file {}", state.display());
                Err(Problem::error(ProblemCode::File, what)
                    .help("wait for it to finish, or use another file with --state"))
            }
            Err(TryLockError::Error(error)) => Err(cannot(&error)),
        }
    }
}

impl Drop for StateLock {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Returns the path of a hidden file beside a state.
fn hidden_sibling(state: &Path, extension: &str) -> PathBuf {
    let name = state.file_name().map_or_else(|| "state".into(), |name| name.to_string_lossy().into_owned());
    state.with_file_name(format!(".{name}.{extension}"))
}
