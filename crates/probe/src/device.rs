//! Properties of block devices.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::{Number, mounts, names, reading};
use crate::filesystem::existing_ancestor;

/// A block device: a disk, a partition, or a device stacked on others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProbedDevice {
    /// Name in `/dev`, such as `nvme0n1p1`.
    pub name: String,
    /// Device number.
    pub number: Number,
    /// Size in bytes.
    pub bytes: u64,
    /// Minimum size of an operation, in bytes.
    pub logical_block_bytes: u32,
    /// Block size of the medium, in bytes.
    pub physical_block_bytes: u32,
    /// Whether the device reports moving parts.
    pub rotational: bool,
    /// Whether the device has queues whose completions can be polled for (`hipri`).
    pub polls: bool,
    /// Whether the device refuses writes.
    pub read_only: bool,
    /// Model name.
    pub model: Option<String>,
    /// Active scheduler.
    pub scheduler: Option<String>,
    /// Disk of a partition.
    pub disk: Option<String>,
    /// Names of its partitions.
    pub partitions: Vec<String>,
    /// Devices stacked on it (device mapper, RAID and the like).
    pub holders: Vec<String>,
    /// Devices that it is stacked on.
    pub slaves: Vec<String>,
    /// Backing file of a loop device.
    pub backing_file: Option<PathBuf>,
}

/// Returns the number of the block device at `path`, or of the device below the file at `path`, which may be missing;
/// `None` for files without a device, as in memory or on the network.
#[must_use]
pub fn number_of(root: &Path, path: &Path) -> Option<Number> {
    let metadata = std::fs::metadata(existing_ancestor(path)).ok()?;
    let device = if metadata.file_type().is_block_device() { metadata.rdev() } else { metadata.dev() };
    match (rustix::fs::major(device), rustix::fs::minor(device)) {
        (0, _) => {
            // Filesystems over several devices have their own numbers; their mounts name one of the devices.
            let source = mounts::filesystem_of(root, path)?.source;
            let metadata = std::fs::metadata(source).ok()?;
            let device = metadata.rdev();
            metadata.file_type().is_block_device().then(|| (rustix::fs::major(device), rustix::fs::minor(device)))
        }
        number => Some(number),
    }
}

/// Relations of a block device to others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Relations {
    /// Device number.
    pub number: Number,
    /// Name in `/sys/class/block`.
    pub name: String,
    /// Disk of a partition.
    pub disk: Option<String>,
    /// Names of its partitions.
    pub partitions: Vec<String>,
    /// Devices stacked on it.
    pub holders: Vec<String>,
    /// Devices that it is stacked on.
    pub slaves: Vec<String>,
}

/// Returns the relations of a block device, or `None` if `/sys` has no device of that number.
pub fn relations(root: &Path, number: Number) -> Option<Relations> {
    let place = place_of(root, number)?;
    let disk = place.join("partition").exists().then(|| place.parent().map(name)).flatten();
    Some(Relations {
        number,
        name: name(&place),
        disk,
        partitions: partitions(&place),
        holders: names(&place.join("holders")),
        slaves: names(&place.join("slaves")),
    })
}

fn place_of(root: &Path, number: Number) -> Option<PathBuf> {
    reading::place(root, &format!("sys/dev/block/{}:{}", number.0, number.1)).ok()
}

/// Returns the properties of a block device from `/sys`, or `None` if it has no device of that number.
#[must_use]
pub fn device(root: &Path, number: Number) -> Option<ProbedDevice> {
    let place = place_of(root, number)?;
    let Relations { name, disk, partitions, holders, slaves, .. } = relations(root, number)?;
    // Each file is resolved, because a link could lead out of the root.
    let below = |path: &Path| Some(path.strip_prefix(root.canonicalize().ok()?).ok()?.to_string_lossy().into_owned());
    let line = |path: &Path| reading::line(root, &below(path)?).ok();
    let whole = if disk.is_some() { place.parent()?.to_owned() } else { place.clone() };
    let figure = |path: PathBuf| line(&path).and_then(|text| text.parse::<u64>().ok());
    let queue = |name: &str| figure(whole.join("queue").join(name));
    Some(ProbedDevice {
        name,
        number,
        bytes: figure(place.join("size")).unwrap_or(0).saturating_mul(512),
        logical_block_bytes: queue("logical_block_size").map_or(512, |bytes| bytes as u32),
        physical_block_bytes: queue("physical_block_size").map_or(512, |bytes| bytes as u32),
        rotational: queue("rotational") == Some(1),
        polls: queue("io_poll") == Some(1),
        read_only: figure(place.join("ro")) == Some(1),
        model: line(&whole.join("device/model")),
        scheduler: line(&whole.join("queue/scheduler")).and_then(|text| chosen(&text)),
        disk,
        partitions,
        holders,
        slaves,
        backing_file: line(&place.join("loop/backing_file")).map(PathBuf::from),
    })
}

/// Returns the device name at the end of a path in `/sys`, where `!` stands for `/`.
fn name(place: &Path) -> String {
    place.file_name().map(|name| name.to_string_lossy().replace('!', "/")).unwrap_or_default()
}

fn partitions(place: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    // Most entries are files, and the type of an entry costs no system call.
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let partitions = folders.filter(|folder| folder.path().join("partition").exists());
    let mut names: Vec<String> = partitions.filter_map(|folder| folder.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// Parses the active scheduler of `[mq-deadline] kyber none`.
fn chosen(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    rest.split_once(']').map(|(name, _)| name.to_owned())
}
