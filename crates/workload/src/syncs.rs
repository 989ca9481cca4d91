//! Syncing after every so many writes.

use job::{Direction, Job};

use crate::decision::OpKind;

/// Counts writes between syncs.
#[derive(Clone, Debug)]
pub(crate) struct Syncs {
    fsync: u32,
    fdatasync: u32,
    writes: u64,
}

impl Syncs {
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

    /// A write was issued: the sync that follows it, if any. Where both are due, `fsync` does for both.
    pub(crate) fn after_write(&mut self) -> Option<OpKind> {
        self.writes += 1;
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
        let mut syncs = Syncs { fsync: 4, fdatasync: 3, writes: 0 };
        let due: Vec<_> = (0..12).map(|_| syncs.after_write()).collect();
        let (s, d) = (Some(OpKind::Sync), Some(OpKind::DataSync));
        assert_eq!(due, [None, None, d, s, None, d, None, s, d, None, None, s]);
    }
}
