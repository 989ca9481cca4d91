//! Properties of the host.

use std::path::Path;

use super::{memory, permissions, reading};

/// Properties of the host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProbedHost {
    /// Host name; empty if unknown.
    pub name: String,
    /// Kernel release, such as `6.18.0`; empty if unknown.
    pub kernel: String,
    /// Number of CPUs that this process may use.
    pub cpus: u32,
    /// Memory in bytes; zero if unknown.
    pub memory_bytes: u64,
}

/// Returns the properties of the host.
#[must_use]
pub fn host(root: &Path) -> ProbedHost {
    ProbedHost {
        name: reading::line(root, "proc/sys/kernel/hostname").unwrap_or_default(),
        kernel: permissions::kernel(root).unwrap_or_default(),
        cpus: std::thread::available_parallelism().map_or(1, |count| count.get() as u32),
        memory_bytes: memory::memory_bytes(root).unwrap_or(0),
    }
}

/// Returns the size of a memory page in bytes.
#[must_use]
pub fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_has_a_kernel_and_processors() {
        let host = host(Path::new("/"));
        assert!(host.kernel.starts_with(|first: char| first.is_ascii_digit()), "{host:?}");
        assert!(host.cpus >= 1);
        assert!(host.memory_bytes > 1 << 20, "{host:?}");
    }
}
