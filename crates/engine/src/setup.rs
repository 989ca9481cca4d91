//! Settings of a target.

use std::sync::Arc;

use crate::clock::MonotonicClock;
use crate::in_call::InCall;

/// Which engine, with which queue and which buffers.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Which engine.
    pub engine: EngineKind,
    /// Operations in flight at most, and so the count of tags and of buffers; at least 1.
    pub depth: u32,
    /// Size of each buffer: the greatest block size, in bytes.
    pub buffer_bytes: u32,
    /// Alignment of each buffer in bytes, a power of two; less than 4096 is raised to 4096.
    pub align: u32,
    /// Where buffers come from.
    pub memory: MemoryKind,
    /// Completions are polled for: a polled ring for `io_uring`, `RWF_HIPRI` for `pvsync2`.
    pub hipri: bool,
    /// Buffers are registered with the kernel (`io_uring`).
    pub fixedbufs: bool,
    /// Files must be registered with the kernel (`io_uring`); without it they are registered where possible.
    pub registerfiles: bool,
    /// A kernel thread takes operations from the ring (`io_uring`).
    pub sqpoll: bool,
    /// The processor of that thread; `None` for any.
    pub sqpoll_cpu: Option<u32>,
    /// The address of the export (`nbd`).
    pub uri: Option<String>,
    /// Whether anything may be written or trimmed (`nbd`; files are opened so).
    pub writes: bool,
    /// Every write is durable when it completes (`nbd`; files are opened so).
    pub durable: bool,
    /// The clock that all workers of a run share.
    pub clock: MonotonicClock,
    /// Where the worker records calls that may block; `None` where no other thread wants to know.
    pub in_call: Option<Arc<InCall>>,
}

impl Setup {
    /// `engine` with `depth` buffers of `buffer_bytes` each, and every other choice at its default.
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
    /// No device at all: every operation is done at once.
    Null,
}

impl EngineKind {
    /// Every engine that needs nothing but files.
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

    /// The name in job files.
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
        }
    }
}

/// Memory types of buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MemoryKind {
    /// Pages of the process, as `malloc` takes them for large blocks.
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
