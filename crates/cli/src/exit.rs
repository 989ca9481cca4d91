//! Exit codes, as documented in the manual.

use units::{Problem, ProblemClass, ProblemLevel};

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
    /// Prints why a command does not begin. The codes of the problems decide the exit code.
    pub(crate) fn refused(problems: impl Into<Vec<Problem>>) -> Self {
        let problems = problems.into();
        let is_of_host =
            |problem: &Problem| problem.level == ProblemLevel::Error && problem.code.class() == ProblemClass::Host;
        if problems.iter().any(is_of_host) { Self::environment(problems) } else { Self::invalid(problems) }
    }

    /// Prints problems of the request, whatever their codes: nothing was touched.
    pub(crate) fn invalid(problems: impl Into<Vec<Problem>>) -> Self {
        diagnostics::print(&problems.into());
        Self::Usage
    }

    /// Prints what has failed after the beginning, whatever its code.
    pub(crate) fn environment(problems: impl Into<Vec<Problem>>) -> Self {
        diagnostics::errors(&problems.into());
        Self::Environment
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
