//! Devices that lie on others in one report: partitions, logical volumes and arrays, whose requests are those of disks.

use super::Iostat;

/// A disk, and the devices on it, whose requests it counts too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StackedDisk {
    /// Name of the disk.
    pub name: String,
    /// Names of the devices on it. Logical volumes and arrays may lie on several disks.
    pub above: Vec<String>,
}

impl Iostat {
    /// Returns the disks that were in use, the busiest first, with the devices on them. Logical volumes and arrays without
    /// any disk beside them count as disks.
    #[must_use]
    pub fn disks(&self) -> Vec<StackedDisk> {
        disks_among(&self.active(), |name| self.load(name))
    }

    /// Returns the names of devices without a request.
    #[must_use]
    pub fn idle(&self) -> Vec<String> {
        let active = self.active();
        let mut idle: Vec<String> = Vec::new();
        for device in self.reports.iter().flat_map(|report| &report.devices) {
            if !active.contains(&device.name) && !idle.contains(&device.name) {
                idle.push(device.name.clone());
            }
        }
        idle
    }

    /// Returns how busy a device was, by the time in which it was busy, if that is known, and then by its operations: both
    /// summed over the reports of intervals or, without any, of the average since boot.
    fn load(&self, name: &str) -> [f64; 2] {
        let only_boot = self.intervals().next().is_none();
        let reports = self.reports.iter().filter(|report| report.since_boot == only_boot);
        let devices = reports.flat_map(|report| &report.devices).filter(|device| device.name == name);
        let loads = devices.map(|device| [device.util.unwrap_or(0.0), device.iops()]);
        loads.fold([0.0; 2], |[busy, operations], of| [busy + of[0], operations + of[1]])
    }

    /// Returns the names of devices with requests: those of intervals or, without any, of the average since boot.
    fn active(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let only_boot = self.intervals().next().is_none();
        let reports = self.reports.iter().filter(|report| report.since_boot == only_boot);
        for device in reports.flat_map(|report| &report.devices).filter(|device| !device.is_idle()) {
            if !names.contains(&device.name) {
                names.push(device.name.clone());
            }
        }
        names
    }
}

/// Divides devices among the disks that they lie on. `load` returns how busy a device was, by the first value that differs.
pub(in crate::input) fn disks_among(names: &[String], load: impl Fn(&str) -> [f64; 2]) -> Vec<StackedDisk> {
    let disk_of = |name: &String| match DeviceKind::of(name) {
        DeviceKind::Partition(disk) => names.iter().find(|known| **known == disk),
        DeviceKind::Disk | DeviceKind::Stacked => None,
    };
    let is_stacked = |name: &String| DeviceKind::of(name) == DeviceKind::Stacked;
    let mut bases: Vec<&String> = names.iter().filter(|name| !is_stacked(name) && disk_of(name).is_none()).collect();
    if bases.is_empty() {
        bases = names.iter().collect();
    }
    bases.sort_by(|a, b| {
        let ([busy_a, operations_a], [busy_b, operations_b]) = (load(a), load(b));
        busy_b.total_cmp(&busy_a).then(operations_b.total_cmp(&operations_a))
    });
    let mut disks: Vec<StackedDisk> =
        bases.iter().map(|name| StackedDisk { name: (*name).clone(), above: Vec::new() }).collect();
    for name in names.iter().filter(|name| !bases.contains(name)) {
        // Which disks a volume or an array lies on is not printed: the busiest is named.
        let below = disk_of(name).map_or(0, |disk| disks.iter().position(|known| known.name == *disk).unwrap_or(0));
        disks[below].above.push(name.clone());
    }
    disks
}

#[derive(Debug, PartialEq, Eq)]
enum DeviceKind {
    Disk,
    /// A partition of the disk with this name.
    Partition(String),
    /// A logical volume, an array, a cached or mirrored device, or another that lies on disks.
    Stacked,
}

impl DeviceKind {
    fn of(name: &str) -> Self {
        if let Some(rest) = name.strip_prefix("dev") {
            // `sar` names devices by numbers: those of SCSI disks, arrays, DRBD and ZFS are fixed.
            // A SCSI disk has 16 numbers, the first its own.
            let (major, minor) = rest.split_once('-').unwrap_or((rest, ""));
            return match (major, minor.parse::<u32>()) {
                ("9" | "147" | "230" | "252" | "253" | "254", _) => Self::Stacked,
                ("8" | "65" | "66" | "67" | "68" | "69" | "70" | "71", Ok(minor)) if !minor.is_multiple_of(16) => {
                    Self::Partition(format!("dev{major}-{}", minor / 16 * 16))
                }
                _ => Self::Disk,
            };
        }
        let is_of = |prefixes: &[&str], is_next: fn(char) -> bool| {
            prefixes.iter().any(|prefix| name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(is_next)))
        };
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_numbered = stem.len() < name.len();
        let numbered = ["cciss/c", "nvme", "mmcblk", "nbd", "loop", "pmem", "rbd", "ublkb"];
        let lettered = ["sd", "vd", "xvd", "hd", "dasd", "ubd"];
        // Names that end in a digit have a `p` before that of the partition.
        if is_of(&numbered, |c| c.is_ascii_digit()) {
            let disk = stem.strip_suffix('p').filter(|_| is_numbered);
            return disk.map_or(Self::Disk, |disk| Self::Partition(disk.to_owned()));
        }
        let is_lettered = lettered.iter().any(|prefix| {
            let letters = stem.strip_prefix(prefix).unwrap_or_default();
            !letters.is_empty() && letters.bytes().all(|byte| byte.is_ascii_lowercase())
        });
        if is_lettered {
            return if is_numbered { Self::Partition(stem.to_owned()) } else { Self::Disk };
        }
        let whole = ["sr", "scd", "st", "ram", "zram", "fd"];
        if whole.contains(&stem) { Self::Disk } else { Self::Stacked }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{IostatDevice, IostatKind, IostatReport};
    use super::*;

    fn disks_of(names: &[&str]) -> Vec<(String, String)> {
        let device = |name: &&str| IostatDevice {
            name: (*name).to_owned(),
            all: IostatKind { per_second: Some(1.0), ..IostatKind::default() },
            ..IostatDevice::default()
        };
        let report = IostatReport { devices: names.iter().map(device).collect(), ..IostatReport::default() };
        let iostat = Iostat { reports: vec![report], ..Iostat::default() };
        iostat.disks().into_iter().map(|disk| (disk.name, disk.above.join(" "))).collect()
    }

    fn stacked(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(disk, above)| ((*disk).to_owned(), (*above).to_owned())).collect()
    }

    /// A cached, mirrored or ZFS volume counted as a disk of its own beside those that it lies on.
    #[test]
    fn cached_and_mirrored_volumes_lie_on_disks() {
        assert_eq!(disks_of(&["bcache0", "drbd1", "zd0", "sda"]), stacked(&[("sda", "bcache0 drbd1 zd0")]));
        assert_eq!(disks_of(&["dev147-0", "dev230-16", "dev8-0"]), stacked(&[("dev8-0", "dev147-0 dev230-16")]));
        assert_eq!(disks_of(&["bcache0"]), stacked(&[("bcache0", "")]));
    }

    #[test]
    fn partitions_volumes_and_arrays_are_counted_with_their_disks() {
        assert_eq!(disks_of(&["sda", "sda1", "sdb", "dm-0"]), stacked(&[("sda", "sda1 dm-0"), ("sdb", "")]));
        assert_eq!(
            disks_of(&["md0", "nvme0n1", "nvme0n1p2", "nvme10n1"]),
            stacked(&[("nvme0n1", "md0 nvme0n1p2"), ("nvme10n1", "")])
        );
        assert_eq!(disks_of(&["vda1", "vg0-data", "xvda1"]), stacked(&[("vda1", "vg0-data"), ("xvda1", "")]));
        assert_eq!(disks_of(&["dev8-0", "dev253-0", "dev259-1"]), stacked(&[("dev8-0", "dev253-0"), ("dev259-1", "")]));
        assert_eq!(
            disks_of(&["dev8-0", "dev8-5", "dev8-16", "dev8-33"]),
            stacked(&[("dev8-0", "dev8-5"), ("dev8-16", ""), ("dev8-33", "")])
        );
        assert_eq!(disks_of(&["dev252-0", "dm-3"]), stacked(&[("dev252-0", ""), ("dm-3", "")]));
        assert_eq!(
            disks_of(&["mmcblk0", "mmcblk0p1", "loop7", "sr0"]),
            stacked(&[("mmcblk0", "mmcblk0p1"), ("loop7", ""), ("sr0", "")])
        );
        assert_eq!(disks_of(&["sda", "scd0", "scd1"]), stacked(&[("sda", ""), ("scd0", ""), ("scd1", "")]));
        assert_eq!(
            disks_of(&["sda", "cciss/c0d0", "cciss/c0d0p1"]),
            stacked(&[("sda", ""), ("cciss/c0d0", "cciss/c0d0p1")])
        );
    }
}
