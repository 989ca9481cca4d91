//! The last writes of a worker that completed, for the saved state of verification.

use std::collections::VecDeque;

use workload::{Decision, WriteOrigin};

/// How far the writes of a worker had come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteProgress {
    /// What the writes depend on beside the job.
    pub origin: WriteOrigin,
    /// Writes issued.
    pub issued: u64,
    /// File and offset of the last writes that completed, up to the queue depth for each file.
    pub completed: Vec<(u64, u64)>,
}

/// The offsets of the last writes to each file that completed.
#[derive(Debug)]
pub(crate) struct RecentWrites {
    depth: usize,
    files: Vec<VecDeque<u64>>,
}

impl RecentWrites {
    /// Creates an empty record of as many writes per file as are in flight at most.
    pub(crate) fn new(depth: u32, files: usize) -> Self {
        let depth = depth.max(1) as usize;
        Self { depth, files: (0..files).map(|_| VecDeque::with_capacity(depth)).collect() }
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
