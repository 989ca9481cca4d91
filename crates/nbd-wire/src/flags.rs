//! What an export can do, as 16 bits: protocol document, "Transmission flags".

use std::ops::BitOr;

/// Capabilities of an export. Unknown bits are kept and ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransmissionFlags(u16);

impl TransmissionFlags {
    /// Always set on the wire.
    pub const HAS_FLAGS: Self = Self(1);
    /// Nothing may be written.
    pub const READ_ONLY: Self = Self(1 << 1);
    /// `NBD_CMD_FLUSH` is understood.
    pub const SEND_FLUSH: Self = Self(1 << 2);
    /// `NBD_CMD_FLAG_FUA` is understood.
    pub const SEND_FUA: Self = Self(1 << 3);
    /// The medium turns.
    pub const ROTATIONAL: Self = Self(1 << 4);
    /// `NBD_CMD_TRIM` is understood.
    pub const SEND_TRIM: Self = Self(1 << 5);
    /// `NBD_CMD_WRITE_ZEROES` and `NBD_CMD_FLAG_NO_HOLE` are understood.
    pub const SEND_WRITE_ZEROES: Self = Self(1 << 6);
    /// `NBD_CMD_FLAG_DF` is understood; never without structured replies.
    pub const SEND_DF: Self = Self(1 << 7);
    /// A flush on one connection holds for all connections.
    pub const CAN_MULTI_CONN: Self = Self(1 << 8);
    /// `NBD_CMD_RESIZE` is understood (an extension that is not implemented here).
    pub const SEND_RESIZE: Self = Self(1 << 9);
    /// `NBD_CMD_CACHE` is understood.
    pub const SEND_CACHE: Self = Self(1 << 10);
    /// `NBD_CMD_FLAG_FAST_ZERO` is understood; never without [`Self::SEND_WRITE_ZEROES`].
    pub const SEND_FAST_ZERO: Self = Self(1 << 11);
    /// `NBD_CMD_BLOCK_STATUS` takes a payload; never without extended headers.
    pub const BLOCK_STATUS_PAYLOAD: Self = Self(1 << 12);

    /// What the wire says.
    #[must_use]
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// What the wire says.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Whether all of `others` are set.
    #[must_use]
    pub const fn contains(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// Both.
    #[must_use]
    pub const fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// These but not `others`.
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
