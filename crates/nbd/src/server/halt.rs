//! Outcomes of socket calls that transfer nothing.

use rustix::io::Errno;

/// Outcome of a socket call that transferred nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Halt {
    /// Nothing now; [`super::poll::Poll`] tells when.
    Later,
    /// The other side is gone.
    Gone,
}

impl From<Errno> for Halt {
    fn from(errno: Errno) -> Self {
        // What else can happen to a socket in use means that it cannot be used any longer.
        if errno == Errno::AGAIN || errno == Errno::INTR { Self::Later } else { Self::Gone }
    }
}
