//! Databases whose settings decide how many requests a volume has in flight.

use serde::{Deserialize, Serialize};

/// A database, or the storage engine of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Database {
    /// PostgreSQL.
    PostgreSql,
    /// InnoDB in MySQL.
    MySql,
    /// RocksDB, by itself or in another database.
    RocksDb,
    /// etcd.
    Etcd,
}

impl Database {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::PostgreSql, Self::MySql, Self::RocksDb, Self::Etcd];
}
