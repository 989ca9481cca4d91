//! fsync after every N writes.
//!
//! As in fio, a sync is due before every operation that follows a multiple of so many writes: reads between such a
//! write and the next have one each. fio also leaves some out while it first fills a deep queue, and has more of them
//! with `io_uring`, depending on what has completed when it looks; here their number depends on the job alone.

use job::{Direction, Job};

use units::OpKind;

/// Counts writes between syncs.
#[derive(Clone, Debug)]
pub(crate) struct SyncSchedule {
    fsync: u32,
    fdatasync: u32,
    writes: u64,
}

impl SyncSchedule {
    /// `None` where the job does not sync while it runs. Pairs of trims and writes never do, as in fio.
    pub(crate) fn new(job: &Job) -> Option<Self> {
        let sync = &job.sync;
        let wanted = sync.fsync > 0 || sync.fdatasync > 0;
        let direction = job.pattern.direction;
        (wanted && direction.writes() && direction != Direction::TrimWrite).then_some(Self {
            fsync: sync.fsync,
            fdatasync: sync.fdatasync,
            writes: 0,
        })
    }

    /// An operation on data was issued: the sync that follows it, if any. Where both are due, `fsync` does for both.
    pub(crate) fn after(&mut self, kind: OpKind) -> Option<OpKind> {
        self.writes += u64::from(kind == OpKind::Write);
        if self.writes == 0 {
            return None;
        }
        let due = |every: u32| every > 0 && self.writes.is_multiple_of(u64::from(every));
        if due(self.fsync) {
            Some(OpKind::Sync)
        } else if due(self.fdatasync) {
            Some(OpKind::DataSync)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fsync_comes_before_fdatasync() {
        let mut syncs = SyncSchedule { fsync: 4, fdatasync: 3, writes: 0 };
        let due: Vec<_> = (0..12).map(|_| syncs.after(OpKind::Write)).collect();
        let (s, d) = (Some(OpKind::Sync), Some(OpKind::DataSync));
        assert_eq!(due, [None, None, d, s, None, d, None, s, d, None, None, s]);
    }

    /// fio 3.33 with `--rw=rw --fsync=4`: 61 syncs among 124 writes and 132 reads.
    #[test]
    fn reads_behind_a_due_write_have_a_sync_each() {
        let mut syncs = SyncSchedule { fsync: 2, fdatasync: 0, writes: 0 };
        let kinds =
            [OpKind::Read, OpKind::Write, OpKind::Read, OpKind::Write, OpKind::Read, OpKind::Read, OpKind::Write];
        let due = kinds.map(|kind| syncs.after(kind).is_some());
        assert_eq!(due, [false, false, false, true, true, true, false]);
    }
}
