//! Access to files and the environment, injected by the caller.

/// Files, variables and properties of the host, as the caller wants them seen.
pub trait HostSource {
    /// The content of a job file or of an included file; `-` is standard input. What has more than
    /// [`crate::limits::TEXT_BYTES_MAX`] bytes need not be read to its end.
    ///
    /// # Errors
    ///
    /// The system's words for why it cannot be read.
    fn read(&self, path: &str) -> Result<Vec<u8>, String>;

    /// The environment variable `name`.
    fn variable(&self, name: &str) -> Option<String>;

    /// Whether the environment variable `name` is set to bytes that are not UTF-8 text, which no option can hold.
    fn is_not_text(&self, _name: &str) -> bool {
        false
    }

    /// What `$pagesize` stands for, in bytes.
    fn page_size_bytes(&self) -> u64;

    /// What `$mb_memory` stands for: physical memory in MiB.
    fn memory_mib(&self) -> u64;

    /// What `$ncpus` stands for: processors online.
    fn cpus(&self) -> u64;
}

/// A source without files and variables, on a host with pages of 4096 bytes, 1024 MiB and one processor.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nowhere;

impl HostSource for Nowhere {
    fn read(&self, _path: &str) -> Result<Vec<u8>, String> {
        Err("no such file".to_owned())
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
