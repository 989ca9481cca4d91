//! Remedies for failed operations based on the state of the device, where the error number alone is misleading: a write
//! to a removed disk fails with "No space left on device".

use std::path::Path;

use engine::files::{self, FileKind};
use units::OpKind;

/// Returns the remedy if the device is gone, or if it accepts writes only at the write pointers of its zones.
pub fn remedy(path: &str, kind: OpKind) -> Option<&'static str> {
    let place = Path::new(path);
    if is_removed(place) {
        return Some("see the kernel log (dmesg): the device is gone");
    }
    (kind == OpKind::Write && is_zoned(place)).then_some(
        "set zonemode=zbd: a zoned device accepts writes only at a zone's write pointer (reset zones with `blkzone \
         reset`)",
    )
}

/// Reports whether a previously opened path no longer has a device, or its device has only a node left.
fn is_removed(path: &Path) -> bool {
    let root = Path::new("/");
    match files::look(path) {
        Ok(None) => path.starts_with("/dev"),
        Ok(Some(seen)) => seen.kind == FileKind::Block && seen.bytes == 0,
        Err(_) => probe::number_of(root, path).is_some_and(|number| probe::device(root, number).is_none()),
    }
}

fn is_zoned(path: &Path) -> bool {
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
        assert_eq!(remedy("/dev/no-such-device", OpKind::Read), Some("see the kernel log (dmesg): the device is gone"));
        assert_eq!(remedy("/no-such-file", OpKind::Write), None);
        assert_eq!(remedy("/proc/self/exe", OpKind::Write), None);
        assert_eq!(remedy("/dev/null", OpKind::Write), None);
    }
}
