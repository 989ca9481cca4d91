//! The clock of captures.

use rustix::time::{ClockId, clock_gettime};

/// Returns the time on the clock of the events.
pub(crate) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64)
}
