//! Free space of filesystems.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use probe::{existing_ancestor, free_bytes};
use units::Bytes;

use crate::error::{Error, ErrorKind};

/// Checks that each filesystem has enough free space for the bytes to be added to all files in it. Neither the files
/// nor the directories above them need to exist.
///
/// # Errors
/// Returns [`ErrorKind::NoSpace`] with the figures if a filesystem has too little, before anything is written.
pub fn check_space<'a>(growth: impl IntoIterator<Item = (&'a Path, u64)>) -> Result<(), Error> {
    let mut filesystems: BTreeMap<u64, (PathBuf, u64)> = BTreeMap::new();
    for (path, bytes) in growth {
        let directory = existing_ancestor(path);
        let device = std::fs::metadata(&directory).map_err(|error| Error::file("look at", &directory, &error))?.dev();
        let needed = &mut filesystems.entry(device).or_insert((directory, 0)).1;
        *needed = needed.saturating_add(bytes);
    }
    for (directory, bytes) in filesystems.into_values() {
        let free = free_bytes(&directory).map_err(|error| Error::file("look at", &directory, &error))?;
        if bytes > free {
            return Err(no_space(&directory, bytes, free));
        }
    }
    Ok(())
}

fn no_space(directory: &Path, needed: u64, free: u64) -> Error {
    let (needed, lack) = (Bytes::new(needed), Bytes::new(needed - free));
    let reason = format!("{needed} are to be written and {} are free there, {lack} too few", Bytes::new(free));
    let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_path_buf());
    Error::found(ErrorKind::NoSpace, "lay out files on the filesystem of", directory.display().to_string(), reason)
        .with_remedy("use a smaller size, or a directory on a larger filesystem")
}
