//! The engine `sg`: SCSI commands, past the block layer. Block devices take one at a time (`SG_IO`), generic devices
//! (`/dev/sgN`) several.

mod command;
mod device;
mod sense;
mod sg_io;
mod target;

use std::path::Path;
use std::sync::{Arc, OnceLock};

use probe::Number;

pub use command::ScsiWriteMode;
pub use device::{ScsiDevice, check};
pub(crate) use target::Scsi;

use crate::gate::FileIdentity;

/// Peripheral device types with the commands of disks: disks, CD and DVD, optical memory, simplified and zoned disks.
const DISKS: [u8; 5] = [0x00, 0x05, 0x07, 0x0e, 0x14];

/// Disks, and the commands to send to them.
#[derive(Clone, Debug)]
pub struct ScsiSetup {
    /// Disks, by the index that operations have.
    pub devices: Vec<Arc<ScsiDevice>>,
    /// Command for writes.
    pub write_mode: ScsiWriteMode,
    /// Whether reads bypass the cache of the device.
    pub read_fua: bool,
    /// Whether writes do.
    pub write_fua: bool,
    /// Receives the first reason of a device for not carrying out a command.
    pub failure: Arc<OnceLock<String>>,
}

/// Returns the block device of a whole SCSI disk or of its generic device, or why there is none.
pub(crate) fn block_of(identity: &FileIdentity) -> Result<Number, &'static str> {
    let root = Path::new("/");
    let block = match *identity {
        FileIdentity::Block(number) => number,
        FileIdentity::Character(number) if probe::is_scsi_generic(number) => probe::block_of_scsi_generic(root, number)
            .ok_or("it is no disk: it has no block device, as tapes and enclosures, or /sys does not tell it")?,
        _ => return Err("it is no SCSI device"),
    };
    match probe::scsi_type(root, block) {
        Some(kind) if DISKS.contains(&kind) => Ok(block),
        Some(_) => Err("it is no SCSI disk"),
        None => Err("it is no whole SCSI disk: the commands address the blocks of a whole disk"),
    }
}

/// Returns the size of a SCSI disk in bytes as the kernel knows it; `None` for anything else.
#[must_use]
pub fn disk_bytes(path: &Path) -> Option<u64> {
    let block = block_of(&FileIdentity::at(path)?).ok()?;
    probe::device(Path::new("/"), block).map(|device| device.bytes)
}
