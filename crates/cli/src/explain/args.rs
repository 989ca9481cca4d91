//! Options of `fathom explain`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::PageFormat;

/// Options of `fathom explain`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ExplainOptions {
    /// Result: a record, a trace, sampled counters, metrics of Prometheus, logs of fio, or the output of fio, iostat, sar,
    /// vmstat -d, SPDK's perf, kbench or PostgreSQL's pg_stat_io; - for standard input
    #[arg(value_name = "INPUT")]
    pub(super) inputs: Vec<PathBuf>,
    /// Describe all findings in Markdown
    #[arg(long, help_heading = "Advice")]
    pub(super) findings: bool,
    /// Figures from another source: iops=10000,lat=3ms,qd=4,jobs=4,bs=4k, or iostat's columns: r/s=3500,r_await=1.00,aqu-sz=3.5
    /// (repeatable)
    #[arg(long, value_name = "FIGURES", help_heading = "Evidence")]
    pub(super) claim: Vec<String>,
    /// Replay this trace on the volume, in virtual time
    #[arg(long, value_name = "TRACE", requires = "volume", conflicts_with_all = ["inputs", "claim"], help_heading = "Evidence")]
    pub(super) from: Option<PathBuf>,
    /// Replay all of the trace instead of its busiest hour
    #[arg(long, requires = "from", help_heading = "Evidence")]
    pub(super) full: bool,
    /// Volume that was measured: PROVIDER/TYPE[@EDITION][,key=value]...
    #[arg(long, alias = "expect", value_name = "VOLUME", value_parser = clap::builder::NonEmptyStringValueParser::new(), help_heading = "Evidence")]
    pub(super) volume: Option<String>,
    /// Explain this device of the input, which is the volume [default: the busiest disk]
    #[arg(long, value_name = "NAME", help_heading = "Evidence")]
    pub(super) device: Option<String>,
    /// Print the settings of this database that determine its queue depth
    #[arg(long, value_enum, value_name = "NAME", help_heading = "Advice")]
    pub(super) database: Option<DatabaseName>,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = PageFormat::Text, help_heading = "Output")]
    pub(super) format: PageFormat,
    /// Write additional output to FILE: .json .md .txt (repeatable)
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(super) output: Vec<PathBuf>,
}

/// A database on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DatabaseName {
    #[value(alias = "postgres")]
    Postgresql,
    #[value(alias = "innodb")]
    Mysql,
    Rocksdb,
    Etcd,
}

impl From<DatabaseName> for analyse::Database {
    fn from(name: DatabaseName) -> Self {
        match name {
            DatabaseName::Postgresql => Self::PostgreSql,
            DatabaseName::Mysql => Self::MySql,
            DatabaseName::Rocksdb => Self::RocksDb,
            DatabaseName::Etcd => Self::Etcd,
        }
    }
}
