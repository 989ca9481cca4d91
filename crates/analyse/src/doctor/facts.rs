//! Facts about a host and a storage stack: the input of the rules.

use serde::Serialize;

/// A figure, or why it is not known.
pub type Known<T> = Result<T, UnreadFact>;

/// Reason why a figure is unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnreadFact {
    /// The file that would tell.
    pub path: String,
    /// Why it does not.
    #[serde(flatten)]
    pub why: UnreadCause,
}

/// Reason why a file could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "why", content = "text")]
pub enum UnreadCause {
    /// There is none of that name.
    Missing,
    /// This user may not read it.
    Denied,
    /// There is nothing in it.
    Empty,
    /// It holds something else than it should; this is its beginning.
    Foreign(String),
    /// It leads out of the directory that stands for the host.
    Outside,
    /// The system's refusal.
    Failed(String),
    /// Only the running host can tell, and a copy of its files was asked.
    Copy,
}

/// The number of a device: major and minor.
pub type Number = (u32, u32);

/// The storage stack under a name: a filesystem and the devices under it, or what there is instead.
#[derive(Clone, Debug, Default)]
pub struct DoctorSubject {
    /// The name as it was asked for.
    pub asked: String,
    /// The filesystem that it is in, or those that are mounted from the device.
    pub filesystems: Vec<FilesystemFacts>,
    /// The devices, the highest first.
    pub layers: Vec<LayerFacts>,
    /// The partitions of a disk that was asked for itself.
    pub parts: Vec<LayerFacts>,
    /// How far the kernel reads ahead of buffered readers of the highest device, in bytes.
    pub read_ahead_bytes: Option<Known<u64>>,
    /// What is there in place of a block device.
    pub bottom: Option<Bottom>,
}

/// The lowest layer of a stack, if it is no block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bottom {
    /// Files are in memory.
    Memory,
    /// Files are on another host.
    Network,
    /// Files are those of the host of this virtual machine, or of a program.
    Elsewhere,
    /// Files are made up by the kernel.
    Kernel,
    /// A pool of its own kind of devices, as of ZFS.
    Pool,
    /// Layers of other filesystems that cannot be seen from here.
    Layers,
    /// A device that the host does not show.
    Hidden,
}

/// A mounted filesystem.
#[derive(Clone, Debug)]
pub struct FilesystemFacts {
    /// Where it is mounted.
    pub at: String,
    /// Its type, such as `ext4`.
    pub kind: String,
    /// The options of the mount and of the filesystem.
    pub options: Vec<String>,
    /// All options in force, those that are defaults too; of ext4 only.
    pub ext4_options: Option<Known<Vec<String>>>,
    /// Whether inode tables of ext4 filesystems are still being filled.
    pub initialising: Known<bool>,
    /// Whether filesystems are trimmed from time to time.
    pub trimmed_regularly: bool,
    /// Its size in bytes, and how much of it is free.
    pub capacity_bytes: Known<(u64, u64)>,
}

/// A device.
#[derive(Clone, Debug)]
pub struct LayerFacts {
    /// Its name in `/dev`.
    pub name: String,
    /// Its number.
    pub number: Number,
    /// Its size in bytes.
    pub bytes: u64,
    /// What it is, with what matters of its kind.
    pub kind: FactLayerKind,
}

/// A kind of device.
#[derive(Clone, Debug)]
pub enum FactLayerKind {
    /// A part of a disk.
    Partition {
        /// The disk.
        disk: String,
        /// Its first sector of 512 bytes.
        first_sector: Known<u64>,
    },
    /// Made by the device mapper.
    Mapping {
        /// What it is called there.
        name: String,
        /// The kind of mapping: `LVM`, `CRYPT`; may be empty.
        kind: String,
    },
    /// Made by the RAID driver: the level, and how many disks are missing.
    Raid(Known<(String, u64)>),
    /// A file as a device.
    Loop {
        /// The file.
        file: String,
        /// Whether it bypasses the page cache.
        direct: Known<bool>,
        /// Where the data begin in the file, in bytes.
        offset_bytes: Known<u64>,
    },
    /// A disk, as far as the host can see.
    Disk(Box<DiskFacts>),
}

/// A disk and its queue. The figures are those of the kernel's `Documentation/ABI/stable/sysfs-block`.
#[derive(Clone, Debug)]
pub struct DiskFacts {
    /// Its name in `/dev`.
    pub name: String,
    /// What its maker calls it; may be empty.
    pub model: String,
    /// Its driver; may be empty.
    pub driver: String,
    /// The scheduler that is chosen, and all that can be.
    pub scheduler: Known<(String, Vec<String>)>,
    /// Requests that may wait in each hardware queue.
    pub nr_requests: Known<u64>,
    /// Commands that a SCSI device takes at a time.
    pub device_depth: Known<u64>,
    /// The least size of an operation in bytes.
    pub logical_block_bytes: Known<u64>,
    /// The size of the blocks of the medium in bytes.
    pub physical_block_bytes: Known<u64>,
    /// The size at which it works best in bytes; zero where it does not tell.
    pub optimal_io_bytes: Known<u64>,
    /// How far it is from being aligned itself, in bytes.
    pub alignment_offset_bytes: Known<i64>,
    /// Whether it says that it has moving parts.
    pub rotational: Known<bool>,
    /// `write back` or `write through`.
    pub write_cache: Known<String>,
    /// Whether single writes can be made durable.
    pub fua: Known<bool>,
    /// On which processor completions are handled.
    pub rq_affinity: Known<u64>,
    /// Whether requests are merged.
    pub nomerges: Known<u64>,
    /// The largest request in KiB.
    pub max_sectors_kb: Known<u64>,
    /// The largest request that the device takes in KiB.
    pub max_hw_sectors_kb: Known<u64>,
    /// The largest discard in bytes.
    pub discard_max_bytes: Known<u64>,
    /// The largest discard that the device takes in bytes.
    pub discard_max_hw_bytes: Known<u64>,
    /// The unit of discards in bytes.
    pub discard_granularity_bytes: Known<u64>,
    /// Whether operations are counted.
    pub iostats: Known<bool>,
    /// Whether there are queues that can be polled.
    pub polls: Known<bool>,
    /// The processors of each hardware queue.
    pub hardware_queues: Known<Vec<Vec<u32>>>,
    /// The interrupts of its queues.
    pub interrupts: Known<Vec<InterruptFacts>>,
    /// The memory node that it is attached to; `None` where there is no such notion.
    pub node: Known<Option<u32>>,
}

/// An interrupt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterruptFacts {
    /// Its number.
    pub number: u32,
    /// The processors that handle it.
    pub cpus: Vec<u32>,
}

/// Words in the models of disks that are not there: those of cloud providers and of hypervisors.
const VIRTUAL_MODELS: [&str; 11] = [
    "persistent",
    "nvme_card-pd",
    "amazon elastic",
    "virtual",
    "qemu",
    "vbox",
    "vmware",
    "msft",
    "volume",
    "hyperdisk",
    "nutanix",
];

impl DiskFacts {
    /// Whether a hypervisor or a provider made it, so that what it says of its parts need not be so.
    #[must_use]
    pub fn is_virtual(&self) -> bool {
        let model = self.model.to_lowercase();
        let by_driver = self.driver.starts_with("virtio") || self.driver.starts_with("xen") || self.driver == "vbd";
        by_driver
            || self.name.starts_with("vd")
            || self.name.starts_with("xvd")
            || VIRTUAL_MODELS.iter().any(|word| model.contains(word))
    }

    /// Whether it speaks NVMe.
    #[must_use]
    pub fn is_nvme(&self) -> bool {
        self.name.starts_with("nvme") || self.driver.starts_with("nvme")
    }

    /// Whether it has moving parts, by what it says and by what else is known of it.
    #[must_use]
    pub fn is_mechanical(&self) -> bool {
        self.rotational == Ok(true) && !self.is_virtual() && !self.is_nvme()
    }
}

/// The host.
#[derive(Clone, Debug)]
pub struct HostFacts {
    /// The release of its kernel.
    pub kernel: Known<String>,
    /// The processors that run.
    pub online_cpus: Known<Vec<u32>>,
    /// The processors that this process may use.
    pub allowed_cpus: Known<Vec<u32>>,
    /// The mean number of tasks that ran or waited during the last minute.
    pub load: Known<f64>,
    /// The share of the last minute in which tasks waited for a processor.
    pub cpu_pressure: Known<f64>,
    /// The memory nodes with the processors of each.
    pub nodes: Known<Vec<(u32, Vec<u32>)>>,
    /// The governors of the processors' frequency and their driver.
    pub governors: Known<(Vec<String>, String)>,
    /// Operations of libaio that are asked room for, and the most that may be.
    pub native_operations: Known<(u64, u64)>,
    /// Who may use io_uring.
    pub rings: Known<RingFacts>,
    /// Whether a filter of system calls is on this process.
    pub filtered: bool,
    /// From how many dirty bytes on the kernel writes back, and from how many on writers wait.
    pub dirty: Known<(u64, u64)>,
    /// What memory is swapped to.
    pub swaps: Known<Vec<SwapFacts>>,
    /// Limits on I/O of the cgroup of this process and of those above.
    pub io_limits: Known<Vec<IoLimitFacts>>,
}

/// Restrictions of io_uring (`Documentation/admin-guide/sysctl/kernel.rst`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingFacts {
    /// 0: all users; 1: privileged users and one group; 2: none.
    pub disabled: u64,
    /// Whether this process is privileged or in the group.
    pub member: bool,
}

/// Swap devices and files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwapFacts {
    /// The device or file.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// How much of it is in use.
    pub used_bytes: u64,
}

/// A limit on I/O that a cgroup sets (`Documentation/admin-guide/cgroup-v2.rst`, `cgroup-v1/blkio-controller.rst`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoLimitFacts {
    /// The file that sets it.
    pub file: String,
    /// Which device; `None` for all.
    pub device: Option<Number>,
    /// What is limited, in the kernel's words.
    pub key: String,
    /// The limit.
    pub value: u64,
}
