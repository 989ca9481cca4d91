//! `fsync` after every N writes.
//!
//! As in fio, a sync is due before every operation that follows a multiple of N writes: reads between such a write and
//! the next get one each. fio also omits some while it first fills a deep queue and issues more with `io_uring`,
//! depending on what has completed; here the number depends on the job alone.

use job::{Direction, Job, SyncOptions};

use units::OpKind;

/// Counts writes between syncs.
#[derive(Clone, Debug)]
pub(crate) struct SyncSchedule {
    fsync: u32,
    fdatasync: u32,
    writes: u64,
}

impl SyncSchedule {
    /// Returns `None` if the job does not sync while it runs. As in fio, pairs of trims and writes never do.
    pub(crate) fn new(job: &Job) -> Option<Self> {
        let SyncOptions { fsync, fdatasync, .. } = job.sync;
        let direction = job.pattern.direction;
        let syncs = (fsync > 0 || fdatasync > 0) && direction.writes() && direction != Direction::TrimWrite;
        syncs.then_some(Self { fsync, fdatasync, writes: 0 })
    }

    /// Returns the sync that follows a data operation, if any. If both are due, `fsync` covers both.
    pub(crate) fn after(&mut self, kind: OpKind) -> Option<OpKind> {
        self.writes += u64::from(kind == OpKind::Write);
        let due = |every: u32| every > 0 && self.writes > 0 && self.writes.is_multiple_of(u64::from(every));
        let fdatasync = || due(self.fdatasync).then_some(OpKind::DataSync);
        due(self.fsync).then_some(OpKind::Sync).or_else(fdatasync)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fsync_replaces_a_simultaneous_fdatasync() {
        let mut syncs = SyncSchedule { fsync: 4, fdatasync: 3, writes: 0 };
        let due: Vec<_> = (0..12).map(|_| syncs.after(OpKind::Write)).collect();
        let (s, d) = (Some(OpKind::Sync), Some(OpKind::DataSync));
        assert_eq!(due, [None, None, d, s, None, d, None, s, d, None, None, s]);
    }

    /// fio 3.33 with `--rw=rw --fsync=4`: 61 syncs among 124 writes and 132 reads.
    #[test]
    fn reads_after_a_due_write_get_a_sync_each() {
        let mut syncs = SyncSchedule { fsync: 2, fdatasync: 0, writes: 0 };
        let kinds =
            [OpKind::Read, OpKind::Write, OpKind::Read, OpKind::Write, OpKind::Read, OpKind::Read, OpKind::Write];
        let due = kinds.map(|kind| syncs.after(kind).is_some());
        assert_eq!(due, [false, false, false, true, true, true, false]);
    }
}
