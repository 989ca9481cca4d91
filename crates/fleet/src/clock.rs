//! Clocks of hosts: reading them, and estimating their offsets from round trips.

use rustix::time::{ClockId, clock_gettime};

/// Reads the two clocks of a host.
pub trait HostClock: Send {
    /// Returns the monotonic clock in nanoseconds.
    fn monotonic_ns(&self) -> i64;

    /// Returns the time of day in nanoseconds since 1970.
    fn wall_ns(&self) -> i64;
}

/// The clocks of this host.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl HostClock for SystemClock {
    fn monotonic_ns(&self) -> i64 {
        nanos(ClockId::Monotonic)
    }

    fn wall_ns(&self) -> i64 {
        nanos(ClockId::Realtime)
    }
}

fn nanos(clock: ClockId) -> i64 {
    let time = clock_gettime(clock);
    time.tv_sec.saturating_mul(1_000_000_000).saturating_add(time.tv_nsec)
}

/// A clock relative to rank 0's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockOffset {
    /// Offset of the monotonic clock in nanoseconds; positive if it is ahead.
    pub offset_ns: i64,
    /// Maximum error of the offset in nanoseconds.
    pub error_ns: u64,
    /// Offset of the time of day in nanoseconds; positive if it is ahead.
    pub wall_offset_ns: i64,
}

impl ClockOffset {
    /// Returns the offset of a clock that is measured relative to a rank with this offset.
    pub(crate) const fn then(self, further: Self) -> Self {
        Self {
            offset_ns: self.offset_ns.saturating_add(further.offset_ns),
            error_ns: self.error_ns.saturating_add(further.error_ns),
            wall_offset_ns: self.wall_offset_ns.saturating_add(further.wall_offset_ns),
        }
    }
}

/// One round trip to another rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RoundTrip {
    /// Own clock when the question was sent.
    pub(crate) sent_ns: i64,
    /// The other's clock when it answered.
    pub(crate) answered_ns: i64,
    /// Own clock when the answer arrived.
    pub(crate) received_ns: i64,
    /// The other's time of day less its monotonic clock, less the same of this rank.
    pub(crate) wall_difference_ns: i64,
}

impl RoundTrip {
    const fn duration_ns(&self) -> i64 {
        self.received_ns.saturating_sub(self.sent_ns)
    }
}

/// Estimates the other's offset by the shortest round trip, whose two ways can differ least. (Cristian, "Probabilistic
/// clock synchronization", 1989: the answer was given within the round trip, so the error is at most half of it.)
pub(crate) fn estimate(trips: &[RoundTrip]) -> Option<ClockOffset> {
    let shortest = trips.iter().min_by_key(|trip| trip.duration_ns())?;
    let half = shortest.duration_ns().max(0) / 2;
    let offset_ns = shortest.answered_ns.saturating_sub(shortest.sent_ns.saturating_add(half));
    Some(ClockOffset {
        offset_ns,
        error_ns: half.unsigned_abs() + 1,
        wall_offset_ns: offset_ns.saturating_add(shortest.wall_difference_ns),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_round_trip_bounds_the_error() {
        // The other's clock is 5 s ahead; ways take different times.
        let trip = |sent_ns: i64, there: i64, back: i64| RoundTrip {
            sent_ns,
            answered_ns: sent_ns + there + 5_000_000_000,
            received_ns: sent_ns + there + back,
            wall_difference_ns: 0,
        };
        for salt in 1..500i64 {
            let ways = |n: i64| (1_000 + (n * 7_919 * salt) % 90_000, 1_000 + (n * 104_729 * salt) % 90_000);
            let trips: Vec<_> = (0..30).map(|n| trip(n * 200_000, ways(n).0, ways(n).1)).collect();
            let found = estimate(&trips).unwrap();
            let error = found.offset_ns.abs_diff(5_000_000_000);
            assert!(error <= found.error_ns, "salt {salt}: {found:?}");
            assert!(found.error_ns <= trips.iter().map(|trip| trip.duration_ns().unsigned_abs()).min().unwrap());
        }
        assert_eq!(estimate(&[]), None);
    }

    #[test]
    fn offsets_and_errors_add_up_along_the_tree() {
        let one = ClockOffset { offset_ns: 5, error_ns: 1, wall_offset_ns: -3 };
        let two = ClockOffset { offset_ns: -7, error_ns: 2, wall_offset_ns: 10 };
        assert_eq!(one.then(two), ClockOffset { offset_ns: -2, error_ns: 3, wall_offset_ns: 7 });
    }
}
