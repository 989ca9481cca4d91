//! The index: cached manifests of all runs.
//!
//! Listing brings the index up to date, and it can be removed at any time. A row is valid only while no file in its
//! folder has changed; otherwise the folder is read, each file against its checksum.
//!
//! Adding a run does not write the index. It writes its own folder and holds a lock for one rename, so no process waits
//! for another's files, and a crash can damage one run at most.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::manifest::{Entry, FORMAT, seal, unseal};
use crate::store::INDEX;
use crate::{RunStore, disk};

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
    pub(crate) entry: Entry,
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
