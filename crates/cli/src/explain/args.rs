//! The words of `fathom explain`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::PageFormat;

/// Options of `fathom explain`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ExplainOptions {
    /// What was measured: a record, fio's output, iostat's; - for standard input
    #[arg(value_name = "INPUT")]
    pub(super) inputs: Vec<PathBuf>,
    /// Describe everything that can be found, in Markdown
    #[arg(long)]
    pub(super) findings: bool,
    /// Figures from elsewhere: iops=10000,lat=3ms,qd=4,jobs=4,bs=4k, or iostat's columns: r/s=3500,r_await=1.00,aqu-sz=3.5;
    /// may be repeated
    #[arg(long, value_name = "FIGURES")]
    pub(super) claim: Vec<String>,
    /// The volume that was measured: PROVIDER/TYPE[@EDITION][,key=value]...
    #[arg(long, value_name = "VOLUME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(super) expect: Option<String>,
    /// Print settings of the database on the volume that decide how many requests it has in flight
    #[arg(long, value_enum, value_name = "NAME")]
    pub(super) database: Option<DatabaseName>,
    /// What standard output carries
    #[arg(long, value_enum, default_value_t = PageFormat::Text)]
    pub(super) format: PageFormat,
    /// Also write FILE, by its ending: .json .md .txt; may be repeated
    #[arg(short, long, value_name = "FILE")]
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
