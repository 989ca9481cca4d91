//! Kinds of operations.

/// Kinds of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
// Two bytes would make each decision of an issuer 48 bytes long instead of 40, which costs 5 % of a null job.
#[repr(u8)]
pub enum OpKind {
    Read,
    Write,
    /// A discard of a range that is no longer needed.
    Trim,
    /// `fsync`.
    Sync,
    /// `fdatasync`.
    DataSync,
    /// `sync_file_range`.
    SyncRange,
    /// `syncfs`.
    SyncFilesystem,
}

impl OpKind {
    /// Returns the index in tables of three: read, write, trim. Syncs count as writes.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Self::Read => 0,
            Self::Write | Self::Sync | Self::DataSync | Self::SyncRange | Self::SyncFilesystem => 1,
            Self::Trim => 2,
        }
    }

    /// Reports whether it transfers or trims bytes, unlike a sync.
    #[inline]
    #[must_use]
    pub const fn moves_data(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::Trim)
    }
}

/// Three values, for reads, writes and trims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerKind<T> {
    pub read: T,
    pub write: T,
    pub trim: T,
}

impl<T> PerKind<T> {
    /// Returns the value for reads (0), writes (1) or trims (2).
    pub fn slot(&mut self, slot: usize) -> &mut T {
        match slot {
            0 => &mut self.read,
            1 => &mut self.write,
            _ => &mut self.trim,
        }
    }

    /// Creates the same value for all kinds.
    pub fn same(value: T) -> Self
    where
        T: Clone,
    {
        Self { read: value.clone(), write: value.clone(), trim: value }
    }

    /// Creates values from a function of the index (0, 1 and 2).
    pub fn from_slots(mut make: impl FnMut(usize) -> T) -> Self {
        Self { read: make(0), write: make(1), trim: make(2) }
    }
}
