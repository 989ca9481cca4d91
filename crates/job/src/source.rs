//! Access to job files and the environment, provided by the caller.

use units::{Problem, ProblemCode};

/// Source of job files, variables and properties of the host.
pub trait HostSource {
    /// Returns the content of a job file or included file; `-` is standard input. A longer text may be cut off after
    /// [`crate::limits::TEXT_BYTES_MAX`] bytes.
    ///
    /// # Errors
    ///
    /// Returns the system's error message.
    fn read(&self, path: &str) -> Result<Vec<u8>, Problem>;

    /// Returns the value of the environment variable `name`.
    fn variable(&self, name: &str) -> Option<String>;

    /// Reports whether the environment variable `name` is set to bytes that are not UTF-8, which no option can hold.
    fn is_not_text(&self, _name: &str) -> bool {
        false
    }

    /// Returns the value of `$pagesize` in bytes.
    fn page_size_bytes(&self) -> u64;

    /// Returns the value of `$mb_memory`: physical memory in MiB.
    fn memory_mib(&self) -> u64;

    /// Returns the value of `$ncpus`: CPUs online.
    fn cpus(&self) -> u64;
}

/// A source without files and variables, on a host with pages of 4096 bytes, 1024 MiB and one CPU.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmptySource;

impl HostSource for EmptySource {
    fn read(&self, _path: &str) -> Result<Vec<u8>, Problem> {
        Err(Problem::error(ProblemCode::UnreadableInput, "no such file"))
    }

    fn variable(&self, _name: &str) -> Option<String> {
        None
    }

    fn page_size_bytes(&self) -> u64 {
        4096
    }

    fn memory_mib(&self) -> u64 {
        1024
    }

    fn cpus(&self) -> u64 {
        1
    }
}
