//! The engine `sg`: SCSI commands, past the block layer. Block devices take one at a time (`SG_IO`), generic devices
//! (`/dev/sgN`) several.

mod command;
mod device;
mod sense;
mod sg_io;
mod target;

use std::path::Path;

pub use device::{ScsiDevice, check};
pub(crate) use target::Scsi;

use crate::gate::{FileIdentity, scsi_block_of};

/// Returns the size of a SCSI disk in bytes as the kernel knows it; `None` for anything else.
#[must_use]
pub fn disk_bytes(path: &Path) -> Option<u64> {
    let block = scsi_block_of(&FileIdentity::at(path)?).ok()?;
    probe::device(Path::new("/"), block).map(|device| device.bytes)
}
