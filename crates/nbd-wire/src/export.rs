//! Properties of an export.

use super::TransmissionFlags;

/// A disk that clients may ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// What clients ask for; at most 4096 bytes, without NUL.
    pub name: String,
    /// For people; empty where there is nothing to say; at most 4096 bytes, without NUL.
    pub description: String,
    /// How many bytes it has.
    pub size: u64,
    /// What it can do. What a client has not negotiated is taken away before it is told.
    pub flags: TransmissionFlags,
    /// What lengths and offsets it takes.
    pub block: ExportBlockSizes,
}

/// Constraints on lengths and offsets of an export, in bytes: protocol document, "Size constraints".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExportBlockSizes {
    /// Offsets and lengths are multiples of it; a power of two up to 65536.
    pub minimum: u32,
    /// From here on requests are efficient; a power of two from 512 on.
    pub preferred: u32,
    /// The longest payload.
    pub maximum: u32,
}

impl ExportBlockSizes {
    /// What a server takes that says nothing, and a payload of 32 MiB.
    pub const DEFAULT: Self = Self { minimum: 1, preferred: 4096, maximum: 32 << 20 };
    /// What every server takes: for a client that was told nothing.
    pub const INTEROPERABLE: Self = Self { minimum: 512, ..Self::DEFAULT };

    /// Whether a client that knows the defaults alone would run into errors.
    #[must_use]
    pub const fn is_stricter_than_default(self) -> bool {
        self.minimum > Self::DEFAULT.minimum || self.maximum < Self::DEFAULT.maximum
    }

    /// Whether the protocol allows them to be announced.
    #[must_use]
    pub const fn is_valid(self) -> bool {
        self.minimum.is_power_of_two()
            && self.minimum <= 1 << 16
            && self.preferred.is_power_of_two()
            && self.preferred >= 512
            && self.preferred >= self.minimum
            && self.maximum >= self.preferred
    }
}

impl Default for ExportBlockSizes {
    fn default() -> Self {
        Self::DEFAULT
    }
}
