//! Permission to write to an open file or device.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::path::Path;
use std::sync::Arc;

use super::identity::FileIdentity;
use super::open::{self, OpenMode};

/// The permission to write to one file or device. Clones refer to the same permission.
#[derive(Clone, Debug)]
pub struct Permit(Arc<HeldFile>);

#[derive(Debug)]
pub(super) struct HeldFile {
    /// Path by which it was admitted.
    pub(super) name: Arc<OsStr>,
    pub(super) identity: FileIdentity,
    /// `None` if there are not enough descriptors to hold all files open.
    pub(super) file: Option<File>,
    /// Descriptors that claim other devices of the same medium.
    #[expect(dead_code, reason = "open descriptors are all that is wanted of it")]
    pub(super) claims: Vec<File>,
    /// Whether the regular file or device held only data written by Fathom.
    pub(super) own: bool,
    /// Whether `O_EXCL` was granted, so that nothing else can use it.
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

    /// Returns the identity of the file or device.
    #[must_use]
    pub fn identity(&self) -> FileIdentity {
        self.0.identity
    }

    /// Returns the name under which it was admitted.
    #[must_use]
    pub fn path(&self) -> &Path {
        Path::new(&self.0.name)
    }

    /// Returns the descriptor that claims the device, if it is exclusive.
    pub(crate) fn claim(&self) -> Option<RawFd> {
        self.0.file.as_ref().filter(|_| self.0.exclusive).map(AsRawFd::as_raw_fd)
    }

    /// Reopens the admitted file or device.
    ///
    /// # Errors
    /// Fails if the system refuses, or if no descriptor is held and the name refers to another file by now.
    pub(crate) fn open(&self, mode: OpenMode) -> io::Result<File> {
        match &self.0.file {
            Some(file) => open::reopen(file, self.path(), mode),
            None => open::reopen_identical(self.path(), self.0.identity, mode),
        }
    }
}
