//! Counters of disks.

use std::path::Path;

use record::DiskCounters;

use super::{Number, number_named, number_of, reading, relations};
use crate::device::directory;

/// A disk below a file or device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbedDisk {
    /// Name in `/dev`. Partitions are counted with their disk.
    pub name: String,
    /// Device number.
    pub number: Number,
}

/// Returns the disk below `path`, or `None` if there is none.
#[must_use]
pub fn disk_under(root: &Path, path: &Path) -> Option<ProbedDisk> {
    disk(root, number_of(root, path)?)
}

/// Returns a disk by its number or that of one of its partitions, or `None` if the host has no such device.
#[must_use]
pub fn disk(root: &Path, number: Number) -> Option<ProbedDisk> {
    let found = relations(root, number)?;
    match found.disk {
        Some(whole) => disk(root, number_named(root, &whole)?),
        None => Some(ProbedDisk { name: found.name, number }),
    }
}

/// Returns the counters of a disk, or `None` if the host has none.
#[must_use]
pub fn counters(root: &Path, number: Number) -> Option<DiskCounters> {
    DiskCounters::parse(&reading::line(root, &format!("{}/stat", directory(number))).ok()?)
}
