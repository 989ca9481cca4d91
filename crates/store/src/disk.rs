//! Durable file operations.

use std::fs::{DirBuilder, File};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use crate::error::{Error, Result};

/// Creates a folder for this user alone, with its parents. An existing one is left unchanged.
pub(crate) fn make_private_folder(path: &Path) -> Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| Error::io(path, "create the directory", error))
}

/// Writes a new file and waits until it is on the device.
pub(crate) fn write_durably(path: &Path, bytes: &[u8]) -> Result<()> {
    let written = create(path).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.map_err(|error| Error::io(path, "write", error))
}

/// Creates a file. An existing one is removed first, so that a link is never followed.
pub(crate) fn create(path: &Path) -> std::io::Result<File> {
    match File::create_new(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            std::fs::remove_file(path)?;
            File::create_new(path)
        }
        created => created,
    }
}

/// Replaces a file atomically by way of `temporary`, which must be in the same folder.
pub(crate) fn replace(path: &Path, temporary: &Path, bytes: &[u8]) -> Result<()> {
    write_durably(temporary, bytes)?;
    rename(temporary, path)
}

/// Replaces a file of the user's data atomically, and creates its folder for this user alone.
///
/// # Errors
///
/// If the folder or the file cannot be written.
pub fn replace_file(path: &Path, bytes: &[u8]) -> Result<()> {
    path.parent().map_or(Ok(()), make_private_folder)?;
    replace(path, &path.with_extension(format!("{}.new", std::process::id())), bytes)
}

/// Renames within a folder and waits until the folder is on the device.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<()> {
    std::fs::rename(from, to).map_err(|error| Error::io(to, "rename into place", error))?;
    to.parent().map_or(Ok(()), sync_folder)
}

/// Waits until the names in a folder are on the device.
pub(crate) fn sync_folder(path: &Path) -> Result<()> {
    let synced = File::open(path).and_then(|folder| folder.sync_all());
    synced.map_err(|error| Error::io(path, "sync the directory", error))
}

/// More than any file of a run: a record of 2,000 results takes about 100 MB.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// Reads a regular file. Reading a pipe might never return, and reading a device never end.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let failed = |error| Error::io(path, "read", error);
    let facts = std::fs::metadata(path).map_err(failed)?;
    let refused = |why| Err(failed(std::io::Error::new(std::io::ErrorKind::InvalidInput, why)));
    match () {
        () if !facts.is_file() => refused("not a regular file"),
        () if facts.len() > FILE_BYTES_MAX => refused("larger than 1 GiB"),
        () => std::fs::read(path).map_err(failed),
    }
}
