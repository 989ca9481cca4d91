//! Signals the end of a client.

/// A client is of no use any longer: it is gone, or says what no client says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Over;
