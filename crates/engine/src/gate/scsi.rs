//! Permission for SCSI commands: that of the block device of the disk, whatever names the disk.

use std::path::Path;

use super::identity::FileIdentity;
use super::objection::{Denied, Objection, WriteRefusal};
use super::permit::Permit;
use super::{ROOT, WriteGate};
use crate::error::Error;
use crate::scsi;

impl WriteGate {
    /// Requests permission to change a SCSI disk by commands. The permit is that of its block device, so that mounts, swap
    /// and holders of the disk count for its generic device too.
    ///
    /// # Errors
    /// As for [`WriteGate::admit`]. Fails for partitions, because commands address the whole disk, and for devices whose
    /// block device is unknown, such as tapes.
    pub fn admit_scsi(&self, path: &Path) -> Result<Permit, Denied> {
        let failed = |error: std::io::Error| Denied::from(Error::file("look at", path, &error));
        let identity = FileIdentity::of(&std::fs::metadata(path).map_err(failed)?);
        let refused = |reason: String| Denied::Refused(WriteRefusal::new(path, vec![Objection::NotScsi(reason)]));
        let block = scsi::block_of(&identity).map_err(|reason| refused(reason.to_owned()))?;
        if identity == FileIdentity::Block(block) {
            return self.admit(path)?.ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()));
        }
        let unknown = || refused("the node of its block device in /dev cannot be found".to_owned());
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
            scsi::block_of(&identity).ok().map(FileIdentity::Block)
        }
        identity => Some(identity),
    }
}
