//! Blocks that are not what was written.

use std::fmt;

/// Maximum number of bytes quoted by a [`Mismatch`].
pub(super) const QUOTED_BYTES_MAX: usize = 16;

/// Kinds of wrong data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongData {
    /// There is no header.
    Header,
    /// Some bytes of the header are wrong.
    HeaderDamaged,
    /// The header is of another verification method.
    Method,
    /// The header is of a block of another length.
    Length,
    /// The header is of a block at another offset.
    Offset,
    /// The header is of a block with another seed.
    Seed,
    /// The header is of another run: this run's write is lost.
    Nonce,
    /// The header is of another file.
    File,
    /// The header is of a worker that does not write here.
    Worker,
    /// The header is of another pass: this pass's write is lost.
    Pass,
    /// The header is of another write than the last one, which is lost.
    Write,
    /// The payload is wrong.
    Payload,
    /// The checksum in the header is wrong, and the payload is correct or of another program.
    Checksum,
    /// The pattern is wrong.
    Pattern,
    /// The block was trimmed, and does not read as zeroes.
    Trimmed,
}

impl WrongData {
    /// Reports whether the header is wrong, so that nothing is known about the payload.
    #[must_use]
    pub const fn is_in_header(self) -> bool {
        !matches!(self, Self::Payload | Self::Checksum | Self::Pattern | Self::Trimmed)
    }
}

/// Result of checking a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Checked {
    /// All data are those of the last write.
    Good,
    /// The headers are those of the last write, but the payload of at least one block was not compared.
    HeaderOnly,
    /// The data are intact, but at least one block may be of another worker that writes to the same region.
    Overwritten,
}

/// A block that is not what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Index of the file.
    pub file: u32,
    /// Offset of the block in the file, in bytes.
    pub block: u64,
    /// Length of the block in bytes.
    pub length: u32,
    /// Offset of the first wrong byte in the file.
    pub offset: u64,
    /// Kind of mismatch.
    pub wrong: WrongData,
    /// Expected bytes from `offset`, at most 16; empty if unknown.
    pub expected: Vec<u8>,
    /// Bytes found there, at most 16.
    pub found: Vec<u8>,
}

impl Mismatch {
    /// Reports whether a read that overlapped a write may have caused it, by returning parts of two blocks. A missing
    /// header is not torn.
    #[must_use]
    pub const fn may_be_torn(&self) -> bool {
        match self.wrong {
            WrongData::HeaderDamaged | WrongData::Payload | WrongData::Checksum => true,
            WrongData::Header => self.offset != self.block,
            _ => false,
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.wrong {
            WrongData::Header => "no verification header",
            WrongData::HeaderDamaged => "damaged verification header",
            WrongData::Method => "header of a different verification method",
            WrongData::Length => "header of a block of a different length",
            WrongData::Offset => "block of a different offset",
            WrongData::Seed => "block of a different seed",
            WrongData::Nonce => "stale block of a different run",
            WrongData::File => "block of a different file",
            WrongData::Worker => "block of a different worker",
            WrongData::Pass => "block of a different pass",
            WrongData::Write => "block of an earlier write",
            WrongData::Payload => "wrong data",
            WrongData::Checksum => "checksum mismatch",
            WrongData::Pattern => "pattern mismatch",
            WrongData::Trimmed => "data in a trimmed block",
        };
        write!(f, "{what} at offset {} (block at {}): expected ", self.offset, self.block)?;
        hex(f, &self.expected)?;
        write!(f, ", found ")?;
        hex(f, &self.found)
    }
}

impl std::error::Error for Mismatch {}

fn hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    if bytes.is_empty() {
        return write!(f, "different data");
    }
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}
