//! Extents of an export.

/// Neighbouring bytes of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// How many bytes.
    pub length: u64,
    /// Whether nothing is allocated there.
    pub hole: bool,
    /// Whether they read as zeroes.
    pub zero: bool,
}
