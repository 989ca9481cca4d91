//! Free space of filesystems.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use units::Bytes;

use crate::error::{Error, ErrorKind};

/// Checks that each filesystem has room for the bytes that are to be added to files in it, all files together.
/// The files, and directories above them, need not exist.
///
/// # Errors
///
/// [`ErrorKind::NoSpace`] with the figures where one has not, before anything is written.
pub fn check_space<'a>(growth: impl IntoIterator<Item = (&'a Path, u64)>) -> Result<(), Error> {
    let mut filesystems: BTreeMap<u64, (PathBuf, u64)> = BTreeMap::new();
    for (path, bytes) in growth {
        let home = existing_ancestor(path);
        let device = std::fs::metadata(&home).map_err(|error| Error::file("look at", &home, &error))?.dev();
        let needed = &mut filesystems.entry(device).or_insert((home, 0)).1;
        *needed = needed.saturating_add(bytes);
    }
    for (home, bytes) in filesystems.into_values() {
        let free = free_bytes(&home).map_err(|error| Error::file("look at", &home, &error))?;
        if bytes > free {
            return Err(too_little(&home, bytes, free));
        }
    }
    Ok(())
}

/// The file itself, or the nearest directory above it that exists.
pub(crate) fn existing_ancestor(path: &Path) -> PathBuf {
    path.ancestors()
        .find(|ancestor| !ancestor.as_os_str().is_empty() && ancestor.exists())
        .map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// Bytes that users other than root may add to the filesystem at `path`.
pub(crate) fn free_bytes(path: &Path) -> io::Result<u64> {
    capacity_bytes(path).map(|(_, free)| free)
}

/// Bytes of the filesystem at `path`, and how many of them users other than root may still add.
pub(crate) fn capacity_bytes(path: &Path) -> io::Result<(u64, u64)> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: all zeroes is a valid `statvfs64`; it is plain data.
    let mut facts: libc::statvfs64 = unsafe { std::mem::zeroed() };
    // SAFETY: the path is ended by zero, and both outlive the call.
    if unsafe { libc::statvfs64(path.as_ptr(), &raw mut facts) } < 0 {
        return Err(io::Error::last_os_error());
    }
    let bytes = |blocks: u64| blocks.saturating_mul(facts.f_frsize);
    // What only root may add counts neither as free nor as there.
    let theirs = facts.f_bfree.saturating_sub(facts.f_bavail);
    Ok((bytes(facts.f_blocks.saturating_sub(theirs)), bytes(facts.f_bavail)))
}

fn too_little(home: &Path, needed: u64, free: u64) -> Error {
    let (wanted, lack) = (Bytes::new(needed), Bytes::new(needed - free));
    let reason = format!("{wanted} are to be written and {} are free there, {lack} too few", Bytes::new(free));
    let home = home.canonicalize().unwrap_or_else(|_| home.to_path_buf());
    Error::found(ErrorKind::NoSpace, "lay out files on the filesystem of", home.display().to_string(), reason)
        .with_remedy("use a smaller size, or a directory on a larger filesystem")
}
