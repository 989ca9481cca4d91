//! Settings of a target.

use std::sync::Arc;

use units::Nanos;

use crate::clock::MonotonicClock;
use crate::in_call::InCall;
use crate::named_target::{NamedTarget, PathCall};
use crate::network_setup::NetworkSetup;
use crate::nvme_setup::NvmeSetup;
use crate::object_store::ObjectStoreSetup;
use crate::program_setup::ProgramSetup;
use crate::scsi_setup::ScsiSetup;

/// Engine, queue and buffers of a target.
#[derive(Clone, Debug)]
pub struct Setup {
    /// I/O engine.
    pub engine: EngineKind,
    /// Whether each tag has a thread that submits its operations and waits for them (engines on files).
    pub offloads: bool,
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
    /// Flags of each read or write (`io_uring`, `libaio`, `pvsync2`).
    pub transfer: TransferFlags,
    /// Whether reads and writes are vectored (`io_uring`, `libaio`).
    pub vectored: bool,
    /// Whether the operations of one call divide its time among them, because the job leaves it to the engine how many they are
    /// (`io_uring`, `libaio`). Otherwise the whole call is part of each operation.
    pub divides_calls: bool,
    /// Maximum number of completions that one call returns (`libaio`).
    pub complete_max: u32,
    /// Number of operations of which the kernel executes one asynchronously (`io_uring`); 0 for none.
    pub force_async: u32,
    /// Percentage of operations to poll for with `hipri` (`pvsync2`).
    pub hipri_percentage: u32,
    /// Whether mappings of files use transparent huge pages (`mmap`).
    pub thp: bool,
    /// Size of huge pages, in bytes (memory types on huge pages).
    pub huge_page_bytes: u32,
    /// Address of the export (`nbd`).
    pub uri: Option<String>,
    /// Whether operations may write or trim (`nbd`; other engines take this from the open mode of their files).
    pub writes: bool,
    /// Whether writes are durable when they complete (`nbd`; other engines take this from the open mode of their
    /// files).
    pub durable: bool,
    /// Names to work on (engines of [`EngineKind::Names`], which use no open files).
    pub names: Vec<NamedTarget>,
    /// Connection (`net`, `netsplice`).
    pub network: Option<NetworkSetup>,
    /// Store and objects (`http`).
    pub objects: Option<ObjectStoreSetup>,
    /// Bursts of work (`cpuio`).
    pub burst: Option<BurstSetup>,
    /// NVMe commands (`io_uring_cmd`).
    pub nvme: Option<NvmeSetup>,
    /// Disks and commands (`sg`).
    pub scsi: Option<ScsiSetup>,
    /// Program (`exec`).
    pub program: Option<ProgramSetup>,
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
            offloads: false,
            depth,
            buffer_bytes,
            align: 4096,
            memory: MemoryKind::Malloc,
            hipri: false,
            fixedbufs: false,
            registerfiles: false,
            sqpoll: false,
            sqpoll_cpu: None,
            transfer: TransferFlags { nowait: false, uncached: false, atomic: false },
            vectored: false,
            divides_calls: false,
            complete_max: u32::MAX,
            force_async: 0,
            hipri_percentage: 100,
            thp: false,
            huge_page_bytes: 2 << 20,
            uri: None,
            writes: false,
            durable: false,
            names: Vec::new(),
            network: None,
            objects: None,
            burst: None,
            nvme: None,
            scsi: None,
            program: None,
            clock,
            in_call: None,
        }
    }
}

/// Flags that the kernel takes with each read or write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransferFlags {
    /// `RWF_NOWAIT`: fail with `EAGAIN` instead of blocking.
    pub nowait: bool,
    /// `RWF_DONTCACHE`: do not keep data in the page cache.
    pub uncached: bool,
    /// `RWF_ATOMIC`, for writes only: store all of the data or none.
    pub atomic: bool,
}

/// `RWF_ATOMIC` of `linux/fs.h`.
const RWF_ATOMIC: i32 = 0x40;
/// `RWF_DONTCACHE` of `linux/fs.h`.
const RWF_DONTCACHE: i32 = 0x80;

impl TransferFlags {
    /// Returns the flags of reads and of writes as the kernel takes them.
    pub(crate) const fn as_bits(self) -> PerTransfer {
        let nowait = if self.nowait { libc::RWF_NOWAIT } else { 0 };
        let uncached = if self.uncached { RWF_DONTCACHE } else { 0 };
        let atomic = if self.atomic { RWF_ATOMIC } else { 0 };
        PerTransfer { read: nowait | uncached, write: nowait | uncached | atomic }
    }
}

/// Flags of reads and of writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PerTransfer {
    pub(crate) read: i32,
    pub(crate) write: i32,
}

impl PerTransfer {
    #[inline]
    pub(crate) const fn of(self, write: bool) -> i32 {
        if write { self.write } else { self.read }
    }
}

/// Bursts of work for the processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BurstSetup {
    /// Length of each burst.
    pub length: Nanos,
    /// Whether a burst sorts numbers; otherwise it counts.
    pub sorts: bool,
}

/// I/O engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EngineKind {
    /// Linux `io_uring`.
    IoUring,
    /// NVMe commands through `io_uring`, on the character devices of namespaces.
    IoUringCmd,
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
    /// `splice` and `vmsplice`, through a pipe.
    Splice,
    /// Memory mapping.
    Mmap,
    /// SCSI commands.
    Scsi,
    /// An export of an NBD server, over a socket.
    Nbd,
    /// Blocks over a socket.
    Network,
    /// Objects of a store, over HTTP.
    Objects,
    /// Bursts of work for the processor.
    Processor,
    /// A program.
    Program,
    /// No device: every operation completes immediately.
    Null,
    /// A call on names.
    Names(PathCall),
    /// `ftruncate`.
    Ftruncate,
    /// `fallocate`.
    Falloc,
    /// Exchange of extents with the donor, which is the last of the files (`EXT4_IOC_MOVE_EXT`).
    Defragment {
        /// Whether each operation allocates and frees the donor's space.
        in_place: bool,
    },
}

impl EngineKind {
    /// All engines that need nothing but files.
    pub const ON_FILES: [Self; 10] = [
        Self::IoUring,
        Self::Libaio,
        Self::Psync,
        Self::Sync,
        Self::Vsync,
        Self::Pvsync,
        Self::Pvsync2,
        Self::Splice,
        Self::Mmap,
        Self::Null,
    ];

    /// Returns the engine's name in job files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::IoUring => "io_uring",
            Self::IoUringCmd => "io_uring_cmd",
            Self::Libaio => "libaio",
            Self::Psync => "psync",
            Self::Sync => "sync",
            Self::Vsync => "vsync",
            Self::Pvsync => "pvsync",
            Self::Pvsync2 => "pvsync2",
            Self::Splice => "splice",
            Self::Mmap => "mmap",
            Self::Scsi => "sg",
            Self::Nbd => "nbd",
            Self::Network => "net",
            Self::Objects => "http",
            Self::Processor => "cpuio",
            Self::Program => "exec",
            Self::Null => "null",
            Self::Names(PathCall::CreateFile) => "filecreate",
            Self::Names(PathCall::CreateDirectory) => "dircreate",
            Self::Names(PathCall::Stat | PathCall::Lstat | PathCall::Statx) => "filestat",
            Self::Names(PathCall::DeleteFile) => "filedelete",
            Self::Names(PathCall::DeleteDirectory) => "dirdelete",
            Self::Ftruncate => "ftruncate",
            Self::Falloc => "falloc",
            Self::Defragment { .. } => "e4defrag",
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
