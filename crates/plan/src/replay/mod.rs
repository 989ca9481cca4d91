//! Volumes for a load that is known as a trace.
//!
//! Each candidate is the smallest one on which a replay of the trace keeps within the bounds. The caller replays: a
//! [`ReplayTrial`] in, a [`ReplayResult`] out. [`LoadCurve`] gives the values at which the search begins.

mod load_curve;
mod outcome;
mod search;

pub use load_curve::LoadCurve;
pub use outcome::{ReplayBounds, ReplayCredits, ReplayInterval, ReplayLimit, ReplayResult};
pub use search::{ReplaySearch, ReplayTrial, ReplayedCandidate, SpeedMargin};
