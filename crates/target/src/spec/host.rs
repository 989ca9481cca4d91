//! Settings of files and memory that do not depend on the engine.

/// Preallocation of files (`fallocate`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fallocate {
    /// No preallocation.
    None,
    /// `fallocate`, skipped on filesystems without it.
    #[default]
    Native,
    /// `posix_fallocate`, which writes zeroes if the filesystem cannot reserve space.
    Posix,
    /// `fallocate` without changing the file's size.
    Keep,
    /// `ftruncate`, which only sets the file's size.
    Truncate,
}

/// Synchronous writes (`sync`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OpenSync {
    /// Asynchronous writes.
    #[default]
    None,
    /// `O_SYNC`: data and metadata.
    Sync,
    /// `O_DSYNC`: data.
    Dsync,
}

/// Phases of `sync_file_range`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncRangeFlags {
    /// Wait for write-back that has already begun.
    pub wait_before: bool,
    /// Begin to write back.
    pub write: bool,
    /// Wait for write-back.
    pub wait_after: bool,
}

/// Advice to the page cache on the order in which a file will be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheAdvice {
    /// Sequential: the kernel reads far ahead.
    Sequential,
    /// Random: the kernel reads nothing ahead.
    Random,
    /// Data are used once.
    NoReuse,
}

/// NUMA nodes of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NumaNodes {
    All,
    /// These, ascending.
    Only(Vec<u32>),
}

/// Policies of memory allocation (`set_mempolicy(2)`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NumaMemory {
    /// The host's default.
    Default,
    /// Preferably on this node.
    Prefer(u32),
    /// On these nodes only.
    Bind(NumaNodes),
    /// Spread over these nodes.
    Interleave(NumaNodes),
    /// On the node of the CPU.
    Local,
}
