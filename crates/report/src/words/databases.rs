//! Database settings that decide how many requests a volume has in flight.
//!
//! Each setting comes from a document of the database's project, named with its edition. All were read on 2026-11-23.

use analyse::{Database, Finding, Remedy};
use results::explain::DatabaseSetting;
use units::{counted, grouped};

/// Kind of requests that a setting adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Adds {
    Reads,
    Writes,
    Both,
}

/// Document published by a database's project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DatabaseManual {
    title: &'static str,
    /// Version or date.
    edition: &'static str,
    url: &'static str,
}

/// A setting, or a way to use a database where no setting applies.
struct DatabaseEntry {
    database: Database,
    adds: Adds,
    name: &'static str,
    /// What to do; `{n}` stands for the number of requests to keep in flight.
    advice: &'static str,
    document: &'static DatabaseManual,
}

const PG_IO: DatabaseManual = DatabaseManual {
    title: "PostgreSQL Documentation, Resource Consumption",
    edition: "version 18",
    url: "https://www.postgresql.org/docs/18/runtime-config-resource.html",
};
const PG_18: DatabaseManual = DatabaseManual {
    title: "PostgreSQL 18 Release Notes",
    edition: "2025-09-25",
    url: "https://www.postgresql.org/docs/18/release-18.html",
};
const PG_WAL: DatabaseManual = DatabaseManual {
    title: "PostgreSQL Documentation, Write Ahead Log",
    edition: "version 18",
    url: "https://www.postgresql.org/docs/18/runtime-config-wal.html",
};
const MYSQL_AIO: DatabaseManual = DatabaseManual {
    title: "MySQL Reference Manual, Using Asynchronous I/O on Linux",
    edition: "version 8.4",
    url: "https://dev.mysql.com/doc/refman/8.4/en/innodb-linux-native-aio.html",
};
const MYSQL_THREADS: DatabaseManual = DatabaseManual {
    title: "MySQL Reference Manual, Configuring the Number of Background InnoDB I/O Threads",
    edition: "version 8.4",
    url: "https://dev.mysql.com/doc/refman/8.4/en/innodb-performance-multiple_io_threads.html",
};
const MYSQL_CAPACITY: DatabaseManual = DatabaseManual {
    title: "MySQL Reference Manual, Configuring InnoDB I/O Capacity",
    edition: "version 8.4",
    url: "https://dev.mysql.com/doc/refman/8.4/en/innodb-configuring-io-capacity.html",
};
const ROCKSDB_AIO: DatabaseManual = DatabaseManual {
    title: "RocksDB Blog, Asynchronous IO in RocksDB",
    edition: "2022-10-07",
    url: "https://rocksdb.org/blog/2022/10/07/asynchronous-io-in-rocksdb.html",
};
const ROCKSDB_OPTIONS: DatabaseManual = DatabaseManual {
    title: "RocksDB, include/rocksdb/options.h",
    edition: "version 11.1.1",
    url: "https://github.com/facebook/rocksdb/blob/v11.1.1/include/rocksdb/options.h",
};
const ETCD_HARDWARE: DatabaseManual = DatabaseManual {
    title: "etcd Documentation, Hardware recommendations",
    edition: "version 3.5",
    url: "https://etcd.io/docs/v3.5/op-guide/hardware/",
};
const ETCD_FAQ: DatabaseManual =
    DatabaseManual { title: "etcd Documentation, FAQ", edition: "version 3.4", url: "https://etcd.io/docs/v3.4/faq/" };

const ENTRIES: &[DatabaseEntry] = &[
    DatabaseEntry {
        database: Database::PostgreSql,
        adds: Adds::Both,
        name: "connections",
        advice: "an index scan has one read in flight per connection, and a commit waits for one log flush: use {n} \
                 concurrent connections (pool size, `pgbench -c`)",
        document: &PG_18,
    },
    DatabaseEntry {
        database: Database::PostgreSql,
        adds: Adds::Reads,
        name: "effective_io_concurrency",
        advice: "set {n} or more; default 16 since version 18, 1 before. Applies to bitmap heap scans, since version \
                 18 to sequential scans too; no restart",
        document: &PG_IO,
    },
    DatabaseEntry {
        database: Database::PostgreSql,
        adds: Adds::Reads,
        name: "io_method",
        advice: "since version 18: `worker` (the default) or, in a build with liburing, `io_uring`, which needs no workers; \
                 `sync` reads one at a time; restart",
        document: &PG_IO,
    },
    DatabaseEntry {
        database: Database::PostgreSql,
        adds: Adds::Reads,
        name: "io_workers",
        advice: "with io_method=worker, the whole server has at most this many asynchronous reads in flight: default \
                 3, maximum 32; reload",
        document: &PG_IO,
    },
    DatabaseEntry {
        database: Database::PostgreSql,
        adds: Adds::Writes,
        name: "commit_delay",
        advice: "does not add writes, but lets more concurrent transactions share one log flush (default 0); flush \
                 latency limits commits",
        document: &PG_WAL,
    },
    DatabaseEntry {
        database: Database::MySql,
        adds: Adds::Reads,
        name: "connections",
        advice: "asynchronous I/O serves read-ahead only: a query that misses the buffer pool waits for its page, so \
                 use {n} concurrent connections",
        document: &MYSQL_AIO,
    },
    DatabaseEntry {
        database: Database::MySql,
        adds: Adds::Reads,
        name: "innodb_read_io_threads",
        advice: "default half of the CPUs, at least 4 (4 before version 8.4), each with up to 256 requests; raise it \
                 if SHOW ENGINE INNODB STATUS shows more than 64 pending reads per thread; restart",
        document: &MYSQL_THREADS,
    },
    DatabaseEntry {
        database: Database::MySql,
        adds: Adds::Writes,
        name: "innodb_io_capacity",
        advice: "the rate of background flushing: set it to the volume's IOPS that queries leave unused. Default \
                 10000, 200 before version 8.4; no restart",
        document: &MYSQL_CAPACITY,
    },
    DatabaseEntry {
        database: Database::MySql,
        adds: Adds::Writes,
        name: "innodb_write_io_threads",
        advice: "default 4, each with up to 256 requests; restart",
        document: &MYSQL_THREADS,
    },
    DatabaseEntry {
        database: Database::RocksDb,
        adds: Adds::Reads,
        name: "ReadOptions::async_io",
        advice: "reads ahead in iterators and reads the files of a MultiGet in parallel; off by default. MultiGet \
                 requires a build with folly",
        document: &ROCKSDB_AIO,
    },
    DatabaseEntry {
        database: Database::RocksDb,
        adds: Adds::Reads,
        name: "threads",
        advice: "a Get waits for one block at a time: read from {n} threads, or batch keys with MultiGet",
        document: &ROCKSDB_AIO,
    },
    DatabaseEntry {
        database: Database::RocksDb,
        adds: Adds::Writes,
        name: "max_background_jobs",
        advice: "concurrent flushes and compactions: default 2; can be changed at run time",
        document: &ROCKSDB_OPTIONS,
    },
    DatabaseEntry {
        database: Database::RocksDb,
        adds: Adds::Writes,
        name: "max_subcompactions",
        advice: "threads per compaction: default 1, which does not split it",
        document: &ROCKSDB_OPTIONS,
    },
    DatabaseEntry {
        database: Database::Etcd,
        adds: Adds::Writes,
        name: "latency, not depth",
        advice: "etcd writes its log sequentially and syncs it, so no setting puts more in flight: write latency is \
                 what counts. 50 sequential writes per second suffice for a small cluster, 500 are recommended under \
                 load",
        document: &ETCD_HARDWARE,
    },
    DatabaseEntry {
        database: Database::Etcd,
        adds: Adds::Writes,
        name: "etcd_disk_wal_fsync_duration_seconds",
        advice: "keep its p99 below 10 ms; a dedicated disk for etcd helps most",
        document: &ETCD_FAQ,
    },
    DatabaseEntry {
        database: Database::Etcd,
        adds: Adds::Reads,
        name: "memory",
        advice: "etcd answers from memory: reads from the volume come from a start or from another process",
        document: &ETCD_HARDWARE,
    },
];

/// Formats one line: `io_workers: … (PostgreSQL Documentation, Resource Consumption, version 18)`.
pub(crate) fn setting_line(setting: &DatabaseSetting) -> String {
    format!("{}: {} ({}, {})", setting.name, setting.advice, setting.document, setting.edition)
}

/// Returns the database's product name.
pub(super) const fn name(database: Database) -> &'static str {
    match database {
        Database::PostgreSql => "PostgreSQL",
        Database::MySql => "MySQL",
        Database::RocksDb => "RocksDB",
        Database::Etcd => "etcd",
    }
}

/// Returns the settings that carry out the finding's remedy, if it names a database.
pub(crate) fn settings(finding: &Finding) -> Vec<DatabaseSetting> {
    let Some(Remedy::MoreInFlight { in_flight, reads, database: Some(database) }) = finding.remedy else {
        return Vec::new();
    };
    let worded = |entry: &DatabaseEntry| DatabaseSetting {
        database,
        name: entry.name,
        advice: entry.advice.replace("{n}", &grouped(in_flight)),
        document: entry.document.title,
        edition: entry.document.edition,
        url: entry.document.url,
    };
    entries(database, reads).map(worded).collect()
}

fn entries(database: Database, reads: bool) -> impl Iterator<Item = &'static DatabaseEntry> {
    let wanted = if reads { Adds::Reads } else { Adds::Writes };
    ENTRIES.iter().filter(move |entry| entry.database == database && (entry.adds == wanted || entry.adds == Adds::Both))
}

/// Returns `Keep 16 reads in flight; set by PostgreSQL (connections, io_workers), MySQL …`; lists all
/// databases if `database` is `None`.
pub(super) fn more_in_flight(in_flight: u64, reads: bool, database: Option<Database>) -> String {
    let named = |database: Database| {
        let names: Vec<&str> = entries(database, reads).map(|entry| entry.name).collect();
        format!("{} ({})", name(database), names.join(", "))
    };
    let keep = format!("Keep {} in flight", counted(in_flight, if reads { "read" } else { "write" }));
    match database {
        Some(database) => format!("{keep}; set by {}.", named(database)),
        None => {
            // etcd has no setting that raises the number in flight.
            let all = Database::ALL.into_iter().filter(|database| *database != Database::Etcd);
            let all: Vec<String> = all.map(named).collect();
            format!("{keep}; set by {}. `--database NAME` prints what to set.", super::joined(&all, "or"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_database_has_documented_settings_for_reads_and_writes() {
        for database in Database::ALL {
            for reads in [true, false] {
                assert!(entries(database, reads).count() > 0, "{database:?}, reads {reads}");
            }
        }
        for entry in ENTRIES {
            let DatabaseManual { title, edition, url } = entry.document;
            assert!(url.starts_with("https://") && !title.is_empty(), "{}", entry.name);
            assert!(edition.chars().any(|letter| letter.is_ascii_digit()), "{}: {edition}", entry.name);
        }
    }

    #[test]
    fn advice_states_the_required_number_in_flight() {
        let finding = |database| Finding {
            code: analyse::Code::QueueTooShallow,
            severity: analyse::Severity::Advice,
            subject: None,
            evidence: Vec::new(),
            remedy: Some(Remedy::MoreInFlight { in_flight: 1600, reads: true, database }),
            counterfactual: None,
        };
        let found = settings(&finding(Some(Database::PostgreSql)));
        let names: Vec<&str> = found.iter().map(|setting| setting.name).collect();
        assert_eq!(names, ["connections", "effective_io_concurrency", "io_method", "io_workers"]);
        assert!(found[1].advice.starts_with("set 1,600 or more;"), "{}", found[1].advice);
        assert!(found.iter().all(|setting| !setting_line(setting).contains('{')));
        assert_eq!(settings(&finding(None)), []);
    }

    /// `docs/slow-database.md` lists the same settings and documents.
    #[test]
    fn slow_database_page_lists_every_setting_and_document() {
        let page = include_str!("../../../../docs/slow-database.md");
        for entry in ENTRIES {
            let DatabaseManual { title, edition, url } = entry.document;
            for part in [entry.name, title, edition, url] {
                assert!(page.contains(part), "docs/slow-database.md lacks `{part}`");
            }
        }
    }
}
