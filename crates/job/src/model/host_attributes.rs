//! What a job asks of the host for its workers: priorities, memory policy, user, and commands around it.

use target::spec::{NumaMemory, NumaNodes};
use units::Bytes;

use super::priority::IoPriority;

/// Attributes of the threads of a job's workers, and commands before and after each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostAttributes {
    /// CPU priority (`nice`); `None` to keep the process's.
    pub nice: Option<i32>,
    /// I/O priority, of best effort if its class is zero; `None` to keep the process's.
    pub io_priority: Option<IoPriority>,
    /// NUMA nodes whose CPUs run the workers; `None` for all.
    pub numa_cpu_nodes: Option<NumaNodes>,
    /// Policy by which the workers' memory is allocated.
    pub numa_memory: Option<NumaMemory>,
    /// User ID; `None` to keep the process's.
    pub uid: Option<u32>,
    /// Group ID; `None` to keep the process's.
    pub gid: Option<u32>,
    /// Memory that each worker locks while it runs.
    pub lockmem: Bytes,
    /// I/O scheduler of the devices below the files (`ioscheduler`).
    pub io_scheduler: Option<String>,
    /// Shell command before each worker begins (`exec_prerun`).
    pub before: Option<String>,
    /// Shell command after each worker has ended (`exec_postrun`).
    pub after: Option<String>,
    /// Control group of the workers.
    pub control_group: ControlGroupOptions,
}

/// The control group that a job puts its workers into (`cgroup*`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControlGroupOptions {
    /// Its name below the mount point; empty for none.
    pub name: String,
    /// Its weight for block I/O; `None` to leave it.
    pub weight: Option<u32>,
    /// Whether to leave it after the job.
    pub is_kept: bool,
}

impl HostAttributes {
    /// Returns the I/O priority of the workers as the kernel encodes it; `None` for the process's.
    #[must_use]
    pub fn raw_io_priority(&self) -> Option<u16> {
        let priority = self.io_priority?;
        let class = if priority.class == 0 { BEST_EFFORT } else { priority.class };
        Some(IoPriority { class, ..priority }.as_raw())
    }
}

/// I/O class of priorities without a class.
const BEST_EFFORT: u8 = 2;
