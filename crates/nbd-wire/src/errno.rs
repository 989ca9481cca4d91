//! Error numbers of the protocol.

/// Error numbers on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[repr(u32)]
pub enum Errno {
    /// `EPERM`: the export is read-only.
    #[error("operation not permitted")]
    NotPermitted = 1,
    /// `EIO`: an I/O error.
    #[error("input/output error")]
    Io = 5,
    /// `ENOMEM`: out of memory.
    #[error("out of memory")]
    NoMemory = 12,
    /// `EINVAL`: an invalid request.
    #[error("invalid argument")]
    Invalid = 22,
    /// `ENOSPC`: no space left, or a write beyond the end.
    #[error("no space left")]
    NoSpace = 28,
    /// `EOVERFLOW`: the reply would be too large.
    #[error("value too large")]
    Overflow = 75,
    /// `ENOTSUP`: not supported.
    #[error("operation not supported")]
    NotSupported = 95,
    /// `ESHUTDOWN`: the server is stopping.
    #[error("server is shutting down")]
    Shutdown = 108,
}

impl Errno {
    /// Returns the number on the wire.
    #[must_use]
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// Converts an error number of Linux. Numbers outside the protocol become [`Errno::Io`] or, for invalid requests,
    /// [`Errno::Invalid`].
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
