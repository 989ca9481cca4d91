//! Loop devices and mounts that go away with the test.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A loop device over a file; detached when this goes out of scope.
#[derive(Debug)]
pub(crate) struct LoopDevice {
    /// Such as `/dev/loop0`.
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

/// A mounted filesystem; unmounted when this goes out of scope.
#[derive(Debug)]
pub(crate) struct Mount {
    /// Where it is.
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

/// A device that is swapped to; given back when this goes out of scope.
#[derive(Debug)]
pub(crate) struct SwapArea(String);

impl SwapArea {
    /// Makes a device swap space and swaps to it.
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

/// Runs a tool that must succeed and returns what it printed.
#[track_caller]
pub(crate) fn tool(name: &str, words: &[&str]) -> String {
    let output = Command::new(name).args(words).output().unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(output.status.success(), "{name} {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
