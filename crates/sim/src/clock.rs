//! Clocks of a world.

use units::Nanos;

/// A clock that can be waited for.
pub trait Clock {
    /// Whether waiting takes no time, so that an event may be taken before it is there.
    const JUMPS: bool = false;

    /// The time. It never runs backwards.
    fn now(&mut self) -> Nanos;

    /// Returns at an instant or later; at once if it has passed, and early if something else must be seen to.
    fn wait_until(&mut self, instant: Nanos);
}

/// Time that passes only when the loop waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Virtual {
    now: Nanos,
}

impl Clock for Virtual {
    const JUMPS: bool = true;

    #[inline]
    fn now(&mut self) -> Nanos {
        self.now
    }

    #[inline]
    fn wait_until(&mut self, instant: Nanos) {
        self.now = self.now.max(instant);
    }
}
