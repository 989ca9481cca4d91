//! Why a capture fails.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a capture cannot begin or go on. Its text has a second line `help: ` with the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureError {
    message: String,
    remedy: String,
    /// Whether the request is wrong, rather than the host failing.
    pub is_usage: bool,
}

impl CaptureError {
    pub(crate) fn host(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { message: message.into(), remedy: remedy.into(), is_usage: false }
    }

    pub(crate) fn usage(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { message: message.into(), remedy: remedy.into(), is_usage: true }
    }

    /// Returns what is wrong, without the remedy.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Names the device in the commands of the remedy.
    pub(crate) fn naming(mut self, device: &str) -> Self {
        self.remedy = self.remedy.replace("capture DEVICE", &format!("capture {device}"));
        self
    }

    /// Returns the error of an operation on a file of tracefs.
    pub(crate) fn tracefs(operation: &str, path: &Path, error: &io::Error) -> Self {
        // Paths go through a file descriptor, which says nothing to users.
        let shown = path
            .strip_prefix("/proc/self/fd")
            .map_or(path.into(), |open| Path::new("tracefs").join(open.components().skip(1).collect::<PathBuf>()));
        let message = format!("{operation} {}: {error}", shown.display());
        match error.kind() {
            io::ErrorKind::PermissionDenied => Self::host(message, PERMISSION),
            io::ErrorKind::OutOfMemory => Self::host(message, "choose smaller buffers with --buffer"),
            _ => Self::host(message, "check that the kernel has block tracepoints (CONFIG_BLK_DEV_IO_TRACE)"),
        }
    }
}

/// Remedy without privileges.
pub(crate) const PERMISSION: &str = "run it as root or with the capability CAP_SYS_ADMIN (in a container with \
    --privileged), or sample the counters, which shows means only: fathom capture DEVICE --sample; write access to \
    /sys/kernel/tracing, where it is mounted, suffices too";

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nhelp: {}", self.message, self.remedy)
    }
}

impl std::error::Error for CaptureError {}
