//! What a target is opened with.

use std::sync::{Arc, OnceLock};

use target::spec::{EngineKind, EngineSpec};

use crate::clock::MonotonicClock;
use crate::error::Error;
use crate::in_call::InCall;
use crate::more::exec::ProgramUse;
use crate::more::http::ObjectsOfWorker;
use crate::more::net::NetworkPeer;
use crate::more::sg::ScsiDevice;
use crate::named_target::NamedTarget;
use crate::nvme::NvmeUse;

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
    pub disks: Vec<Arc<ScsiDevice>>,
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

    /// Changes settings of the engine.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut EngineSpec)) -> Self {
        change(&mut self.spec);
        self
    }
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
