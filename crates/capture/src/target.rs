//! Which device is captured.

use std::path::Path;

use probe::{DeviceStack, LayerKind, Number, StackLayer};
use units::Problem;

use crate::error;

/// Bytes of a sector in events.
pub(crate) const SECTOR_BYTES: u64 = 512;

/// A device that is captured, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureTarget {
    /// Name of the device or partition.
    pub name: String,
    /// Its device number.
    pub number: Number,
    /// Its size in bytes.
    pub bytes: u64,
    /// Number of the device whose events the kernel records: of a partition, that of its disk.
    pub events_of: Number,
    /// Name of the disk of a partition.
    pub disk: Option<String>,
    /// First sector of a partition, and the first one after it.
    pub sectors: Option<(u64, u64)>,
    /// Whether the device has no requests of its own, so that bios are captured.
    pub takes_bios: bool,
    /// What the user should know, a sentence each.
    pub notes: Vec<String>,
}

impl CaptureTarget {
    /// Finds the device of a name: a block device, or the device of the filesystem of a file or directory.
    ///
    /// # Errors
    /// Fails if there is no such name, or no block device below it.
    pub fn find(root: &Path, asked: &str) -> Result<Self, Problem> {
        let mut target = Self::find_counted(root, asked)?;
        if let Some(disk) = &target.disk {
            target.notes.push(format!("flushes cover the whole disk {disk}: they do not identify a partition"));
        }
        Ok(target)
    }

    /// Finds the device of a name, whose own counters are used instead of events.
    pub(crate) fn find_counted(root: &Path, asked: &str) -> Result<Self, Problem> {
        let unknown = |error: probe::UnknownNameError| {
            let bare = asked.strip_prefix("/dev/").unwrap_or(asked);
            let similar = units::closest(bare, error.known.iter().map(String::as_str)).filter(|name| *name != bare);
            let remedy = similar
                .map_or("specify a block device (see lsblk), a file or a directory".to_owned(), |name| {
                    format!("did you mean `{name}`?")
                });
            error::usage(format!("{}: {}", units::printable(asked), error.reason), remedy)
        };
        let stack = probe::stack(root, asked).map_err(unknown)?;
        let Some(top) = stack.layers.first() else {
            let message = format!("{}: not on a block device", units::printable(asked));
            return Err(error::usage(
                message,
                "its files are in memory, on a network or in a container: capture on the host with the disk",
            ));
        };
        Self::of_layer(root, asked, &stack, top)
    }

    fn of_layer(root: &Path, asked: &str, stack: &DeviceStack, top: &StackLayer) -> Result<Self, Problem> {
        let mut target = Self {
            name: top.name.clone(),
            number: top.number,
            bytes: top.bytes,
            events_of: top.number,
            disk: None,
            sectors: None,
            takes_bios: false,
            notes: notes(asked, stack, top),
        };
        if let LayerKind::Partition(disk) = &top.kind {
            let start = probe::first_sector(root, &top.name).ok();
            let Some((number, start)) = probe::number_named(root, disk).zip(start) else {
                let message = format!("{}: the start of this partition is unknown", top.name);
                return Err(error::host(message, format!("capture the whole disk: /dev/{disk}")));
            };
            target.events_of = number;
            target.sectors = Some((start, start.saturating_add(top.bytes / SECTOR_BYTES)));
            target.disk = Some(disk.clone());
        }
        let (major, minor) = target.events_of;
        // Only devices with queues of requests have this directory.
        target.takes_bios = probe::reading::names(root, &format!("sys/dev/block/{major}:{minor}/mq")).is_err();
        Ok(target)
    }

    /// Returns the condition under which the kernel records an event of this device.
    #[must_use]
    pub fn filter(&self) -> String {
        // As `MKDEV` in include/linux/kdev_t.h.
        let device = format!("dev == {}", u64::from(self.events_of.0) << 20 | u64::from(self.events_of.1));
        match self.sectors {
            None => device,
            Some((start, end)) => {
                format!("{device} && ((sector >= {start} && sector < {end}) || nr_sector == 0)")
            }
        }
    }

    /// Returns the position of the first byte on the device whose events are recorded.
    #[must_use]
    pub fn start_bytes(&self) -> u64 {
        self.sectors.map_or(0, |(start, _)| start.saturating_mul(SECTOR_BYTES))
    }

    /// Reports whether a file, which may be missing, is on this device.
    #[must_use]
    pub fn has_file(&self, root: &Path, path: &Path) -> bool {
        let folder = probe::existing_ancestor(path);
        let Ok(folder) = folder.canonicalize() else { return false };
        let stack = folder.to_str().and_then(|folder| probe::stack(root, folder).ok());
        stack.is_some_and(|stack| stack.layers.iter().any(|layer| layer.number == self.number))
    }
}

fn notes(asked: &str, stack: &DeviceStack, top: &StackLayer) -> Vec<String> {
    let mut notes = Vec::new();
    let is_file = asked.contains('/') && !asked.starts_with("/dev/");
    if let Some(mount) = stack.mounts.first().filter(|_| is_file) {
        let (filesystem, at) = (&mount.filesystem, mount.at.display());
        notes.push(format!("{} is the device of the {filesystem} filesystem at {at}", top.name));
        if filesystem == "btrfs" {
            notes.push(format!("captures only {}, even if the filesystem spans several devices", top.name));
        }
    }
    let below: Vec<&str> = stack.layers.iter().skip(1).map(|layer| layer.name.as_str()).collect();
    match &top.kind {
        LayerKind::Loop(file) => notes.push(format!("{} is a loop device backed by {}", top.name, file.display())),
        LayerKind::Mapping | LayerKind::Raid if !below.is_empty() => {
            notes.push(format!("{} is on {}, whose requests differ from its own", top.name, below.join(", ")));
        }
        _ => {}
    }
    notes
}

#[cfg(test)]
mod tests {
    use units::ProblemCode;

    use super::*;

    fn host(files: &[(&str, &str)], links: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        for (path, to) in links {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(to, path).unwrap();
        }
        root
    }

    fn disk() -> tempfile::TempDir {
        let (sda, dm) = ("sys/devices/pci/block/sda", "sys/devices/virtual/block/dm-0");
        let file = |place: &str, name: &str| format!("{place}/{name}");
        let files = [
            (file(sda, "dev"), "8:0"),
            (file(sda, "size"), "2097152"),
            (file(sda, "mq/0/cpu_list"), "0"),
            (file(sda, "sda2/dev"), "8:2"),
            (file(sda, "sda2/size"), "1024000"),
            (file(sda, "sda2/start"), "2048"),
            (file(sda, "sda2/partition"), "2"),
            (file(dm, "dev"), "252:0"),
            (file(dm, "size"), "1000000"),
            (file(dm, "dm/name"), "vg-data"),
        ];
        let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let mounts = "30 1 252:0 / /srv rw - ext4 /dev/mapper/vg-data rw\n31 1 0:40 / /tmp rw - tmpfs tmpfs rw\n";
        host(
            &[files.as_slice(), &[("proc/self/mountinfo", mounts)]].concat(),
            &[
                ("sys/class/block/sda", "../../devices/pci/block/sda"),
                ("sys/class/block/sda2", "../../devices/pci/block/sda/sda2"),
                ("sys/class/block/dm-0", "../../devices/virtual/block/dm-0"),
                ("sys/dev/block/8:0", "../../devices/pci/block/sda"),
                ("sys/dev/block/8:2", "../../devices/pci/block/sda/sda2"),
                ("sys/dev/block/252:0", "../../devices/virtual/block/dm-0"),
                ("sys/devices/virtual/block/dm-0/slaves/sda2", "../../../../pci/block/sda/sda2"),
            ],
        )
    }

    #[test]
    fn a_partition_is_captured_on_its_disk() {
        let root = disk();
        let target = CaptureTarget::find(root.path(), "/dev/sda2").unwrap();
        assert_eq!((target.number, target.events_of), ((8, 2), (8, 0)));
        assert_eq!(target.sectors, Some((2048, 1_026_048)));
        assert_eq!(target.start_bytes(), 1 << 20);
        assert!(!target.takes_bios);
        let range = "(sector >= 2048 && sector < 1026048) || nr_sector == 0";
        assert_eq!(target.filter(), format!("dev == {} && ({range})", 8 << 20));
        assert!(target.notes[0].contains("whole disk sda"), "{:?}", target.notes);
        let whole = CaptureTarget::find(root.path(), "sda").unwrap();
        assert_eq!((whole.filter(), whole.sectors), (format!("dev == {}", 8 << 20), None));
    }

    #[test]
    fn a_mapping_is_captured_itself_and_says_what_it_is_on() {
        let root = disk();
        for asked in ["/dev/mapper/vg-data", "dm-0", "/srv/postgres"] {
            let target = CaptureTarget::find(root.path(), asked).unwrap();
            assert_eq!((target.name.as_str(), target.events_of), ("dm-0", (252, 0)), "{asked}");
            assert!(target.takes_bios);
            let notes = target.notes.join("\n");
            assert!(notes.contains("dm-0 is on sda2, sda, whose requests differ"), "{notes}");
            assert_eq!(notes.contains("the ext4 filesystem at /srv"), asked.starts_with("/srv"), "{notes}");
        }
    }

    #[test]
    fn a_name_without_device_is_an_error_with_a_remedy() {
        let root = disk();
        for (asked, error) in [
            ("/tmp/file", "not on a block device; its files are in memory"),
            ("/dev/sdaa", "no such block device; did you mean `sda`?"),
            ("/dev/zzzz9", "no such block device; specify a block device"),
        ] {
            let found = CaptureTarget::find(root.path(), asked).unwrap_err();
            assert!(found.to_string().contains(error) && found.code == ProblemCode::CaptureRequest, "{asked}: {found}");
        }
    }
}
