//! Names of files and directories, and calls on them.

use std::ffi::CString;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

/// Removes files by name.
pub(crate) trait RemoveName: std::fmt::Debug + Send + Sync {
    /// Removes the file of this name, if there is one. The error is an error number.
    fn remove_name(&self, path: &Path) -> Result<(), i32>;
}

/// A name to work on.
#[derive(Clone, Debug)]
pub struct NamedTarget {
    pub(crate) path: CString,
    /// Length of the job's region in bytes. One call is made for all operations that pass over the region once.
    pub(crate) bytes: u64,
    /// Minimum block size in bytes. Less than that at the end of a region is not used.
    pub(crate) least_bytes: u64,
    /// What may be deleted under this name; `None` if the call does not delete, or nothing was there.
    pub(crate) deletable: Option<NodeIdentity>,
    /// What removes the file whenever a loop begins; `None` if it stays.
    pub(crate) renewed_by: Option<Arc<dyn RemoveName>>,
}

/// What a name refers to, without following a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeIdentity {
    device: u64,
    inode: u64,
}

impl NodeIdentity {
    /// Returns the identity of what `path` names.
    ///
    /// # Errors
    /// Fails if the name does not exist or cannot be accessed.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        let metadata = path.symlink_metadata()?;
        Ok(Self { device: metadata.dev(), inode: metadata.ino() })
    }
}
