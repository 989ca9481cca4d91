//! Loop devices, mounts and swap areas, removed on drop.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A loop device over a file, detached on drop.
#[derive(Debug)]
pub(crate) struct LoopDevice {
    /// Path, such as `/dev/loop0`.
    pub(crate) path: String,
}

impl LoopDevice {
    /// Attaches a file.
    #[track_caller]
    pub(crate) fn over(file: &Path) -> Self {
        let path = tool("losetup", &["--find", "--show", &file.to_string_lossy()]);
        Self { path: path.trim().to_owned() }
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.path]).output();
    }
}

/// A mounted filesystem, unmounted on drop.
#[derive(Debug)]
pub(crate) struct Mount {
    /// Mount point.
    pub(crate) at: PathBuf,
}

impl Mount {
    /// Mounts a device at a new directory.
    #[track_caller]
    pub(crate) fn new(device: &str, at: PathBuf) -> Self {
        std::fs::create_dir(&at).expect("the scratch directory can be written to");
        tool("mount", &[device, &at.to_string_lossy()]);
        Self { at }
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.at).output();
    }
}

/// A swap area, disabled on drop.
#[derive(Debug)]
pub(crate) struct SwapArea(String);

impl SwapArea {
    /// Formats a device as a swap area and enables it.
    #[track_caller]
    pub(crate) fn on(device: &str) -> Self {
        tool("mkswap", &[device]);
        tool("swapon", &[device]);
        Self(device.to_owned())
    }
}

impl Drop for SwapArea {
    fn drop(&mut self) {
        let _ = Command::new("swapoff").arg(&self.0).output();
    }
}

/// Runs a tool that must succeed and returns its output.
#[track_caller]
pub(crate) fn tool(name: &str, words: &[&str]) -> String {
    let output = Command::new(name).args(words).output().unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(output.status.success(), "{name} {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
