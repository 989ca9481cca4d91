//! What the host is.

use std::path::Path;

use super::line;

/// What the host is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// Its name; empty where it has none.
    pub name: String,
    /// The release of its kernel, such as `6.18.0`; empty where it does not tell.
    pub kernel: String,
    /// Processors that this process may use.
    pub cpus: u32,
}

/// Looks at the host.
#[must_use]
pub fn host(root: &Path) -> Host {
    let kernel = root.join("proc/sys/kernel");
    Host {
        name: line(&kernel.join("hostname")).unwrap_or_default(),
        kernel: line(&kernel.join("osrelease")).unwrap_or_default(),
        cpus: std::thread::available_parallelism().map_or(1, |count| count.get() as u32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_has_a_kernel_and_processors() {
        let host = host(Path::new("/"));
        assert!(host.kernel.starts_with(|first: char| first.is_ascii_digit()), "{host:?}");
        assert!(host.cpus >= 1);
    }
}
