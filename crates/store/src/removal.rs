//! Removes runs.

use std::path::Path;

use crate::error::{Error, Result};
use crate::folder::{self, KEPT};
use crate::sweep::REMOVING;
use crate::{Entry, Filter, RunStore, disk, id};

/// Limits of retention. The oldest runs go first; runs marked by [`RunStore::keep`] stay.
#[derive(Clone, Copy, Debug, Default)]
pub struct Retention {
    /// Runs that began longer ago than this go, in milliseconds; `None` for any age.
    pub max_age_ms: Option<u64>,
    /// Runs go until all files together have no more bytes than this; `None` for any number.
    pub max_bytes: Option<u64>,
    /// So many of those begun last stay in any case.
    pub latest: usize,
}

impl RunStore {
    /// Removes the runs that are named as for [`RunStore::load`], and says which. Damaged ones go by their whole id.
    ///
    /// # Errors
    ///
    /// What is wrong with each of the names, where anything is: nothing is removed then. The first one that could not be
    /// removed otherwise.
    pub fn remove(&self, which: &[impl AsRef<str>]) -> std::result::Result<Vec<String>, Vec<Error>> {
        let (mut ids, mut errors) = (Vec::new(), Vec::new());
        for name in which {
            match self.resolve(name.as_ref()).and_then(|id| self.check_ours(id)) {
                Ok(id) if ids.contains(&id) => {}
                Ok(id) => ids.push(id),
                Err(error) => errors.push(error),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let removed = self.lock().and_then(|_lock| self.remove_under_lock(&ids));
        removed.map_err(|error| vec![error])?;
        Ok(ids)
    }

    /// Marks a run so that retention leaves it alone, or takes the mark away.
    ///
    /// # Errors
    ///
    /// Where there is no such run, or the store cannot be written to.
    pub fn keep(&self, which: &str, keep: bool) -> Result<()> {
        let _lock = self.lock()?;
        self.check_version()?;
        let folder = self.root.join(self.resolve(which)?);
        folder::read_manifest(&folder)?;
        let mark = folder.join(KEPT);
        match (keep, mark.exists()) {
            (true, false) => disk::write_durably(&mark, b"")?,
            (false, true) => std::fs::remove_file(&mark).map_err(|error| Error::io(&mark, "removing", error))?,
            _ => return Ok(()),
        }
        disk::sync_folder(&folder)
    }

    /// Removes what is too old at `now_unix_ms` or too much, and says which.
    ///
    /// # Errors
    ///
    /// Where the store cannot be listed or written to.
    pub fn retain(&self, retention: Retention, now_unix_ms: u64) -> Result<Vec<String>> {
        // From here on no process can mark a run.
        let _lock = self.lock()?;
        let ids: Vec<String> = self.surplus(retention, now_unix_ms)?.into_iter().map(|entry| entry.id).collect();
        self.remove_under_lock(&ids)?;
        Ok(ids)
    }

    /// What [`RunStore::retain`] would remove.
    ///
    /// # Errors
    ///
    /// Where the store cannot be listed.
    pub fn surplus(&self, retention: Retention, now_unix_ms: u64) -> Result<Vec<Entry>> {
        let entries = self.list(&Filter::default())?.entries;
        let mut bytes: u64 = entries.iter().map(Entry::bytes).sum();
        let oldest_ms = retention.max_age_ms.map_or(0, |age| now_unix_ms.saturating_sub(age));
        let removable = entries.len().saturating_sub(retention.latest);
        let goes = |entry: &Entry| {
            let is_too_much = retention.max_bytes.is_some_and(|most| bytes > most);
            let goes = !entry.kept && (is_too_much || entry.kept_since_unix_ms() < oldest_ms);
            bytes -= if goes { entry.bytes() } else { 0 };
            goes
        };
        Ok(entries.into_iter().take(removable).filter(goes).collect())
    }

    fn check_ours(&self, id: String) -> Result<String> {
        if id::is_id(&id) {
            return Ok(id);
        }
        Err(folder::foreign(&self.root.join(id), "its name is not that of a run"))
    }

    fn remove_under_lock(&self, ids: &[String]) -> Result<()> {
        self.check_version()?;
        ids.iter().try_for_each(|id| self.remove_one(&self.root.join(id), id))
    }

    /// Takes the folder out of sight first, so that no reader sees half of it.
    fn remove_one(&self, folder: &Path, id: &str) -> Result<()> {
        if folder.symlink_metadata().is_err() {
            return Ok(());
        }
        let aside = self.root.join(format!("{REMOVING}{id}"));
        disk::rename(folder, &aside)?;
        std::fs::remove_dir_all(&aside).map_err(|error| Error::io(&aside, "removing", error))
    }
}
