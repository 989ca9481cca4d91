//! Properties of filesystems.

use std::io;
use std::path::{Path, PathBuf};

use super::reading::{Reading, names, text};

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

/// The file itself, or the nearest directory above it that exists.
#[must_use]
pub fn existing_ancestor(path: &Path) -> PathBuf {
    path.ancestors()
        .find(|ancestor| !ancestor.as_os_str().is_empty() && ancestor.exists())
        .map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// Bytes that users other than root may add to the filesystem that holds `path`, or will hold it.
///
/// # Errors
///
/// When the system does not tell.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    capacity_bytes(&existing_ancestor(path)).map(|(_, free)| free)
}

/// Bytes of the filesystem that holds `path`, and how many of them users other than root may still add.
///
/// # Errors
///
/// When the system does not tell.
pub fn capacity_bytes(path: &Path) -> io::Result<(u64, u64)> {
    let facts = rustix::fs::statvfs(path)?;
    let bytes = |blocks: u64| blocks.saturating_mul(facts.f_frsize);
    // What only root may add counts neither as free nor as there.
    let theirs = facts.f_bfree.saturating_sub(facts.f_bavail);
    Ok((bytes(facts.f_blocks.saturating_sub(theirs)), bytes(facts.f_bavail)))
}
