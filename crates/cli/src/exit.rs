//! Exit codes, as documented in the manual.

use crate::diagnostics;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// All went well.
    Good,
    /// An expectation or a verification failed.
    Failed,
    /// Usage or job error: nothing was touched.
    Usage,
    /// The device or the host failed.
    Environment,
    /// Measured, but not to be trusted; the output says why.
    Distrust,
    /// Ended by this signal; what was measured until then was printed.
    Signal(i32),
    /// With the code of a command that it ran.
    Command(u8),
    /// As fio: how many jobs failed, or its code for a signal.
    Fio(u8),
}

impl Exit {
    /// Prints errors of the arguments, a line each.
    pub(crate) fn usage(errors: &str) -> Self {
        diagnostics::print(&diagnostics::errors(errors));
        Self::Usage
    }

    /// Prints errors of the device or the host, a line each.
    pub(crate) fn environment(errors: &str) -> Self {
        diagnostics::error(errors);
        Self::Environment
    }

    /// fio's code after SIGINT or SIGTERM.
    pub(crate) const FIO_SIGNAL: Self = Self::Fio(128);

    /// fio's code for `failed` jobs. fio itself wraps at 256, so that 256 failures pass for success.
    pub(crate) fn fio_failures(failed: usize) -> Self {
        Self::Fio(u8::try_from(failed).unwrap_or(u8::MAX))
    }
}

impl Exit {
    /// The code that the shell sees.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Good => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Environment => 3,
            Self::Distrust => 4,
            Self::Signal(signal) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
            Self::Fio(code) | Self::Command(code) => code,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_failures_do_not_wrap_to_success() {
        assert_eq!(Exit::fio_failures(0), Exit::Fio(0));
        assert_eq!(Exit::fio_failures(3), Exit::Fio(3));
        assert_eq!(Exit::fio_failures(256), Exit::Fio(255));
    }
}
