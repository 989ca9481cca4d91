//! SCSI devices: which block device is behind a generic device (`/dev/sgN`), and which block devices are SCSI disks.

use std::path::Path;

use super::device::directory;
use super::{Number, number_in, reading};

/// Major number of generic SCSI devices (`SCSI_GENERIC_MAJOR` of `linux/major.h`).
const GENERIC_MAJOR: u32 = 21;

/// Reports whether a character device of this number is a generic SCSI device.
#[must_use]
pub fn is_scsi_generic(number: Number) -> bool {
    number.0 == GENERIC_MAJOR
}

/// Returns the block device of a generic SCSI device; `None` if it has none, as a tape or an enclosure, or if `/sys` does
/// not tell.
#[must_use]
pub fn block_of_scsi_generic(root: &Path, number: Number) -> Option<Number> {
    let (major, minor) = number;
    let place = format!("sys/dev/char/{major}:{minor}/device/block");
    let names = reading::names(root, &place).ok()?;
    let [name] = names.as_slice() else { return None };
    number_in(&reading::line(root, &format!("{place}/{name}/dev")).ok()?)
}

/// Returns the peripheral device type of a block device that is a whole SCSI disk; `None` for partitions, for devices
/// stacked on disks and for disks of other kinds, and if `/sys` does not tell.
#[must_use]
pub fn scsi_type(root: &Path, number: Number) -> Option<u8> {
    let place = directory(number);
    if reading::line(root, &format!("{place}/partition")).is_ok() {
        return None;
    }
    let _level = reading::line(root, &format!("{place}/device/scsi_level")).ok()?;
    reading::line(root, &format!("{place}/device/type")).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_generic_device_leads_to_its_disk_and_a_partition_to_none() {
        let root = std::env::temp_dir().join(format!("fathom-scsi-{}", std::process::id()));
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("sys/dev/char/21:1/device/block/sdb/dev", "8:16\n");
        write("sys/dev/char/21:2/device/type", "13\n");
        write("sys/dev/block/8:16/device/type", "0\n");
        write("sys/dev/block/8:16/device/scsi_level", "6\n");
        write("sys/dev/block/8:17/partition", "1\n");
        write("sys/dev/block/8:17/device/type", "0\n");
        write("sys/dev/block/8:17/device/scsi_level", "6\n");
        write("sys/dev/block/259:0/device/type", "0\n");
        assert_eq!(block_of_scsi_generic(&root, (21, 1)), Some((8, 16)));
        assert_eq!(block_of_scsi_generic(&root, (21, 2)), None);
        assert_eq!(block_of_scsi_generic(&root, (21, 3)), None);
        let types = [(8, 16), (8, 17), (259, 0), (8, 32)].map(|number| scsi_type(&root, number));
        assert_eq!(types, [Some(0), None, None, None]);
        fs::remove_dir_all(root).unwrap();
    }
}
