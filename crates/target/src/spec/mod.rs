//! What carries out the operations of a worker, with all its settings.
//!
//! An [`EngineSpec`] is filled by `job` and consumed by `engine`: nothing between them translates it. Options may stand
//! before `ioengine`, and those of a global section hold for jobs of several engines, so it has the settings of all of them,
//! and [`EngineKind`] chooses.

mod defragment;
mod network;
mod nvme;
mod object_store;
mod processor;
mod program;
mod scsi;

pub use defragment::DefragmentOptions;
pub use network::{NetworkOptions, NetworkProtocol};
pub use nvme::{NvmeOptions, NvmeWrite, PlacementKind, PlacementOptions, PlacementSelect, ProtectionFields};
pub use object_store::{ObjectStoreMode, ObjectStoreOptions, Secret, StoreEncryption};
pub use processor::{ProcessorLoad, ProcessorWork};
pub use program::ProgramOptions;
pub use scsi::{ScsiOptions, ScsiWriteCommand};

/// Engines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EngineKind {
    /// Linux `io_uring`.
    IoUring,
    /// NVMe commands through `io_uring`, past the block layer.
    IoUringCmd,
    /// Linux native asynchronous I/O.
    Libaio,
    /// `pread` and `pwrite`.
    #[default]
    Psync,
    /// `lseek` and `read` or `write`.
    Sync,
    /// `readv` and `writev`.
    Vsync,
    /// `preadv` and `pwritev`.
    Pvsync,
    /// `preadv2` and `pwritev2`.
    Pvsync2,
    /// glibc's POSIX AIO, mapped to `io_uring` with a note.
    Posixaio,
    /// `splice` and `vmsplice`, through a pipe.
    Splice,
    /// Memory mapping.
    Mmap,
    /// SCSI commands, past the block layer.
    Sg,
    /// An export of an NBD server, over a socket.
    Nbd,
    /// Blocks over a network connection.
    Net,
    /// The same, through a pipe (`splice`).
    Netsplice,
    /// Objects of a store, over HTTP.
    Http,
    /// Bursts of work for the processor instead of I/O.
    Cpuio,
    /// A program that runs as long as the job.
    Exec,
    /// No device: every operation completes at once.
    Null,
    /// A modelled volume instead of a device.
    Model,
    /// Creation of files, without I/O.
    Filecreate,
    /// `stat` of files.
    Filestat,
    /// Deletion of files.
    Filedelete,
    /// Creation of directories.
    Dircreate,
    /// `stat` of directories.
    Dirstat,
    /// Deletion of directories.
    Dirdelete,
    /// `ftruncate` to the offset of each write.
    Ftruncate,
    /// `fallocate` of the range of each operation.
    Falloc,
    /// Exchange of extents with a donor file of ext4.
    E4defrag,
}

/// The call of an engine whose operations work on the names of files or directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameCall {
    /// What the call does.
    pub action: NameAction,
    /// Whether the names are those of directories.
    pub directory: bool,
}

/// What a call does with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameAction {
    /// Creates it.
    Create,
    /// Looks it up.
    Stat,
    /// Deletes it.
    Delete,
}

/// System calls that look up a name (`stat_type`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatCall {
    /// `stat`.
    #[default]
    Stat,
    /// `lstat`.
    Lstat,
    /// `statx`.
    Statx,
}

impl EngineKind {
    /// All engines that need nothing but files, and `null`.
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

    /// Returns fio's name of the engine.
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
            Self::Posixaio => "posixaio",
            Self::Splice => "splice",
            Self::Mmap => "mmap",
            Self::Sg => "sg",
            Self::Nbd => "nbd",
            Self::Net => "net",
            Self::Netsplice => "netsplice",
            Self::Http => "http",
            Self::Cpuio => "cpuio",
            Self::Exec => "exec",
            Self::Null => "null",
            Self::Model => "model",
            Self::Filecreate => "filecreate",
            Self::Filestat => "filestat",
            Self::Filedelete => "filedelete",
            Self::Dircreate => "dircreate",
            Self::Dirstat => "dirstat",
            Self::Dirdelete => "dirdelete",
            Self::Ftruncate => "ftruncate",
            Self::Falloc => "falloc",
            Self::E4defrag => "e4defrag",
        }
    }

    /// Returns the call on names that the engine measures; `None` if it transfers data.
    #[must_use]
    pub const fn name_call(self) -> Option<NameCall> {
        let (action, directory) = match self {
            Self::Filecreate => (NameAction::Create, false),
            Self::Filestat => (NameAction::Stat, false),
            Self::Filedelete => (NameAction::Delete, false),
            Self::Dircreate => (NameAction::Create, true),
            Self::Dirstat => (NameAction::Stat, true),
            Self::Dirdelete => (NameAction::Delete, true),
            _ => return None,
        };
        Some(NameCall { action, directory })
    }

    /// Reports whether operations send or receive blocks over a connection.
    #[must_use]
    pub const fn is_of_network(self) -> bool {
        matches!(self, Self::Net | Self::Netsplice)
    }

    /// Reports whether operations read, write or delete objects of a store.
    #[must_use]
    pub const fn is_of_objects(self) -> bool {
        matches!(self, Self::Http)
    }

    /// Reports whether a server has what the engine uses, so that there are no files on this host.
    #[must_use]
    pub const fn is_remote(self) -> bool {
        matches!(self, Self::Nbd) || self.is_of_objects()
    }

    /// Reports whether operations only take time: they transfer nothing.
    #[must_use]
    pub const fn moves_nothing(self) -> bool {
        matches!(self, Self::Cpuio | Self::Exec)
    }

    /// Reports whether the engine uses neither files nor devices.
    #[must_use]
    pub const fn has_no_storage(self) -> bool {
        matches!(self, Self::Null) || self.moves_nothing() || self.is_of_network()
    }

    /// Reports whether the job's files are files of this host, which can be removed after it.
    #[must_use]
    pub const fn has_files(self) -> bool {
        !self.has_no_storage() && !self.is_of_objects() && !matches!(self, Self::IoUringCmd | Self::Sg)
    }

    /// Reports whether operations change metadata only: of names, or the size or allocation of files.
    #[must_use]
    pub const fn is_of_metadata(self) -> bool {
        self.name_call().is_some() || matches!(self, Self::Ftruncate | Self::Falloc | Self::E4defrag)
    }

    /// Reports whether helper threads can carry out its operations.
    #[must_use]
    pub const fn can_be_offloaded(self) -> bool {
        matches!(
            self,
            Self::IoUring
                | Self::Libaio
                | Self::Posixaio
                | Self::Psync
                | Self::Sync
                | Self::Vsync
                | Self::Pvsync
                | Self::Pvsync2
                | Self::Splice
                | Self::Ftruncate
                | Self::Falloc
                | Self::Null
                | Self::Model
        )
    }

    /// Reports whether more than one operation can be in flight, as also with fio's `null`.
    #[must_use]
    pub const fn is_async(self) -> bool {
        matches!(
            self,
            Self::IoUring
                | Self::IoUringCmd
                | Self::Libaio
                | Self::Posixaio
                | Self::Sg
                | Self::Nbd
                | Self::Null
                | Self::Model
        )
    }
}

/// An engine and its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineSpec {
    /// The engine.
    pub kind: EngineKind,
    /// `O_DIRECT`: bypass the page cache.
    pub direct: bool,
    /// Submission by helper threads, one for each operation in flight (`io_submit_mode=offload`).
    pub offloads: bool,
    /// Polled completions (`hipri`).
    pub hipri: bool,
    /// Buffers registered with the kernel (`fixedbufs`).
    pub fixedbufs: bool,
    /// Files registered with the kernel (`registerfiles`).
    pub registerfiles: bool,
    /// Submission by a kernel thread (`sqthread_poll`).
    pub sqthread_poll: bool,
    /// Processor of that thread.
    pub sqthread_poll_cpu: Option<u32>,
    /// Memory type of buffers.
    pub mem: BufferMemory,
    /// Alignment of buffers in bytes; Fathom aligns to at least 4096.
    pub iomem_align: u32,
    /// The modelled volume that replaces the files (`volume`), in the syntax of the catalogue.
    pub volume: Option<String>,
    /// Address of the export that replaces the files (`uri`).
    pub uri: Option<String>,
    /// Vectored reads and writes (`nonvectored=0`, `libaio_vectored`).
    pub vectored: bool,
    /// Number of operations of which one is executed asynchronously by the kernel (`force_async`); 0 for none.
    pub force_async: u32,
    /// Operations that would block fail with `EAGAIN` (`RWF_NOWAIT`).
    pub nowait: bool,
    /// Data do not stay in the page cache (`RWF_DONTCACHE`).
    pub uncached: bool,
    /// Writes are stored completely or not at all (`RWF_ATOMIC`).
    pub atomic: bool,
    /// Percentage of the operations that are polled, with `hipri` and `pvsync2`.
    pub hipri_percentage: u32,
    /// Mappings use transparent huge pages (`thp`).
    pub thp: bool,
    /// Size of the huge pages of buffers, in bytes (`hugepage-size`).
    pub hugepage_bytes: u32,
    /// The call of `filestat` and `dirstat` (`stat_type`).
    pub stat_call: StatCall,
    /// Connection of `net` and `netsplice`.
    pub network: NetworkOptions,
    /// Store of `http`.
    pub objects: ObjectStoreOptions,
    /// Reads come from the medium (`readfua`).
    pub read_fua: bool,
    /// Writes are on the medium when they complete (`writefua`).
    pub write_fua: bool,
    /// Commands of `io_uring_cmd`.
    pub nvme: NvmeOptions,
    /// Load of `cpuio`.
    pub processor: ProcessorLoad,
    /// Donor file of `e4defrag`.
    pub defragment: DefragmentOptions,
    /// Commands of `sg`.
    pub scsi: ScsiOptions,
    /// Program of `exec`.
    pub program: ProgramOptions,
}

impl EngineSpec {
    /// Reports whether writes change what the target holds.
    #[must_use]
    pub fn writes_change(&self) -> bool {
        self.kind != EngineKind::IoUringCmd || self.nvme.changes()
    }
}

impl Default for EngineSpec {
    fn default() -> Self {
        Self {
            kind: EngineKind::default(),
            direct: false,
            offloads: false,
            hipri: false,
            fixedbufs: false,
            registerfiles: false,
            sqthread_poll: false,
            sqthread_poll_cpu: None,
            mem: BufferMemory::default(),
            iomem_align: 0,
            volume: None,
            uri: None,
            vectored: false,
            force_async: 0,
            nowait: false,
            uncached: false,
            atomic: false,
            hipri_percentage: 100,
            thp: false,
            hugepage_bytes: 2 << 20,
            stat_call: StatCall::default(),
            network: NetworkOptions::default(),
            objects: ObjectStoreOptions::default(),
            read_fua: false,
            write_fua: false,
            nvme: NvmeOptions::default(),
            processor: ProcessorLoad::default(),
            defragment: DefragmentOptions::default(),
            scsi: ScsiOptions::default(),
            program: ProgramOptions::default(),
        }
    }
}

/// Memory types of buffers (`mem`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BufferMemory {
    /// The heap.
    #[default]
    Malloc,
    /// System V shared memory.
    Shm,
    /// System V shared memory on huge pages.
    ShmHuge,
    /// An anonymous mapping.
    Mmap,
    /// An anonymous mapping on huge pages.
    MmapHuge,
    /// A shared mapping.
    MmapShared,
}
