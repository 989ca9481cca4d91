//! Options of the engine `e4defrag`.

/// File with which the files of a job exchange extents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DefragmentOptions {
    /// Name of the donor; empty if the job does not name one (`donorname`).
    pub donor: String,
    /// Whether each operation allocates and frees the donor's space, instead of once before the run (`inplace`).
    pub in_place: bool,
}
