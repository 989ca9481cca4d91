//! Properties of filesystems.

use std::io;
use std::path::{Path, PathBuf};

use record::host::Reading;

use super::reading::{names, text};

/// Returns the effective options of an ext4 filesystem, including defaults. `device` is its name in `/dev`.
pub fn ext4_options(root: &Path, device: &str) -> Reading<Vec<String>> {
    let text = text(root, &format!("proc/fs/ext4/{}/options", device.replace('/', "!")))?;
    Ok(text.lines().map(|line| line.trim().to_owned()).collect())
}

/// Reports whether the kernel still initializes inode tables of an ext4 filesystem that was formatted lazily. One
/// thread does it for all filesystems and exits when it is done.
pub fn initialises_lazily(root: &Path) -> Reading<bool> {
    let processes = names(root, "proc")?;
    let mut threads = processes.iter().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    Ok(threads.any(|id| text(root, &format!("proc/{id}/comm")).is_ok_and(|name| name == "ext4lazyinit")))
}

/// Reports whether systemd trims filesystems regularly.
#[must_use]
pub fn trims_regularly(root: &Path) -> bool {
    // The link counts even if its target is missing.
    names(root, "etc/systemd/system/timers.target.wants")
        .is_ok_and(|timers| timers.iter().any(|name| name == "fstrim.timer"))
}

/// Returns the path itself or its nearest ancestor that exists.
#[must_use]
pub fn existing_ancestor(path: &Path) -> PathBuf {
    path.ancestors()
        .find(|ancestor| !ancestor.as_os_str().is_empty() && ancestor.exists())
        .map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// Returns the bytes that users other than root may add to the filesystem of `path`, which may be missing.
///
/// # Errors
/// Fails if the system does not report it.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    capacity_bytes(&existing_ancestor(path)).map(|(_, free)| free)
}

/// Returns the size of the filesystem of `path` and how much users other than root may still add, in bytes.
///
/// # Errors
/// Fails if the system does not report it.
pub fn capacity_bytes(path: &Path) -> io::Result<(u64, u64)> {
    let facts = rustix::fs::statvfs(path)?;
    let bytes = |blocks: u64| blocks.saturating_mul(facts.f_frsize);
    // Space reserved for root counts neither as free nor as part of the size.
    let theirs = facts.f_bfree.saturating_sub(facts.f_bavail);
    Ok((bytes(facts.f_blocks.saturating_sub(theirs)), bytes(facts.f_bavail)))
}
