//! State file of a command that continues after an interruption: read, replaced atomically, locked.

use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use engine::describe;
use engine::gate::{Existing, create_output};

use crate::input;

/// Reads a state; `None` if there is none.
///
/// # Errors
///
/// Returns why it cannot be read and, after `help: `, what to do.
pub fn read(path: &Path) -> Result<Option<String>, String> {
    match input::read_text(path, input::STATE) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!(
            "the state {} cannot be read: {}\nhelp: give another file with --state, or start again with --restart",
            path.display(),
            describe(&error)
        )),
    }
}

/// Replaces a state atomically: a reader sees the old or the new one.
///
/// # Errors
///
/// Returns why it cannot be written and, after `help: `, what to do.
pub fn replace(path: &Path, text: &str) -> Result<(), String> {
    let new = hidden_sibling(path, "new");
    let write = || {
        let mut file = create_output(&new, Existing::Replace)?;
        file.write_all(text.as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        std::fs::rename(&new, path)
    };
    write().map_err(|error| {
        format!(
            "the state {} cannot be written: {}\nhelp: give another file with --state",
            path.display(),
            describe(&error)
        )
    })
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
    pub fn acquire(state: &Path) -> Result<Self, String> {
        let path = hidden_sibling(state, "lock");
        let cannot = |error: &std::io::Error| {
            format!(
                "the state {} cannot be locked: {}\nhelp: give another file with --state",
                state.display(),
                describe(error)
            )
        };
        let file = create_output(&path, Existing::Replace).map_err(|denied| cannot(&denied.into()))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { path, _file: file }),
            Err(TryLockError::WouldBlock) => Err(format!(
                "another fathom process uses the state {}\nhelp: wait for it, or give another file with --state",
                state.display()
            )),
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
