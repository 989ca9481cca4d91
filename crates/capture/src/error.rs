//! Why a capture fails.

use std::io;
use std::path::{Path, PathBuf};

use units::{Problem, ProblemCode};

pub(crate) fn host(what: impl Into<String>, help: impl Into<String>) -> Problem {
    Problem::error(ProblemCode::Capture, what).help(help)
}

pub(crate) fn usage(what: impl Into<String>, help: impl Into<String>) -> Problem {
    Problem::error(ProblemCode::CaptureRequest, what).help(help)
}

/// Names the device in the commands of the help.
pub(crate) fn naming(problem: Problem, device: &str) -> Problem {
    let help = problem.help.as_ref().map(|help| help.replace("capture DEVICE", &format!("capture {device}")));
    problem.maybe_help(help)
}

/// Returns the error of an operation on a file of tracefs.
pub(crate) fn tracefs(operation: &str, path: &Path, error: &io::Error) -> Problem {
    // Paths go through a file descriptor, which says nothing to users.
    let shown = path
        .strip_prefix("/proc/self/fd")
        .map_or(path.into(), |open| Path::new("tracefs").join(open.components().skip(1).collect::<PathBuf>()));
    let message = format!("{operation} {}: {error}", shown.display());
    match error.kind() {
        io::ErrorKind::PermissionDenied => host(message, PERMISSION),
        io::ErrorKind::OutOfMemory => host(message, "use smaller buffers with --buffer"),
        _ => host(message, "check that the kernel has block tracepoints (CONFIG_BLK_DEV_IO_TRACE)"),
    }
}

/// Remedy without privileges.
pub(crate) const PERMISSION: &str = "run as root or with CAP_SYS_ADMIN (in a container with --privileged), or with \
    write access to a mounted /sys/kernel/tracing; without privileges, sample counters (means only): fathom capture \
    DEVICE --sample";
