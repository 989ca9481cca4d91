//! Identifies files and devices independently of their names.

use std::fs::Metadata;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use probe::Number;

/// The identity of a file or device for the kernel: equal for hard links, symbolic links and bind mounts of one file,
/// and for all nodes of one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileIdentity {
    /// A regular file, by filesystem and inode.
    File {
        /// `st_dev`.
        device: u64,
        /// `st_ino`.
        inode: u64,
    },
    /// A block device.
    Block(Number),
    /// A character device.
    Character(Number),
    /// A pipe or socket, which stores no data.
    Stream,
    /// A directory or another file type that is never written.
    Other,
}

impl FileIdentity {
    /// Returns the identity of the file with these metadata.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Self {
        let kind = metadata.file_type();
        let number = || (libc::major(metadata.rdev()), libc::minor(metadata.rdev()));
        if kind.is_file() {
            Self::File { device: metadata.dev(), inode: metadata.ino() }
        } else if kind.is_block_device() {
            Self::Block(number())
        } else if kind.is_char_device() {
            Self::Character(number())
        } else if kind.is_fifo() || kind.is_socket() {
            Self::Stream
        } else {
            Self::Other
        }
    }

    /// Returns the identity of the file at `path`, following links, or `None` if there is none or it cannot be
    /// accessed.
    #[must_use]
    pub fn at(path: &std::path::Path) -> Option<Self> {
        std::fs::metadata(path).ok().map(|metadata| Self::of(&metadata))
    }
}
