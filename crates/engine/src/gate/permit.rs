//! Permission to write to an open file or device.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::identity::FileIdentity;
use super::open::{self, OpenMode};

/// The permission to write to one file or device. Clones are the same permission.
#[derive(Clone, Debug)]
pub struct Permit(Arc<HeldFile>);

#[derive(Debug)]
pub(super) struct HeldFile {
    pub(super) path: PathBuf,
    pub(super) identity: FileIdentity,
    /// `None` where descriptors are too few for all files.
    pub(super) file: Option<File>,
    /// Descriptors that keep others away from the same medium.
    #[expect(dead_code, reason = "open descriptors are all that is wanted of it")]
    pub(super) claims: Vec<File>,
    /// Whether all that the regular file or device held was of Fathom's making.
    pub(super) own: bool,
    /// Whether nothing else can use it: `O_EXCL` was granted.
    pub(super) exclusive: bool,
}

impl From<HeldFile> for Permit {
    fn from(held: HeldFile) -> Self {
        Self(Arc::new(held))
    }
}

impl Permit {
    pub(super) fn held(&self) -> &HeldFile {
        &self.0
    }

    /// What it is for.
    #[must_use]
    pub fn identity(&self) -> FileIdentity {
        self.0.identity
    }

    /// The name under which it was admitted.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The descriptor that holds it, where nothing else can.
    pub(crate) fn claim(&self) -> Option<RawFd> {
        self.0.file.as_ref().filter(|_| self.0.exclusive).map(AsRawFd::as_raw_fd)
    }

    /// Opens what was admitted once more.
    ///
    /// # Errors
    ///
    /// When the system refuses, and where the descriptor is not held and the name stands for something else by now.
    pub(crate) fn open(&self, mode: OpenMode) -> io::Result<File> {
        match &self.0.file {
            Some(file) => open::again(file, &self.0.path, mode),
            None => open::identical(&self.0.path, self.0.identity, mode),
        }
    }
}
