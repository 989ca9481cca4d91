//! Volumes for a load that is known as a trace.
//!
//! Each candidate is the smallest one on which a replay of the trace keeps within the bounds. The caller replays: a
//! [`ReplayTrial`] in, a [`ReplayResult`] out. [`LoadCurve`] gives the values at which the search begins.
//!
//! Replays are bisected, not formulas, because the closed form knows one block size and one rate. It only gives the
//! values at which the search begins, in growing steps, and refuses what misses a bound without any queueing. A replay
//! on a volume that is far too small ends soon, once more requests are late than the percentile permits.

mod outcome;
mod search;

pub use outcome::{ReplayBounds, ReplayCredits, ReplayInterval, ReplayLimit, ReplayResult};
pub use search::LoadCurve;
pub use search::{ReplaySearch, ReplayTrial, ReplayedCandidate, SpeedMargin};
