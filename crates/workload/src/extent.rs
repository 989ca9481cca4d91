//! A part of a file.

/// The region of one file within which operations fall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileExtent {
    /// Where it begins, in bytes.
    pub start: u64,
    /// How long it is, in bytes.
    pub length: u64,
}
