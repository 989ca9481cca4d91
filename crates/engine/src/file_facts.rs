//! Returns the kind and size of the file at a path without opening it.

use std::fs::{Metadata, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use crate::error::{Error, ErrorKind};

/// `BLKGETSIZE64` of `linux/fs.h`: `_IOR(0x12, 114, size_t)`.
const BLKGETSIZE64: libc::Ioctl = 0x8008_1272_u32 as libc::Ioctl;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A file in a filesystem.
    Regular,
    /// A block device.
    Block,
    /// A character device, such as `/dev/null`.
    Character,
}

/// Facts about the file at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    pub kind: FileKind,
    /// Size in bytes; for a block device as reported by `/sys` or the device.
    pub bytes: u64,
    /// Bytes allocated in the filesystem; less than `bytes` for a file with holes.
    pub allocated: u64,
    /// Number of the filesystem (`st_dev`).
    pub filesystem: u64,
}

/// Returns the facts about the file at `path`, or `None` if there is none.
///
/// # Errors
/// Fails if the path cannot be accessed or refers to a directory, a socket or a pipe.
pub fn look(path: &Path) -> Result<Option<Seen>, Error> {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::file("stat", path, &error)),
    };
    let kind = kind_of(&metadata, path)?;
    let bytes = match kind {
        FileKind::Regular => metadata.len(),
        FileKind::Block => block_bytes(path, metadata.rdev())?,
        FileKind::Character => 0,
    };
    Ok(Some(Seen { kind, bytes, allocated: metadata.blocks() * 512, filesystem: metadata.dev() }))
}

/// Creates the directories above `path`.
pub(crate) fn make_parents(path: &Path) -> Result<(), Error> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => {
            std::fs::create_dir_all(parent).map_err(|error| Error::file("create directory", parent, &error))
        }
        _ => Ok(()),
    }
}

pub(crate) fn kind_of(metadata: &Metadata, path: &Path) -> Result<FileKind, Error> {
    let kind = metadata.file_type();
    if kind.is_file() {
        Ok(FileKind::Regular)
    } else if kind.is_block_device() {
        Ok(FileKind::Block)
    } else if kind.is_char_device() {
        Ok(FileKind::Character)
    } else {
        Err(unusable(path))
    }
}

/// Returns the error for a path that is neither a file nor a device.
pub(crate) fn unusable(path: &Path) -> Error {
    let reason = "it is neither a file nor a device";
    Error::found(ErrorKind::File, "use", path.display().to_string(), reason)
        .with_remedy("specify a file or a device, or use directory= for a directory")
}

/// Returns the size of a block device from `/sys`, or from the device itself if `/sys` is not mounted.
fn block_bytes(path: &Path, device: u64) -> Result<u64, Error> {
    let (major, minor) = (libc::major(device), libc::minor(device));
    let told = std::fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/size")).ok();
    if let Some(sectors) = told.and_then(|text| text.trim().parse::<u64>().ok()) {
        return Ok(sectors.saturating_mul(512));
    }
    let opened = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path);
    opened.and_then(|file| device_bytes(&file)).map_err(|error| Error::file("get the size of", path, &error))
}

pub(crate) fn device_bytes(file: &std::fs::File) -> io::Result<u64> {
    let mut bytes = 0u64;
    // SAFETY: the call writes one 64-bit number to `bytes`, which outlives it.
    if unsafe { libc::ioctl(file.as_raw_fd(), BLKGETSIZE64, &raw mut bytes) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(bytes)
}
