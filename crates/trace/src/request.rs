//! Requests.

use units::OpKind;

/// One request of a block device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceRequest {
    /// Time at which it was issued to the device, in nanoseconds since the start of the trace.
    pub issued_ns: u64,
    /// Time in the queue of the scheduler before that, in nanoseconds; `None` if it is unknown.
    pub queued_ns: Option<u64>,
    /// Time from the issue to the completion, in nanoseconds; `None` if it is unknown or the request did not complete.
    pub service_ns: Option<u64>,
    /// Position on the device, in bytes.
    pub offset: u64,
    /// Length in bytes; zero for a flush without data.
    pub length: u32,
    /// What it does.
    pub operation: TraceOperation,
    /// Whether a process waits for it: `REQ_SYNC` of `include/linux/blk_types.h`.
    pub is_sync: bool,
    /// Whether it is metadata of a filesystem: `REQ_META`.
    pub is_meta: bool,
    /// Whether it is on stable storage when it completes: `REQ_FUA`.
    pub is_fua: bool,
    /// Whether a flush precedes it: `REQ_PREFLUSH`.
    pub is_preflush: bool,
    /// Whether it is read ahead of need: `REQ_RAHEAD`.
    pub is_readahead: bool,
    /// Whether the device reported an error.
    pub has_failed: bool,
    /// Index of the process in [`TraceInfo::processes`].
    pub process: u16,
    /// Index of the process that waits for it, if a thread of the kernel issued it: [`crate::WaitingProcesses`].
    pub waiting: Option<u16>,
    /// Index of the device in [`TraceInfo::devices`].
    pub device: u16,
}

impl TraceRequest {
    /// Returns the index of the process that waits for it, or of the one that issued it.
    #[must_use]
    pub fn owner(&self) -> u16 {
        self.waiting.unwrap_or(self.process)
    }
}

/// What a request does: the operations of `enum req_op` in `include/linux/blk_types.h` that a trace keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TraceOperation {
    /// Reads data.
    #[default]
    Read,
    /// Writes data.
    Write,
    /// Makes written data stable.
    Flush,
    /// Discards data.
    Discard,
    WriteZeroes,
    /// Something else, such as an operation on zones.
    Other,
}

impl From<OpKind> for TraceOperation {
    fn from(kind: OpKind) -> Self {
        match kind {
            OpKind::Read => Self::Read,
            OpKind::Write => Self::Write,
            OpKind::Trim => Self::Discard,
            OpKind::Sync | OpKind::DataSync | OpKind::SyncRange | OpKind::SyncFilesystem => Self::Flush,
        }
    }
}

impl TraceOperation {
    /// All operations.
    pub const ALL: [Self; 6] = [Self::Read, Self::Write, Self::Flush, Self::Discard, Self::WriteZeroes, Self::Other];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Flush => "flush",
            Self::Discard => "discard",
            Self::WriteZeroes => "write zeroes",
            Self::Other => "other",
        }
    }
}

/// Metadata of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceInfo {
    /// Program and format from which it comes.
    pub source: String,
    /// Start in milliseconds since 1970; `None` if it is unknown.
    pub started_unix_ms: Option<u64>,
    /// Devices: name, and size in bytes if it is known.
    pub devices: Vec<(String, Option<u64>)>,
    /// Whether the names of devices are paths of files, rather than names in `/dev` unless they begin with `/`.
    pub names_are_paths: bool,
    /// Names of processes.
    pub processes: Vec<String>,
    /// Number of requests that were lost while it was captured; `None` if it is unknown.
    pub lost: Option<u64>,
    /// Whether offsets are scrambled and names are dropped.
    pub is_anonymous: bool,
}
