//! Opens SCSI disks, by their block devices or generic devices.

use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::command::{CAPACITY_10_BYTES, CAPACITY_16_BYTES, Cdb, STREAM_BYTES, capacity_of_10, capacity_of_16};
use super::sg_io::{CommandOutcome, DataDirection, ScsiRequest, system_error};
use crate::error::{Error, ErrorKind};
use crate::gate::{FileIdentity, OpenMode, Permit, WriteGate, scsi_block_of};
use crate::opening::ScsiDisk;

/// An open SCSI disk.
#[derive(Debug)]
pub struct ScsiDevice {
    file: Arc<File>,
    path: PathBuf,
    /// Permission to change data.
    permit: Option<Permit>,
    is_generic: bool,
    block_bytes: u32,
    blocks: u64,
    /// Stream of WRITE STREAM, and whether this device opened it.
    stream: Option<(u16, bool)>,
}

impl ScsiDevice {
    /// Opens a disk for commands that read.
    ///
    /// The kernel takes commands of generic devices by `write`, so that these are open for writing too. The engine then
    /// sends no command that changes data.
    ///
    /// # Errors
    /// Fails for anything other than a whole SCSI disk or its generic device, and if the system refuses.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let place = ScsiPlace::of(path)?;
        let file = place.open_node(path, false)?;
        Self::new(file, path, &place, None)
    }

    /// Opens a disk for commands that change data, after the gate has admitted its block device.
    ///
    /// # Errors
    /// As for [`ScsiDevice::open`] and [`WriteGate::admit_scsi`].
    pub fn open_admitted(path: &Path, gate: &WriteGate) -> Result<Self, Error> {
        let permit = gate.admit_scsi(path)?;
        let place = ScsiPlace::of(path)?;
        let failed = |error: std::io::Error| Error::file("open", path, &error);
        if FileIdentity::Block(place.block) != permit.identity() {
            return Err(Error::found(
                ErrorKind::Gate,
                "open",
                path.display().to_string(),
                "the path now refers to a different disk",
            ));
        }
        let file = match place.is_generic {
            // What is open is compared with what was admitted.
            true => place.open_node(path, true)?,
            false => permit.open(OpenMode::READ_WRITE).map_err(failed)?,
        };
        Self::new(file, path, &place, Some(permit))
    }

    fn new(file: File, path: &Path, place: &ScsiPlace, permit: Option<Permit>) -> Result<Self, Error> {
        let path = path.to_owned();
        let is_generic = place.is_generic;
        let mut device =
            Self { file: Arc::new(file), path, permit, is_generic, block_bytes: 0, blocks: 0, stream: None };
        (device.blocks, device.block_bytes) = device.capacity()?;
        if device.block_bytes == 0 || device.blocks == 0 {
            return Err(device.error("use", "no medium present").with_remedy("insert a medium, or use another disk"));
        }
        device.drop_cache();
        Ok(device)
    }

    /// Returns the path by which the disk was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the size in bytes, by READ CAPACITY.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.blocks.saturating_mul(self.block_bytes.into())
    }

    /// Checks that operations in multiples of `unit` bytes are possible.
    ///
    /// # Errors
    /// Fails if the device has larger blocks.
    pub fn check_block(&self, unit: u32) -> Result<(), Error> {
        if unit.is_multiple_of(self.block_bytes) {
            return Ok(());
        }
        let bytes = self.block_bytes;
        let reason =
            format!("SCSI commands require multiples of the block size of {bytes} bytes, and {unit} is not one");
        Err(self.error("use", reason).with_remedy(format!("use bs={bytes} or a multiple of it")))
    }

    /// Sets the stream of WRITE STREAM; 0 opens one, which is closed with the device.
    ///
    /// # Errors
    /// Fails if the device has no streams.
    pub fn use_stream(&mut self, number: u16) -> Result<(), Error> {
        if number > 0 {
            self.stream = Some((number, false));
            return Ok(());
        }
        let answer = self.ask(Cdb::stream_control(None), STREAM_BYTES).map_err(|error| {
            error.with_remedy("use a device that supports streams, or set stream_id=N to an open stream")
        })?;
        self.stream = Some((u16::from_be_bytes([answer[4], answer[5]]), true));
        Ok(())
    }

    /// Returns what commands need.
    #[must_use]
    pub fn into_disk(self) -> ScsiDisk {
        ScsiDisk {
            file: Arc::clone(&self.file),
            is_generic: self.is_generic,
            writes: self.permit.is_some(),
            block_bytes: self.block_bytes,
            stream: self.stream.map_or(0, |(number, _)| number),
            _device: Arc::new(self),
        }
    }

    fn fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    fn capacity(&self) -> Result<(u64, u32), Error> {
        let answer = self.ask(Cdb::capacity_10(), CAPACITY_10_BYTES)?;
        let mut short = [0; CAPACITY_10_BYTES];
        short.copy_from_slice(&answer[..CAPACITY_10_BYTES]);
        match capacity_of_10(short) {
            Some(capacity) => Ok(capacity),
            None => Ok(capacity_of_16(&self.ask(Cdb::capacity_16(), CAPACITY_16_BYTES)?)),
        }
    }

    /// Sends a command that answers with at most 32 bytes. A device reports once that it was reset or has changed.
    fn ask(&self, command: Cdb, bytes: usize) -> Result<[u8; 32], Error> {
        const ATTEMPTS: u32 = 5;
        let room = [0; 32];
        let mut reason = "the device is busy".to_owned();
        for _ in 0..ATTEMPTS {
            let mut request = Box::new(ScsiRequest::new());
            request.prepare(command);
            request.exchange(DataDirection::FromDevice, &room[..bytes.min(room.len())]);
            match request.execute(self.fd()) {
                Ok(CommandOutcome::Done { .. }) => return Ok(*request.answer()),
                Ok(CommandOutcome::Busy) => {}
                Ok(CommandOutcome::Failed { text }) => reason = text,
                Err(errno) => {
                    let error = system_error(errno);
                    let failed = Error::file("send a SCSI command to", &self.path, &error);
                    return Err(failed.with_remedy("run as root, and specify a SCSI disk or its generic device"));
                }
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        Err(self.error("ask", reason))
    }

    fn error(&self, operation: &'static str, reason: impl Into<String>) -> Error {
        Error::found(ErrorKind::Engine, operation, self.path.display().to_string(), reason)
    }

    /// Empties the page cache of the block device, which the commands bypass. Only the run that changes data needs it.
    fn drop_cache(&self) {
        let own = (!self.is_generic).then(|| self.fd());
        if let Some(fd) = self.permit.as_ref().and_then(Permit::claim).or(own) {
            // SAFETY: the call takes no memory. Pages that are not clean stay, and the kernel writes them back.
            unsafe { libc::posix_fadvise64(fd, 0, 0, libc::POSIX_FADV_DONTNEED) };
        }
    }
}

impl Drop for ScsiDevice {
    fn drop(&mut self) {
        if let Some((number, true)) = self.stream {
            // A stream that cannot be closed ends with the reset of the device.
            let _ = self.ask(Cdb::stream_control(Some(number)), STREAM_BYTES);
        }
        self.drop_cache();
    }
}

/// Checks that a path stands for a SCSI disk, without opening it.
///
/// # Errors
/// As for [`ScsiDevice::open`].
pub fn check(path: &Path) -> Result<(), Error> {
    ScsiPlace::of(path).map(drop)
}

/// The disk that a path stands for.
struct ScsiPlace {
    /// Its block device.
    block: probe::Number,
    is_generic: bool,
}

impl ScsiPlace {
    fn of(path: &Path) -> Result<Self, Error> {
        let metadata = std::fs::metadata(path).map_err(|error| Error::file("stat", path, &error))?;
        let block = scsi_block_of(&FileIdentity::of(&metadata)).map_err(|problem| unusable(path, &problem.what))?;
        let is_generic = matches!(FileIdentity::of(&metadata), FileIdentity::Character(_));
        Ok(Self { block, is_generic })
    }

    /// Opens a device that is still that of this disk.
    fn open_node(&self, path: &Path, writes: bool) -> Result<File, Error> {
        let failed = |error: std::io::Error| Error::file("open", path, &error);
        let mut options = OpenOptions::new();
        options.read(true).write(self.is_generic || writes).custom_flags(libc::O_NONBLOCK);
        let file = options.open(path).map_err(failed)?;
        let identity = FileIdentity::of(&file.metadata().map_err(failed)?);
        match scsi_block_of(&identity) {
            Ok(block) if block == self.block => Ok(file),
            _ => Err(unusable(path, "the path now refers to a different device")),
        }
    }
}

fn unusable(path: &Path, reason: &str) -> Error {
    Error::found(ErrorKind::Engine, "use", path.display().to_string(), reason)
        .with_remedy("specify a whole SCSI disk (/dev/sdX) or its generic device (/dev/sgN, see `lsscsi -g`)")
}
