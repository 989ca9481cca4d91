//! What is read about a host and its block devices: values of `/proc` and `/sys`, each with the reason if it is unknown.
//! `probe` reads them, and `analyse::doctor` judges them. The reasons are part of printed documents.

use schemars::JsonSchema;
use serde::Serialize;

/// Major and minor device number.
pub type Number = (u32, u32);

/// A value, or the reason why it is unknown.
pub type Reading<T> = Result<T, UnreadFact>;

/// Reason why a fact is unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnreadFact {
    /// Path of the file that holds the fact.
    pub path: String,
    #[serde(flatten)]
    pub why: UnreadCause,
}

/// Cause of a failed read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
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

/// The lowest layer of a stack without a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StackBottom {
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

/// Settings of a disk's queue (`Documentation/ABI/stable/sysfs-block`).
#[derive(Clone, Debug)]
pub struct BlockQueue {
    /// Active scheduler and all available ones.
    pub scheduler: Reading<(String, Vec<String>)>,
    /// Requests that each hardware queue can hold.
    pub nr_requests: Reading<u64>,
    /// Queue depth of a SCSI device.
    pub device_depth: Reading<u64>,
    /// Logical block size in bytes.
    pub logical_block_bytes: Reading<u64>,
    /// Physical block size in bytes.
    pub physical_block_bytes: Reading<u64>,
    /// Optimal I/O size in bytes; zero if the device reports none.
    pub optimal_io_bytes: Reading<u64>,
    /// Misalignment of the device in bytes.
    pub alignment_offset_bytes: Reading<i64>,
    /// Whether the device reports moving parts.
    pub rotational: Reading<bool>,
    /// `write back` or `write through`.
    pub write_cache: Reading<String>,
    /// Whether the device supports forced unit access.
    pub fua: Reading<bool>,
    /// Placement of completions on CPUs.
    pub rq_affinity: Reading<u64>,
    /// Restriction of merging; 0 if requests are merged.
    pub nomerges: Reading<u64>,
    /// Maximum request size in KiB.
    pub max_sectors_kb: Reading<u64>,
    /// Maximum request size that the hardware supports, in KiB.
    pub max_hw_sectors_kb: Reading<u64>,
    /// Maximum discard size in bytes.
    pub discard_max_bytes: Reading<u64>,
    /// Maximum discard size that the hardware supports, in bytes.
    pub discard_max_hw_bytes: Reading<u64>,
    /// Granularity of discards in bytes.
    pub discard_granularity_bytes: Reading<u64>,
    /// Whether the kernel counts operations.
    pub iostats: Reading<bool>,
    /// Whether the device has queues that can be polled.
    pub polls: Reading<bool>,
    /// CPUs of each hardware queue.
    pub hardware_queues: Reading<Vec<Vec<u32>>>,
}

/// An interrupt of a disk or its controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueInterrupt {
    /// Interrupt number.
    pub number: u32,
    /// Name given by its driver, such as `nvme0q1`; empty if unknown.
    pub name: String,
    /// CPUs that handle it.
    pub cpus: Vec<u32>,
}

/// Restrictions of io_uring (`Documentation/admin-guide/sysctl/kernel.rst`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingLimits {
    /// 0: all users; 1: privileged users and one group; 2: none.
    pub disabled: u64,
    /// Whether this process is privileged or in the group.
    pub member: bool,
}

/// Thresholds of dirty memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirtyMemory {
    /// Background writeback starts.
    pub background_bytes: u64,
    /// Writers are throttled.
    pub limit_bytes: u64,
}

/// A swap device or file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwapDevice {
    /// Path of the device or file.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Used bytes.
    pub used_bytes: u64,
}

/// An I/O limit of a cgroup (`Documentation/admin-guide/cgroup-v2.rst`, `cgroup-v1/blkio-controller.rst`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoLimit {
    /// File that sets the limit.
    pub file: String,
    /// Device; `None` for all devices.
    pub device: Option<Number>,
    /// The kernel's key for the limited quantity.
    pub key: String,
    /// The limit.
    pub value: u64,
}

impl IoLimit {
    /// Keys of limits on operations and bytes per second.
    pub const RATE_KEYS: [&str; 4] = ["riops", "wiops", "rbps", "wbps"];

    /// Reports whether it applies to a device.
    #[must_use]
    pub fn is_of(&self, device: Number) -> bool {
        self.device.is_none_or(|own| own == device)
    }

    /// Returns the strictest limit of a device by each of these keys, in their order.
    pub fn strictest<'a>(limits: &'a [Self], device: Number, keys: &'a [&str]) -> impl Iterator<Item = &'a Self> {
        keys.iter().filter_map(move |key| {
            limits.iter().filter(|limit| limit.key == *key && limit.is_of(device)).min_by_key(|limit| limit.value)
        })
    }
}
