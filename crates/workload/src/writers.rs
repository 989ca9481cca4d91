//! The regions of files that each worker writes.

use std::collections::BTreeMap;

use crate::decision::FileExtent;

/// The regions of files that concurrent workers write, for distinguishing a block that another worker overwrote from
/// one in the wrong place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writers {
    /// Regions by identity of the file and index of the worker.
    regions: BTreeMap<(u32, u32), Vec<FileExtent>>,
}

impl Writers {
    /// Adds a region of the file with this identity that the worker with this index in the run writes.
    pub fn add(&mut self, worker: u32, file: u32, region: FileExtent) {
        self.regions.entry((file, worker)).or_default().push(region);
    }

    /// Reports whether `worker` may have written a block at `offset`.
    pub(crate) fn covers(&self, worker: u32, file: u32, offset: u64) -> bool {
        let regions = self.regions.get(&(file, worker)).map_or(&[][..], Vec::as_slice);
        regions.iter().any(|region| (region.start..region.start.saturating_add(region.length)).contains(&offset))
    }

    /// Reports whether a worker other than `worker` writes to a part of `region`.
    pub(crate) fn shares(&self, worker: u32, file: u32, region: FileExtent) -> bool {
        let overlaps = |other: &FileExtent| {
            other.start < region.start.saturating_add(region.length)
                && region.start < other.start.saturating_add(other.length)
        };
        let of_file = self.regions.range((file, 0)..=(file, u32::MAX));
        of_file.filter(|((_, writer), _)| *writer != worker).any(|(_, regions)| regions.iter().any(overlaps))
    }
}

/// Returns the identity of a file, by its resolved path, in the headers of its blocks: independent of the order of
/// jobs, and known before the file exists.
#[must_use]
pub fn file_identity(path: &str) -> u32 {
    crc32c::crc32c(path.as_bytes())
}
