//! Error numbers of the protocol.

/// Error numbers on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[repr(u32)]
pub enum Errno {
    /// `EPERM`: the export is read-only.
    #[error("operation not permitted")]
    NotPermitted = 1,
    /// `EIO`.
    #[error("input/output error")]
    Io = 5,
    /// `ENOMEM`.
    #[error("out of memory")]
    NoMemory = 12,
    /// `EINVAL`.
    #[error("invalid argument")]
    Invalid = 22,
    /// `ENOSPC`: no room, or a write beyond the end.
    #[error("no space left")]
    NoSpace = 28,
    /// `EOVERFLOW`: the reply would be too large.
    #[error("value too large")]
    Overflow = 75,
    /// `ENOTSUP`.
    #[error("operation not supported")]
    NotSupported = 95,
    /// `ESHUTDOWN`: the server is about to stop.
    #[error("server is shutting down")]
    Shutdown = 108,
}

impl Errno {
    /// The wire's number for it.
    #[must_use]
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// What the wire says for an error number of Linux; what the protocol does not know is [`Errno::Io`] or, for requests
    /// that make no sense, [`Errno::Invalid`].
    #[must_use]
    pub const fn from_os(number: i32) -> Self {
        match number {
            1 | 13 | 30 => Self::NotPermitted,
            12 => Self::NoMemory,
            14 | 22 => Self::Invalid,
            27 | 28 | 122 => Self::NoSpace,
            75 => Self::Overflow,
            95 => Self::NotSupported,
            108 => Self::Shutdown,
            _ => Self::Io,
        }
    }
}
