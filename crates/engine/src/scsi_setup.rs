//! Settings of a target of SCSI disks.

use std::fs::File;
use std::sync::{Arc, OnceLock};

/// An open SCSI disk, as commands need it.
#[derive(Clone, Debug)]
pub struct ScsiDisk {
    /// The block device or the generic device.
    pub(crate) file: Arc<File>,
    /// Whether it is a generic device, which takes several commands at a time.
    pub(crate) is_generic: bool,
    /// Whether commands may change data.
    pub(crate) writes: bool,
    /// Size of a block, in bytes.
    pub(crate) block_bytes: u32,
    /// Stream of WRITE STREAM.
    pub(crate) stream: u16,
}

/// Disks, and the commands to send to them.
#[derive(Clone, Debug)]
pub struct ScsiSetup {
    /// Disks, by the index that operations have.
    pub disks: Vec<ScsiDisk>,
    /// Command for writes.
    pub write_mode: ScsiWriteMode,
    /// Whether reads bypass the cache of the device.
    pub read_fua: bool,
    /// Whether writes do.
    pub write_fua: bool,
    /// Receives the first reason of a device for not carrying out a command.
    pub failure: Arc<OnceLock<String>>,
}

/// Commands for writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ScsiWriteMode {
    /// WRITE.
    #[default]
    Write,
    /// WRITE AND VERIFY, without a comparison of data.
    WriteAndVerify,
    /// WRITE SAME: the first block of the buffer is stored in all blocks.
    WriteSame,
    /// WRITE SAME(16) without data: the device stores its own pattern.
    WriteSameWithoutData,
    /// VERIFY of the medium.
    VerifyMedium,
    /// VERIFY against the buffer.
    VerifyData,
    /// VERIFY of all blocks against the first block of the buffer.
    VerifySame,
    /// WRITE STREAM(16).
    WriteStream,
}

impl ScsiWriteMode {
    /// Returns the bytes that a write of `bytes` transfers to a device with blocks of `block_bytes`.
    pub(crate) const fn transferred(self, bytes: u32, block_bytes: u32) -> u32 {
        match self {
            Self::Write | Self::WriteAndVerify | Self::VerifyData | Self::WriteStream => bytes,
            Self::WriteSame | Self::VerifySame => block_bytes,
            Self::WriteSameWithoutData | Self::VerifyMedium => 0,
        }
    }

    /// Returns the maximum number of blocks of one command.
    pub(crate) const fn max_blocks(self) -> u32 {
        if matches!(self, Self::WriteStream) { u16::MAX as u32 } else { u32::MAX }
    }
}
