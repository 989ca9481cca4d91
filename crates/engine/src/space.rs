//! Free space of filesystems.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use probe::{existing_ancestor, free_bytes};
use units::Bytes;

use crate::error::{Error, ErrorKind};

/// What a file will need of its filesystem.
pub(crate) struct SpaceNeed<'a> {
    pub(crate) path: &'a Path,
    /// Number of the file's filesystem (`st_dev`); `None` if the file does not exist.
    pub(crate) filesystem: Option<u64>,
    pub(crate) bytes: u64,
}

/// Checks that each filesystem has enough free space for the bytes to be added to all files in it. Neither the files
/// nor the directories above them need to exist.
///
/// # Errors
/// Returns [`ErrorKind::NoSpace`] with the figures if a filesystem has too little, before anything is written.
pub(crate) fn check_space<'a>(needs: impl IntoIterator<Item = SpaceNeed<'a>>) -> Result<(), Error> {
    let mut filesystems: BTreeMap<u64, (PathBuf, u64)> = BTreeMap::new();
    // Missing files that follow each other mostly have the same directory.
    let mut last_directory: Option<(&Path, u64)> = None;
    for need in needs.into_iter().filter(|need| need.bytes > 0) {
        let known = need.filesystem.or_else(|| {
            last_directory.filter(|(directory, _)| need.path.parent() == Some(directory)).map(|(_, number)| number)
        });
        let number = match known {
            Some(number) => number,
            None => {
                let directory = existing_ancestor(need.path);
                let found = std::fs::metadata(&directory).map_err(|error| Error::file("stat", &directory, &error))?;
                last_directory = need.path.parent().map(|parent| (parent, found.dev()));
                found.dev()
            }
        };
        let needed = &mut filesystems.entry(number).or_insert_with(|| (existing_ancestor(need.path), 0)).1;
        *needed = needed.saturating_add(need.bytes);
    }
    for (directory, bytes) in filesystems.into_values() {
        let free = free_bytes(&directory).map_err(|error| Error::file("stat", &directory, &error))?;
        if bytes > free {
            return Err(no_space(&directory, bytes, free));
        }
    }
    Ok(())
}

fn no_space(directory: &Path, needed: u64, free: u64) -> Error {
    let (needed, lack) = (Bytes::new(needed), Bytes::new(needed - free));
    let reason = format!("{needed} needed, {} free, {lack} short", Bytes::new(free));
    let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_path_buf());
    Error::found(ErrorKind::NoSpace, "lay out files in", directory.display().to_string(), reason)
        .with_remedy("use a smaller size, or a directory on a larger filesystem")
}
