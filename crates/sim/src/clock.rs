//! Clocks of a world.

use units::Nanos;

/// A clock that can wait.
pub trait Clock {
    /// Reports whether waiting takes no time, so that events may be processed before they are due.
    fn jumps(&self) -> bool {
        false
    }

    /// Returns the time. It never goes back.
    fn now(&mut self) -> Nanos;

    /// Waits until an instant. Returns at once if it has passed, and early if another event needs attention.
    fn wait_until(&mut self, instant: Nanos);
}

/// Time that advances only when the loop waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Virtual {
    now: Nanos,
}

impl Clock for Virtual {
    #[inline]
    fn jumps(&self) -> bool {
        true
    }

    #[inline]
    fn now(&mut self) -> Nanos {
        self.now
    }

    #[inline]
    fn wait_until(&mut self, instant: Nanos) {
        self.now = self.now.max(instant);
    }
}

impl Clock for Box<dyn Clock> {
    fn jumps(&self) -> bool {
        (**self).jumps()
    }

    fn now(&mut self) -> Nanos {
        (**self).now()
    }

    fn wait_until(&mut self, instant: Nanos) {
        (**self).wait_until(instant);
    }
}
