//! A bucket of burst credits.

use units::Nanos;

/// State of burst credits, in units of their limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BurstCredits {
    /// Whether they are bytes; otherwise operations.
    pub bytes: bool,
    /// What the bucket holds at most.
    pub most: f64,
    /// What is left; below zero after a request that was larger than that.
    pub left: f64,
    /// How much more was spent than earned in a second, on average from the start to now.
    pub spent_per_sec: f64,
    /// When it was first too empty for a request.
    pub empty_at: Option<Nanos>,
}
