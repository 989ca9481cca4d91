//! What would be lost, or who would be disturbed, if a device or file were written.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::mounts::unescaped;
use super::signature::Signature;
use super::{Number, mounts, relations};

/// Something that a device or file carries, or somebody who uses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occupant {
    /// Data with a known signature on the device itself.
    Data(Signature),
    /// A partition of it.
    Partition(String),
    /// A device that is stacked on it or on one of its partitions.
    Holder {
        /// The device or partition that is used.
        device: String,
        /// Who uses it.
        holder: String,
    },
    /// A filesystem on it, or on one of its partitions, is mounted.
    Mount {
        /// The device or partition.
        device: String,
        /// Where it is mounted.
        at: PathBuf,
    },
    /// It, or one of its partitions, or the file, is swapped to.
    Swap {
        /// The device, partition or file.
        device: String,
    },
    /// The file is the backing store of a loop device.
    LoopBacking {
        /// The loop device.
        device: String,
    },
}

/// Partitions, holders, mounts and swap areas of a block device and of its partitions, without reading it.
#[must_use]
pub fn users(root: &Path, number: Number) -> Vec<Occupant> {
    let Some(device) = relations(root, number) else {
        return Vec::new();
    };
    let mut found: Vec<Occupant> = device.partitions.iter().cloned().map(Occupant::Partition).collect();
    let parts = device.partitions.iter().filter_map(|name| relations(root, number_named(root, name)?));
    let mounts = mounts(root);
    let swaps = swap_paths(root);
    let is_swap = |path: &str, number| swaps.iter().any(|swap| swap == path || block_number(swap) == Some(number));
    for part in std::iter::once(device.clone()).chain(parts) {
        let path = format!("/dev/{}", part.name);
        let holder = |holder: &String| Occupant::Holder { device: part.name.clone(), holder: holder.clone() };
        found.extend(part.holders.iter().map(holder));
        let mounted = mounts.iter().filter(|mount| mount.number == part.number || mount.source == path);
        found.extend(mounted.map(|mount| Occupant::Mount { device: part.name.clone(), at: mount.at.clone() }));
        if is_swap(&path, part.number) {
            found.push(Occupant::Swap { device: part.name });
        }
    }
    found
}

/// The number of the block device of this name.
pub(crate) fn number_named(root: &Path, name: &str) -> Option<Number> {
    let file = root.join("sys/class/block").join(name.replace('/', "!")).join("dev");
    super::mounts::number(&super::line(&file)?)
}

/// Paths that are swapped to.
pub(crate) fn swap_paths(root: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(root.join("proc/swaps")).unwrap_or_default();
    text.lines().skip(1).filter_map(|line| line.split_whitespace().next()).map(unescaped).collect()
}

/// The number of the block device at a path, under whatever name.
fn block_number(path: &str) -> Option<Number> {
    let metadata = std::fs::metadata(path).ok().filter(|metadata| metadata.file_type().is_block_device())?;
    Some((libc::major(metadata.rdev()), libc::minor(metadata.rdev())))
}
