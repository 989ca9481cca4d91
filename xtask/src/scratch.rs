//! Scratch directories and builds of Fathom.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// A scratch directory below the temporary directory, removed on drop.
pub(crate) struct ScratchDir(pub(crate) PathBuf);

impl ScratchDir {
    /// Creates `fathom-PURPOSE-PID`.
    pub(crate) fn new(purpose: &str) -> Result<Self> {
        let path = std::env::temp_dir().join(format!("fathom-{purpose}-{}", std::process::id()));
        std::fs::create_dir_all(&path).with_context(|| format!("making {}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        // Best effort: a directory that is left has the process ID in its name.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Builds Fathom and returns the program, which cargo writes to `profile` below the target directory.
pub(crate) fn build(root: &Path, options: &[&str], profile: &str) -> Result<PathBuf> {
    let mut command = Command::new("cargo");
    // Cargo sets these for xtask; build scripts that look at them (ring's) would run again.
    let of_xtask = |name: &String| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for name in std::env::vars().map(|(name, _)| name).filter(of_xtask) {
        command.env_remove(name);
    }
    let status = command.arg("build").args(options).args(["--bin", "fathom"]).current_dir(root).status()?;
    ensure!(status.success(), "fathom cannot be built");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(target.join(profile).join("fathom"))
}

/// Returns the debug build of Fathom, or the program that the variable `FATHOM` names, such as another version.
pub(crate) fn debug_fathom(root: &Path) -> Result<PathBuf> {
    let named = std::env::var_os("FATHOM").map(PathBuf::from);
    // Together with xtask, cli has the features of libraries that its tests have, and is built once.
    let options = ["--quiet", "--package", "cli", "--package", "xtask"];
    named.map_or_else(|| build(root, &options, "debug"), |path| Ok(std::path::absolute(path)?))
}
