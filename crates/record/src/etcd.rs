//! What etcd asks of its disk.

use units::Nanos;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EtcdSyncs {
    /// Of the write-ahead log.
    Log,
    /// Of the backend, with each commit.
    Backend,
}

impl EtcdSyncs {
    /// Returns the syncs that a histogram of etcd's metrics counts.
    #[must_use]
    pub fn of_histogram(name: &str) -> Option<Self> {
        let known = [("etcd_disk_wal_fsync", Self::Log), ("etcd_disk_backend_commit", Self::Backend)];
        known.into_iter().find(|(metric, _)| name.starts_with(metric)).map(|(_, syncs)| syncs)
    }

    /// Returns what etcd's FAQ ("What does the etcd warning ... mean?") asks of their 99th percentile.
    #[must_use]
    pub const fn p99_allowed(self) -> Nanos {
        Nanos::from_millis(match self {
            Self::Log => 10,
            Self::Backend => 25,
        })
    }
}
