//! Options of commands to NVMe namespaces (`io_uring_cmd`).

/// Options of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NvmeOptions {
    /// Commands for writes and their percentages, which add up to 100 (`write_mode`).
    pub writes: Vec<(NvmeWrite, u32)>,
    /// Write Zeroes deallocates (`deac`).
    pub deac: bool,
    /// Size of the buffer for separate metadata of each operation, in bytes (`md_per_io_size`).
    pub metadata_bytes: u32,
    /// The device inserts and strips protection information (`pi_act`).
    pub pi_act: bool,
    /// Fields of protection information that are checked (`pi_chk`).
    pub pi_chk: ProtectionFields,
    /// Application tag of protection information.
    pub apptag: u16,
    /// Bits of the application tag that are checked.
    pub apptag_mask: u16,
}

impl Default for NvmeOptions {
    fn default() -> Self {
        Self {
            writes: vec![(NvmeWrite::Write, 100)],
            deac: false,
            metadata_bytes: 0,
            pi_act: true,
            pi_chk: ProtectionFields::default(),
            apptag: 0x1234,
            apptag_mask: 0xffff,
        }
    }
}

impl NvmeOptions {
    /// Reports whether writes change what the device holds.
    #[must_use]
    pub fn changes(&self) -> bool {
        self.writes.iter().any(|(write, percentage)| *write != NvmeWrite::Verify && *percentage > 0)
    }
}

/// Commands for writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NvmeWrite {
    /// Write.
    Write,
    /// Write Uncorrectable.
    Uncorrectable,
    /// Write Zeroes.
    Zeroes,
    /// Verify.
    Verify,
}

/// Fields of protection information.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProtectionFields {
    /// Checksum.
    pub guard: bool,
    /// Reference tag.
    pub reftag: bool,
    /// Application tag.
    pub apptag: bool,
}
