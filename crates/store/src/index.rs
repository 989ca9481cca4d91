//! The index: cached manifests of all runs.
//!
//! It is a cache: listing brings it up to date, and it can be removed at any time. A row counts only as long as no
//! file in its folder was touched.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::manifest::{Entry, FORMAT, seal, unseal};
use crate::store::INDEX;
use crate::{RunStore, disk};

const ASIDE: &str = ".index.json";

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunIndex {
    format: u32,
    pub(crate) rows: BTreeMap<String, IndexRow>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IndexRow {
    /// What [`crate::folder::stamp`] said of the folder.
    pub(crate) stamp: String,
    pub(crate) entry: Entry,
}

impl RunIndex {
    pub(crate) fn of(rows: BTreeMap<String, IndexRow>) -> Self {
        Self { format: FORMAT, rows }
    }

    /// Reads the index of a store; it is empty where there is none, or none that can be read.
    pub(crate) fn load(store: &RunStore) -> Self {
        let path = store.root.join(INDEX);
        let read = disk::read(&path).and_then(|bytes| unseal(&path, &bytes));
        read.unwrap_or_else(|_| Self::of(BTreeMap::new()))
    }

    /// Writes it, unless another process works on the store: then it waits for the next list.
    pub(crate) fn save(&self, store: &RunStore) -> Result<()> {
        store.check_version()?;
        let Some(_lock) = store.try_lock()? else { return Ok(()) };
        disk::replace(&store.root.join(INDEX), &store.root.join(ASIDE), &seal(self))
    }
}
