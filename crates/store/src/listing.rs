use std::collections::BTreeMap;
use std::ffi::OsString;

use serde::{Deserialize, Serialize};

use record::SavedRun;

use crate::error::{Error, Result};
use crate::manifest::{FORMAT, seal, unseal};
use crate::store::{INDEX, is_reserved};
use crate::{Filter, RunStore, disk, folder};

/// The runs of a store.
#[derive(Debug, Default)]
pub struct Listing {
    /// Valid runs, the oldest first.
    pub entries: Vec<SavedRun>,
    /// Folders and files that are damaged, foreign or of a later version, by name, each with its problem.
    pub skipped: Vec<(String, Error)>,
}

impl RunStore {
    /// Lists the runs that `filter` accepts, and everything that is not a valid run.
    ///
    /// # Errors
    /// When the store's folder cannot be read.
    pub fn list(&self, filter: &Filter) -> Result<Listing> {
        let mut listing = self.list_all()?;
        listing.entries.retain(|entry| filter.accepts(entry));
        Ok(listing)
    }

    fn list_all(&self) -> Result<Listing> {
        let known = RunIndex::load(self);
        let (mut rows, mut listing) = (BTreeMap::new(), Listing::default());
        for name in self.names()? {
            let shown = name.to_string_lossy().into_owned();
            match self.row(&name, known.rows.get(&shown)) {
                Ok(row) => {
                    rows.insert(shown, row);
                }
                // Removed in the meantime.
                Err(_) if self.root.join(&name).symlink_metadata().is_err() => {}
                Err(error) => listing.skipped.push((shown, error)),
            }
        }
        self.sort(&rows, &mut listing);
        let index = RunIndex::of(rows);
        if index != known {
            // Without write permission, listing is only slower.
            let _ = index.save(self);
        }
        Ok(listing)
    }

    fn sort(&self, rows: &BTreeMap<String, IndexRow>, listing: &mut Listing) {
        for (name, row) in rows {
            let path = self.root.join(name);
            match folder::check_version(&path, &row.entry) {
                Ok(()) => {
                    listing.entries.push(SavedRun { kept: path.join(folder::KEPT).exists(), ..row.entry.clone() });
                }
                Err(error) => listing.skipped.push((name.clone(), error)),
            }
        }
        listing.entries.sort_by(|a, b| (a.started_unix_ms, &a.id).cmp(&(b.started_unix_ms, &b.id)));
        listing.skipped.sort_by(|a, b| a.0.cmp(&b.0));
    }

    /// Returns the names of potential runs.
    fn names(&self) -> Result<Vec<OsString>> {
        let names = || self.root.read_dir()?.map(|entry| Ok(entry?.file_name())).collect::<std::io::Result<Vec<_>>>();
        let mut names = names().map_err(|error| Error::io(&self.root, "list", error))?;
        names.retain(|name| !is_reserved(&name.to_string_lossy()));
        Ok(names)
    }

    /// Returns the row of a folder, read again if the folder has changed.
    fn row(&self, name: &OsString, known: Option<&IndexRow>) -> Result<IndexRow> {
        let path = self.root.join(name);
        // Taken before the files are read, so that concurrent changes are noticed by the next listing.
        let stamp = folder::stamp(&path).map_err(|_| folder::foreign(&path, "not a readable directory"))?;
        match known.filter(|row| row.stamp == stamp) {
            Some(row) => Ok(row.clone()),
            None => Ok(IndexRow { stamp, entry: SavedRun { kept: false, ..folder::read(&path)? } }),
        }
    }
}

const TEMPORARY: &str = ".index.json";

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunIndex {
    format: u32,
    pub(crate) rows: BTreeMap<String, IndexRow>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IndexRow {
    /// Result of [`crate::folder::stamp`] when the row was made.
    pub(crate) stamp: String,
    pub(crate) entry: SavedRun,
}

impl RunIndex {
    pub(crate) fn of(rows: BTreeMap<String, IndexRow>) -> Self {
        Self { format: FORMAT, rows }
    }

    /// Loads the index; empty if it is missing or unreadable.
    pub(crate) fn load(store: &RunStore) -> Self {
        let path = store.root.join(INDEX);
        let read = disk::read(&path).and_then(|bytes| unseal(&path, &bytes));
        read.unwrap_or_else(|_| Self::of(BTreeMap::new()))
    }

    /// Saves the index, unless another process holds the lock: then a later listing saves it.
    pub(crate) fn save(&self, store: &RunStore) -> Result<()> {
        store.check_version()?;
        let Some(_lock) = store.try_lock()? else { return Ok(()) };
        disk::replace(&store.root.join(INDEX), &store.root.join(TEMPORARY), &seal(self))
    }
}
