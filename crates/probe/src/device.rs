//! Properties of block devices.

use std::fs::Metadata;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::{Number, mounts, namespace::namespace_at, number_in, reading, split};
use crate::filesystem::existing_ancestor;

/// A block device: a disk, a partition, or a device stacked on others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProbedDevice {
    /// Its name, its number and its relations to other devices.
    pub relations: Relations,
    /// Size in bytes.
    pub bytes: u64,
    /// Whether the device has queues whose completions can be polled for (`hipri`).
    pub polls: bool,
    /// Whether the device refuses writes.
    pub read_only: bool,
    pub model: Option<String>,
    /// Backing file of a loop device.
    pub backing_file: Option<PathBuf>,
}

/// Relations of a block device to others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Relations {
    /// Device number.
    pub number: Number,
    /// Name in `/dev`, such as `nvme0n1p1`.
    pub name: String,
    /// Disk of a partition.
    pub disk: Option<String>,
    /// Names of its partitions.
    pub partitions: Vec<String>,
    /// Devices stacked on it (device mapper, RAID and the like).
    pub holders: Vec<String>,
    /// Devices that it is stacked on.
    pub slaves: Vec<String>,
}

/// Returns the number of the block device at `path`, of that of an NVMe namespace whose character device is there, or of
/// the device below the file at `path`, which may be missing; `None` for files without a device, as in memory or on the
/// network.
#[must_use]
pub fn number_of(root: &Path, path: &Path) -> Option<Number> {
    let metadata = std::fs::metadata(existing_ancestor(path)).ok()?;
    if let Some(number) = block_number(&metadata) {
        return Some(number);
    }
    if let Some(node) = namespace_at(root, path) {
        return node.block;
    }
    match split(metadata.dev()) {
        // Filesystems over several devices have their own numbers; their mounts name one of the devices.
        (0, _) => block_number(&std::fs::metadata(mounts::filesystem_of(root, path)?.source).ok()?),
        number => Some(number),
    }
}

/// Returns the number of the block device of this name.
pub fn number_named(root: &Path, name: &str) -> Option<Number> {
    number_in(&reading::line(root, &format!("sys/class/block/{}/dev", name.replace('/', "!"))).ok()?)
}

/// Returns the number of a block device from its metadata, or `None` for other files.
pub(crate) fn block_number(metadata: &Metadata) -> Option<Number> {
    metadata.file_type().is_block_device().then(|| split(metadata.rdev()))
}

/// Returns the directory of a block device below `/sys`.
pub(crate) fn directory(number: Number) -> String {
    format!("sys/dev/block/{}:{}", number.0, number.1)
}

/// Returns the relations of a block device, or `None` if `/sys` has no device of that number.
pub fn relations(root: &Path, number: Number) -> Option<Relations> {
    let directory = directory(number);
    let place = reading::resolve(root, &directory).ok()?;
    let names = |name: &str| reading::names(root, &format!("{directory}/{name}")).unwrap_or_default();
    Some(Relations {
        number,
        name: name(&place),
        disk: place.join("partition").exists().then(|| place.parent().map(name)).flatten(),
        partitions: partitions(&place),
        holders: names("holders"),
        slaves: names("slaves"),
    })
}

/// Returns the properties of a block device from `/sys`, or `None` if it has no device of that number.
#[must_use]
pub fn device(root: &Path, number: Number) -> Option<ProbedDevice> {
    let relations = relations(root, number)?;
    let directory = directory(number);
    let line = |file: &str| reading::line(root, &format!("{directory}/{file}")).ok();
    // The queue and the model of a partition are in the directory of its disk.
    let of_disk = |file: &str| line(&format!("{}{file}", if relations.disk.is_some() { "../" } else { "" }));
    Some(ProbedDevice {
        bytes: line("size").and_then(|sectors| sectors.parse().ok()).unwrap_or(0_u64).saturating_mul(512),
        polls: of_disk("queue/io_poll").is_some_and(|polls| polls == "1"),
        read_only: line("ro").is_some_and(|read_only| read_only == "1"),
        model: of_disk("device/model"),
        backing_file: line("loop/backing_file").map(PathBuf::from),
        relations,
    })
}

/// Returns the device name at the end of a path in `/sys`, where `!` stands for `/`.
fn name(place: &Path) -> String {
    place.file_name().map(|name| name.to_string_lossy().replace('!', "/")).unwrap_or_default()
}

fn partitions(place: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    // Most entries are files, and the type of an entry costs no system call.
    let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let partitions = directories.filter(|directory| directory.path().join("partition").exists());
    let mut names: Vec<String> = partitions.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}
