//! Socket calls that transfer nothing, and the end of a client.

use rustix::io::Errno;

/// Outcome of a socket call that transferred nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SocketError {
    /// The call would block; [`super::poll::Poll`] reports when to retry.
    WouldBlock,
    Closed,
}

impl From<Errno> for SocketError {
    fn from(errno: Errno) -> Self {
        // Any other error means that the socket cannot be used any longer.
        if errno == Errno::AGAIN || errno == Errno::INTR { Self::WouldBlock } else { Self::Closed }
    }
}

/// The client has disconnected or violates the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClientEnded;
