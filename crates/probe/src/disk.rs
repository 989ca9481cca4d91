//! Counters of disks.

use std::path::Path;

use units::Nanos;

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

/// A disk's counters since the host started. Sectors are 512 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Completed reads.
    pub read_ios: u64,
    /// Reads merged with others.
    pub read_merges: u64,
    pub read_sectors: u64,
    /// Total time of all reads.
    pub read_time: Nanos,
    /// Completed writes.
    pub write_ios: u64,
    /// Writes merged with others.
    pub write_merges: u64,
    pub write_sectors: u64,
    /// Total time of all writes.
    pub write_time: Nanos,
    /// Time with at least one request in flight.
    pub busy_time: Nanos,
    /// Total time in flight of all requests.
    pub queue_time: Nanos,
}

impl Counters {
    /// Returns the increase since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            read_ios: self.read_ios.saturating_sub(earlier.read_ios),
            read_merges: self.read_merges.saturating_sub(earlier.read_merges),
            read_sectors: self.read_sectors.saturating_sub(earlier.read_sectors),
            read_time: self.read_time - earlier.read_time,
            write_ios: self.write_ios.saturating_sub(earlier.write_ios),
            write_merges: self.write_merges.saturating_sub(earlier.write_merges),
            write_sectors: self.write_sectors.saturating_sub(earlier.write_sectors),
            write_time: self.write_time - earlier.write_time,
            busy_time: self.busy_time - earlier.busy_time,
            queue_time: self.queue_time - earlier.queue_time,
        }
    }
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
pub fn counters(root: &Path, number: Number) -> Option<Counters> {
    let text = reading::line(root, &format!("{}/stat", directory(number))).ok()?;
    let figures = text.split_whitespace().map(|figure| figure.parse().ok()).collect::<Option<Vec<u64>>>()?;
    let figure = |index: usize| figures.get(index).copied();
    let time = |index| figure(index).map(Nanos::from_millis);
    Some(Counters {
        read_ios: figure(0)?,
        read_merges: figure(1)?,
        read_sectors: figure(2)?,
        read_time: time(3)?,
        write_ios: figure(4)?,
        write_merges: figure(5)?,
        write_sectors: figure(6)?,
        write_time: time(7)?,
        busy_time: time(9)?,
        queue_time: time(10)?,
    })
}
