//! The state of a device after a failed operation, where the error number alone is misleading: a write to a removed disk
//! fails with "No space left on device".

use std::path::Path;

use engine::files::{self, FileKind};

/// Reports whether a previously opened path no longer has a device, or its device has only a node left.
#[must_use]
pub fn is_removed(path: &str) -> bool {
    let (root, path) = (Path::new("/"), Path::new(path));
    match files::look(path) {
        Ok(None) => path.starts_with("/dev"),
        Ok(Some(seen)) => seen.kind == FileKind::Block && seen.bytes == 0,
        Err(_) => probe::number_of(root, path).is_some_and(|number| probe::device(root, number).is_none()),
    }
}

/// Reports whether a device accepts writes only at the write pointers of its zones.
pub(crate) fn is_zoned(path: &str) -> bool {
    let path = Path::new(path);
    let is_device = matches!(files::look(path), Ok(Some(seen)) if seen.kind == FileKind::Block);
    let Some((major, minor)) = probe::number_of(Path::new("/"), path).filter(|_| is_device) else { return false };
    // The queue of a partition is in the directory of its disk.
    let queues = ["queue/zoned", "../queue/zoned"].map(|at| format!("/sys/dev/block/{major}:{minor}/{at}"));
    queues.iter().any(|queue| std::fs::read_to_string(queue).is_ok_and(|model| model.trim() == "host-managed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_device_node_means_a_removed_device() {
        assert!(is_removed("/dev/no-such-device"));
        for path in ["/no-such-file", "/proc/self/exe", "/dev/null"] {
            assert!(!is_removed(path) && !is_zoned(path), "{path}");
        }
    }
}
