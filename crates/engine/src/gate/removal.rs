//! Permission to create and delete names, for the engines that measure this.

use std::io;
use std::path::Path;

use super::identity::FileIdentity;
use super::objection::{Denied, Objection, WriteRefusal};
use super::open::{OpenMode, remove_same};
use super::users::RecentFileUsers;
use super::{WriteGate, creation};
use crate::error::Error;
use crate::named_target::{NodeIdentity, RemoveName};

/// Removes an admitted regular file, if its name still refers to it, and holds it no longer, so that the kernel frees it.
/// Devices stay.
impl RemoveName for WriteGate {
    fn remove_name(&self, path: &Path) -> Result<(), i32> {
        self.remove_admitted(path, &mut self.admission()).map_err(|error| error.errno.unwrap_or(libc::EACCES))
    }
}

impl WriteGate {
    /// Requests permission to create a file or directory, or to open a file that exists.
    ///
    /// # Errors
    /// Fails if it would be among device nodes, or something other than that exists.
    pub fn check_creation(&self, path: &Path, directory: bool) -> Result<(), Denied> {
        match path.metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => creation::check_new(path).map(drop),
            Err(error) => Err(Error::file("stat", path, &error).into()),
            Ok(metadata) if metadata.is_dir() == directory && (directory || metadata.is_file()) => Ok(()),
            Ok(_) => Err(self.not_removable(path, if directory { "not a directory" } else { "not a regular file" })),
        }
    }

    /// Requests permission to delete a regular file, or one that does not exist yet. Its content needs the permission
    /// that overwriting it needs.
    ///
    /// # Errors
    /// As for [`WriteGate::admit`], and if it is anything other than a regular file. A link counts as one only under
    /// fio's rule, which deletes the link.
    pub fn check_file_removal(&self, path: &Path) -> Result<(), Denied> {
        let metadata = match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return creation::check_new(path).map(drop),
            Err(error) => return Err(Error::file("stat", path, &error).into()),
            Ok(metadata) => metadata,
        };
        if metadata.is_symlink() && self.permissions.any_content {
            return Ok(());
        }
        if !metadata.is_file() {
            let kind = if metadata.is_symlink() { "a symbolic link" } else { "not a regular file" };
            return Err(self.not_removable(path, kind));
        }
        self.check(path)
    }

    /// Requests permission to delete a directory that is empty or does not exist yet.
    ///
    /// # Errors
    /// Fails if it holds anything, or is no directory.
    pub fn check_directory_removal(&self, path: &Path) -> Result<(), Denied> {
        let failed = |error: io::Error| Denied::from(Error::file("stat", path, &error));
        match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return creation::check_new(path).map(drop),
            Err(error) => return Err(failed(error)),
            Ok(metadata) if !metadata.is_dir() => return Err(self.not_removable(path, "not a directory")),
            Ok(_) => {}
        }
        match path.read_dir().map_err(failed)?.next() {
            Some(_) => Err(self.not_removable(path, "a directory that is not empty")),
            None => Ok(()),
        }
    }

    /// Checks a file to be deleted again and no longer holds it. Returns its identity; `None` if it does not exist.
    ///
    /// # Errors
    /// As for [`WriteGate::check_file_removal`].
    pub(crate) fn release_file(&self, path: &Path) -> Result<Option<NodeIdentity>, Error> {
        self.check_file_removal(path)?;
        if let Some(identity) = FileIdentity::at(path) {
            self.state().admitted.remove(identity);
        }
        Self::identity(path)
    }

    /// Checks a directory to be deleted again. Returns its identity; `None` if it does not exist.
    ///
    /// # Errors
    /// As for [`WriteGate::check_directory_removal`].
    pub(crate) fn release_directory(&self, path: &Path) -> Result<Option<NodeIdentity>, Error> {
        self.check_directory_removal(path)?;
        Self::identity(path)
    }

    /// Implements [`RemoveName`] for a caller that holds the admission lock.
    fn remove_admitted(&self, path: &Path, users: &mut RecentFileUsers) -> Result<(), Error> {
        let Some(permit) = self.admit_next(path, users)? else { return Ok(()) };
        let identity = permit.identity();
        if !matches!(identity, FileIdentity::File { .. }) {
            return Ok(());
        }
        let removed = permit.open(OpenMode::READ_WRITE).and_then(|file| remove_same(path, &file));
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Error::file("remove", path, &error)),
            _ => {}
        }
        // Another file may get the number of its inode.
        self.state().admitted.remove(identity);
        Ok(())
    }

    fn identity(path: &Path) -> Result<Option<NodeIdentity>, Error> {
        match NodeIdentity::at(path) {
            Ok(identity) => Ok(Some(identity)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::file("stat", path, &error)),
        }
    }

    fn not_removable(&self, path: &Path, kind: &'static str) -> Denied {
        Denied::Refused(WriteRefusal::of_name(path, Objection::Kind(kind)))
    }
}
