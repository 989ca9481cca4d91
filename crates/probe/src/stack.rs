//! Resolves a name to the devices under it: file, mount, partition, mapping, RAID, loop, disk.

use std::collections::BTreeSet;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use super::mounts::{self, MountEntry, mounts};
use super::reading::{self, line, names};
use super::{Number, device};

/// The storage stack under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceStack {
    /// The filesystem it is in or, for a device, those that are mounted from it or its partitions.
    pub mounts: Vec<MountEntry>,
    /// Its devices, the highest first; none where [`DeviceStack::bottom`] says why.
    pub layers: Vec<StackLayer>,
    /// The partitions of a disk that was asked for itself.
    pub parts: Vec<StackLayer>,
    /// What is there in place of a block device, where the search ended at none.
    pub bottom: Option<StackBottom>,
}

/// A device of a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackLayer {
    /// Its name in `/dev`.
    pub name: String,
    /// Its number.
    pub number: Number,
    /// What kind it is.
    pub kind: LayerKind,
    /// Its size in bytes.
    pub bytes: u64,
    /// What its maker calls it.
    pub model: Option<String>,
}

/// A kind of device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayerKind {
    /// A part of the disk of this name.
    Partition(String),
    /// Made by the device mapper.
    Mapping,
    /// Made by the RAID driver.
    Raid,
    /// This file as a device.
    Loop(PathBuf),
    /// A disk, as far as the host can see.
    Disk,
}

/// The lowest layer of a stack, if it is no block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackBottom {
    /// Files are in memory.
    Memory,
    /// Files are on another host.
    Network,
    /// Files are those of the host of this virtual machine, or of a program.
    Elsewhere,
    /// Files are made up by the kernel.
    Kernel,
    /// A pool of its own kind of devices, as of ZFS.
    Pool,
    /// Layers of other filesystems that cannot be seen from here.
    Layers,
    /// A device that the host does not show.
    Hidden,
}

/// A name that stands for nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuch {
    /// Why.
    pub reason: String,
    /// Names of the same kind that are there.
    pub known: Vec<String>,
}

/// Stacks are less deep, and links do not go round more often.
const MOST_LAYERS: usize = 64;

/// Finds what is under a file, a directory, a device's path or its bare name. With another root than `/` nothing outside
/// of it is looked at: files are known by the mounts alone.
///
/// # Errors
///
/// A name that stands for nothing, with those that are near.
pub fn stack(root: &Path, asked: &str) -> Result<DeviceStack, NoSuch> {
    let mut finder =
        StackFinder { root, live: root == Path::new("/"), layers: Vec::new(), bottom: None, seen: BTreeSet::new() };
    let mut parts = Vec::new();
    let mounts = match finder.device_named(asked)? {
        Some(number) => {
            finder.descend(number);
            if let [StackLayer { name, kind: LayerKind::Disk, .. }] = finder.layers.as_slice()
                && name.starts_with("loop")
            {
                return Err(finder.no_such("no file is attached to this loop device"));
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

/// The names of all block devices of a host.
#[must_use]
pub fn device_names(root: &Path) -> Vec<String> {
    let names = names(root, "sys/class/block").unwrap_or_default();
    names.into_iter().map(|name| name.replace('!', "/")).collect()
}

struct StackFinder<'a> {
    root: &'a Path,
    /// Whether the root is that of this host, so that files can be asked what they are.
    live: bool,
    layers: Vec<StackLayer>,
    bottom: Option<StackBottom>,
    seen: BTreeSet<Number>,
}

impl StackFinder<'_> {
    /// The number of the device that a word names, `None` for what is to be a file.
    fn device_named(&self, asked: &str) -> Result<Option<Number>, NoSuch> {
        let is_file = asked.contains('/') || self.live && Path::new(asked).exists();
        if let Some(name) = asked.strip_prefix("/dev/").filter(|name| !name.is_empty()) {
            return match self.number_of_path(asked).or_else(|| self.number_named(name)).or_else(|| self.mapped(name)) {
                Some(number) => Ok(Some(number)),
                None if self.live && Path::new(asked).exists() => self.not_block(asked),
                None if !self.live && !self.has_devices() => Err(self.no_such("no sys/class/block is in the root")),
                None => Err(self.no_such("there is no such block device")),
            };
        }
        if !is_file {
            let number = self.number_named(asked).or_else(|| self.mapped(asked));
            return number
                .map(Some)
                .ok_or_else(|| self.no_such("there is neither such a file nor such a block device"));
        }
        Ok(if self.live { self.number_of_path(asked) } else { None })
    }

    /// Files under `/dev` that are no block devices: directories such as `/dev/shm`, and devices of characters.
    fn not_block(&self, asked: &str) -> Result<Option<Number>, NoSuch> {
        let kind = std::fs::metadata(asked).map(|metadata| metadata.file_type());
        match kind {
            Ok(kind) if kind.is_char_device() => {
                Err(self.no_such("it is a character device, which has no queue of blocks"))
            }
            _ => Ok(None),
        }
    }

    fn has_devices(&self) -> bool {
        reading::place(self.root, "sys/class/block").is_ok()
    }

    fn no_such(&self, reason: &str) -> NoSuch {
        NoSuch { reason: reason.to_owned(), known: device_names(self.root) }
    }

    /// The number of a device's special file, on this host only: copies have none.
    fn number_of_path(&self, path: &str) -> Option<Number> {
        if !self.live {
            // What is left of a link in a copied /dev is where it leads.
            let (folder, name) = path.trim_start_matches('/').rsplit_once('/')?;
            let target = std::fs::read_link(reading::place(self.root, folder).ok()?.join(name)).ok()?;
            return self.number_named(target.file_name()?.to_str()?);
        }
        let metadata = std::fs::metadata(path).ok()?;
        let number = (rustix::fs::major(metadata.rdev()), rustix::fs::minor(metadata.rdev()));
        metadata.file_type().is_block_device().then_some(number)
    }

    fn number_named(&self, name: &str) -> Option<Number> {
        if name.is_empty() || name.starts_with('.') || name.len() > 255 {
            return None;
        }
        mounts::number(&line(self.root, &format!("sys/class/block/{}/dev", name.replace('/', "!"))).ok()?)
    }

    /// `/dev/mapper/data` and `/dev/group/volume` are names of the device mapper, which writes blanks for neither.
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
        self.number_named(&names(self.root, "sys/class/block").ok()?.into_iter().find(is_it)?)
    }

    /// The whole path of a file that is there.
    fn path(&self, asked: &str) -> Result<PathBuf, NoSuch> {
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
            NoSuch { reason, known: names.collect() }
        })
    }

    /// The mount that holds a path. Of several at one place the last is on top; what is hidden under another mount is
    /// told by the number that the file itself carries.
    fn mount_over(&self, path: &Path) -> Option<MountEntry> {
        let mut over: Vec<MountEntry> =
            mounts(self.root).into_iter().filter(|mount| path.starts_with(&mount.at)).collect();
        if self.live
            && let Ok(metadata) = std::fs::metadata(path)
        {
            let number = (rustix::fs::major(metadata.dev()), rustix::fs::minor(metadata.dev()));
            if over.iter().any(|mount| mount.number == number) {
                over.retain(|mount| mount.number == number);
            }
        }
        over.into_iter().max_by_key(|mount| mount.at.components().count())
    }

    /// Goes on below a mounted filesystem.
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
            name if name.starts_with("fuse") => Some(StackBottom::Elsewhere),
            name if name.starts_with("nfs")
                || ["cifs", "smb3", "ceph", "afs", "lustre", "gpfs", "glusterfs", "beegfs"].contains(&name) =>
            {
                Some(StackBottom::Network)
            }
            _ => Some(StackBottom::Hidden),
        };
    }

    /// Filesystems over several devices, such as btrfs, are mounted from one of them.
    fn under_source(&mut self, mount: &MountEntry) {
        let name = mount.source.trim_start_matches("/dev/");
        let number =
            self.number_of_path(&mount.source).or_else(|| self.number_named(name)).or_else(|| self.mapped(name));
        let Some(number) = number else {
            self.bottom = Some(StackBottom::Hidden);
            return;
        };
        self.descend(number);
        let first = self.layers.first().map(|layer| layer.name.clone()).unwrap_or_default();
        let members = |id: &String| names(self.root, &format!("sys/fs/btrfs/{id}/devices")).unwrap_or_default();
        let pools = names(self.root, "sys/fs/btrfs").unwrap_or_default();
        let others = pools.iter().map(members).find(|members| members.contains(&first)).unwrap_or_default();
        for number in others.iter().filter_map(|name| self.number_named(name)).collect::<Vec<_>>() {
            self.descend(number);
        }
    }

    /// What is written to an overlay goes to its upper directory.
    fn under_overlay(&mut self, mount: &MountEntry) {
        let upper = mount.options.iter().find_map(|option| option.strip_prefix("upperdir="));
        let below =
            upper.and_then(|upper| self.mount_over(Path::new(upper))).filter(|below| below.filesystem != "overlay");
        // In a container the layers are outside: their paths lead to other files, or to none.
        let visible = upper.is_some_and(|upper| !self.live || Path::new(upper).is_dir());
        match below.filter(|_| visible) {
            Some(below) => self.under(&below),
            None => self.bottom = Some(StackBottom::Layers),
        }
    }

    /// A device and everything below it.
    fn descend(&mut self, number: Number) {
        if !self.seen.insert(number) || self.layers.len() >= MOST_LAYERS {
            return;
        }
        let inside = reading::place(self.root, &format!("sys/dev/block/{}:{}", number.0, number.1)).is_ok();
        let Some(found) = device(self.root, number).filter(|_| inside) else {
            if self.layers.is_empty() {
                self.bottom = Some(StackBottom::Hidden);
            }
            return;
        };
        let kind = match (&found.disk, &found.backing_file) {
            (Some(disk), _) => LayerKind::Partition(disk.clone()),
            (None, Some(file)) => LayerKind::Loop(file.clone()),
            (None, None) if found.name.starts_with("dm-") => LayerKind::Mapping,
            (None, None) if found.name.starts_with("md") => LayerKind::Raid,
            (None, None) => LayerKind::Disk,
        };
        let below: Vec<String> = found.disk.iter().chain(&found.slaves).cloned().collect();
        self.layers.push(StackLayer {
            name: found.name,
            number,
            kind: kind.clone(),
            bytes: found.bytes,
            model: found.model,
        });
        for number in below.iter().filter_map(|name| self.number_named(name)).collect::<Vec<_>>() {
            self.descend(number);
        }
        if let LayerKind::Loop(file) = kind
            && let Some(mount) = self.mount_over(&file)
        {
            self.under(&mount);
        }
    }

    /// The partitions of a disk.
    fn parts(&self, number: Number) -> Vec<StackLayer> {
        let Some(disk) = device(self.root, number) else { return Vec::new() };
        let part = |name: &String| {
            let found = device(self.root, self.number_named(name)?)?;
            let kind = LayerKind::Partition(disk.name.clone());
            Some(StackLayer { name: found.name, number: found.number, kind, bytes: found.bytes, model: None })
        };
        disk.partitions.iter().filter_map(part).collect()
    }

    /// The filesystems that are mounted from the highest device or these partitions of it, each once.
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
