//! Exit codes, as documented in the manual.

use runner::Refusal;
use units::Problem;

use crate::diagnostics;

/// Exit status of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Success.
    Good,
    /// An expectation or a verification failed.
    Failed,
    /// Usage or job error: nothing was touched.
    Usage,
    /// The device or the host failed.
    Environment,
    /// Measured, but the result cannot be trusted; the output says why.
    Distrust,
    /// Ended by this signal, with the results so far.
    Signal(i32),
    /// Exit code of the command of `--run`.
    Command(u8),
    /// fio's exit code: the number of failed jobs, or its code for a signal.
    Fio(u8),
}

impl Exit {
    /// Prints argument errors, one per line.
    pub(crate) fn usage(errors: impl AsRef<str>) -> Self {
        Self::invalid(diagnostics::errors(errors.as_ref()))
    }

    /// Prints problems of jobs, volumes or options, with their places.
    pub(crate) fn invalid(problems: impl AsRef<[Problem]>) -> Self {
        diagnostics::print(problems.as_ref());
        Self::Usage
    }

    /// Prints errors of the device or the host, one per line.
    pub(crate) fn environment(errors: impl AsRef<str>) -> Self {
        diagnostics::error(errors.as_ref());
        Self::Environment
    }

    /// Prints why a command ends before it has touched anything.
    pub(crate) fn refused(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Jobs(problems) => Self::invalid(problems),
            Refusal::Words(problems) => Self::usage(problems.join("\n")),
            Refusal::Host(problem) => Self::environment(problem),
        }
    }

    /// fio's code after SIGINT or SIGTERM.
    pub(crate) const FIO_SIGNAL: Self = Self::Fio(128);

    /// fio's code for `failed` jobs. fio itself wraps at 256, so that 256 failures count as success.
    pub(crate) fn fio_failures(failed: usize) -> Self {
        Self::Fio(u8::try_from(failed).unwrap_or(u8::MAX))
    }

    /// Returns the exit code of the process.
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
    fn fio_failures_do_not_wrap_to_zero() {
        assert_eq!(Exit::fio_failures(0), Exit::Fio(0));
        assert_eq!(Exit::fio_failures(3), Exit::Fio(3));
        assert_eq!(Exit::fio_failures(256), Exit::Fio(255));
    }
}
