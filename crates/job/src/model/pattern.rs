//! Directions, offsets and block sizes.

use units::{Bytes, PerKind};

/// Directions, offsets and block sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// Kinds of operation.
    pub direction: Direction,
    /// Random instead of sequential offsets.
    pub random: bool,
    /// `rw=…:N`. If random: the number of sequential operations from each random offset, at least 1. If sequential: the
    /// number of bytes to skip after each operation, negative for backwards.
    pub modifier: i64,
    /// Fraction of reads in a mix, in parts per million.
    pub read_ppm: u32,
    pub block_sizes: PerKind<BlockSizes>,
    /// Whether sequential operations have the block sizes of reads and random ones those of writes (`bs_is_seq_rand`).
    pub sizes_by_order: bool,
    /// Whether operations between two random offsets repeat the offset (`rw_sequencer=identical`).
    pub repeats_offset: bool,
    /// Zones at regular distances (`zonemode=strided`); `None` for the whole region.
    pub zones: Option<StridedZones>,
    /// Zones of zoned block devices (`zonemode=zbd`).
    pub zoned: Option<ZonedOptions>,
    /// The writes that precondition a flash device (`sprandom`).
    pub preconditioning: Option<Preconditioning>,
    /// Allow block sizes that are not multiples of the minimum.
    pub bs_unaligned: bool,
    /// Alignment of offsets in bytes; `None` for the minimum block size.
    pub blockalign: Option<PerKind<u32>>,
    /// Allow blocks to repeat within a pass.
    pub norandommap: bool,
    /// Random generator of offsets.
    pub generator: Generator,
    /// Distribution of offsets.
    pub distribution: PerKind<Distribution>,
    /// Percentage of random offsets in a random pattern.
    pub percentage_random: PerKind<u32>,
    /// Use the same offsets in every run.
    pub randrepeat: bool,
    /// `randseed`, which overrides `randrepeat`.
    pub randseed: Option<u64>,
}

impl Pattern {
    /// The value of `read_ppm` for reads only.
    pub const PPM: u32 = 1_000_000;

    /// Sets the percentage of reads in a mix; values above 100 count as 100.
    pub fn set_read_percent(&mut self, percent: u32) {
        self.read_ppm = percent.min(100) * (Self::PPM / 100);
    }

    /// Sets the fraction of reads in a mix, from 0 to 1, to the nearest millionth.
    pub fn set_read_fraction(&mut self, fraction: f64) {
        self.read_ppm = (fraction.clamp(0.0, 1.0) * f64::from(Self::PPM)).round() as u32;
    }

    /// Returns the block sizes of each kind of operation that the job issues.
    pub fn used_sizes(&self) -> impl Iterator<Item = &BlockSizes> {
        let (direction, sizes) = (self.direction, &self.block_sizes);
        let both = self.sizes_by_order;
        let used = [direction.reads() || both, direction.writes() || both, direction.trims()];
        used.into_iter().zip([&sizes.read, &sizes.write, &sizes.trim]).filter_map(|(used, sizes)| used.then_some(sizes))
    }

    /// Returns the fraction of reads in a mix.
    #[must_use]
    pub fn read_fraction(&self) -> f64 {
        f64::from(self.read_ppm) / f64::from(Self::PPM)
    }
}

/// Preconditioning of a flash device in one pass (`sprandom`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preconditioning {
    /// Overprovisioning of the device: bytes of flash beyond those of the device, as a fraction of these.
    pub overprovisioning: f64,
    /// Number of regions into which the pass is divided.
    pub regions: u32,
    /// Size of the cache of the device in bytes, which must not hold both writes of a block; 0 for none.
    pub cache_bytes: u64,
}

/// Defaults of fio.
impl Default for Preconditioning {
    fn default() -> Self {
        Self { overprovisioning: 0.15, regions: 100, cache_bytes: 0 }
    }
}

/// Zones of zoned block devices: writes at the write pointers, resets of full zones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ZonedOptions {
    /// Size of a zone (`zonesize`); `None` for the device's. Other files are divided into zones of this size.
    pub zone_size: Option<Bytes>,
    /// Bytes of each zone that can be written (`zonecapacity`), where the device has no zones; `None` for all.
    pub capacity: Option<Bytes>,
    /// Whether reads may fall behind the write pointer (`read_beyond_wp`).
    pub read_beyond_wp: bool,
    /// Maximum number of zones that all jobs write at the same time (`max_open_zones`); zero for the device's limit.
    pub max_open: u32,
    /// Maximum number of zones that a worker writes at the same time (`job_max_open_zones`); zero for no limit.
    pub job_max_open: u32,
    /// Whether `max_open` may exceed the device's limit (`ignore_zone_limits`).
    pub ignore_limits: bool,
    /// Fraction of the region's bytes from which on zones are reset after some writes (`zone_reset_threshold`).
    pub reset_threshold: Option<f64>,
    /// Resets per write from then on (`zone_reset_frequency`).
    pub reset_frequency: Option<f64>,
    /// Whether to continue at the device's write pointer after a failed write (`recover_zbd_write_error`).
    pub recovers: bool,
    /// Whether rests of zones that are smaller than a block are written (`write_zone_remainder`), not finished.
    pub writes_remainder: bool,
}

/// Zones at regular distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StridedZones {
    /// Bytes to transfer in each zone (`zonesize`).
    pub size: Bytes,
    /// Length of each zone (`zonerange`).
    pub range: Bytes,
    /// Distance from the end of a zone to the next one (`zoneskip`).
    pub skip: Bytes,
}

/// Kinds of operation that a job issues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Read,
    Write,
    Trim,
    /// Reads and writes, mixed.
    ReadWrite,
    /// Each block trimmed, then written.
    TrimWrite,
}

impl Direction {
    /// Reports whether the job changes data on the device.
    #[must_use]
    pub const fn changes_data(self) -> bool {
        !matches!(self, Self::Read)
    }

    /// Reports whether the job reads.
    #[must_use]
    pub const fn reads(self) -> bool {
        matches!(self, Self::Read | Self::ReadWrite)
    }

    /// Reports whether the job writes.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::ReadWrite | Self::TrimWrite)
    }

    /// Reports whether the job trims.
    #[must_use]
    pub const fn trims(self) -> bool {
        matches!(self, Self::Trim | Self::TrimWrite)
    }
}

/// The block sizes of one kind of operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockSizes {
    /// One size.
    Fixed(u32),
    /// Sizes from a minimum to a maximum, in multiples of the minimum.
    Range(u32, u32),
    /// Sizes with their percentages, which add up to 100.
    Split(Vec<(u32, u32)>),
}

impl BlockSizes {
    /// Returns the minimum block size.
    #[must_use]
    pub fn min(&self) -> u32 {
        match self {
            Self::Fixed(size) | Self::Range(size, _) => *size,
            Self::Split(parts) => parts.iter().map(|part| part.0).min().unwrap_or(0),
        }
    }

    /// Returns the maximum block size.
    #[must_use]
    pub fn max(&self) -> u32 {
        match self {
            Self::Fixed(size) | Self::Range(_, size) => *size,
            Self::Split(parts) => parts.iter().map(|part| part.0).max().unwrap_or(0),
        }
    }
}

/// Random generators (`random_generator`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generator {
    /// fio's default.
    #[default]
    Tausworthe,
    /// A variant for large files.
    Tausworthe64,
    /// A sequence without repeats that needs no map.
    Lfsr,
}

/// Distributions of random offsets (`random_distribution`).
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Distribution {
    #[default]
    Uniform,
    Zipf {
        /// The exponent.
        theta: f64,
        /// Position of the most frequent block as a fraction of the file, if given.
        center: Option<f64>,
    },
    Pareto {
        /// The power.
        h: f64,
        /// Position of the most frequent block as a fraction of the file, if given.
        center: Option<f64>,
    },
    Normal {
        /// Deviation in per cent of the file.
        deviation: f64,
        /// Position of the most frequent block as a fraction of the file, if given.
        center: Option<f64>,
    },
    /// Percentage of operations and percentage of the file of each zone, in order.
    Zoned(Vec<(u32, u32)>),
    /// Percentage of operations and bytes of the file of each zone, in order.
    ZonedAbs(Vec<(u32, Bytes)>),
    /// These blocks, again and again.
    Sequence {
        /// Indices of the blocks.
        blocks: Vec<u64>,
        /// Whether all indices grow by the length of the sequence each time (`random_sequence_stride`).
        strided: bool,
    },
}
