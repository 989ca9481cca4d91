//! Direction, offsets and block sizes.

use units::Bytes;

use units::PerKind;

/// Reads or writes, where, and in which sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// Which kinds of operation.
    pub direction: Direction,
    /// Random offsets rather than one after the other.
    pub random: bool,
    /// `rw=…:N`: with random offsets, so many operations in a row before the next random one (at least 1);
    /// in sequence, so many bytes left out after each (negative: backwards).
    pub modifier: i64,
    /// Reads in a mix, in parts per million.
    pub read_ppm: u32,
    /// Block sizes.
    pub block_sizes: PerKind<BlockSizes>,
    /// Block sizes may be any number of bytes, not only multiples of the least.
    pub bs_unaligned: bool,
    /// Offsets are multiples of this; `None` for the least block size.
    pub blockalign: Option<PerKind<u32>>,
    /// Blocks may repeat within a pass.
    pub norandommap: bool,
    /// How offsets are drawn.
    pub generator: Generator,
    /// Where offsets fall.
    pub distribution: PerKind<Distribution>,
    /// Share of random offsets in a random pattern, in per cent.
    pub percentage_random: PerKind<u32>,
    /// The same offsets on every run.
    pub randrepeat: bool,
    /// `randseed`, which overrides `randrepeat`.
    pub randseed: Option<u64>,
}

impl Pattern {
    /// Parts of a whole in `read_ppm`.
    pub const PPM: u32 = 1_000_000;

    /// Sets the reads in a mix from a percentage; what is more than 100 counts as 100.
    pub fn set_read_percent(&mut self, percent: u32) {
        self.read_ppm = percent.min(100) * (Self::PPM / 100);
    }

    /// Sets the reads in a mix from a fraction between 0 and 1, to the nearest millionth.
    pub fn set_read_fraction(&mut self, fraction: f64) {
        self.read_ppm = (fraction.clamp(0.0, 1.0) * f64::from(Self::PPM)).round() as u32;
    }

    /// Returns the fraction of reads in a mix.
    #[must_use]
    pub fn read_fraction(&self) -> f64 {
        f64::from(self.read_ppm) / f64::from(Self::PPM)
    }
}

/// Which kinds of operation a job issues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Trims.
    Trim,
    /// Reads and writes, mixed.
    ReadWrite,
    /// Each block trimmed, then written.
    TrimWrite,
}

impl Direction {
    /// Whether anything on the device is changed.
    #[must_use]
    pub const fn changes_data(self) -> bool {
        !matches!(self, Self::Read)
    }

    /// Whether reads are among the operations.
    #[must_use]
    pub const fn reads(self) -> bool {
        matches!(self, Self::Read | Self::ReadWrite)
    }

    /// Whether writes are among the operations.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::ReadWrite | Self::TrimWrite)
    }

    /// Whether trims are among the operations.
    #[must_use]
    pub const fn trims(self) -> bool {
        matches!(self, Self::Trim | Self::TrimWrite)
    }
}

/// The block sizes of one kind of operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockSizes {
    /// Always this.
    Fixed(u32),
    /// Anything between, in multiples of the least.
    Range(u32, u32),
    /// These, each with its share in per cent; the shares add up to 100.
    Split(Vec<(u32, u32)>),
}

impl BlockSizes {
    /// The least block size.
    #[must_use]
    pub fn min(&self) -> u32 {
        match self {
            Self::Fixed(size) | Self::Range(size, _) => *size,
            Self::Split(parts) => parts.iter().map(|part| part.0).min().unwrap_or(0),
        }
    }

    /// The greatest block size.
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
    /// The same for large files.
    Tausworthe64,
    /// A sequence without repeats that needs no map.
    Lfsr,
}

/// Distributions of random offsets (`random_distribution`).
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Distribution {
    /// Everywhere alike.
    #[default]
    Uniform,
    /// Zipf with exponent `theta`; the hottest block at `center` (a share of the file) if given.
    Zipf {
        /// The exponent.
        theta: f64,
        /// Where the hottest block is, as a share of the file.
        center: Option<f64>,
    },
    /// Pareto with power `h`.
    Pareto {
        /// The power.
        h: f64,
        /// Where the hottest block is, as a share of the file.
        center: Option<f64>,
    },
    /// Normal with this deviation in per cent of the file.
    Normal {
        /// Deviation in per cent.
        deviation: f64,
        /// Where the hottest block is, as a share of the file.
        center: Option<f64>,
    },
    /// So many per cent of operations to so many per cent of the file, in order.
    Zoned(Vec<(u32, u32)>),
    /// So many per cent of operations to so many bytes of the file, in order.
    ZonedAbs(Vec<(u32, Bytes)>),
}
