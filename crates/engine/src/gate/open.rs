//! Reopens descriptors on the inode that was checked, whatever its name means by now.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::identity::FileIdentity;

/// Opens a name without opening what it stands for (`O_PATH`): devices do not notice, pipes do not block.
pub(super) fn look(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(path)
}

/// Flags of a descriptor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenMode {
    pub(crate) read: bool,
    pub(crate) write: bool,
    /// Further flags, such as `O_EXCL` or `O_DIRECT`.
    pub(crate) flags: i32,
}

impl OpenMode {
    pub(crate) const READ_WRITE: Self = Self { read: true, write: true, flags: 0 };

    fn options(self) -> OpenOptions {
        let mut options = OpenOptions::new();
        options.read(self.read).write(self.write).custom_flags(self.flags);
        options
    }
}

/// Opens once more what `seen` is open on. `path` is used where `/proc` is not mounted, and only if it still stands for
/// the same file.
///
/// # Errors
///
/// When the system refuses; [`io::ErrorKind::NotFound`] where `path` stands for something else by now.
pub(crate) fn again(seen: &File, path: &Path, mode: OpenMode) -> io::Result<File> {
    match mode.options().open(of_descriptor(seen)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let file = mode.options().open(path)?;
            same(&file, FileIdentity::of(&seen.metadata()?))?;
            Ok(file)
        }
        opened => opened,
    }
}

/// Opens `path` if it stands for what it stood for.
///
/// # Errors
///
/// As for [`again`].
pub(crate) fn identical(path: &Path, identity: FileIdentity, mode: OpenMode) -> io::Result<File> {
    let seen = look(path)?;
    same(&seen, identity)?;
    again(&seen, path, mode)
}

fn same(file: &File, identity: FileIdentity) -> io::Result<()> {
    if FileIdentity::of(&file.metadata()?) == identity {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::NotFound, "the name stands for another file than when it was checked"))
}

fn of_descriptor(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Removes the name at the end of `path`, links followed, if it still stands for what `file` is open on. The system has no
/// call for both, so a name that moves in between is not noticed.
///
/// # Errors
///
/// When the system refuses.
pub(crate) fn remove_same(path: &Path, file: &File) -> io::Result<()> {
    let place = end_of_links(path);
    let (there, open) = (place.symlink_metadata()?, file.metadata()?);
    if FileIdentity::of(&there) == FileIdentity::of(&open) { std::fs::remove_file(place) } else { Ok(()) }
}

/// Follows links at the end of a path, whether or not anything is there.
pub(super) fn end_of_links(path: &Path) -> PathBuf {
    const MOST_LINKS: usize = 40;
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(target) = std::fs::read_link(&place) else { return place };
        // An absolute target replaces all of it.
        place = place.parent().map_or_else(|| target.clone(), |parent| parent.join(&target));
    }
    place
}
