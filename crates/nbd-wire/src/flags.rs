//! Capabilities of an export: protocol document, "Transmission flags".

use std::ops::BitOr;

/// Capabilities of an export. Unknown bits are kept and ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransmissionFlags(u16);

impl TransmissionFlags {
    /// Always set on the wire.
    pub const HAS_FLAGS: Self = Self(1);
    /// The export is read-only.
    pub const READ_ONLY: Self = Self(1 << 1);
    /// Supports `NBD_CMD_FLUSH`.
    pub const SEND_FLUSH: Self = Self(1 << 2);
    /// Supports `NBD_CMD_FLAG_FUA`.
    pub const SEND_FUA: Self = Self(1 << 3);
    /// The medium rotates.
    pub const ROTATIONAL: Self = Self(1 << 4);
    /// Supports `NBD_CMD_TRIM`.
    pub const SEND_TRIM: Self = Self(1 << 5);
    /// Supports `NBD_CMD_WRITE_ZEROES` and `NBD_CMD_FLAG_NO_HOLE`.
    pub const SEND_WRITE_ZEROES: Self = Self(1 << 6);
    /// Supports `NBD_CMD_FLAG_DF`; requires structured replies.
    pub const SEND_DF: Self = Self(1 << 7);
    /// A flush on one connection applies to all connections.
    pub const CAN_MULTI_CONN: Self = Self(1 << 8);
    /// Supports `NBD_CMD_RESIZE`, an extension that is not implemented here.
    pub const SEND_RESIZE: Self = Self(1 << 9);
    /// Supports `NBD_CMD_CACHE`.
    pub const SEND_CACHE: Self = Self(1 << 10);
    /// Supports `NBD_CMD_FLAG_FAST_ZERO`; requires [`Self::SEND_WRITE_ZEROES`].
    pub const SEND_FAST_ZERO: Self = Self(1 << 11);
    /// Supports a payload of `NBD_CMD_BLOCK_STATUS`; requires extended headers.
    pub const BLOCK_STATUS_PAYLOAD: Self = Self(1 << 12);

    /// Converts the bits on the wire.
    #[must_use]
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// Returns the bits on the wire.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Reports whether all of `others` are set.
    #[must_use]
    pub const fn contains(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// Returns the union.
    #[must_use]
    pub const fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Returns these without `others`.
    #[must_use]
    pub const fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }
}

impl BitOr for TransmissionFlags {
    type Output = Self;

    fn bitor(self, others: Self) -> Self {
        self.with(others)
    }
}
