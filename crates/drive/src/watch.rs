//! Observes meters during a run.

use meter::Meter;
use units::Nanos;

/// Reads the meters now and then.
pub trait DriveObserver {
    /// When to look next; also how soon a stop is noticed when nothing completes.
    fn next_look(&mut self, now: Nanos) -> Nanos;

    /// Whether to look although the instant of the next look has not come: where time is virtual, any amount of work
    /// fits into an instant. Asked every few hundred turns of the loop.
    fn is_overdue(&mut self) -> bool {
        false
    }

    /// When to give way next. Unlike a look, it is not woken up for: who waits has given way.
    fn next_turn(&mut self, now: Nanos) -> Nanos {
        let _ = now;
        Nanos::MAX
    }

    /// Gives way to other threads, where there are too many of them for the scheduler to give each its turn in time.
    fn give_way(&mut self) {}

    /// Sees the meter of worker `index`. It may copy, and take log entries; time spent here is time not spent
    /// issuing.
    fn look(&mut self, index: usize, meter: &mut Meter, now: Nanos);
}

/// Reads nothing; a stop is noticed within a quarter of a second.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl DriveObserver for Unwatched {
    fn next_look(&mut self, now: Nanos) -> Nanos {
        now + Nanos::from_millis(250)
    }

    fn look(&mut self, _: usize, _: &mut Meter, _: Nanos) {}
}
