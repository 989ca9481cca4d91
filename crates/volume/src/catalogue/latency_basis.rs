//! Sources of latency figures.

/// Basis of latency figures, the most certain first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LatencyBasis {
    /// It was given with the volume's name.
    Given,
    /// Measured on this type of volume.
    Measured,
    /// The provider publishes a mean or a range.
    Published,
    /// Neither: another volume's, or what a word such as "sub-millisecond" allows.
    #[default]
    Assumed,
}

impl LatencyBasis {
    /// `measured`, `published`, `assumed`, `given`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Measured => "measured",
            Self::Published => "published",
            Self::Assumed => "assumed",
        }
    }
}
