//! Options of the engine `sg`.

/// Commands that a job sends to SCSI disks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScsiOptions {
    /// Command for writes (`sg_write_mode`).
    pub write_command: ScsiWriteCommand,
    /// Stream of WRITE STREAM commands; 0 for one that the job opens (`stream_id`).
    pub stream: u16,
}

/// SCSI commands for writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScsiWriteCommand {
    /// WRITE.
    #[default]
    Write,
    /// WRITE AND VERIFY.
    WriteAndVerify,
    /// WRITE SAME.
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

    /// Reports whether the device stores the data of each block.
    #[must_use]
    pub const fn stores_data(self) -> bool {
        matches!(self, Self::Write | Self::WriteAndVerify | Self::WriteStream)
    }
}
