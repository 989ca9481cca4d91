//! Settings of a program that a job runs.

use std::fs::File;
use std::sync::{Arc, OnceLock};

use units::Nanos;

use crate::error::Error;

/// A program, and how it ends.
#[derive(Clone, Debug)]
pub struct ProgramSetup {
    /// Path, or name to look for in `PATH`.
    pub path: String,
    /// Arguments.
    pub arguments: Vec<String>,
    /// Files of its standard output and standard error; `None` for those of this process.
    pub output: Option<Arc<(File, File)>>,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Nanos,
    /// Whether operations continue after the program has ended.
    pub is_outlasted: bool,
    /// Whether an exit code other than zero is a failure.
    pub checks_exit: bool,
    /// Receives the reason why the program did not run, or failed.
    pub failure: Arc<OnceLock<Error>>,
}
