//! Creates files, never among device nodes.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::{Errno, retry_on_intr};

use super::objection::{Denied, Objection, WriteRefusal};
use super::open;
use crate::error::Error;
use crate::file_facts;
use probe::existing_ancestor;

/// Age up to which a checked directory is used.
const MAX_AGE: Duration = Duration::from_millis(10);

/// The directory of the file that was created or looked for last, if its filesystem has no device nodes.
///
/// The files of a large job are in one directory. To find and check it for each of them would take most of the time of
/// their creation. They are created through its descriptor, so that the directory is the one that was checked.
#[derive(Debug, Default)]
pub(super) struct RecentDirectory(Mutex<Option<Arc<CheckedDirectory>>>);

/// What a name refers to.
#[derive(Debug)]
pub(super) enum Lookup {
    /// A file, opened by `O_PATH`.
    Found(File, Metadata),
    /// Nothing, and a file may be created.
    Free,
    /// Nothing. It may be a link, and [`check_new`] must be asked before a file is created.
    Missing,
}

#[derive(Debug)]
struct CheckedDirectory {
    path: PathBuf,
    file: File,
    checked_at: Instant,
}

impl RecentDirectory {
    /// Creates an empty file. Returns `None` if it exists, also as a link to nothing, if its directory is missing or may
    /// hold device nodes, or if the system refuses.
    pub(super) fn create(&self, path: &Path) -> Option<File> {
        let (directory, name) = self.of(path)?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let created = retry_on_intr(|| openat(&directory.file, name, flags, Mode::from_raw_mode(0o666)));
        created.ok().map(File::from)
    }

    /// Looks up a name, as [`open::lookup`] does.
    ///
    /// # Errors
    /// Fails if the system refuses.
    pub(super) fn look_up(&self, path: &Path) -> io::Result<Lookup> {
        if let Some((directory, name)) = self.of(path) {
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            match retry_on_intr(|| openat(&directory.file, name, flags, Mode::empty())).map(File::from) {
                Ok(file) => {
                    let metadata = file.metadata()?;
                    if !metadata.is_symlink() {
                        return Ok(Lookup::Found(file, metadata));
                    }
                }
                Err(Errno::NOENT) => return Ok(Lookup::Free),
                Err(_) => {}
            }
        }
        match open::lookup(path).and_then(|file| Ok((file.metadata()?, file))) {
            Ok((metadata, file)) => Ok(Lookup::Found(file, metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Lookup::Missing),
            Err(error) => Err(error),
        }
    }

    /// Returns the checked directory of `path`, and the name in it.
    fn of<'a>(&self, path: &'a Path) -> Option<(Arc<CheckedDirectory>, &'a OsStr)> {
        let (parent, name) = (path.parent()?, path.file_name()?);
        // `file/` and `file/.` mean a directory.
        if !path.as_os_str().as_encoded_bytes().ends_with(name.as_encoded_bytes()) {
            return None;
        }
        let recent = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_valid = |one: &Arc<CheckedDirectory>| one.path == parent && one.checked_at.elapsed() < MAX_AGE;
        let known = recent().clone().filter(is_valid);
        let directory = known.or_else(|| {
            // Without the lock, because a filesystem may not answer.
            let checked = CheckedDirectory::at(parent).map(Arc::new)?;
            recent().replace(Arc::clone(&checked));
            Some(checked)
        });
        Some((directory?, name))
    }
}

impl CheckedDirectory {
    fn at(path: &Path) -> Option<Self> {
        // The time before the check, so that the age is not underestimated.
        let checked_at = Instant::now();
        let place = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let file = File::from(openat(CWD, place, flags, Mode::empty()).ok()?);
        let filesystem = file.metadata().ok()?.dev();
        let is_other = device_filesystem().is_some_and(|devices| devices != filesystem);
        is_other.then(|| Self { path: path.to_owned(), file, checked_at })
    }
}

/// Returns the number of the filesystem of `/dev`; `None` if it is that of `/`.
fn device_filesystem() -> Option<u64> {
    let devices = filesystem(Path::new("/dev"));
    devices.filter(|_| devices != filesystem(Path::new("/")))
}

fn filesystem(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().map(|metadata| metadata.dev())
}

/// Creates a file, and the directories above it, at the place that [`check_new`] returned for `path`. Returns `None` if it
/// exists by now.
///
/// # Errors
/// Fails if the system refuses.
pub(super) fn make_with_parents(path: &Path, place: &Path) -> Result<Option<File>, Error> {
    let created = match create_new(place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            file_facts::make_parents(path)?;
            create_new(place)
        }
        created => created,
    };
    made(path, created)
}

/// Creates a file at the place that [`check_new`] returned for `path`. Returns `None` if it exists by now.
///
/// # Errors
/// Fails if the system refuses.
pub(super) fn make(path: &Path, place: &Path) -> Result<Option<File>, Error> {
    made(path, create_new(place))
}

fn create_new(place: &Path) -> io::Result<File> {
    File::options().read(true).write(true).create_new(true).open(place)
}

fn made(path: &Path, created: io::Result<File>) -> Result<Option<File>, Error> {
    match created {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
        Err(error) => Err(Error::file("create", path, &error)),
    }
}

/// Checks that a missing file may be created. Returns its place, which is another one if `path` is a link.
///
/// # Errors
/// Fails if it would be among device nodes.
pub(super) fn check_new(path: &Path) -> Result<PathBuf, Denied> {
    let place = open::end_of_links(path);
    if is_among_devices(&place) {
        return Err(Denied::Refused(WriteRefusal::new(path, vec![Objection::DeviceDirectory])));
    }
    Ok(place)
}

/// Reports whether a new file at `path` would be among device nodes. If a device is missing, a file of its name there
/// would be in memory and be measured instead.
fn is_among_devices(path: &Path) -> bool {
    let parent = path.parent().unwrap_or(path);
    let (home, here) = match filesystem(parent) {
        Some(here) => (parent.to_path_buf(), Some(here)),
        None => {
            let home = existing_ancestor(parent);
            let here = filesystem(&home);
            (home, here)
        }
    };
    let devices = device_filesystem();
    let same = here.is_some() && here == devices;
    if devices.is_some() && !same {
        return false;
    }
    let Ok(home) = home.canonicalize() else { return false };
    // Another mount of the same filesystem has no `/dev` in its name.
    let below = home.starts_with("/dev") && !home.starts_with("/dev/hugepages");
    (below || devices.is_some()) && !home.starts_with("/dev/shm")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_among_device_nodes_are_recognized_under_any_name() {
        for path in ["/dev/sdzz", "/tmp/../dev/sdzz", "/dev/mapper/none", "/dev/no/such/place"] {
            assert!(is_among_devices(Path::new(path)), "{path}");
            let found = RecentDirectory::default().look_up(Path::new(path)).unwrap();
            assert!(matches!(found, Lookup::Missing), "{path}: {found:?}");
        }
        for path in ["/dev/shm/x", "/tmp/x", "/tmp/dev/x", "/dev/shm/a/b"] {
            assert!(!is_among_devices(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn files_are_created_only_where_nothing_is() {
        let folder = std::env::temp_dir().join(format!("fathom-creation-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("other")).unwrap();
        std::os::unix::fs::symlink("missing", folder.join("link")).unwrap();
        let recent = RecentDirectory::default();
        for name in ["link", "no/x", "x/", "x/."] {
            let path = folder.join(name);
            assert!(matches!(recent.look_up(&path), Ok(Lookup::Missing)), "{name}");
            assert!(recent.create(&path).is_none(), "{name}");
        }
        for name in ["x", "other/x", "other/../y"] {
            let path = folder.join(name);
            assert!(matches!(recent.look_up(&path), Ok(Lookup::Free)), "{name}");
            assert!(recent.create(&path).is_some_and(|file| file.metadata().unwrap().is_file()), "{name}");
            assert!(recent.create(&path).is_none() && path.is_file(), "{name}");
        }
        std::os::unix::fs::symlink("x", folder.join("other link")).unwrap();
        for name in ["x", "other", "other/x", "other link", ".."] {
            let path = folder.join(name);
            let Ok(Lookup::Found(file, metadata)) = recent.look_up(&path) else { panic!("{name}") };
            let facts = [metadata, file.metadata().unwrap(), path.metadata().unwrap()];
            assert_eq!(facts.map(|one| one.ino()), [path.metadata().unwrap().ino(); 3], "{name}");
            assert!(recent.create(&path).is_none(), "{name}");
        }
        assert!(!folder.join("missing").exists());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_renamed_directory_is_noticed_in_time() {
        let folder = std::env::temp_dir().join(format!("fathom-renamed-{}", std::process::id()));
        let place = |name: &str| folder.join(name);
        std::fs::create_dir_all(place("first")).unwrap();
        let recent = RecentDirectory::default();
        recent.create(&place("first/a")).unwrap();
        std::fs::rename(place("first"), place("second")).unwrap();
        std::fs::create_dir(place("first")).unwrap();
        std::thread::sleep(MAX_AGE);
        recent.create(&place("first/b")).unwrap();
        assert!(place("first/b").is_file() && place("second/a").is_file());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
