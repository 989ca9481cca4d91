//! Syncs after every N writes.
//!
//! As in fio, a sync is due before every operation that follows a multiple of N writes: reads between such a write and
//! the next get one each. fio also omits some while it first fills a deep queue and issues more with `io_uring`,
//! depending on what has completed; here the number depends on the job alone.

use job::{Direction, Job, SyncOptions};

use units::{Nanos, OpKind};

use crate::decision::Decision;

/// Counts writes between syncs.
#[derive(Clone, Debug)]
pub(crate) struct SyncSchedule {
    fsync: u32,
    fdatasync: u32,
    range: u32,
    writes: u64,
    /// Range of each file that was written since its last `sync_file_range`. As in fio, the first one begins at the start
    /// of the file.
    written: Vec<(u64, u64)>,
}

impl SyncSchedule {
    /// Returns `None` if the job does not sync while it runs. As in fio, pairs of trims and writes never do.
    pub(crate) fn new(job: &Job, files: usize) -> Option<Self> {
        let SyncOptions { fsync, fdatasync, range, .. } = job.sync;
        let direction = job.pattern.direction;
        let syncs = job.sync.is_periodic() && direction.writes() && direction != Direction::TrimWrite;
        let written = if range.writes > 0 { vec![(0, 0); files] } else { Vec::new() };
        syncs.then_some(Self { fsync, fdatasync, range: range.writes, writes: 0, written })
    }

    /// Returns the sync that follows a data operation, if any. If several are due, `fsync` covers all and `fdatasync`
    /// the range.
    pub(crate) fn after(&mut self, op: &Decision) -> Option<Decision> {
        if op.kind == OpKind::Write {
            self.writes += 1;
            if let Some((start, end)) = self.written.get_mut(op.file as usize) {
                (*start, *end) = ((*start).min(op.offset), (*end).max(op.offset + u64::from(op.length)));
            }
        }
        let due = |every: u32| every > 0 && self.writes > 0 && self.writes.is_multiple_of(u64::from(every));
        let sync = |kind| Decision { kind, length: 0, priority: 0, ..*op };
        if due(self.fsync) {
            return Some(sync(OpKind::Sync));
        }
        if due(self.fdatasync) {
            return Some(sync(OpKind::DataSync));
        }
        if !due(self.range) {
            return None;
        }
        let written = self.written.get_mut(op.file as usize)?;
        let (start, end) = *written;
        // A read can follow writes to other files.
        if end <= start {
            return None;
        }
        *written = (u64::MAX, 0);
        // A length of zero means the rest of the file, for ranges beyond 4 GiB.
        let length = u32::try_from(end - start).unwrap_or(0);
        Some(Decision { offset: start, length, ..sync(OpKind::SyncRange) })
    }
}

/// Returns a sync at the end of the job.
pub(crate) fn closing(job: &Job, file: u32, pass: u32, now: Nanos) -> Decision {
    let kind = if job.sync.end_syncfs { OpKind::SyncFilesystem } else { OpKind::Sync };
    Decision { intended: now, file, pass, closing: true, ..Decision::of(kind, 0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEDULE: SyncSchedule = SyncSchedule { fsync: 0, fdatasync: 0, range: 0, writes: 0, written: Vec::new() };

    #[test]
    fn fsync_replaces_a_simultaneous_fdatasync() {
        let mut syncs = SyncSchedule { fsync: 4, fdatasync: 3, ..SCHEDULE };
        let write = Decision::of(OpKind::Write, 4096);
        let due: Vec<_> = (0..12).map(|_| syncs.after(&write).map(|sync| sync.kind)).collect();
        let (s, d) = (Some(OpKind::Sync), Some(OpKind::DataSync));
        assert_eq!(due, [None, None, d, s, None, d, None, s, d, None, None, s]);
    }

    /// fio 3.33 with `--rw=rw --fsync=4`: 61 syncs among 124 writes and 132 reads.
    #[test]
    fn reads_after_a_due_write_get_a_sync_each() {
        let mut syncs = SyncSchedule { fsync: 2, ..SCHEDULE };
        let kinds =
            [OpKind::Read, OpKind::Write, OpKind::Read, OpKind::Write, OpKind::Read, OpKind::Read, OpKind::Write];
        let due = kinds.map(|kind| syncs.after(&Decision::of(kind, 4096)).is_some());
        assert_eq!(due, [false, false, false, true, true, true, false]);
    }

    /// A range without writes since the last call is not synced again, and one too long for an operation is synced to
    /// the end of the file.
    #[test]
    fn ranges_cover_the_writes_since_the_last_call() {
        let mut syncs = SyncSchedule { range: 2, written: vec![(0, 0)], ..SCHEDULE };
        let write = |offset| Decision { offset, ..Decision::of(OpKind::Write, 4096) };
        let read = Decision::of(OpKind::Read, 4096);
        let ops = [write(8192), write(4096), read, write(4096), write(16384), write(0), write(8 << 30)];
        let ranges = ops.map(|op| syncs.after(&op).map(|sync| (sync.kind, sync.offset, sync.length)));
        let range = |offset, length| Some((OpKind::SyncRange, offset, length));
        assert_eq!(ranges, [None, range(0, 12288), None, None, range(4096, 16384), None, range(0, 0)]);
        let mut syncs = SyncSchedule { range: 1, written: vec![(0, 0); 2], ..SCHEDULE };
        let ops = [write(0), Decision { file: 1, ..read }];
        let lengths = ops.map(|op| syncs.after(&op).map(|sync| sync.length));
        assert_eq!(lengths, [Some(4096), None], "nothing was written to the second file");
    }
}
