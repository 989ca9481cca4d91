//! Permission for SCSI commands: that of the block device of the disk, whatever names the disk.

use std::path::Path;

use probe::Number;
use units::{Problem, ProblemCode};

use super::identity::FileIdentity;
use super::objection::{Denied, Objection, WriteRefusal};
use super::permit::Permit;
use super::{ROOT, WriteGate};
use crate::error::Error;

/// Peripheral device types with the commands of disks: disks, CD and DVD, optical memory, simplified and zoned disks.
const DISKS: [u8; 5] = [0x00, 0x05, 0x07, 0x0e, 0x14];

impl WriteGate {
    /// Requests permission to change a SCSI disk by commands. The permit is that of its block device, so that mounts, swap
    /// and holders of the disk count for its generic device too.
    ///
    /// # Errors
    /// As for [`WriteGate::admit`]. Fails for partitions, because commands address the whole disk, and for devices whose
    /// block device is unknown, such as tapes.
    pub fn admit_scsi(&self, path: &Path) -> Result<Permit, Denied> {
        let failed = |error: std::io::Error| Denied::from(Error::file("stat", path, &error));
        let identity = FileIdentity::of(&std::fs::metadata(path).map_err(failed)?);
        let refused = |reason: String| Denied::Refused(WriteRefusal::new(path, vec![Objection::NotScsi(reason)]));
        let block = scsi_block_of(&identity).map_err(|problem| refused(problem.what))?;
        if identity == FileIdentity::Block(block) {
            return self.admit(path)?.ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()));
        }
        let unknown = || refused("its block device has no node in /dev".to_owned());
        let name = probe::relations(Path::new(ROOT), block).ok_or_else(unknown)?.name;
        let node = Path::new("/dev").join(name);
        let permit = self.admit(&node)?.ok_or_else(unknown)?;
        // The node may be that of another device.
        if permit.identity() == FileIdentity::Block(block) { Ok(permit) } else { Err(unknown()) }
    }
}

/// Returns what permissions for a path concern: the block device of a generic SCSI device, otherwise the file itself.
pub(super) fn permitted(path: &Path) -> Option<FileIdentity> {
    let identity = FileIdentity::at(path)?;
    match identity {
        FileIdentity::Character(number) if probe::is_scsi_generic(number) => {
            scsi_block_of(&identity).ok().map(FileIdentity::Block)
        }
        identity => Some(identity),
    }
}

/// Returns the block device of a whole SCSI disk or of its generic device, or why there is none.
pub(crate) fn scsi_block_of(identity: &FileIdentity) -> Result<Number, Problem> {
    let root = Path::new(ROOT);
    let problem = |what: &str| Problem::error(ProblemCode::Device, what);
    let no_block = "it is not a disk, or /sys does not list its block device";
    let block = match *identity {
        FileIdentity::Block(number) => number,
        FileIdentity::Character(number) if probe::is_scsi_generic(number) => {
            probe::block_of_scsi_generic(root, number).ok_or_else(|| problem(no_block))?
        }
        _ => return Err(problem("it is not a SCSI device")),
    };
    match probe::scsi_type(root, block) {
        Some(kind) if DISKS.contains(&kind) => Ok(block),
        Some(_) => Err(problem("it is not a SCSI disk")),
        None => Err(problem("it is not a whole SCSI disk: SCSI commands address whole disks, not partitions")),
    }
}
