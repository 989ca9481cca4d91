//! The installed fio.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use report::fio::FioVersion;

/// Returns the installed fio; prints that the test is skipped and returns `None` if there is none.
///
/// # Panics
///
/// Panics if there is none and `FATHOM_NO_SKIP=1` is set.
pub(super) fn installed_fio() -> Option<Fio> {
    let program = std::env::var("FATHOM_FIO").unwrap_or_else(|_| "fio".to_owned());
    let found = Command::new(&program).arg("--version").output().ok();
    let Some(output) = found else {
        assert!(std::env::var("FATHOM_NO_SKIP").as_deref() != Ok("1"), "no fio on the PATH");
        println!("skipped: no fio on the PATH");
        return None;
    };
    let name = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let minor = name.strip_prefix("fio-3.").and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
    let version = if minor.is_some_and(|minor| minor >= 42) { FioVersion::V3_42 } else { FioVersion::V3_33 };
    Some(Fio { program, name, version })
}

pub(super) struct Fio {
    program: String,
    /// Version string that it prints.
    pub(super) name: String,
    /// Layout version of its output.
    pub(super) version: FioVersion,
}

impl Fio {
    /// Runs fio with these arguments in a temporary directory, and returns its output.
    pub(super) fn output(&self, arguments: &[&str]) -> String {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        let name = format!("fio-{}-{}", std::process::id(), RUNS.fetch_add(1, Ordering::Relaxed));
        let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&directory).expect("the directory for tests can be written");
        let output = Command::new(&self.program).args(arguments).current_dir(&directory).output().expect("fio runs");
        std::fs::remove_dir_all(&directory).expect("the directory for tests can be removed");
        String::from_utf8(output.stdout).expect("fio prints UTF-8")
    }
}
