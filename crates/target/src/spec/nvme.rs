//! Options of commands to NVMe namespaces (`io_uring_cmd`).

/// Options of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NvmeOptions {
    /// Commands for writes and their percentages, which add up to 100 (`write_mode`).
    pub writes: Vec<(NvmeWrite, u32)>,
    /// The device compares what is verified (`verify_mode`).
    pub compares: bool,
    /// Ranges of each trim (`num_range`).
    pub ranges: u32,
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
    /// Where the device places written data.
    pub placement: PlacementOptions,
}

impl Default for NvmeOptions {
    fn default() -> Self {
        Self {
            writes: vec![(NvmeWrite::Write, 100)],
            compares: false,
            ranges: 1,
            deac: false,
            metadata_bytes: 0,
            pi_act: true,
            pi_chk: ProtectionFields::default(),
            apptag: 0x1234,
            apptag_mask: 0xffff,
            placement: PlacementOptions::default(),
        }
    }
}

impl NvmeOptions {
    /// Reports whether writes change what the device holds.
    #[must_use]
    pub fn changes(&self) -> bool {
        self.writes.iter().any(|(write, percentage)| write.changes() && *percentage > 0)
    }
}

/// Placement of written data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacementOptions {
    /// Flexible Data Placement, unless another kind is given (`fdp`).
    pub fdp: bool,
    /// Kind of directive (`dataplacement`).
    pub kind: PlacementKind,
    /// Order of placements (`plid_select`).
    pub select: PlacementSelect,
    /// Indexes of placement identifiers or stream identifiers (`plids`); all if empty.
    pub ids: Vec<u16>,
    /// File that maps offsets to placements (`dp_scheme`).
    pub scheme: Option<String>,
}

impl PlacementOptions {
    /// Returns the kind of directive that the options together choose.
    #[must_use]
    pub fn effective(&self) -> PlacementKind {
        if self.fdp && self.kind == PlacementKind::None { PlacementKind::Fdp } else { self.kind }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlacementKind {
    /// That of the device.
    #[default]
    None,
    /// Flexible Data Placement.
    Fdp,
    Streams,
}

/// Orders of placements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlacementSelect {
    Random,
    /// One after the other.
    #[default]
    RoundRobin,
    /// By offset.
    Scheme,
}

/// Commands for writes. Write Uncorrectable makes later reads fail; Verify reads the medium and changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NvmeWrite {
    Write,
    Uncorrectable,
    Zeroes,
    Verify,
}

impl NvmeWrite {
    /// Reports whether the command changes what the device holds.
    #[must_use]
    pub const fn changes(self) -> bool {
        !matches!(self, Self::Verify)
    }
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
