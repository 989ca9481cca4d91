use std::path::{Path, PathBuf};
use std::time::Duration;

use record::{EnvironmentRecord, Input, RunKind, read_input};
use units::ProblemCode;

use crate::error::{Error, Result};
use crate::lock::{LOCK_TIMEOUT, StoreLock};
use crate::manifest::{FORMAT, StoreVersion, seal, unseal};
use crate::{disk, folder};

const LOCK: &str = "lock";
pub(crate) const INDEX: &str = "index.json";
const VERSION: &str = "store.json";
const VERSION_TEMPORARY: &str = ".store.json";
/// Name of the file with the text from which a run was imported.
const IMPORTED: &str = "imported";

/// A folder of runs. It keeps nothing open, so any number of processes may use it at once.
#[derive(Clone, Debug)]
pub struct RunStore {
    pub(crate) root: PathBuf,
    lock_timeout: Duration,
}

impl RunStore {
    /// Opens the store in `root`, which is created for this user alone if missing, and removes what crashed processes
    /// left. A folder without write permission can still be read.
    ///
    /// # Errors
    /// When the folder is missing and cannot be created, or is not a folder.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self> {
        let store = Self { root: root.into(), lock_timeout: LOCK_TIMEOUT };
        if !store.root.is_dir() {
            disk::make_private_folder(&store.root)?;
        }
        // Without write permission, nothing needs to be removed.
        let _ = store.sweep();
        Ok(store)
    }

    /// Sets how long to wait for a lock held by another process; a minute by default.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { lock_timeout: patience, ..self }
    }

    /// Returns the folder of the store.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Saves a run of another program with its original text. `name` is the name of the text; `number` selects one of
    /// several runs, from 1. A run without a date gets `now_unix_ms`.
    ///
    /// # Errors
    /// When the text contains no such run, besides the errors of [`RunStore::begin`].
    pub fn import(&self, name: &str, bytes: &[u8], number: Option<usize>, now_unix_ms: u64) -> Result<String> {
        let refused = |reason: String, remedy| Error::new(Path::new(name), ProblemCode::SavedRun, reason, remedy);
        let run = match read_input(name, bytes, number) {
            Ok(Input::Run(run)) => run,
            Ok(Input::Iostat(counters)) => {
                let remedy = "import output of fio or fathom";
                return Err(refused(format!("{} output is not a run", counters.format.name()), remedy.to_owned()));
            }
            Err(problem) => {
                let place = problem.place.as_deref().map_or((1, 1), |place| (place.line, place.column));
                let what = format!("line {}, character {}: {}", place.0, place.1, problem.what);
                return Err(refused(what, problem.help.unwrap_or_default()));
            }
        };
        let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
        let is_simulated = run.model.as_ref().is_some_and(|model| model.virtual_time);
        let mut writer = self.begin(if is_simulated { RunKind::Sim } else { RunKind::Run }, &stem)?;
        writer.attach(IMPORTED, bytes)?;
        writer.added_at(now_unix_ms);
        let mut environment = EnvironmentRecord::of(&run);
        if environment.started_unix_ms == 0 {
            environment.started_unix_ms = now_unix_ms;
        }
        writer.finish_in(&run, &environment)
    }

    pub(crate) fn lock(&self) -> Result<StoreLock> {
        StoreLock::wait(&self.root.join(LOCK), self.lock_timeout)
    }

    pub(crate) fn try_lock(&self) -> Result<Option<StoreLock>> {
        StoreLock::try_now(&self.root.join(LOCK))
    }

    /// Refuses a store of a later version.
    pub(crate) fn check_version(&self) -> Result<()> {
        let path = self.root.join(VERSION);
        if path.exists() {
            let damaged = "remove this file to have it rewritten: runs are not affected";
            let version: Result<StoreVersion> = unseal(&path, &disk::read(&path)?);
            version.map_err(|error| match error.problem.code {
                ProblemCode::Damaged => error.with_help(damaged),
                _ => error,
            })?;
        }
        Ok(())
    }

    /// Writes the version of a new store. Requires the lock.
    pub(crate) fn claim_version(&self) -> Result<()> {
        self.check_version()?;
        let path = self.root.join(VERSION);
        if path.exists() {
            return Ok(());
        }
        disk::replace(&path, &self.root.join(VERSION_TEMPORARY), &seal(&StoreVersion { format: FORMAT }))
    }

    fn sweep(&self) -> Result<()> {
        self.check_version()?;
        match self.try_lock()? {
            Some(_lock) => folder::sweep(&self.root),
            None => Ok(()),
        }
    }
}

/// Reports whether a name in the root belongs to the store rather than to a run.
pub(crate) fn is_reserved(name: &str) -> bool {
    name.starts_with('.') || [LOCK, VERSION, INDEX].contains(&name)
}
