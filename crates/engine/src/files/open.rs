//! Opens files and devices.

use std::cell::{Cell, RefCell};
use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::{AtFlags, CWD, StatxFlags, ioctl_blksszget, statx};

use crate::error::{Error, ErrorKind};
use crate::file_facts::{FileKind, Seen, device_bytes, kind_of, look};
use crate::gate::{self, Denied, FileIdentity, OpenMode, Permit, WriteGate, WriteRefusal};
use crate::named_target::RemoveName;
use target::spec::{CacheAdvice, OpenSync, SyncRangeFlags};

/// Access mode of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Whether to open for reads.
    pub read: bool,
    /// Whether to open for writes and trims, which requires a permit of the write gate.
    pub write: bool,
    /// Whether to bypass the page cache (`O_DIRECT`).
    pub direct: bool,
    /// Synchronous write mode.
    pub sync: OpenSync,
    /// Whether trims of a regular file punch holes. Otherwise they fail, as a device discard does on a file.
    pub punch_holes: bool,
    /// Effect of trims, if the file is used in zones.
    pub zone_trim: ZoneTrim,
    /// Phases of `sync_file_range`.
    pub sync_range: SyncRangeFlags,
    /// Whether `syncfs` of an earlier file of the worker covers this one.
    pub shares_filesystem: bool,
}

/// Effect of a trim on a file that is used in zones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ZoneTrim {
    /// There are no zones.
    #[default]
    Discard,
    /// The device resets the zone.
    Reset,
    /// The zones are those of the program alone, so nothing happens.
    Nothing,
}

pub(crate) const fn sync_range_bits(flags: SyncRangeFlags) -> u32 {
    let before = if flags.wait_before { libc::SYNC_FILE_RANGE_WAIT_BEFORE } else { 0 };
    let write = if flags.write { libc::SYNC_FILE_RANGE_WRITE } else { 0 };
    let after = if flags.wait_after { libc::SYNC_FILE_RANGE_WAIT_AFTER } else { 0 };
    before | write | after
}

const fn sync_flag(sync: OpenSync) -> i32 {
    match sync {
        OpenSync::None => 0,
        OpenSync::Sync => libc::O_SYNC,
        OpenSync::Dsync => libc::O_DSYNC,
    }
}

/// An open file or device.
#[derive(Debug)]
pub struct File {
    /// `None` while the file is closed, until the next operation on it.
    file: RefCell<Option<std::fs::File>>,
    /// Descriptor, negative while the file is closed.
    fd: Cell<RawFd>,
    /// Advice to be repeated whenever the file is reopened.
    advice: Cell<Option<CacheAdvice>>,
    path: PathBuf,
    kind: FileKind,
    bytes: u64,
    /// Granularity of direct operations, in bytes; 1 without `O_DIRECT`.
    unit_bytes: u32,
    /// Granularity of zeroing and deallocation, in bytes; 1 for files.
    grain_bytes: u32,
    access: Access,
    common: Arc<Mutex<CommonState>>,
    /// The gate that removes the file whenever a loop begins; `None` if it stays.
    renewed_by: Option<Arc<WriteGate>>,
}

/// What copies of a file for other threads have in common.
#[derive(Debug, Default)]
struct CommonState {
    /// Permission to write.
    permit: Option<Permit>,
    /// Range to be dropped from the page cache when the closed file is opened: offset and length in bytes, zero for all
    /// the rest.
    stale: Option<(u64, u64)>,
}

impl CommonState {
    fn of(permit: Option<&Permit>) -> Arc<Mutex<Self>> {
        Arc::new(Mutex::new(Self { permit: permit.cloned(), stale: None }))
    }
}

impl File {
    /// Returns the path by which the file was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    #[must_use]
    pub fn kind(&self) -> FileKind {
        self.kind
    }

    /// Returns the size in bytes when the file was opened; zero for character devices.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Checks that operations in multiples of `block_bytes` are possible.
    ///
    /// # Errors
    /// Fails if the file is open for direct operations and its device has larger blocks.
    pub fn check_block(&self, block_bytes: u32) -> Result<(), Error> {
        if block_bytes.is_multiple_of(self.unit_bytes) {
            return Ok(());
        }
        let reason = format!(
            "direct I/O requires multiples of the logical block size of {} bytes, and {block_bytes} is not one",
            self.unit_bytes
        );
        let remedy = format!("use bs={} or a multiple of it, or remove direct=1", self.unit_bytes);
        Err(Error::found(ErrorKind::Direct, "use", self.path.display().to_string(), reason).with_remedy(remedy))
    }

    /// Returns the granularity of reads and writes, in bytes: 1 without `O_DIRECT`.
    pub(crate) fn unit_bytes(&self) -> u32 {
        self.unit_bytes
    }

    /// Returns the granularity of zeroing and deallocation, in bytes: 1 for files.
    pub(crate) fn grain_bytes(&self) -> u32 {
        self.grain_bytes
    }

    /// Returns the access mode.
    #[must_use]
    pub fn access(&self) -> Access {
        self.access
    }

    /// Closes the file until the next operation on it, so that a job can use more files than may be open at a time.
    /// Operations in flight complete.
    pub fn close(&self) {
        self.fd.set(-1);
        drop(self.file.take());
    }

    /// Lets the gate remove the file whenever a loop begins (`unlink_each_loop`).
    #[must_use]
    pub fn renewed_by(self, gate: Arc<WriteGate>) -> Self {
        Self { renewed_by: Some(gate), ..self }
    }

    /// Removes the file, which is closed, and creates an empty one if operations write to it. Devices stay. The error is an
    /// error number.
    pub(crate) fn renew(&self) -> Result<(), i32> {
        let Some(gate) = self.renewed_by.as_ref().filter(|_| self.kind == FileKind::Regular) else { return Ok(()) };
        // The file is freed before the next one is written.
        self.common().permit = None;
        gate.remove_name(&self.path)?;
        if self.access.write {
            let (permit, _) =
                gate.create(&self.path).map_err(|denied| Error::from(denied).errno.unwrap_or(libc::EACCES))?;
            self.common().permit = Some(permit);
        }
        Ok(())
    }

    /// Extends the file to this size. The error is an error number.
    pub(crate) fn extend(&self, bytes: u64) -> Result<(), i32> {
        self.live_fd().map_err(|errno| -errno)?;
        let file = self.file.borrow();
        let extended = file.as_ref().map_or(Ok(()), |file| file.set_len(bytes));
        extended.map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))
    }

    /// Opens the same file or device again, for another thread. The copy has the same permission, also after
    /// [`Self::renew`] of the file.
    ///
    /// # Errors
    /// Fails if the system refuses.
    pub(crate) fn reopened(&self) -> Result<Self, Error> {
        let copy = Self {
            file: RefCell::new(None),
            fd: Cell::new(-1),
            advice: self.advice.clone(),
            path: self.path.clone(),
            kind: self.kind,
            bytes: self.bytes,
            unit_bytes: self.unit_bytes,
            grain_bytes: self.grain_bytes,
            access: self.access,
            common: Arc::clone(&self.common),
            renewed_by: None,
        };
        if !self.is_closed() {
            let failed = |errno: i32| refused(&self.path, self.access, &io::Error::from_raw_os_error(-errno));
            copy.live_fd().map_err(failed)?;
        }
        Ok(copy)
    }

    fn common(&self) -> MutexGuard<'_, CommonState> {
        self.common.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops a range of a regular file from the page cache; of a closed one, when it is opened. Length zero means all the
    /// rest. The error is an error number.
    pub(super) fn drop_pages(&self, offset: u64, length: u64) -> Result<(), i32> {
        if self.is_closed() {
            let stale = &mut self.common().stale;
            let all = (0, 0);
            *stale = Some(if stale.is_none_or(|other| other == (offset, length)) { (offset, length) } else { all });
            return Ok(());
        }
        // SAFETY: the call takes no memory. It returns its error number.
        match unsafe { libc::posix_fadvise64(self.fd(), offset as i64, length as i64, libc::POSIX_FADV_DONTNEED) } {
            0 => Ok(()),
            errno => Err(errno),
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.fd.get() < 0
    }

    /// Returns the descriptor, negative while the file is closed.
    #[inline]
    pub(crate) fn fd(&self) -> RawFd {
        self.fd.get()
    }

    /// Returns the descriptor for calls that discard or zero ranges. On a device claimed by the gate this is the
    /// claiming descriptor: through another one the kernel cannot claim the device to drop its page cache, and fails
    /// with `EBUSY`.
    pub(crate) fn range_fd(&self) -> Result<RawFd, i32> {
        // The lock is released before a closed file is opened, which takes it.
        let claim = self.common().permit.as_ref().and_then(Permit::claim);
        match claim {
            Some(claim) if self.kind == FileKind::Block => Ok(claim),
            _ => self.live_fd(),
        }
    }

    /// Returns the descriptor, after reopening a closed file. The error is a negated error number, as in completions.
    #[inline]
    pub(crate) fn live_fd(&self) -> Result<RawFd, i32> {
        let fd = self.fd.get();
        if fd >= 0 { Ok(fd) } else { self.reopen() }
    }

    #[cold]
    fn reopen(&self) -> Result<RawFd, i32> {
        let file = open_raw(&self.path, self.access, self.common().permit.as_ref())
            .map_err(|error| -error.raw_os_error().unwrap_or(libc::EIO))?;
        self.fd.set(file.as_raw_fd());
        self.file.replace(Some(file));
        let stale = self.common().stale.take();
        if let Some((offset, length)) = stale {
            let _ = self.drop_pages(offset, length);
        }
        if let Some(advice) = self.advice.get() {
            advise(self, advice);
        }
        Ok(self.fd.get())
    }
}

/// Opens a file or device for reading.
///
/// # Errors
/// Fails if the system refuses, with a remedy if the reason is `O_DIRECT`.
pub fn open(path: &Path, access: Access) -> Result<File, Error> {
    // Opening a pipe would wait for its other end, so this rejects it first.
    look(path)?;
    open_seen(path, access)
}

/// Opens a file or device for reading that has just been looked at.
pub(super) fn open_seen(path: &Path, access: Access) -> Result<File, Error> {
    open_checked(path, Access { read: true, write: false, ..access }, None)
}

/// Opens a file or device that the write gate has admitted.
///
/// # Errors
/// As for [`open`].
pub fn open_permitted(permit: &Permit, access: Access) -> Result<File, Error> {
    open_checked(permit.path(), access, Some(permit))
}

/// Returns a closed file for reading, which the first operation on it opens: a job with very many files begins without
/// opening each of them. Anything but a regular file, and any file for direct operations, whose granularity must be known,
/// is opened.
///
/// # Errors
/// As for [`open`].
pub fn open_later(path: &Path, access: Access) -> Result<File, Error> {
    let access = Access { read: true, write: false, ..access };
    match look(path)? {
        Some(Seen { kind: FileKind::Regular, bytes, .. }) if !access.direct => {
            let readable = rustix::fs::accessat(CWD, path, rustix::fs::Access::READ_OK, AtFlags::EACCESS);
            readable.map_err(|errno| refused(path, access, &errno.into()))?;
            Ok(closed(path, bytes, access, None))
        }
        _ => open_seen(path, access),
    }
}

fn closed(path: &Path, bytes: u64, access: Access, permit: Option<&Permit>) -> File {
    File {
        file: RefCell::new(None),
        fd: Cell::new(-1),
        advice: Cell::new(None),
        path: path.to_owned(),
        kind: FileKind::Regular,
        bytes,
        unit_bytes: 1,
        grain_bytes: 1,
        access,
        common: CommonState::of(permit),
        renewed_by: None,
    }
}

fn open_checked(path: &Path, access: Access, permit: Option<&Permit>) -> Result<File, Error> {
    let file = open_raw(path, access, permit).map_err(|error| refused(path, access, &error))?;
    let metadata = file.metadata().map_err(|error| Error::file("stat", path, &error))?;
    let kind = kind_of(&metadata, path)?;
    let bytes = match kind {
        FileKind::Regular => metadata.len(),
        FileKind::Block => device_bytes(&file).map_err(|error| Error::file("size", path, &error))?,
        FileKind::Character => 0,
    };
    let multiple = |needed| if needed { unit_bytes(&file, kind) } else { 1 };
    let (unit_bytes, grain_bytes) = (multiple(access.direct), multiple(kind == FileKind::Block));
    let (fd, path) = (Cell::new(file.as_raw_fd()), path.to_owned());
    let (file, advice, common) = (RefCell::new(Some(file)), Cell::new(None), CommonState::of(permit));
    Ok(File { file, fd, advice, path, kind, bytes, unit_bytes, grain_bytes, access, common, renewed_by: None })
}

fn open_raw(path: &Path, access: Access, permit: Option<&Permit>) -> io::Result<std::fs::File> {
    let direct = if access.direct { libc::O_DIRECT } else { 0 };
    let flags = direct | sync_flag(access.sync);
    let open = |flags| match permit {
        Some(permit) => permit.open(OpenMode { read: access.read || !access.write, write: access.write, flags }),
        None => OpenOptions::new().read(true).custom_flags(flags).open(path),
    };
    // `O_NOATIME` avoids updates of access times, which would distort the measurement. The kernel refuses it for files
    // of other users.
    match open(flags | libc::O_NOATIME) {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => open(flags),
        opened => opened,
    }
}

/// Removes a file, which may be missing.
///
/// # Errors
/// Fails if the system refuses.
pub fn remove(path: &Path) -> Result<(), Error> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::file("remove", path, &error)),
        _ => Ok(()),
    }
}

fn refused(path: &Path, access: Access, error: &io::Error) -> Error {
    let place = path.display().to_string();
    match error.raw_os_error() {
        Some(libc::EINVAL) if access.direct => Error::system(ErrorKind::Direct, "open", place, error)
            .with_remedy("this filesystem does not support O_DIRECT: remove direct=1 or use another directory"),
        Some(libc::EMFILE) => Error::file("open", path, error)
            .with_remedy("raise the open-file limit (ulimit -n), or set openfiles below nrfiles"),
        _ => Error::file("open", path, error),
    }
}

/// Returns the granularity of direct operations, in bytes; 512 if the system does not report it.
fn unit_bytes(file: &std::fs::File, kind: FileKind) -> u32 {
    let bytes = match kind {
        FileKind::Block => ioctl_blksszget(file).ok(),
        FileKind::Regular => direct_offset_bytes(file),
        FileKind::Character => Some(1),
    };
    bytes.filter(|&bytes| bytes > 0).unwrap_or(512)
}

/// Returns the offset alignment of direct operations on a regular file, by `statx` (Linux 6.1).
fn direct_offset_bytes(file: &std::fs::File) -> Option<u32> {
    let wanted = StatxFlags::DIOALIGN;
    let facts = statx(file, c"", AtFlags::EMPTY_PATH, wanted).ok()?;
    StatxFlags::from_bits_retain(facts.stx_mask).contains(wanted).then_some(facts.stx_dio_offset_align)
}

/// Advises the page cache of the order in which a file or device will be read; a closed one, when it is opened. Failures
/// are ignored.
pub fn advise(file: &File, advice: CacheAdvice) {
    file.advice.set(Some(advice));
    if file.is_closed() {
        return;
    }
    let advice = match advice {
        CacheAdvice::Sequential => libc::POSIX_FADV_SEQUENTIAL,
        CacheAdvice::Random => libc::POSIX_FADV_RANDOM,
        CacheAdvice::NoReuse => libc::POSIX_FADV_NOREUSE,
    };
    // SAFETY: the call takes no memory.
    unsafe { libc::posix_fadvise64(file.fd(), 0, 0, advice) };
}

impl WriteGate {
    /// Removes an admitted regular file, if its name still refers to it. Devices stay.
    ///
    /// # Errors
    /// As for [`WriteGate::admit`], and if the system refuses.
    pub fn remove(&self, path: &Path) -> Result<(), Error> {
        let Some(permit) = self.admit(path)? else { return Ok(()) };
        if !matches!(permit.identity(), FileIdentity::File { .. }) {
            return Ok(());
        }
        let failed = |error: io::Error| Error::file("remove", path, &error);
        let file = permit.open(OpenMode::READ_WRITE).map_err(failed)?;
        gate::remove_same(path, &file).map_err(failed)
    }

    /// Opens the character device of an NVMe namespace for commands that change it, after admitting it.
    ///
    /// # Errors
    /// As for [`WriteGate::admit_namespace`], and if the system refuses.
    pub fn open_namespace(&self, path: &Path, access: Access) -> Result<File, Error> {
        let permit = self.admit_namespace(path)?;
        open_permitted(&permit, Access { write: true, ..access })
    }

    /// As [`WriteGate::open`], but the first operation opens a regular file that was admitted before, as for [`open_later`].
    ///
    /// # Errors
    /// As for [`WriteGate::create`], and if the system refuses.
    pub fn open_later(&self, path: &Path, access: Access) -> Result<File, Error> {
        let admitted = self.admitted_as(path).filter(|permit| matches!(permit.identity(), FileIdentity::File { .. }));
        match (admitted, look(path)?) {
            (Some(permit), Some(Seen { kind: FileKind::Regular, bytes, .. })) if !access.direct => {
                Ok(closed(permit.path(), bytes, Access { write: true, ..access }, Some(&permit)))
            }
            _ => self.open(path, access),
        }
    }

    /// Opens a file or device for writing, after admitting or creating it.
    ///
    /// # Errors
    /// As for [`WriteGate::create`], and if the system refuses.
    pub fn open(&self, path: &Path, access: Access) -> Result<File, Error> {
        let (permit, _) = self.create(path)?;
        open_permitted(&permit, Access { write: true, ..access })
    }
}

/// Locks a file against writers that use locks while it is open for reading.
///
/// # Errors
/// Fails if another program has locked the file already, or if the locks cannot be queried.
pub(crate) fn share(file: &File) -> Result<(), Denied> {
    match file.file.borrow().as_ref().and_then(gate::lock_for_reading) {
        Some(objection) => Err(Denied::Refused(WriteRefusal::of_reader(file.path(), objection))),
        None => Ok(()),
    }
}
