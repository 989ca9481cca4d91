//! Removes what crashed processes left.

use std::path::Path;

use crate::error::{Error, Result};
use crate::lock::StoreLock;

/// Folders in which a run is being written.
pub(crate) const WRITING: &str = ".writing-";
/// Folders that are being removed.
pub(crate) const REMOVING: &str = ".removing-";
/// The lock in a folder that is being written; the one who writes holds it.
pub(crate) const WRITER_LOCK: &str = ".lock";

/// Removes what no process works on any more. Under the store's lock, so that no folder is without the lock of its writer.
pub(crate) fn sweep(root: &Path) -> Result<()> {
    let listed = root.read_dir().map_err(|error| Error::io(root, "listing", error))?;
    for folder in listed.filter_map(std::io::Result::ok) {
        let name = folder.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(REMOVING) || (name.starts_with(WRITING) && is_abandoned(&folder.path())) {
            // What cannot be removed now is still there the next time.
            let _ = std::fs::remove_dir_all(folder.path());
        }
    }
    Ok(())
}

fn is_abandoned(folder: &Path) -> bool {
    matches!(StoreLock::try_now(&folder.join(WRITER_LOCK)), Ok(Some(_)))
}
