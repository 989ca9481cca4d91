//! Sources of latency figures.

/// Basis of latency figures, the most certain first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LatencyBasis {
    /// Specified with the volume's name.
    Given,
    /// Measured on this type of volume.
    Measured,
    /// Published by the provider as a mean or a range.
    Published,
    /// Another volume's figures, or an interpretation of a phrase such as "sub-millisecond".
    #[default]
    Assumed,
}

impl LatencyBasis {
    /// Returns `measured`, `published`, `assumed` or `given`.
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
