//! Options of the engine `sg`.

/// Commands that a job sends to SCSI disks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScsiOptions {
    /// Command for writes (`sg_write_mode`).
    pub write_command: ScsiWriteCommand,
    /// Stream of WRITE STREAM commands; 0 for one that the job opens (`stream_id`).
    pub stream: u16,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScsiWriteCommand {
    #[default]
    Write,
    WriteAndVerify,
    WriteSame,
    /// WRITE SAME(16) without data.
    WriteSameNdob,
    /// VERIFY with BYTCHK 00.
    VerifyMedium,
    /// VERIFY with BYTCHK 01.
    VerifyData,
    /// VERIFY with BYTCHK 11.
    VerifySame,
    /// WRITE STREAM(16).
    WriteStream,
}

impl ScsiWriteCommand {
    /// Returns the command of fio's name; names that fio deprecates are those of the commands that replaced them.
    #[must_use]
    pub fn of_name(name: &str) -> Self {
        match name {
            "write_and_verify" | "verify" => Self::WriteAndVerify,
            "write_same" | "same" => Self::WriteSame,
            "write_same_ndob" => Self::WriteSameNdob,
            "verify_bytchk_00" => Self::VerifyMedium,
            "verify_bytchk_01" => Self::VerifyData,
            "verify_bytchk_11" => Self::VerifySame,
            "write_stream" => Self::WriteStream,
            _ => Self::Write,
        }
    }

    /// Returns the bytes that a write of `bytes` transfers to a device with blocks of `block_bytes`.
    #[must_use]
    pub const fn transferred(self, bytes: u32, block_bytes: u32) -> u32 {
        match self {
            Self::Write | Self::WriteAndVerify | Self::VerifyData | Self::WriteStream => bytes,
            Self::WriteSame | Self::VerifySame => block_bytes,
            Self::WriteSameNdob | Self::VerifyMedium => 0,
        }
    }

    /// Returns the maximum number of blocks of one command.
    #[must_use]
    pub const fn max_blocks(self) -> u32 {
        if matches!(self, Self::WriteStream) { u16::MAX as u32 } else { u32::MAX }
    }

    /// Reports whether the device stores the data of each block.
    #[must_use]
    pub const fn stores_data(self) -> bool {
        matches!(self, Self::Write | Self::WriteAndVerify | Self::WriteStream)
    }
}
