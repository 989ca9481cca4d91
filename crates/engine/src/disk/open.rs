//! Opens a file or device as a store.

use std::io;
use std::path::{Path, PathBuf};

use nbd::store::Pool;
use units::Bytes;

use super::Disk;
use super::range_locks::RangeLocks;
use super::ring::Ring;
use super::slot::StoreGeometry;
use crate::error::{Error, ErrorKind};
use crate::files::{self, Access, File, FileKind};
use crate::gate::{FileIdentity, OpenMode, Permit, WriteGate, remove_same};

/// Settings of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskOptions {
    /// Path of the file or device.
    pub path: PathBuf,
    /// Required size in bytes, with which a missing or empty file is created as one hole; `None` for the existing size.
    pub bytes: Option<u64>,
    /// Whether to bypass the page cache (`O_DIRECT`).
    pub direct: bool,
    /// Whether the store rejects writes.
    pub read_only: bool,
    /// Whether to use `io_uring` if the host supports it.
    pub ring: bool,
}

impl DiskOptions {
    /// Returns the settings for an existing file that is read and written through the page cache.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), bytes: None, direct: false, read_only: false, ring: true }
    }
}

impl Disk {
    /// Opens a file or device. A missing or empty file is created if a size is given.
    ///
    /// # Errors
    /// Fails if the system or the write gate refuses, the size differs, or a file to be used with `O_DIRECT` does not
    /// consist of whole blocks.
    pub fn open(options: &DiskOptions, gate: &WriteGate) -> Result<Self, Error> {
        let path = &options.path;
        let writable = !options.read_only;
        let access =
            Access { read: true, write: writable, direct: options.direct, punch_holes: writable, ..Access::default() };
        let file = if writable {
            let permit = match options.bytes {
                Some(bytes) => make_if_empty(path, bytes, gate)?,
                None => gate.admit(path)?.ok_or_else(|| Error::file("open", path, &missing()))?,
            };
            check_writable(&permit)?;
            gate.begin();
            files::open_permitted(&permit, access)?
        } else {
            let file = files::open(path, access)?;
            files::share(&file)?;
            file
        };
        check_size(&file, options)?;
        let geometry = StoreGeometry {
            size: file.bytes(),
            unit: file.unit_bytes(),
            grain: file.grain_bytes(),
            device: file.kind() == FileKind::Block,
            writable,
        };
        let ring = options.ring.then(|| Ring::new(file.fd()).ok()).flatten();
        Ok(Self {
            file,
            geometry,
            ring,
            slots: Vec::new(),
            range_locks: RangeLocks::default(),
            results: Vec::new(),
            ended: Vec::new(),
            pool: Pool::default(),
        })
    }
}

/// Creates a file of one hole unless it exists and has data. The open file decides, not its name, and a file that is
/// not empty is never resized.
fn make_if_empty(path: &Path, bytes: u64, gate: &WriteGate) -> Result<Permit, Error> {
    let (permit, is_new) = gate.create(path)?;
    if !matches!(permit.identity(), FileIdentity::File { .. }) {
        return Ok(permit);
    }
    let failed = |operation| move |error: io::Error| Error::file(operation, path, &error);
    let file = permit.open(OpenMode::READ_WRITE).map_err(failed("open"))?;
    if file.metadata().map_err(failed("stat"))?.len() > 0 {
        return Ok(permit);
    }
    if let Err(error) = file.set_len(bytes) {
        if is_new {
            let _ = remove_same(path, &file);
        }
        return Err(Error::file("size", path, &error));
    }
    Ok(permit)
}

fn missing() -> io::Error {
    io::Error::from_raw_os_error(libc::ENOENT)
}

/// Rejects read-only devices: the kernel opens them for writing but fails each write.
fn check_writable(permit: &Permit) -> Result<(), Error> {
    let FileIdentity::Block(number) = permit.identity() else { return Ok(()) };
    if probe::device(Path::new("/"), number).is_none_or(|device| !device.read_only) {
        return Ok(());
    }
    let error = Error::found(ErrorKind::File, "serve", permit.path().display().to_string(), "the device is read-only");
    Err(error.with_remedy("serve it with --read-only, or make it writable (blockdev --setrw)"))
}

fn check_size(file: &File, options: &DiskOptions) -> Result<(), Error> {
    let place = options.path.display().to_string();
    let refuse = |reason: String, remedy: &str| {
        Err(Error::found(ErrorKind::File, "serve", place.clone(), reason).with_remedy(remedy))
    };
    let (bytes, unit) = (file.bytes(), file.unit_bytes());
    if file.kind() == FileKind::Character {
        return refuse("it is a character device".into(), "specify a file or a block device");
    }
    if let Some(wanted) = options.bytes.filter(|&wanted| wanted != bytes) {
        let reason = format!("it has {bytes} bytes ({}), but {wanted} were requested", Bytes::new(bytes));
        return refuse(reason, "omit the size, or specify a file that does not exist yet");
    }
    if bytes == 0 {
        return refuse("it is empty".into(), "set its size");
    }
    if !bytes.is_multiple_of(u64::from(unit)) {
        let reason = format!("its size of {bytes} bytes is not a multiple of {unit}, which direct I/O requires");
        return refuse(reason, "use the page cache, or extend the file (truncate)");
    }
    Ok(())
}
