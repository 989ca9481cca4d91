//! Properties of an export.

use super::TransmissionFlags;

/// A disk offered to clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Name, at most 4096 bytes without NUL.
    pub name: String,
    /// Description for users, possibly empty; at most 4096 bytes without NUL.
    pub description: String,
    /// Size in bytes.
    pub size: u64,
    /// Capabilities. Those that require an option are removed unless the client negotiates it.
    pub flags: TransmissionFlags,
    /// Constraints on offsets and lengths.
    pub block: ExportBlockSizes,
}

/// Constraints on lengths and offsets of an export, in bytes: protocol document, "Size constraints".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExportBlockSizes {
    /// Unit of offsets and lengths; a power of two up to 65536.
    pub minimum: u32,
    /// Smallest efficient request; a power of two of at least 512.
    pub preferred: u32,
    /// Longest payload.
    pub maximum: u32,
}

impl ExportBlockSizes {
    /// Sizes to assume if the server announces none, with a payload of 32 MiB.
    pub const DEFAULT: Self = Self { minimum: 1, preferred: 4096, maximum: 32 << 20 };
    /// Sizes that every server accepts, for a client without announced ones.
    pub const INTEROPERABLE: Self = Self { minimum: 512, ..Self::DEFAULT };

    /// Reports whether a client that assumes the defaults could send invalid requests.
    #[must_use]
    pub const fn is_stricter_than_default(self) -> bool {
        self.minimum > Self::DEFAULT.minimum || self.maximum < Self::DEFAULT.maximum
    }

    /// Reports whether the protocol allows these sizes.
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

/// Adjacent bytes of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Length in bytes.
    pub length: u64,
    /// Whether they are not allocated.
    pub hole: bool,
    /// Whether they read as zeroes.
    pub zero: bool,
}
