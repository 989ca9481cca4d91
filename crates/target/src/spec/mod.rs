//! What carries out the operations of a worker, with all its settings.
//!
//! An [`EngineSpec`] is filled by `job` and consumed by `engine`: nothing between them translates it. Options may stand
//! before `ioengine`, and those of a global section hold for jobs of several engines, so it has the settings of all of them,
//! and [`EngineKind`] chooses.

mod defragment;
mod host;
mod network;
mod nvme;
mod object_store;
mod processor;
mod program;
mod scsi;

pub use defragment::DefragmentOptions;
pub use host::{CacheAdvice, Fallocate, NumaMemory, NumaNodes, OpenSync, SyncRangeFlags};
pub use network::{NetworkOptions, NetworkProtocol};
pub use nvme::{NvmeOptions, NvmeWrite, PlacementKind, PlacementOptions, PlacementSelect, ProtectionFields};
pub use object_store::{ObjectStoreMode, ObjectStoreOptions, Secret, StoreEncryption};
pub use processor::{ProcessorLoad, ProcessorWork};
pub use program::ProgramOptions;
pub use scsi::{ScsiOptions, ScsiWriteCommand};

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
    /// Bursts of work for the CPU instead of I/O.
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
    /// Whether the names are directories.
    pub directory: bool,
}

/// What a call does with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameAction {
    Create,
    /// Looks it up.
    Stat,
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

    /// Returns what the engine is: one row for each.
    #[must_use]
    pub const fn traits(self) -> EngineTraits {
        use NameAction::{Create, Delete, Stat};
        match self {
            Self::IoUring => EngineTraits::of("io_uring", EngineSubject::Files).with_queue().offloadable(),
            Self::IoUringCmd => EngineTraits::of("io_uring_cmd", EngineSubject::Namespaces).with_queue(),
            Self::Libaio => EngineTraits::of("libaio", EngineSubject::Files).with_queue().offloadable(),
            Self::Psync => EngineTraits::of("psync", EngineSubject::Files).offloadable(),
            Self::Sync => EngineTraits::of("sync", EngineSubject::Files).offloadable(),
            Self::Vsync => EngineTraits::of("vsync", EngineSubject::Files).offloadable(),
            Self::Pvsync => EngineTraits::of("pvsync", EngineSubject::Files).offloadable(),
            Self::Pvsync2 => EngineTraits::of("pvsync2", EngineSubject::Files).offloadable(),
            Self::Posixaio => EngineTraits::of("posixaio", EngineSubject::Files).with_queue().offloadable(),
            Self::Splice => EngineTraits::of("splice", EngineSubject::Files).offloadable(),
            Self::Mmap => EngineTraits::of("mmap", EngineSubject::Files),
            Self::Sg => EngineTraits::of("sg", EngineSubject::Disks).with_queue(),
            Self::Nbd => EngineTraits::of("nbd", EngineSubject::Export).with_queue(),
            Self::Net => EngineTraits::of("net", EngineSubject::Peer),
            Self::Netsplice => EngineTraits::of("netsplice", EngineSubject::Peer),
            Self::Http => EngineTraits::of("http", EngineSubject::Objects),
            Self::Cpuio => EngineTraits::of("cpuio", EngineSubject::Time),
            Self::Exec => EngineTraits::of("exec", EngineSubject::Time),
            Self::Null => EngineTraits::of("null", EngineSubject::Nothing).with_queue().offloadable(),
            Self::Model => EngineTraits::of("model", EngineSubject::Volume).with_queue().offloadable(),
            Self::Filecreate => EngineTraits::of_names("filecreate", Create, false),
            Self::Filestat => EngineTraits::of_names("filestat", Stat, false),
            Self::Filedelete => EngineTraits::of_names("filedelete", Delete, false),
            Self::Dircreate => EngineTraits::of_names("dircreate", Create, true),
            Self::Dirstat => EngineTraits::of_names("dirstat", Stat, true),
            Self::Dirdelete => EngineTraits::of_names("dirdelete", Delete, true),
            Self::Ftruncate => EngineTraits::of("ftruncate", EngineSubject::Files).on_metadata().offloadable(),
            Self::Falloc => EngineTraits::of("falloc", EngineSubject::Files).on_metadata().offloadable(),
            Self::E4defrag => EngineTraits::of("e4defrag", EngineSubject::Files).on_metadata(),
        }
    }

    /// Returns fio's name of the engine.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.traits().name
    }

    /// Returns the call on names that the engine measures; `None` if it transfers data.
    #[must_use]
    pub const fn name_call(self) -> Option<NameCall> {
        if let EngineSubject::Names(call) = self.traits().subject { Some(call) } else { None }
    }

    /// Reports whether operations send or receive blocks over a connection.
    #[must_use]
    pub const fn is_of_network(self) -> bool {
        matches!(self.traits().subject, EngineSubject::Peer)
    }

    /// Reports whether operations read, write or delete objects of a store.
    #[must_use]
    pub const fn is_of_objects(self) -> bool {
        matches!(self.traits().subject, EngineSubject::Objects)
    }

    /// Reports whether a server has what the engine uses, so that there are no files on this host.
    #[must_use]
    pub const fn is_remote(self) -> bool {
        matches!(self.traits().subject, EngineSubject::Export | EngineSubject::Objects)
    }

    /// Reports whether operations only take time: they transfer nothing.
    #[must_use]
    pub const fn moves_nothing(self) -> bool {
        matches!(self.traits().subject, EngineSubject::Time)
    }

    /// Reports whether the engine uses neither files nor devices.
    #[must_use]
    pub const fn has_no_storage(self) -> bool {
        matches!(self.traits().subject, EngineSubject::Nothing | EngineSubject::Time | EngineSubject::Peer)
    }
}

/// Properties of an engine, independent of its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineTraits {
    /// fio's name.
    pub name: &'static str,
    /// What operations work on.
    pub subject: EngineSubject,
    /// Whether more than one operation can be in flight, as also with fio's `null`.
    pub queues: bool,
    /// Whether helper threads can carry out its operations.
    pub offloads: bool,
    /// Whether operations change metadata only: of names, or the size or allocation of files.
    pub metadata: bool,
}

/// What the operations of an engine work on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineSubject {
    /// Nothing: they complete at once.
    Nothing,
    /// Nothing, for a time.
    Time,
    /// The peer of a connection.
    Peer,
    /// Objects of a store.
    Objects,
    /// An export of a server.
    Export,
    /// Namespaces of NVMe controllers, by commands.
    Namespaces,
    /// SCSI disks, by commands.
    Disks,
    /// Files and block devices.
    Files,
    /// Names of files or directories.
    Names(NameCall),
    /// A modelled volume.
    Volume,
}

impl EngineTraits {
    const fn of(name: &'static str, subject: EngineSubject) -> Self {
        Self { name, subject, queues: false, offloads: false, metadata: false }
    }

    const fn of_names(name: &'static str, action: NameAction, directory: bool) -> Self {
        Self::of(name, EngineSubject::Names(NameCall { action, directory })).on_metadata()
    }

    const fn with_queue(self) -> Self {
        Self { queues: true, ..self }
    }

    const fn offloadable(self) -> Self {
        Self { offloads: true, ..self }
    }

    const fn on_metadata(self) -> Self {
        Self { metadata: true, ..self }
    }

    /// Reports whether the job's files are files of this host, which can be removed after it.
    #[must_use]
    pub const fn has_files(self) -> bool {
        matches!(
            self.subject,
            EngineSubject::Files | EngineSubject::Names(_) | EngineSubject::Export | EngineSubject::Volume
        )
    }
}

/// An engine and its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineSpec {
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
