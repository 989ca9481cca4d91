//! Facts about a host and a storage stack: the input of the rules.

use serde::Serialize;

/// A fact, or the reason why it is unknown.
pub type Known<T> = Result<T, UnreadFact>;

/// Reason why a fact is unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnreadFact {
    /// Path of the file that holds the fact.
    pub path: String,
    /// Cause.
    #[serde(flatten)]
    pub why: UnreadCause,
}

/// Cause of a failed read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "why", content = "text")]
pub enum UnreadCause {
    /// The file does not exist.
    Missing,
    /// The user lacks permission to read it.
    Denied,
    /// The file is empty.
    Empty,
    /// The content is invalid; this is its beginning.
    Foreign(String),
    /// The path leads out of the directory that represents the host.
    Outside,
    /// Another error of the system.
    Failed(String),
    /// Only a running host has the fact, and a copy of its files was examined.
    Copy,
}

/// Major and minor device number.
pub type Number = (u32, u32);

/// The storage stack of a path: filesystems and the devices below them, or what replaces a device.
#[derive(Clone, Debug, Default)]
pub struct DoctorSubject {
    /// Path as given by the user.
    pub asked: String,
    /// The filesystem that contains the path, or those mounted from the device.
    pub filesystems: Vec<FilesystemFacts>,
    /// Devices, top layer first.
    pub layers: Vec<LayerFacts>,
    /// Partitions of the disk, if the path names one.
    pub parts: Vec<LayerFacts>,
    /// Readahead of the top device for buffered reads, in bytes.
    pub read_ahead_bytes: Option<Known<u64>>,
    /// What the stack ends in instead of a block device.
    pub bottom: Option<Bottom>,
}

/// The lowest layer of a stack without a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bottom {
    /// Memory.
    Memory,
    /// A network filesystem.
    Network,
    /// Files of the virtual machine's host, or of a program.
    Elsewhere,
    /// Files that the kernel generates.
    Kernel,
    /// A pool with its own kind of devices, such as ZFS.
    Pool,
    /// Overlaid filesystems that are not visible here.
    Layers,
    /// A device that the host does not expose.
    Hidden,
}

/// A mounted filesystem.
#[derive(Clone, Debug)]
pub struct FilesystemFacts {
    /// Mount point.
    pub at: String,
    /// Type, such as `ext4`.
    pub kind: String,
    /// Options of the mount and of the filesystem.
    pub options: Vec<String>,
    /// All options in force including defaults; ext4 only.
    pub ext4_options: Option<Known<Vec<String>>>,
    /// Whether ext4 inode tables are still being initialized.
    pub initialising: Known<bool>,
    /// Whether filesystems are trimmed periodically.
    pub trimmed_regularly: bool,
    /// Total and free bytes.
    pub capacity_bytes: Known<(u64, u64)>,
}

/// One device of a stack.
#[derive(Clone, Debug)]
pub struct LayerFacts {
    /// Name in `/dev`.
    pub name: String,
    /// Device number.
    pub number: Number,
    /// Size in bytes.
    pub bytes: u64,
    /// Kind, with the facts specific to it.
    pub kind: FactLayerKind,
}

/// A kind of device.
#[derive(Clone, Debug)]
pub enum FactLayerKind {
    /// A partition of a disk.
    Partition {
        /// Name of the disk.
        disk: String,
        /// First sector, in units of 512 bytes.
        first_sector: Known<u64>,
    },
    /// A device of the device mapper.
    Mapping {
        /// Name in the device mapper.
        name: String,
        /// Kind of mapping: `LVM`, `CRYPT`; may be empty.
        kind: String,
    },
    /// A device of the RAID driver: its level and the number of missing disks.
    Raid(Known<(String, u64)>),
    /// A loop device.
    Loop {
        /// Backing file.
        file: String,
        /// Whether it bypasses the page cache.
        direct: Known<bool>,
        /// Offset of the data in the file, in bytes.
        offset_bytes: Known<u64>,
    },
    /// A disk, as the host sees it.
    Disk(Box<DiskFacts>),
}

/// A disk and its queue. The attributes are those of the kernel's `Documentation/ABI/stable/sysfs-block`.
#[derive(Clone, Debug)]
pub struct DiskFacts {
    /// Name in `/dev`.
    pub name: String,
    /// Model; may be empty.
    pub model: String,
    /// Driver; may be empty.
    pub driver: String,
    /// Active scheduler and all available ones.
    pub scheduler: Known<(String, Vec<String>)>,
    /// Requests that each hardware queue can hold.
    pub nr_requests: Known<u64>,
    /// Queue depth of a SCSI device.
    pub device_depth: Known<u64>,
    /// Logical block size in bytes.
    pub logical_block_bytes: Known<u64>,
    /// Physical block size in bytes.
    pub physical_block_bytes: Known<u64>,
    /// Optimal I/O size in bytes; zero if the device reports none.
    pub optimal_io_bytes: Known<u64>,
    /// Misalignment of the device in bytes.
    pub alignment_offset_bytes: Known<i64>,
    /// Whether the device reports moving parts.
    pub rotational: Known<bool>,
    /// `write back` or `write through`.
    pub write_cache: Known<String>,
    /// Whether the device supports forced unit access.
    pub fua: Known<bool>,
    /// Placement of completions on CPUs.
    pub rq_affinity: Known<u64>,
    /// Restriction of merging; 0 if requests are merged.
    pub nomerges: Known<u64>,
    /// Maximum request size in KiB.
    pub max_sectors_kb: Known<u64>,
    /// Maximum request size that the hardware supports, in KiB.
    pub max_hw_sectors_kb: Known<u64>,
    /// Maximum discard size in bytes.
    pub discard_max_bytes: Known<u64>,
    /// Maximum discard size that the hardware supports, in bytes.
    pub discard_max_hw_bytes: Known<u64>,
    /// Granularity of discards in bytes.
    pub discard_granularity_bytes: Known<u64>,
    /// Whether the kernel counts operations.
    pub iostats: Known<bool>,
    /// Whether the device has queues that can be polled.
    pub polls: Known<bool>,
    /// CPUs of each hardware queue.
    pub hardware_queues: Known<Vec<Vec<u32>>>,
    /// Interrupts of the queues.
    pub interrupts: Known<Vec<InterruptFacts>>,
    /// NUMA node; `None` if the device belongs to none.
    pub node: Known<Option<u32>>,
}

/// An interrupt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterruptFacts {
    /// Interrupt number.
    pub number: u32,
    /// CPUs that handle it.
    pub cpus: Vec<u32>,
}

/// Substrings in the models of virtual disks of cloud providers and hypervisors.
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
    /// Reports whether the disk is virtual, so that what it reports about its hardware may be wrong.
    #[must_use]
    pub fn is_virtual(&self) -> bool {
        let model = self.model.to_lowercase();
        let by_driver = self.driver.starts_with("virtio") || self.driver.starts_with("xen") || self.driver == "vbd";
        by_driver
            || self.name.starts_with("vd")
            || self.name.starts_with("xvd")
            || VIRTUAL_MODELS.iter().any(|word| model.contains(word))
    }

    /// Reports whether the disk is an NVMe device.
    #[must_use]
    pub fn is_nvme(&self) -> bool {
        self.name.starts_with("nvme") || self.driver.starts_with("nvme")
    }

    /// Reports whether the disk really has moving parts.
    #[must_use]
    pub fn is_mechanical(&self) -> bool {
        self.rotational == Ok(true) && !self.is_virtual() && !self.is_nvme()
    }
}

/// Facts about the host.
#[derive(Clone, Debug)]
pub struct HostFacts {
    /// Kernel release.
    pub kernel: Known<String>,
    /// Online CPUs.
    pub online_cpus: Known<Vec<u32>>,
    /// CPUs that this process may use.
    pub allowed_cpus: Known<Vec<u32>>,
    /// Load average of the last minute.
    pub load: Known<f64>,
    /// Fraction of the last minute in which tasks waited for a CPU.
    pub cpu_pressure: Known<f64>,
    /// NUMA nodes with their CPUs.
    pub nodes: Known<Vec<(u32, Vec<u32>)>>,
    /// CPU frequency governors and their driver.
    pub governors: Known<(Vec<String>, String)>,
    /// Reserved libaio operations and their system-wide maximum.
    pub native_operations: Known<(u64, u64)>,
    /// Restrictions of io_uring.
    pub rings: Known<RingFacts>,
    /// Whether a system call filter applies to this process.
    pub filtered: bool,
    /// Dirty bytes from which the kernel writes back, and from which writers are throttled.
    pub dirty: Known<(u64, u64)>,
    /// Swap devices and files.
    pub swaps: Known<Vec<SwapFacts>>,
    /// I/O limits of this process's cgroup and its ancestors.
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

/// A swap device or file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwapFacts {
    /// Path of the device or file.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Used bytes.
    pub used_bytes: u64,
}

/// An I/O limit of a cgroup (`Documentation/admin-guide/cgroup-v2.rst`, `cgroup-v1/blkio-controller.rst`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoLimitFacts {
    /// File that sets the limit.
    pub file: String,
    /// Device; `None` for all devices.
    pub device: Option<Number>,
    /// The kernel's key for the limited quantity.
    pub key: String,
    /// The limit.
    pub value: u64,
}
