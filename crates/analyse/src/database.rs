//! Databases whose settings determine how many requests they keep in flight.

use serde::{Deserialize, Serialize};

/// A database, or the storage engine of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Database {
    /// PostgreSQL.
    PostgreSql,
    /// InnoDB in MySQL.
    MySql,
    /// RocksDB, standalone or embedded.
    RocksDb,
    /// etcd.
    Etcd,
}

/// Syncs of etcd.
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
    pub(crate) fn of_histogram(name: &str) -> Option<Self> {
        let known = [("etcd_disk_wal_fsync", Self::Log), ("etcd_disk_backend_commit", Self::Backend)];
        known.into_iter().find(|(metric, _)| name.starts_with(metric)).map(|(_, syncs)| syncs)
    }

    /// Returns what etcd's FAQ ("What does the etcd warning ... mean?") asks of their 99th percentile, in nanoseconds.
    pub(crate) const fn p99_allowed_ns(self) -> f64 {
        match self {
            Self::Log => 10e6,
            Self::Backend => 25e6,
        }
    }
}

impl Database {
    /// All databases.
    pub const ALL: [Self; 4] = [Self::PostgreSql, Self::MySql, Self::RocksDb, Self::Etcd];
}
