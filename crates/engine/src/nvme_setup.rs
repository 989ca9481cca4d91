//! Settings of NVMe commands.

/// Commands for the operations of one worker on NVMe namespaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NvmeSetup {
    /// Commands for writes, each with its percentage; at least one.
    pub writes: Vec<(WriteCommand, u32)>,
    /// Whether reads are forced to come from the medium.
    pub read_fua: bool,
    /// Whether writes are forced to the medium.
    pub write_fua: bool,
    /// Maximum number of ranges of a trim, from 1 to 256.
    pub ranges: u32,
    /// Whether Write Zeroes deallocates.
    pub deallocates: bool,
    /// Whether the device inserts and strips protection information. Otherwise this program generates and checks it.
    pub device_protects: bool,
    /// Fields of protection information that the device checks.
    pub checks: ProtectionChecks,
    /// Application tag of protection information.
    pub application_tag: u16,
    /// Bits of the application tag that are checked.
    pub application_tag_mask: u16,
    /// Size of the buffer for separate metadata of each operation, in bytes.
    pub metadata_bytes: u32,
    /// Where the device places written data; `None` for its choice.
    pub placement: Option<PlacementSetup>,
    /// Whether what is written is verified byte by byte.
    pub verifies: bool,
    /// Bytes of the largest read or write; zero for jobs that only trim.
    pub transfer_bytes: u32,
    /// Unit of all offsets and lengths, in bytes.
    pub block_unit: u32,
    /// Seed of random choices.
    pub seed: u64,
}

impl Default for NvmeSetup {
    fn default() -> Self {
        Self {
            writes: vec![(WriteCommand::Write, 100)],
            read_fua: false,
            write_fua: false,
            ranges: 1,
            deallocates: false,
            device_protects: true,
            checks: ProtectionChecks::default(),
            application_tag: 0x1234,
            application_tag_mask: 0xffff,
            metadata_bytes: 0,
            placement: None,
            verifies: false,
            transfer_bytes: 0,
            block_unit: 512,
            seed: 0,
        }
    }
}

/// Commands for writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteCommand {
    /// Write.
    #[default]
    Write,
    /// Write Uncorrectable: later reads fail.
    Uncorrectable,
    /// Write Zeroes.
    Zeroes,
    /// Verify: reads the medium and changes nothing.
    Verify,
}

impl WriteCommand {
    /// Reports whether the command transfers the data of a write.
    #[must_use]
    pub const fn has_data(self) -> bool {
        matches!(self, Self::Write)
    }

    /// Reports whether the command changes what the device holds.
    #[must_use]
    pub const fn changes(self) -> bool {
        !matches!(self, Self::Verify)
    }
}

/// Fields of protection information that a device checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProtectionChecks {
    /// The checksum.
    pub guard: bool,
    /// The reference tag, which counts blocks.
    pub reference_tag: bool,
    /// The application tag.
    pub application_tag: bool,
}

/// Placement of written data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacementSetup {
    /// Kind of directive.
    pub directive: PlacementDirective,
    /// Order in which placements are used.
    pub order: PlacementOrder,
    /// Indexes of placement identifiers (Flexible Data Placement; all if empty), or stream identifiers.
    pub ids: Vec<u16>,
}

/// Kinds of directives for written data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlacementDirective {
    /// Flexible Data Placement.
    Fdp,
    /// Streams.
    Streams,
}

/// Orders of placements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlacementOrder {
    /// One after the other.
    RoundRobin,
    /// At random, all with the same probability.
    Random,
    /// By the offset of the write.
    Scheme(Vec<PlacementRange>),
}

/// Placement of the writes that begin in a range of offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacementRange {
    /// First offset in bytes.
    pub start: u64,
    /// Offset after the last one.
    pub end: u64,
    /// Index of the placement identifier, or stream identifier.
    pub id: u16,
}
