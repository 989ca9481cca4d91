//! Files of a job, and how they are created.

use units::Bytes;

/// Which files, and how they are made.
#[derive(Clone, Debug, PartialEq)]
pub struct FileOptions {
    /// `filename`, split at `:`; empty when names are generated.
    pub filenames: Vec<String>,
    /// `directory`, split at `:`; clone `i` uses entry `i` modulo the count.
    pub directories: Vec<String>,
    /// Template of generated names.
    pub filename_format: String,
    /// How many files are generated per worker.
    pub nrfiles: u32,
    /// How many of them are open at the same time; `None` for all.
    pub openfiles: Option<u32>,
    /// Which file comes next.
    pub service: FileService,
    /// Size of each generated file: lowest and highest, equal for a fixed size.
    pub filesize: Option<(Bytes, Bytes)>,
    /// Files are made when they are opened, not before the run.
    pub create_on_open: bool,
    /// How space is reserved before files are written.
    pub fallocate: Fallocate,
    /// Lay files out first so that writes never extend them.
    pub overwrite: bool,
    /// Drop the page cache of each file before the run.
    pub invalidate: bool,
    /// `O_SYNC` or `O_DSYNC`.
    pub open_sync: OpenSync,
    /// `allow_mounted_write`: permits writes to a mounted device in `fathom fio`.
    pub allow_mounted_write: bool,
    /// `allow_file_create`: permits making files that do not exist.
    pub allow_file_create: bool,
}

/// Which file comes next (`file_service_type`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FileService {
    /// The order.
    pub order: FileOrder,
    /// Operations on one file before the next is chosen, at least 1.
    pub switch_every: u32,
}

/// The order of files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FileOrder {
    /// One after the other, an operation each.
    RoundRobin,
    /// One after the other, each to its end.
    Sequential,
    /// Any.
    Random,
    /// By a Zipf distribution with this exponent.
    Zipf(f64),
    /// By a Pareto distribution with this power.
    Pareto(f64),
    /// By a normal distribution with this deviation in per cent.
    Normal(f64),
}

/// Preallocation of files (`fallocate`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallocate {
    /// Not at all.
    None,
    /// By the system's own call where it has one.
    Native,
    /// By `posix_fallocate`.
    Posix,
    /// Keeping the file's size.
    Keep,
    /// By extending with `ftruncate`.
    Truncate,
}

/// Synchronous writes (`sync`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OpenSync {
    /// Neither.
    #[default]
    None,
    /// `O_SYNC`.
    Sync,
    /// `O_DSYNC`.
    Dsync,
}
