//! Properties of filesystems.

use std::path::Path;

use super::reading::{Reading, names, text};
use crate::space;

/// The options in force of an ext4 filesystem, those that are defaults too. `device` is its name in `/dev`.
pub fn ext4_options(root: &Path, device: &str) -> Reading<Vec<String>> {
    let text = text(root, &format!("proc/fs/ext4/{}/options", device.replace('/', "!")))?;
    Ok(text.lines().map(|line| line.trim().to_owned()).collect())
}

/// Whether the kernel still fills inode tables of an ext4 filesystem that was formatted lazily: one thread does it for
/// all of them, and ends when nothing is left to do.
pub fn initialises_lazily(root: &Path) -> Reading<bool> {
    let processes = names(root, "proc")?;
    let mut threads = processes.iter().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    Ok(threads.any(|id| text(root, &format!("proc/{id}/comm")).is_ok_and(|name| name == "ext4lazyinit")))
}

/// Whether systemd trims filesystems from time to time.
#[must_use]
pub fn trims_regularly(root: &Path) -> bool {
    // The link counts, whether or not what it names is there.
    names(root, "etc/systemd/system/timers.target.wants")
        .is_ok_and(|timers| timers.iter().any(|name| name == "fstrim.timer"))
}

/// Bytes of the filesystem that holds `path`, and how many of them users other than root may still add.
///
/// # Errors
///
/// When the system does not tell.
pub fn capacity_bytes(path: &Path) -> Result<(u64, u64), crate::Error> {
    space::capacity_bytes(path).map_err(|error| crate::Error::file("look at", path, &error))
}
