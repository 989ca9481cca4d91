//! Reopens descriptors on the inode that was checked, whatever its name refers to by now.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::retry_on_intr;
use rustix::path::{Arg, DecInt};

use super::identity::FileIdentity;

/// Looks up a name without opening the file (`O_PATH`): devices are not activated, and pipes do not block.
pub(super) fn lookup(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(path)
}

/// How to open a descriptor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenMode {
    pub(crate) read: bool,
    pub(crate) write: bool,
    /// Further flags, such as `O_EXCL` or `O_DIRECT`.
    pub(crate) flags: i32,
}

impl OpenMode {
    pub(crate) const READ_WRITE: Self = Self { read: true, write: true, flags: 0 };

    fn flags(self) -> OFlags {
        let access = match (self.read, self.write) {
            (_, false) => OFlags::RDONLY,
            (true, true) => OFlags::RDWR,
            (false, true) => OFlags::WRONLY,
        };
        access | OFlags::CLOEXEC | OFlags::from_bits_retain(self.flags.cast_unsigned())
    }

    fn open_at(self, directory: impl AsFd, name: impl Arg + Copy) -> io::Result<File> {
        let opened = retry_on_intr(|| openat(directory.as_fd(), name, self.flags(), Mode::empty()));
        Ok(opened?.into())
    }
}

/// Reopens the file of `seen`. Uses `path` if `/proc` is not mounted, and only if it still refers to the same file.
///
/// # Errors
/// Fails if the system refuses; with [`io::ErrorKind::NotFound`] if `path` refers to another file by now.
pub(crate) fn reopen(seen: &File, path: &Path, mode: OpenMode) -> io::Result<File> {
    match reopen_descriptor(seen, mode) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let file = mode.open_at(CWD, path)?;
            same(&file, FileIdentity::of(&seen.metadata()?))?;
            Ok(file)
        }
        opened => opened,
    }
}

/// Opens `path` if it still refers to the file with this identity.
///
/// # Errors
/// As for [`reopen`].
pub(crate) fn reopen_identical(path: &Path, identity: FileIdentity, mode: OpenMode) -> io::Result<File> {
    let seen = lookup(path)?;
    same(&seen, identity)?;
    reopen(&seen, path, mode)
}

fn same(file: &File, identity: FileIdentity) -> io::Result<()> {
    if FileIdentity::of(&file.metadata()?) == identity {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::NotFound, "the path refers to a different file than when it was checked"))
}

/// Opens the file of `seen` again, through this process's directory of descriptors.
fn reopen_descriptor(seen: &File, mode: OpenMode) -> io::Result<File> {
    // Held open, because the kernel would spend a quarter of the time on finding it.
    static DESCRIPTORS: OnceLock<File> = OnceLock::new();
    let descriptors = match DESCRIPTORS.get() {
        Some(descriptors) => descriptors,
        None => {
            let opened = lookup(Path::new("/proc/self/fd"))?;
            DESCRIPTORS.get_or_init(|| opened)
        }
    };
    mode.open_at(descriptors, DecInt::from_fd(seen).as_c_str())
}

/// Removes the name at the end of `path`, following links, if it still refers to the file of `file`. The two steps are
/// not atomic, so a name that changes in between is not noticed.
///
/// # Errors
/// Fails if the system refuses.
pub(crate) fn remove_same(path: &Path, file: &File) -> io::Result<()> {
    let place = end_of_links(path);
    let (there, open) = (place.symlink_metadata()?, file.metadata()?);
    if FileIdentity::of(&there) == FileIdentity::of(&open) { std::fs::remove_file(place) } else { Ok(()) }
}

/// Reports whether a path is a device or a descriptor: `/dev/stdout` and `/proc/self/fd` refer to files that others hold
/// open.
pub(super) fn is_descriptor(path: &Path) -> bool {
    ["/dev", "/proc"].iter().any(|folder| path.starts_with(folder))
}

/// Follows links at the end of a path, whether or not the final target exists.
pub(super) fn end_of_links(path: &Path) -> PathBuf {
    const MOST_LINKS: usize = 40;
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(target) = std::fs::read_link(&place) else { return place };
        // An absolute target replaces the whole path.
        place = place.parent().map_or_else(|| target.clone(), |parent| parent.join(&target));
    }
    place
}
