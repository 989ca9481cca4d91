//! What would be lost, or who would be disturbed, if a device or file were written.

use std::path::{Path, PathBuf};

use super::mounts::unescaped;
use super::signature::{Signature, signatures};
use super::{Device, Number, device, mounts, names, number_of};
use crate::error::Error;
use crate::files::{FileKind, look};

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

/// Everything that occupies the device or file at `path`; nothing where nothing is there. The contents of regular
/// files are not looked at: they are a file's own business.
///
/// # Errors
///
/// When the path cannot be looked at, or a device cannot be read.
pub fn occupants(root: &Path, path: &Path) -> Result<Vec<Occupant>, Error> {
    match look(path)?.map(|seen| (seen.kind, seen.bytes)) {
        Some((FileKind::Block, bytes)) => {
            let mut found = data(path, bytes)?;
            found.extend(number_of(root, path).map(|number| users(root, number)).unwrap_or_default());
            Ok(found)
        }
        Some((FileKind::Regular, _)) => Ok(users_of_file(root, path)),
        Some((FileKind::Character, _)) | None => Ok(Vec::new()),
    }
}

fn data(path: &Path, bytes: u64) -> Result<Vec<Occupant>, Error> {
    let unreadable = |error| {
        Error::file("look for data on", path, &error).with_remedy("run as a user who may read it, such as root")
    };
    let mut file = std::fs::File::open(path).map_err(unreadable)?;
    Ok(signatures(&mut file, bytes).map_err(unreadable)?.into_iter().map(Occupant::Data).collect())
}

/// Partitions, holders, mounts and swap areas of a block device and of its partitions, without reading it.
#[must_use]
pub fn users(root: &Path, number: Number) -> Vec<Occupant> {
    let Some(device) = device(root, number) else {
        return Vec::new();
    };
    let mut found: Vec<Occupant> = device.partitions.iter().cloned().map(Occupant::Partition).collect();
    let parts = device.partitions.iter().filter_map(|name| named(root, name));
    let mounts = mounts(root);
    let swaps = swaps(root);
    for part in std::iter::once(device.clone()).chain(parts) {
        let path = format!("/dev/{}", part.name);
        let holder = |holder: &String| Occupant::Holder { device: part.name.clone(), holder: holder.clone() };
        found.extend(part.holders.iter().map(holder));
        let mounted = mounts.iter().filter(|mount| mount.number == part.number || mount.source == path);
        found.extend(mounted.map(|mount| Occupant::Mount { device: part.name.clone(), at: mount.at.clone() }));
        if swaps.contains(&path) {
            found.push(Occupant::Swap { device: part.name });
        }
    }
    found
}

fn named(root: &Path, name: &str) -> Option<Device> {
    let file = root.join("sys/class/block").join(name.replace('/', "!")).join("dev");
    device(root, super::mounts::number(&super::line(&file)?)?)
}

fn users_of_file(root: &Path, path: &Path) -> Vec<Occupant> {
    let Ok(path) = path.canonicalize() else {
        return Vec::new();
    };
    let block = root.join("sys/class/block");
    let backs = |name: &String| {
        let backing = super::line(&block.join(name).join("loop/backing_file"));
        backing.is_some_and(|file| Path::new(&file) == path)
    };
    let loops = names(&block).into_iter().filter(backs).map(|device| Occupant::LoopBacking { device });
    let swapped = swaps(root).into_iter().filter(|swap| Path::new(swap) == path);
    loops.chain(swapped.map(|device| Occupant::Swap { device })).collect()
}

/// Paths that are swapped to.
fn swaps(root: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(root.join("proc/swaps")).unwrap_or_default();
    text.lines().skip(1).filter_map(|line| line.split_whitespace().next()).map(unescaped).collect()
}
