//! State file of a suite, with the finished steps.

use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use engine::describe;
use engine::gate::{Existing, create_output};
use procedure::suite::{SuiteQuestion, SuiteState, hash};

/// Loads the state at a path, if there is one. Fails if it is unreadable or belongs to another run.
pub(super) fn load(path: &Path, question: &SuiteQuestion<'_>, seed: Option<u64>) -> Result<Option<SuiteState>, String> {
    match device::input::read_text(path, device::input::STATE) {
        Ok(text) => SuiteState::parse(&path.display().to_string(), &text, question, seed).map(Some),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!(
            "the state {} cannot be read: {}\nhelp: give another file with --state, or start again with --restart",
            path.display(),
            describe(&error)
        )),
    }
}

/// Replaces the state atomically: a reader sees the old or the new one.
pub(super) fn save(state: &SuiteState, path: &Path) -> Result<(), String> {
    let new = hidden_sibling(path, "new");
    let text = state.to_json();
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
pub(super) struct SuiteLock {
    path: PathBuf,
    _file: File,
}

impl SuiteLock {
    /// Locks the state at a path. Fails if another process holds the lock.
    pub(super) fn acquire(state: &Path) -> Result<Self, String> {
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
                "another fathom process runs this suite with the state {}\nhelp: wait for it, or give another \
                 file with --state",
                state.display()
            )),
            Err(TryLockError::Error(error)) => Err(cannot(&error)),
        }
    }
}

impl Drop for SuiteLock {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Returns the path of a hidden file beside a state.
fn hidden_sibling(state: &Path, extension: &str) -> PathBuf {
    let name = state.file_name().map_or_else(|| "state".into(), |name| name.to_string_lossy().into_owned());
    state.with_file_name(format!(".{name}.{extension}"))
}

/// Returns the default path of a state: one file for each suite, target and volume.
pub(super) fn default_path(question: &SuiteQuestion<'_>) -> Result<PathBuf, String> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    // The XDG base directory specification ignores relative paths.
    let base = set("XDG_STATE_HOME").filter(|path| path.is_absolute());
    let base = base.or_else(|| set("HOME").map(|home| home.join(".local/state")));
    let Some(base) = base else {
        return Err(
            "no directory for the state: neither XDG_STATE_HOME nor HOME is set\nhelp: give --state FILE".to_owned()
        );
    };
    let directory = base.join("fathom").join("suites");
    std::fs::create_dir_all(&directory).map_err(|error| {
        format!("the directory {} cannot be made: {}\nhelp: give --state FILE", directory.display(), describe(&error))
    })?;
    let target = question.target_path().unwrap_or_default();
    let hash = hash(&format!("{target}\n{}", question.volume().unwrap_or_default()));
    Ok(directory.join(format!("{}-{:08x}.json", question.suite().name(), hash as u32)))
}

/// Returns an absolute path.
pub(super) fn absolute(path: &str) -> String {
    std::path::absolute(path).map_or_else(|_| path.to_owned(), |path| path.display().to_string())
}
