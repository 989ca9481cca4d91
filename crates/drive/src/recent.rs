//! The last writes of a worker that completed, for the saved state of verification.

use std::collections::VecDeque;

use target::Tag;
use workload::{Decision, SyncedWrites, WriteOrigin};

/// How far the writes of a worker had come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteProgress {
    /// What the writes depend on beside the job.
    pub origin: WriteOrigin,
    /// Writes issued.
    pub issued: u64,
    /// File and offset of the last writes that completed, up to the queue depth for each file.
    pub completed: Vec<(u64, u64)>,
    /// What the last sync that succeeded covers; `None` if none has.
    pub synced: Option<SyncedWrites>,
}

/// The offsets of the last writes to each file that completed.
#[derive(Debug)]
pub(crate) struct RecentWrites {
    depth: usize,
    files: Vec<VecDeque<u64>>,
    /// Syncs in flight.
    syncs: Vec<(Tag, SyncedWrites)>,
    synced: Option<SyncedWrites>,
}

impl RecentWrites {
    /// Creates an empty record of as many writes per file as are in flight at most.
    pub(crate) fn new(depth: u32, files: usize) -> Self {
        let depth = depth.max(1) as usize;
        let files = (0..files).map(|_| VecDeque::with_capacity(depth)).collect();
        Self { depth, files, syncs: Vec::new(), synced: None }
    }

    /// Records a sync that is submitted after `issued` writes, of which some are in flight.
    pub(crate) fn begin_sync(&mut self, tag: Tag, issued: u64, in_flight: impl Iterator<Item = Decision>) {
        let in_flight = in_flight.map(|write| (u64::from(write.file), write.offset)).collect();
        self.syncs.push((tag, SyncedWrites { issued, in_flight }));
    }

    /// Records the completion of a sync, if it was recorded. One that began before another one covers no more.
    pub(crate) fn end_sync(&mut self, tag: Tag, succeeded: bool) {
        let Some(at) = self.syncs.iter().position(|(pending, _)| *pending == tag) else { return };
        let (_, covered) = self.syncs.swap_remove(at);
        if succeeded && self.synced.as_ref().is_none_or(|synced| synced.issued <= covered.issued) {
            self.synced = Some(covered);
        }
    }

    /// Returns what the last sync that succeeded covers.
    pub(crate) fn synced(&self) -> Option<SyncedWrites> {
        self.synced.clone()
    }

    /// Records a completed write.
    pub(crate) fn record(&mut self, write: &Decision) {
        let Some(offsets) = self.files.get_mut(write.file as usize) else { return };
        if offsets.len() == self.depth {
            offsets.pop_front();
        }
        offsets.push_back(write.offset);
    }

    /// Returns file and offset of each recorded write.
    pub(crate) fn all(&self) -> Vec<(u64, u64)> {
        let of_each = (0..).zip(&self.files);
        of_each.flat_map(|(file, offsets)| offsets.iter().map(move |&offset| (file, offset))).collect()
    }
}
