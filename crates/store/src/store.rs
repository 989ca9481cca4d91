//! The store.

use std::path::{Path, PathBuf};
use std::time::Duration;

use record::{EnvironmentRecord, Input, read_input};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Reason, Result};
use crate::lock::{PATIENCE, StoreLock};
use crate::manifest::{FORMAT, seal, unseal};
use crate::{RunKind, disk, sweep};

const LOCK: &str = "lock";
/// The file of the index.
pub(crate) const INDEX: &str = "index.json";
const VERSION: &str = "store.json";
const VERSION_ASIDE: &str = ".store.json";
/// The text from which a run was imported.
const IMPORTED: &str = "imported";

/// A folder of runs. It keeps nothing open: any number of processes may use it at once.
#[derive(Clone, Debug)]
pub struct RunStore {
    pub(crate) root: PathBuf,
    patience: Duration,
}

#[derive(Serialize, Deserialize)]
struct StoreVersion {
    format: u32,
}

impl RunStore {
    /// Opens the store in `root`, which is made for the user alone where it is missing, and sweeps up what crashed
    /// processes left. A folder that cannot be written to can be read all the same.
    ///
    /// # Errors
    ///
    /// Where the folder is missing and cannot be made, or is none.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self> {
        let store = Self { root: root.into(), patience: PATIENCE };
        if !store.root.is_dir() {
            disk::make_private_folder(&store.root)?;
        }
        // A user who may not write here has nothing to remove either.
        let _ = store.sweep();
        Ok(store)
    }

    /// The same store, which waits no longer than this for another process to give its lock back; without it,
    /// for a minute.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The folder of the store.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Keeps what another program measured, with the text it comes from; `name` says where the text was, and `number` which
    /// of several runs in it is meant, from 1. A run that has no date has that of `now_unix_ms`.
    ///
    /// # Errors
    ///
    /// Where no run can be read from it, besides those of [`RunStore::begin`].
    pub fn import(&self, name: &str, bytes: &[u8], number: Option<usize>, now_unix_ms: u64) -> Result<String> {
        let refused = |reason: String, remedy| Error::new(Path::new(name), Reason::Refused(reason), remedy);
        let run = match read_input(name, bytes, number) {
            Ok(Input::Run(run)) => run,
            Ok(Input::Iostat(_)) => {
                let remedy = "import the output of fio or of fathom";
                return Err(refused("the output of iostat is not a run".to_owned(), remedy.to_owned()));
            }
            Err(error) => {
                let reason = format!("line {}, character {}: {}", error.line, error.column, error.what);
                return Err(refused(reason, error.remedy));
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
        StoreLock::wait(&self.root.join(LOCK), self.patience)
    }

    pub(crate) fn try_lock(&self) -> Result<Option<StoreLock>> {
        StoreLock::try_now(&self.root.join(LOCK))
    }

    /// Refuses a store of a later version.
    pub(crate) fn check_version(&self) -> Result<()> {
        let path = self.root.join(VERSION);
        if path.exists() {
            let damaged = "runs are not affected: remove this file, and it will be written anew";
            let version: Result<StoreVersion> = unseal(&path, &disk::read(&path)?);
            version.map_err(|error| match error.reason {
                Reason::Damaged(_) => Error { remedy: damaged.to_owned(), ..error },
                _ => error,
            })?;
        }
        Ok(())
    }

    /// Marks a new store with the version of its layout. Under the lock.
    pub(crate) fn claim_version(&self) -> Result<()> {
        self.check_version()?;
        let path = self.root.join(VERSION);
        if path.exists() {
            return Ok(());
        }
        disk::replace(&path, &self.root.join(VERSION_ASIDE), &seal(&StoreVersion { format: FORMAT }))
    }

    fn sweep(&self) -> Result<()> {
        self.check_version()?;
        match self.try_lock()? {
            Some(_lock) => sweep::sweep(&self.root),
            None => Ok(()),
        }
    }
}

/// Whether a name in the root is the store's own and no run's.
pub(crate) fn is_own(name: &str) -> bool {
    name.starts_with('.') || [LOCK, VERSION, INDEX].contains(&name)
}
