//! Records of devices, and the cleanup of those whose process has died.
//!
//! A device has two files in one directory: a mount point and a record, which its process keeps locked. The kernel
//! releases the lock when the process ends for whatever reason, so neither a reused process ID nor another container
//! can be mistaken for the owner. Only the holder of the lock may remove the device, so two processes never do. Loop
//! devices are not recorded but found by their backing file: those over this mount point belong to the device, whatever
//! their numbers.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::loops::{detach_loop, loop_devices};
use super::mount::{FILESYSTEM, unmount};
use crate::error::{Error, ErrorKind};
use crate::files::remove;
use probe::mounts;

const RECORD: &str = "device";
const DISK: &str = "disk";
const RECORD_HEADER: &str = "fathom device 1\npid ";
const MAX_RECORD_BYTES: u64 = 4096;
const MAX_DEVICES: u32 = 1024;

/// The files of a device, and the duty to remove them.
#[derive(Debug)]
pub struct Lease {
    record: PathBuf,
    pid: u32,
    /// Kept open because it holds the lock.
    _file: File,
}

impl Lease {
    /// Creates the files of a device in `directory`, which is created if missing. The lease lapses when the process
    /// ends.
    ///
    /// # Errors
    /// Fails if files cannot be created or locked there.
    pub fn new(directory: &Path) -> Result<Self, Error> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(directory);
        made.map_err(|error| Error::file("create", directory, &error))?;
        // The kernel reports backing files by their full paths.
        let directory = directory.canonicalize().map_err(|error| Error::file("resolve", directory, &error))?;
        check_path(&directory)?;
        let pid = std::process::id();
        for number in 0..MAX_DEVICES {
            let record = directory.join(format!("fathom-{pid}-{number}.{RECORD}"));
            match create_files(&record, pid) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                result => {
                    let file = result.map_err(|error| Error::file("create", &record, &error))?;
                    return Ok(Self { record, pid, _file: file });
                }
            }
        }
        let reason = format!("process {pid} already has {MAX_DEVICES} devices there");
        Err(Error::found(ErrorKind::File, "create a device in", directory.display().to_string(), reason)
            .with_remedy("remove stale devices with `fathom serve --cleanup`"))
    }

    /// Returns the regular file to mount over, which belongs to no other lease.
    #[must_use]
    pub fn mount_point(&self) -> PathBuf {
        self.record.with_extension(DISK)
    }

    /// Returns the process that created the device.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Returns the loop devices over the mount point.
    #[must_use]
    pub fn loop_devices(&self) -> Vec<PathBuf> {
        let ours = self.mount_point();
        let over = loop_devices(Path::new("/")).into_iter().filter(|device| device.backing == ours);
        over.map(|device| device.path).collect()
    }

    /// Reports whether one of Fathom's filesystems is mounted over the mount point.
    #[must_use]
    pub fn is_mounted(&self) -> bool {
        let at = self.mount_point();
        // The last of several mounts at the same path is on top.
        let top = mounts(Path::new("/")).into_iter().rfind(|mount| mount.at == at);
        top.is_some_and(|mount| mount.filesystem == FILESYSTEM)
    }

    /// Detaches the loop devices, unmounts, and removes both files. If the process is alive, it must keep serving
    /// meanwhile.
    ///
    /// # Errors
    /// Returns one error, with a remedy, for each part that could not be removed. The record then stays for another
    /// attempt.
    pub fn tear_down(&self) -> Result<(), Vec<Error>> {
        let mut errors: Vec<Error> =
            self.loop_devices().iter().filter_map(|device| detach_loop(device).err()).collect();
        // The mount stays while a loop device over it is in use: without it the owner of the loop device would be
        // unknown.
        while errors.is_empty() && self.is_mounted() {
            if let Err(error) = unmount(&self.mount_point(), true) {
                errors.push(error);
            }
        }
        if errors.is_empty() {
            // The record goes last, because cleanup finds the rest by it.
            let removed = remove(&self.mount_point()).and_then(|()| remove(&self.record));
            errors.extend(removed.err());
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }
}

/// Takes over the leases of processes that have ended in `directory`, which may be missing. Also returns an error for
/// each file that is named like a record but is none; such files are left alone.
pub fn abandoned(directory: &Path) -> (Vec<Lease>, Vec<Error>) {
    let directory = match directory.canonicalize() {
        Ok(directory) => directory,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return (Vec::new(), Vec::new()),
        Err(error) => return (Vec::new(), vec![Error::file("resolve", directory, &error)]),
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
        match take_over(&record) {
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

/// Creates a locked record with a mount point beside it, neither of which may exist.
fn create_files(record: &Path, pid: u32) -> io::Result<File> {
    let new = |path: &Path| OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = new(record)?;
    let filled = file
        .try_lock()
        .map_err(io::Error::from)
        .and_then(|()| file.write_all(format!("{RECORD_HEADER}{pid}\n").as_bytes()))
        .and_then(|()| new(&record.with_extension(DISK)));
    match filled {
        Ok(_) => Ok(file),
        Err(error) => {
            let _ = std::fs::remove_file(record);
            Err(error)
        }
    }
}

/// Takes over a record, or returns `None` if its process is alive or another process is cleaning up.
fn take_over(record: &Path) -> Result<Option<Lease>, Error> {
    let unreadable = |error: io::Error| Error::file("read", record, &error);
    // Fathom's records are never links or pipes.
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
    (&mut file).take(MAX_RECORD_BYTES).read_to_end(&mut bytes).map_err(unreadable)?;
    let pid = String::from_utf8_lossy(&bytes).strip_prefix(RECORD_HEADER).and_then(|pid| pid.trim_end().parse().ok());
    match pid {
        // Another process removed the record between opening and locking, and a new one may have its name.
        _ if !is_at(&file, record) => Ok(None),
        Some(pid) => Ok(Some(Lease { record: record.to_owned(), pid, _file: file })),
        None => Err(Error::found(ErrorKind::File, "read", record.display().to_string(), "not a device record")
            .with_remedy("check what else is mounted there (findmnt), and unmount it")),
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    let number = |facts: std::fs::Metadata| (facts.dev(), facts.ino());
    let there = path.symlink_metadata().ok().map(number);
    there.is_some() && there == file.metadata().ok().map(number)
}

/// Checks that the kernel reports the path unchanged, which it does only for printable names.
fn check_path(directory: &Path) -> Result<(), Error> {
    if directory.to_str().is_some_and(|text| !text.contains(char::is_control)) {
        return Ok(());
    }
    let reason = "the path is not valid UTF-8 or contains control characters";
    Err(Error::found(ErrorKind::File, "create a device in", directory.display().to_string(), reason)
        .with_remedy("use another directory"))
}
