//! Loop devices that are detached with the test, and skipping of tests without them.

use std::path::Path;
use std::process::Command;

/// A block device over a file, detached when the test ends.
pub(crate) struct Loop(String);

impl Loop {
    /// Creates a device, or prints that the test is skipped and returns `None` if this user or host does not support
    /// one.
    pub(crate) fn over(file: &Path) -> Option<Self> {
        let output = Command::new("losetup").args(["--find", "--show"]).arg(file).output();
        match output {
            Ok(output) if output.status.success() => {
                Some(Self(String::from_utf8(output.stdout).unwrap().trim().into()))
            }
            Ok(output) => skip(&format!("losetup: {}", String::from_utf8_lossy(&output.stderr).trim())),
            Err(error) => skip(&format!("losetup: {error}")),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        Path::new(&self.0)
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.0).status();
    }
}

/// Prints that a test is skipped, which `FATHOM_NO_SKIP=1` forbids.
pub(crate) fn skip<T>(reason: &str) -> Option<T> {
    assert!(std::env::var_os("FATHOM_NO_SKIP").is_none_or(|value| value != "1"), "not skipped: {reason}");
    println!("skipped: {reason}");
    None
}
