//! Settings of a target.

use std::sync::Arc;

use crate::clock::MonotonicClock;
use crate::in_call::InCall;
use crate::named_target::{NamedTarget, PathCall};

/// Engine, queue and buffers of a target.
#[derive(Clone, Debug)]
pub struct Setup {
    /// I/O engine.
    pub engine: EngineKind,
    /// Maximum queue depth, which is also the number of tags and of buffers; at least 1.
    pub depth: u32,
    /// Size of each buffer, in bytes: the largest block size.
    pub buffer_bytes: u32,
    /// Alignment of each buffer, in bytes: a power of two. Values below 4096 are raised to 4096.
    pub align: u32,
    /// Memory type of the buffers.
    pub memory: MemoryKind,
    /// Whether to poll for completions: with a polled ring for `io_uring`, with `RWF_HIPRI` for `pvsync2`.
    pub hipri: bool,
    /// Whether buffers must be registered with the kernel (`io_uring`).
    pub fixedbufs: bool,
    /// Whether files must be registered with the kernel (`io_uring`). Otherwise they are registered if possible.
    pub registerfiles: bool,
    /// Whether a kernel thread takes operations from the ring (`io_uring`).
    pub sqpoll: bool,
    /// The processor of that kernel thread; `None` for any.
    pub sqpoll_cpu: Option<u32>,
    /// Address of the export (`nbd`).
    pub uri: Option<String>,
    /// Whether operations may write or trim (`nbd`; other engines take this from the open mode of their files).
    pub writes: bool,
    /// Whether writes are durable when they complete (`nbd`; other engines take this from the open mode of their
    /// files).
    pub durable: bool,
    /// Names to work on (engines of [`EngineKind::Names`], which use no open files).
    pub names: Vec<NamedTarget>,
    /// The clock shared by all workers of a run.
    pub clock: MonotonicClock,
    /// Where the worker records calls that may block; `None` if no other thread reads it.
    pub in_call: Option<Arc<InCall>>,
}

impl Setup {
    /// Returns the default settings for `engine` with `depth` buffers of `buffer_bytes` each.
    #[must_use]
    pub const fn new(engine: EngineKind, depth: u32, buffer_bytes: u32, clock: MonotonicClock) -> Self {
        Self {
            engine,
            depth,
            buffer_bytes,
            align: 4096,
            memory: MemoryKind::Malloc,
            hipri: false,
            fixedbufs: false,
            registerfiles: false,
            sqpoll: false,
            sqpoll_cpu: None,
            uri: None,
            writes: false,
            durable: false,
            names: Vec::new(),
            clock,
            in_call: None,
        }
    }
}

/// I/O engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EngineKind {
    /// Linux `io_uring`.
    IoUring,
    /// Linux native asynchronous I/O.
    Libaio,
    /// `pread` and `pwrite`.
    Psync,
    /// `lseek`, then `read` or `write`.
    Sync,
    /// `lseek`, then `readv` or `writev`.
    Vsync,
    /// `preadv` and `pwritev`.
    Pvsync,
    /// `preadv2` and `pwritev2`.
    Pvsync2,
    /// Memory mapping.
    Mmap,
    /// An export of an NBD server, over a socket.
    Nbd,
    /// No device: every operation completes immediately.
    Null,
    /// A call on names.
    Names(PathCall),
    /// `ftruncate`.
    Ftruncate,
    /// `fallocate`.
    Falloc,
}

impl EngineKind {
    /// All engines that need nothing but files.
    pub const ON_FILES: [Self; 9] = [
        Self::IoUring,
        Self::Libaio,
        Self::Psync,
        Self::Sync,
        Self::Vsync,
        Self::Pvsync,
        Self::Pvsync2,
        Self::Mmap,
        Self::Null,
    ];

    /// Returns the engine's name in job files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::IoUring => "io_uring",
            Self::Libaio => "libaio",
            Self::Psync => "psync",
            Self::Sync => "sync",
            Self::Vsync => "vsync",
            Self::Pvsync => "pvsync",
            Self::Pvsync2 => "pvsync2",
            Self::Mmap => "mmap",
            Self::Nbd => "nbd",
            Self::Null => "null",
            Self::Names(PathCall::CreateFile) => "filecreate",
            Self::Names(PathCall::CreateDirectory) => "dircreate",
            Self::Names(PathCall::Stat | PathCall::Lstat | PathCall::Statx) => "filestat",
            Self::Names(PathCall::DeleteFile) => "filedelete",
            Self::Names(PathCall::DeleteDirectory) => "dirdelete",
            Self::Ftruncate => "ftruncate",
            Self::Falloc => "falloc",
        }
    }
}

/// Memory types of buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MemoryKind {
    /// Pages of the process, as `malloc` allocates large blocks.
    #[default]
    Malloc,
    /// System V shared memory.
    Shm,
    /// System V shared memory on huge pages.
    ShmHuge,
    /// An anonymous private mapping.
    Mmap,
    /// An anonymous private mapping on huge pages.
    MmapHuge,
    /// An anonymous shared mapping.
    MmapShared,
}
