//! The identity of a file or device, independent of its name.

use std::fs::Metadata;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use probe::Number;

/// A file or device as the kernel tells it apart: equal for hard links, symbolic links and bind mounts of one file, and
/// for all nodes of one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileIdentity {
    /// A regular file: the number of its filesystem's device and its inode.
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
    /// A pipe or socket, which keeps nothing that could be lost.
    Stream,
    /// A directory or anything else that is not written to.
    Other,
}

impl FileIdentity {
    /// The identity of what these metadata are of.
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

    /// The identity of what is at `path`, links followed; `None` where nothing is or it cannot be looked at.
    #[must_use]
    pub fn at(path: &std::path::Path) -> Option<Self> {
        std::fs::metadata(path).ok().map(|metadata| Self::of(&metadata))
    }
}
