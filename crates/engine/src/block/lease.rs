//! Traces of devices whose process has died, and their removal.
//!
//! A device has two files in one directory: a mount point and, beside it, a record, which its process keeps locked. The
//! kernel takes the lock away when the process ends, however it ends, so that neither a reused process number nor another
//! container can be mistaken for the owner. The holder of the lock may tear down; two never do at once. Loop devices are not
//! recorded but looked for: those over this very mount point are ours, whatever their number, and no others.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::loops::{detach_loop, loop_devices};
use super::mount::{FILESYSTEM, unmount};
use crate::error::{Error, ErrorKind};
use probe::mounts;

const RECORD: &str = "device";
const DISK: &str = "disk";
const HEAD: &str = "fathom device 1\npid ";
const MOST_BYTES: u64 = 4096;
const MOST_DEVICES: u32 = 1024;

/// The right to use a place for a device, and the duty to clear it away.
#[derive(Debug)]
pub struct Lease {
    record: PathBuf,
    pid: u32,
    /// Locked.
    _file: File,
}

impl Lease {
    /// A new place in `directory`, which is made where it is missing. The lease lapses when the process ends.
    ///
    /// # Errors
    /// When files cannot be made or locked there.
    pub fn new(directory: &Path) -> Result<Self, Error> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(directory);
        made.map_err(|error| Error::file("make", directory, &error))?;
        // The kernel names the files of loop devices in full.
        let directory = directory.canonicalize().map_err(|error| Error::file("look at", directory, &error))?;
        plain(&directory)?;
        let pid = std::process::id();
        for number in 0..MOST_DEVICES {
            let record = directory.join(format!("fathom-{pid}-{number}.{RECORD}"));
            match make(&record, pid) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                result => {
                    let file = result.map_err(|error| Error::file("make", &record, &error))?;
                    return Ok(Self { record, pid, _file: file });
                }
            }
        }
        let reason = format!("it holds {MOST_DEVICES} devices of process {pid}");
        Err(Error::found(ErrorKind::File, "make a device in", directory.display().to_string(), reason)
            .with_remedy("clear away those whose processes have ended"))
    }

    /// The regular file over which a filesystem may be mounted. Its name is in use by no other lease.
    #[must_use]
    pub fn mount_point(&self) -> PathBuf {
        self.record.with_extension(DISK)
    }

    /// The process that made the device.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The loop devices over it.
    #[must_use]
    pub fn loop_devices(&self) -> Vec<PathBuf> {
        let ours = self.mount_point();
        let over = loop_devices(Path::new("/")).into_iter().filter(|device| device.backing == ours);
        over.map(|device| device.path).collect()
    }

    /// Whether a filesystem of ours is mounted over it.
    #[must_use]
    pub fn is_mounted(&self) -> bool {
        let at = self.mount_point();
        // The last of several at the same place is on top.
        let top = mounts(Path::new("/")).into_iter().rfind(|mount| mount.at == at);
        top.is_some_and(|mount| mount.filesystem == FILESYSTEM)
    }

    /// Detaches the loop devices, unmounts, removes both files. Where the process lives, it has to serve meanwhile.
    ///
    /// # Errors
    /// All that could not be cleared away, with its remedy. The record then stays, so that it can be tried again.
    pub fn tear_down(&self) -> Result<(), Vec<Error>> {
        let mut errors: Vec<Error> =
            self.loop_devices().iter().filter_map(|device| detach_loop(device).err()).collect();
        // Under a loop device that is in use the mount stays: without it the owner of the device is unknown.
        while errors.is_empty() && self.is_mounted() {
            if let Err(error) = unmount(&self.mount_point(), true) {
                errors.push(error);
            }
        }
        if errors.is_empty() {
            // The record goes last: it is what the rest is found by.
            let removed = remove(&self.mount_point()).and_then(|()| remove(&self.record));
            errors.extend(removed.err());
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }
}

/// Takes over what processes that have ended left in `directory`. A directory that is missing holds nothing. Beside them,
/// what is wrong with files that look like records but are none; they are left alone.
pub fn abandoned(directory: &Path) -> (Vec<Lease>, Vec<Error>) {
    let directory = match directory.canonicalize() {
        Ok(directory) => directory,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return (Vec::new(), Vec::new()),
        Err(error) => return (Vec::new(), vec![Error::file("look at", directory, &error)]),
    };
    let entries = match std::fs::read_dir(&directory) {
        Ok(entries) => entries,
        Err(error) => return (Vec::new(), vec![Error::file("list", &directory, &error)]),
    };
    let mut records: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| is_record(path)).collect();
    records.sort();
    let (mut leases, mut errors) = (Vec::new(), Vec::new());
    for record in records {
        match take(&record) {
            Ok(lease) => leases.extend(lease),
            Err(error) => errors.push(error),
        }
    }
    (leases, errors)
}

fn is_record(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("fathom-") && path.extension().is_some_and(|extension| extension == RECORD)
}

/// A locked record with a mount point beside it, neither of which was there.
fn make(record: &Path, pid: u32) -> io::Result<File> {
    let new = |path: &Path| OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = new(record)?;
    let filled = file
        .try_lock()
        .map_err(io::Error::from)
        .and_then(|()| file.write_all(format!("{HEAD}{pid}\n").as_bytes()))
        .and_then(|()| new(&record.with_extension(DISK)));
    match filled {
        Ok(_) => Ok(file),
        Err(error) => {
            let _ = std::fs::remove_file(record);
            Err(error)
        }
    }
}

/// `None` while its process lives, or another clears it away.
fn take(record: &Path) -> Result<Option<Lease>, Error> {
    let unreadable = |error: io::Error| Error::file("read", record, &error);
    // A link or a pipe is none of ours.
    let opened = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(record);
    let mut file = match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        result => result.map_err(unreadable)?,
    };
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(Error::file("lock", record, &error)),
    }
    let mut bytes = Vec::new();
    (&mut file).take(MOST_BYTES).read_to_end(&mut bytes).map_err(unreadable)?;
    let pid = String::from_utf8_lossy(&bytes).strip_prefix(HEAD).and_then(|pid| pid.trim_end().parse().ok());
    match pid {
        // Another cleared it away between its opening and its locking, and perhaps a new one has its name.
        _ if !is_at(&file, record) => Ok(None),
        Some(pid) => Ok(Some(Lease { record: record.to_owned(), pid, _file: file })),
        None => Err(Error::found(ErrorKind::File, "read", record.display().to_string(), "it is no record of a device")
            .with_remedy("see what is mounted beside it (findmnt), and remove it")),
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    let number = |facts: std::fs::Metadata| (facts.dev(), facts.ino());
    let there = path.symlink_metadata().ok().map(number);
    there.is_some() && there == file.metadata().ok().map(number)
}

/// Only such names are told by the kernel as they are.
fn plain(directory: &Path) -> Result<(), Error> {
    if directory.to_str().is_some_and(|text| !text.contains(char::is_control)) {
        return Ok(());
    }
    let reason = "its path is not text, or has control characters";
    Err(Error::found(ErrorKind::File, "make a device in", directory.display().to_string(), reason)
        .with_remedy("name another directory"))
}

fn remove(path: &Path) -> Result<(), Error> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::file("remove", path, &error)),
        _ => Ok(()),
    }
}
