//! Resolves a name to the devices below it: file, mount, partition, mapping, RAID, loop, disk.

use std::collections::BTreeSet;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use record::host::StackBottom;

use super::mounts::{MountEntry, mounts};
use super::network::is_network_filesystem;
use super::reading::{self, line, names};
use super::{Number, ProbedDevice, Relations, device, number_named, relations, split};
use crate::device::block_number;

/// The storage stack below a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceStack {
    /// The filesystem of the file or, for a device, those mounted from it or its partitions.
    pub mounts: Vec<MountEntry>,
    /// Devices, highest first; none if [`DeviceStack::bottom`] gives the reason.
    pub layers: Vec<StackLayer>,
    /// Partitions, if the name is a disk's.
    pub parts: Vec<StackLayer>,
    /// What takes the place of a block device, if the search did not end at one.
    pub bottom: Option<StackBottom>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackLayer {
    /// Name in `/dev`.
    pub name: String,
    /// Device number.
    pub number: Number,
    /// Kind of device.
    pub kind: LayerKind,
    /// Size in bytes.
    pub bytes: u64,
    pub model: Option<String>,
}

/// A kind of device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayerKind {
    /// A partition of the disk of this name.
    Partition(String),
    /// A device of the device mapper.
    Mapping,
    /// A device of the RAID driver.
    Raid,
    /// A loop device over this file.
    Loop(PathBuf),
    /// A disk, as far as the host can see.
    Disk,
}

/// The error for a name that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownNameError {
    /// Why the name is rejected.
    pub reason: String,
    /// Existing names of the same kind.
    pub known: Vec<String>,
}

/// Maximum number of layers. Stacks are less deep, and cycles end here.
const MAX_LAYERS: usize = 64;

/// Finds the devices below a file, a directory, a device's path or its bare name. With another root than `/`, nothing
/// outside of it is accessed: files are resolved by the mounts alone.
///
/// # Errors
/// Returns the reason if the name does not exist, with existing names.
pub fn stack(root: &Path, asked: &str) -> Result<DeviceStack, UnknownNameError> {
    let mut finder =
        StackFinder { root, live: root == Path::new("/"), layers: Vec::new(), bottom: None, seen: BTreeSet::new() };
    let mut parts = Vec::new();
    let mounts = match finder.device_named(asked)? {
        Some(number) => {
            finder.descend(number);
            if let [StackLayer { name, kind: LayerKind::Disk, .. }] = finder.layers.as_slice()
                && name.starts_with("loop")
            {
                return Err(finder.no_such("this loop device has no backing file"));
            }
            parts = finder.parts(number);
            finder.mounted(&parts)
        }
        None => {
            let path = finder.path(asked)?;
            let mount = finder.mount_over(&path);
            match &mount {
                Some(mount) => finder.under(mount),
                None => finder.bottom = Some(StackBottom::Hidden),
            }
            mount.into_iter().collect()
        }
    };
    Ok(DeviceStack { mounts, layers: finder.layers, parts, bottom: finder.bottom })
}

/// Returns the names of all block devices of a host.
#[must_use]
pub fn device_names(root: &Path) -> Vec<String> {
    let names = names(root, "sys/class/block").unwrap_or_default();
    names.into_iter().map(|name| name.replace('!', "/")).collect()
}

struct StackFinder<'a> {
    root: &'a Path,
    /// Whether the root is that of this host, so that its files can be accessed.
    live: bool,
    layers: Vec<StackLayer>,
    bottom: Option<StackBottom>,
    seen: BTreeSet<Number>,
}

impl StackFinder<'_> {
    /// Returns the number of the device with this name, or `None` if the name refers to a file.
    fn device_named(&self, asked: &str) -> Result<Option<Number>, UnknownNameError> {
        let is_file = asked.contains('/') || self.live && Path::new(asked).exists();
        if let Some(name) = asked.strip_prefix("/dev/").filter(|name| !name.is_empty()) {
            return match self
                .number_of_path(asked)
                .or_else(|| number_named(self.root, name))
                .or_else(|| self.mapped(name))
            {
                Some(number) => Ok(Some(number)),
                None if self.live && Path::new(asked).exists() => self.not_block(asked),
                None if !self.live && reading::resolve(self.root, "sys/class/block").is_err() => {
                    Err(self.no_such("the root has no sys/class/block"))
                }
                None => Err(self.no_such("no such block device")),
            };
        }
        if !is_file {
            let number = number_named(self.root, asked).or_else(|| self.mapped(asked));
            return number.map(Some).ok_or_else(|| self.no_such("no such file or block device"));
        }
        Ok(if self.live { self.number_of_path(asked) } else { None })
    }

    /// Handles paths under `/dev` that are no block devices: directories such as `/dev/shm`, and character devices.
    fn not_block(&self, asked: &str) -> Result<Option<Number>, UnknownNameError> {
        let kind = std::fs::metadata(asked).map(|metadata| metadata.file_type());
        match kind {
            Ok(kind) if kind.is_char_device() => Err(self.no_such("it is a character device, not a block device")),
            _ => Ok(None),
        }
    }

    fn no_such(&self, reason: &str) -> UnknownNameError {
        UnknownNameError { reason: reason.to_owned(), known: device_names(self.root) }
    }

    /// Returns the number of a device node. Copies of a host have no nodes, so this follows the links in their `/dev`.
    fn number_of_path(&self, path: &str) -> Option<Number> {
        if !self.live {
            // A link in a copied `/dev` still has its target.
            let (directory, name) = path.trim_start_matches('/').rsplit_once('/')?;
            let target = std::fs::read_link(reading::resolve(self.root, directory).ok()?.join(name)).ok()?;
            return number_named(self.root, target.file_name()?.to_str()?);
        }
        block_number(&std::fs::metadata(path).ok()?)
    }

    /// Resolves the names `/dev/mapper/NAME` and `/dev/GROUP/VOLUME` of the device mapper, which calls the latter
    /// `GROUP-VOLUME` with doubled hyphens in both parts.
    fn mapped(&self, name: &str) -> Option<Number> {
        let volume = name.strip_prefix("mapper/").map_or_else(
            || {
                name.split_once('/')
                    .map(|(group, volume)| format!("{}-{}", group.replace('-', "--"), volume.replace('-', "--")))
            },
            |name| Some(name.to_owned()),
        )?;
        let is_it = |name: &String| {
            line(self.root, &format!("sys/class/block/{name}/dm/name")).is_ok_and(|known| known == volume)
        };
        number_named(self.root, &names(self.root, "sys/class/block").ok()?.into_iter().find(is_it)?)
    }

    /// Returns the full path of an existing file.
    fn path(&self, asked: &str) -> Result<PathBuf, UnknownNameError> {
        let path = Path::new(asked);
        if !self.live {
            let whole = Path::new("/").join(path);
            let plain: PathBuf = whole.components().filter(|part| *part != Component::CurDir).collect();
            return Ok(plain);
        }
        path.canonicalize().map_err(|error| {
            let reason = error.to_string().split(" (os error").next().unwrap_or_default().to_lowercase();
            let beside = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let entries = std::fs::read_dir(beside).into_iter().flatten().flatten();
            let names = entries.filter_map(|entry| beside.join(entry.file_name()).into_os_string().into_string().ok());
            UnknownNameError { reason, known: names.collect() }
        })
    }

    /// Returns the mount of a path: the last of several at one path is on top, and a mount that is hidden under another
    /// one is found by the device number of the file.
    fn mount_over(&self, path: &Path) -> Option<MountEntry> {
        let mut over: Vec<MountEntry> =
            mounts(self.root).into_iter().filter(|mount| path.starts_with(&mount.at)).collect();
        if self.live
            && let Ok(metadata) = std::fs::metadata(path)
        {
            let number = split(metadata.dev());
            if over.iter().any(|mount| mount.number == number) {
                over.retain(|mount| mount.number == number);
            }
        }
        over.into_iter().max_by_key(|mount| mount.at.components().count())
    }

    /// Continues below a mounted filesystem.
    fn under(&mut self, mount: &MountEntry) {
        if mount.number.0 != 0 {
            return self.descend(mount.number);
        }
        self.bottom = match mount.filesystem.as_str() {
            _ if mount.is_in_memory() => Some(StackBottom::Memory),
            "overlay" => return self.under_overlay(mount),
            "zfs" => Some(StackBottom::Pool),
            "9p" | "virtiofs" | "vboxsf" | "vmhgfs" => Some(StackBottom::Elsewhere),
            "proc" | "sysfs" | "cgroup" | "cgroup2" | "devpts" | "mqueue" | "debugfs" | "tracefs" | "securityfs"
            | "bpf" | "configfs" | "pstore" | "efivarfs" | "fusectl" | "autofs" | "binfmt_misc" => {
                Some(StackBottom::Kernel)
            }
            _ if mount.source.starts_with("/dev/") => return self.under_source(mount),
            name if is_network_filesystem(name) => Some(StackBottom::Network),
            name if name.starts_with("fuse") => Some(StackBottom::Elsewhere),
            _ => Some(StackBottom::Hidden),
        };
    }

    /// Continues below a filesystem over several devices, such as btrfs, which is mounted from one of them.
    fn under_source(&mut self, mount: &MountEntry) {
        let name = mount.source.trim_start_matches("/dev/");
        let number =
            self.number_of_path(&mount.source).or_else(|| number_named(self.root, name)).or_else(|| self.mapped(name));
        let Some(number) = number else {
            self.bottom = Some(StackBottom::Hidden);
            return;
        };
        self.descend(number);
        let first = self.layers.first().map(|layer| layer.name.clone()).unwrap_or_default();
        let members = |id: &String| names(self.root, &format!("sys/fs/btrfs/{id}/devices")).unwrap_or_default();
        let pools = names(self.root, "sys/fs/btrfs").unwrap_or_default();
        let others = pools.iter().map(members).find(|members| members.contains(&first)).unwrap_or_default();
        for number in others.iter().filter_map(|name| number_named(self.root, name)).collect::<Vec<_>>() {
            self.descend(number);
        }
    }

    /// Continues below the upper directory of an overlay, to which writes go.
    fn under_overlay(&mut self, mount: &MountEntry) {
        let upper = mount.options.iter().find_map(|option| option.strip_prefix("upperdir="));
        let below =
            upper.and_then(|upper| self.mount_over(Path::new(upper))).filter(|below| below.filesystem != "overlay");
        // In a container the layers are outside: their paths refer to other files, or to none.
        let visible = upper.is_some_and(|upper| !self.live || Path::new(upper).is_dir());
        match below.filter(|_| visible) {
            Some(below) => self.under(&below),
            None => self.bottom = Some(StackBottom::Layers),
        }
    }

    /// Adds a device and everything below it.
    fn descend(&mut self, number: Number) {
        if !self.seen.insert(number) || self.layers.len() >= MAX_LAYERS {
            return;
        }
        let Some(found) = device(self.root, number) else {
            if self.layers.is_empty() {
                self.bottom = Some(StackBottom::Hidden);
            }
            return;
        };
        let ProbedDevice { relations, bytes, model, backing_file, .. } = found;
        let kind = match (&relations.disk, &backing_file) {
            (Some(disk), _) => LayerKind::Partition(disk.clone()),
            (None, Some(file)) => LayerKind::Loop(file.clone()),
            (None, None) if relations.name.starts_with("dm-") => LayerKind::Mapping,
            (None, None) if relations.name.starts_with("md") => LayerKind::Raid,
            (None, None) => LayerKind::Disk,
        };
        let Relations { name, disk, slaves, .. } = relations;
        self.layers.push(StackLayer { name, number, kind: kind.clone(), bytes, model });
        for number in disk.iter().chain(&slaves).filter_map(|name| number_named(self.root, name)).collect::<Vec<_>>() {
            self.descend(number);
        }
        if let LayerKind::Loop(file) = kind
            && let Some(mount) = self.mount_over(&file)
        {
            self.under(&mount);
        }
    }

    /// Returns the partitions of a disk.
    fn parts(&self, number: Number) -> Vec<StackLayer> {
        let Some(disk) = relations(self.root, number) else { return Vec::new() };
        let part = |name: &String| {
            let ProbedDevice { relations: part, bytes, .. } = device(self.root, number_named(self.root, name)?)?;
            let kind = LayerKind::Partition(disk.name.clone());
            Some(StackLayer { name: part.name, number: part.number, kind, bytes, model: None })
        };
        disk.partitions.iter().filter_map(part).collect()
    }

    /// Returns the filesystems mounted from the highest device or from these partitions of it, each once.
    fn mounted(&self, parts: &[StackLayer]) -> Vec<MountEntry> {
        let mut found: Vec<MountEntry> = Vec::new();
        for layer in self.layers.iter().take(1).chain(parts) {
            let source = format!("/dev/{}", layer.name);
            let from =
                |mount: &MountEntry| mount.number == layer.number || mount.number.0 == 0 && mount.source == source;
            found.extend(mounts(self.root).into_iter().find(from));
        }
        found
    }
}
