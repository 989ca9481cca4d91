//! Facts about a host and a storage stack: the input of the rules.

use record::host::{
    BlockQueue, DirtyMemory, IoLimit, Number, QueueInterrupt, Reading, RingLimits, StackBottom, SwapDevice,
};

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
    pub read_ahead_bytes: Option<Reading<u64>>,
    /// What the stack ends in instead of a block device.
    pub bottom: Option<StackBottom>,
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
    pub ext4_options: Option<Reading<Vec<String>>>,
    /// Whether ext4 inode tables are still being initialized.
    pub initialising: Reading<bool>,
    /// Whether filesystems are trimmed periodically.
    pub trimmed_regularly: bool,
    /// Total and free bytes.
    pub capacity_bytes: Reading<(u64, u64)>,
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
        disk: String,
        /// First sector, in units of 512 bytes.
        first_sector: Reading<u64>,
    },
    /// A device of the device mapper.
    Mapping {
        /// Name in the device mapper.
        name: String,
        /// Kind of mapping: `LVM`, `CRYPT`; may be empty.
        kind: String,
    },
    /// A device of the RAID driver: its level and the number of missing disks.
    Raid(Reading<(String, u64)>),
    /// A loop device.
    Loop {
        /// Backing file.
        file: String,
        /// Whether it bypasses the page cache.
        direct: Reading<bool>,
        /// Offset of the data in the file, in bytes.
        offset_bytes: Reading<u64>,
    },
    /// A disk, as the host sees it.
    Disk(Box<DiskFacts>),
}

/// A disk and its queue. The attributes are documented in the kernel's `Documentation/ABI/stable/sysfs-block`.
#[derive(Clone, Debug)]
pub struct DiskFacts {
    /// Name in `/dev`.
    pub name: String,
    /// Model; may be empty.
    pub model: String,
    /// Driver; may be empty.
    pub driver: String,
    /// Settings of the queue.
    pub queue: BlockQueue,
    pub interrupts: Reading<Vec<QueueInterrupt>>,
    /// NUMA node; `None` if the device belongs to none.
    pub node: Reading<Option<u32>>,
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
        self.queue.rotational == Ok(true) && !self.is_virtual() && !self.is_nvme()
    }
}

/// Facts about the host.
#[derive(Clone, Debug)]
pub struct HostFacts {
    /// Kernel release.
    pub kernel: Reading<String>,
    pub online_cpus: Reading<Vec<u32>>,
    /// CPUs that this process may use.
    pub allowed_cpus: Reading<Vec<u32>>,
    /// Load average of the last minute.
    pub load: Reading<f64>,
    /// Fraction of the last minute in which tasks waited for a CPU.
    pub cpu_pressure: Reading<f64>,
    /// NUMA nodes with their CPUs.
    pub nodes: Reading<Vec<(u32, Vec<u32>)>>,
    /// CPU frequency governors and their driver.
    pub governors: Reading<(Vec<String>, String)>,
    /// Reserved libaio operations and their system-wide maximum.
    pub native_operations: Reading<(u64, u64)>,
    /// Restrictions of io_uring.
    pub rings: Reading<RingLimits>,
    /// Whether a system call filter applies to this process.
    pub filtered: bool,
    /// Dirty bytes from which the kernel writes back, and from which writers are throttled.
    pub dirty: Reading<DirtyMemory>,
    /// Swap devices and files.
    pub swaps: Reading<Vec<SwapDevice>>,
    /// I/O limits of this process's cgroup and its ancestors.
    pub io_limits: Reading<Vec<IoLimit>>,
}
