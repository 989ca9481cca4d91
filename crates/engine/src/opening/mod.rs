//! What a target is opened with: its engine and settings, its queue, and what it works on. The engines depend on this module,
//! and it on none of them.

mod objects;
mod peer;

pub use objects::{FailedRequest, ObjectPermit, ObjectsOfWorker, RequestJournal, StoredObjects};
pub use peer::NetworkPeer;
pub(crate) use peer::resolve;

use std::fmt;
use std::fs::File;
use std::sync::{Arc, OnceLock};

use target::spec::{BufferMemory, EngineKind, EngineSpec};

use crate::clock::MonotonicClock;
use crate::error::Error;
use crate::in_call::InCall;
use crate::named_target::NamedTarget;

/// Engine, queue and buffers of a target, and what it works on other than open files.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The engine and its settings.
    pub spec: EngineSpec,
    /// Maximum queue depth, which is also the number of tags and of buffers; at least 1.
    pub depth: u32,
    /// Size of each buffer, in bytes: the largest block size.
    pub buffer_bytes: u32,
    /// Whether the operations of one call divide its time among them, because the job leaves it to the engine how many they are
    /// (`io_uring`, `libaio`). Otherwise the whole call is part of each operation.
    pub divides_calls: bool,
    /// Maximum number of completions that one call returns (`libaio`).
    pub complete_max: u32,
    /// Whether operations may write or trim (`nbd`; other engines take this from the open mode of their files).
    pub writes: bool,
    /// Whether writes are durable when they complete (`nbd`; other engines take this from the open mode of their
    /// files).
    pub durable: bool,
    /// Names to work on, for engines that open no files.
    pub names: Vec<NamedTarget>,
    /// Connection (`net`, `netsplice`).
    pub network: Option<NetworkPeer>,
    /// Objects (`http`).
    pub objects: Option<ObjectsOfWorker>,
    /// NVMe commands (`io_uring_cmd`).
    pub nvme: Option<NvmeUse>,
    /// Disks, by the index that operations have (`sg`). They stay open as long as this.
    pub disks: Vec<ScsiDisk>,
    /// Program (`exec`).
    pub program: Option<ProgramUse>,
    /// Receives what the target knows of a failure beyond error numbers.
    pub failure: Arc<TargetFailure>,
    /// The clock shared by all workers of a run.
    pub clock: MonotonicClock,
    /// Where the worker records calls that may block; `None` if no other thread reads it.
    pub in_call: Option<Arc<InCall>>,
}

impl Opening {
    /// Opens `kind` with default settings and `depth` buffers of `buffer_bytes` each.
    #[must_use]
    pub fn new(kind: EngineKind, depth: u32, buffer_bytes: u32, clock: MonotonicClock) -> Self {
        Self {
            spec: EngineSpec { kind, ..EngineSpec::default() },
            depth,
            buffer_bytes,
            divides_calls: false,
            complete_max: u32::MAX,
            writes: false,
            durable: false,
            names: Vec::new(),
            network: None,
            objects: None,
            nvme: None,
            disks: Vec::new(),
            program: None,
            failure: Arc::default(),
            clock,
            in_call: None,
        }
    }

    /// Returns the opening of a target that has no bytes to transfer of its own.
    pub(crate) fn without_buffers(&self) -> Self {
        Self { buffer_bytes: 0, ..self.clone() }.with(|spec| spec.mem = BufferMemory::Malloc)
    }

    /// Changes settings of the engine.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut EngineSpec)) -> Self {
        change(&mut self.spec);
        self
    }
}

/// How a worker runs its program, besides the settings of its engine.
#[derive(Clone, Debug)]
pub struct ProgramUse {
    pub arguments: Vec<String>,
    /// Files of its standard output and standard error; `None` for those of this process.
    pub output: Option<Arc<(File, File)>>,
    /// Whether an exit code other than zero is a failure.
    pub checks_exit: bool,
}

/// What a worker does with namespaces, besides the settings of its engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NvmeUse {
    /// Bytes of the largest read or write; zero for jobs that only trim.
    pub transfer_bytes: u32,
    /// Unit of all offsets and lengths, in bytes.
    pub block_unit: u32,
    /// Whether what is written is verified byte by byte.
    pub verifies: bool,
    /// Placements by offset, if a file has them.
    pub scheme: Option<Vec<PlacementRange>>,
    /// Seed of random choices.
    pub seed: u64,
}

/// Placement of the writes that begin in a range of offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacementRange {
    /// First offset in bytes.
    pub start: u64,
    /// Offset after the last one.
    pub end: u64,
    /// Index of the placement identifier, or stream identifier.
    pub id: u16,
}

/// An open SCSI disk, as commands need it.
#[derive(Clone, Debug)]
pub struct ScsiDisk {
    /// The block device or the generic device.
    pub(crate) file: Arc<File>,
    /// Whether it is a generic device, which takes several commands at a time.
    pub(crate) is_generic: bool,
    /// Whether commands may change data.
    pub(crate) writes: bool,
    /// Size of a block, in bytes.
    pub(crate) block_bytes: u32,
    /// Stream of WRITE STREAM.
    pub(crate) stream: u16,
    /// The device, which stays open as long as this.
    pub(crate) _device: Arc<dyn fmt::Debug + Send + Sync>,
}

/// What a target knows of a failure beyond error numbers; the first of each kind.
#[derive(Debug, Default)]
pub struct TargetFailure {
    /// Why a device did not carry out a command.
    pub(crate) reason: OnceLock<String>,
    /// Why the target ended.
    pub(crate) error: OnceLock<Error>,
}

impl TargetFailure {
    /// Returns why a device did not carry out a command.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.reason.get().map(String::as_str)
    }

    /// Returns why the target ended.
    #[must_use]
    pub fn error(&self) -> Option<&Error> {
        self.error.get()
    }
}

/// `RWF_ATOMIC` of `linux/fs.h`.
const RWF_ATOMIC: i32 = 0x40;
/// `RWF_DONTCACHE` of `linux/fs.h`.
const RWF_DONTCACHE: i32 = 0x80;

/// Flags of reads and of writes, as the kernel takes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PerTransfer {
    pub(crate) read: i32,
    pub(crate) write: i32,
}

impl PerTransfer {
    /// Returns the flags that the settings ask for.
    pub(crate) const fn new(spec: &EngineSpec) -> Self {
        let nowait = if spec.nowait { libc::RWF_NOWAIT } else { 0 };
        let uncached = if spec.uncached { RWF_DONTCACHE } else { 0 };
        let atomic = if spec.atomic { RWF_ATOMIC } else { 0 };
        Self { read: nowait | uncached, write: nowait | uncached | atomic }
    }

    #[inline]
    pub(crate) const fn of(self, write: bool) -> i32 {
        if write { self.write } else { self.read }
    }
}
