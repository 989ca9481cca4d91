//! A bucket of burst credits.

use units::Nanos;

/// State of burst credits, in units of their limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BurstCredits {
    /// Whether the unit is bytes; otherwise operations.
    pub bytes: bool,
    /// Capacity.
    pub most: f64,
    /// Level; negative after a request larger than the remaining credits.
    pub left: f64,
    /// Mean net consumption per second, from the start to now.
    pub spent_per_sec: f64,
    /// When a request first found too few credits.
    pub empty_at: Option<Nanos>,
}
