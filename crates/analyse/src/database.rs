//! Databases whose settings determine how many requests they keep in flight.

use serde::{Deserialize, Serialize};

/// A database, or the storage engine of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Database {
    PostgreSql,
    /// InnoDB in MySQL.
    MySql,
    /// RocksDB, standalone or embedded.
    RocksDb,
    Etcd,
}

impl Database {
    /// All databases.
    pub const ALL: [Self; 4] = [Self::PostgreSql, Self::MySql, Self::RocksDb, Self::Etcd];
}
