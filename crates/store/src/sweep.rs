//! Removes leftovers of crashed processes.

use std::path::Path;

use crate::error::{Error, Result};
use crate::lock::StoreLock;

/// Prefix of folders to which a run is being written.
pub(crate) const WRITING: &str = ".writing-";
/// Prefix of folders that are being removed.
pub(crate) const REMOVING: &str = ".removing-";
/// Lock in a folder that is being written, held by its writer.
pub(crate) const WRITER_LOCK: &str = ".lock";

/// Removes folders that no process uses. Requires the store's lock, under which every folder in use has its writer's
/// lock.
pub(crate) fn sweep(root: &Path) -> Result<()> {
    let listed = root.read_dir().map_err(|error| Error::io(root, "listing", error))?;
    for folder in listed.filter_map(std::io::Result::ok) {
        let name = folder.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(REMOVING) || (name.starts_with(WRITING) && is_abandoned(&folder.path())) {
            // What cannot be removed now is removed later.
            let _ = std::fs::remove_dir_all(folder.path());
        }
    }
    Ok(())
}

fn is_abandoned(folder: &Path) -> bool {
    matches!(StoreLock::try_now(&folder.join(WRITER_LOCK)), Ok(Some(_)))
}
