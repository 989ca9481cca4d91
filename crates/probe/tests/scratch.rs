//! Scratch files that are removed with the test.

use std::path::{Path, PathBuf};

/// A directory of one test, removed when it ends.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// Creates a directory on a real filesystem. `name` is unique to the test.
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Returns a path inside.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Creates a file of zeroes inside.
    pub(crate) fn file(&self, name: &str, bytes: u64) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, vec![0; bytes as usize]).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
