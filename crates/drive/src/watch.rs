//! Looking at meters while they run.

use meter::Meter;
use units::Nanos;

/// Somebody who looks at the meters now and then.
pub trait Watch {
    /// When to look next; also how soon a stop is noticed when nothing completes.
    fn next_look(&mut self, now: Nanos) -> Nanos;

    /// Sees the meter of worker `index`. It may copy, and take log entries; time spent here is time not spent
    /// issuing.
    fn look(&mut self, index: usize, meter: &mut Meter, now: Nanos);
}

/// Nobody looks; a stop is noticed within a quarter of a second.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn next_look(&mut self, now: Nanos) -> Nanos {
        now + Nanos::from_millis(250)
    }

    fn look(&mut self, _: usize, _: &mut Meter, _: Nanos) {}
}
