//! The checks, each with its source document.

use schemars::JsonSchema;
use serde::Serialize;

/// Declares the checks, each with a name and a source.
macro_rules! checks {
    ($($name:ident $id:literal $source:literal $doc:literal;)+) => {
        /// A check of the host or of a device.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
        pub enum Check {
            $(#[doc = $doc] #[serde(rename = $id)] $name,)+
        }

        impl Check {
            /// All checks, in display order.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Returns the name for programs and links.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Self::$name => $id,)+ }
            }

            /// Returns the document that the check is based on.
            #[must_use]
            pub const fn source(self) -> &'static str {
                match self { $(Self::$name => $source,)+ }
            }
        }
    };
}

checks! {
    CgroupLimits "cgroup-limits" "kernel: admin-guide/cgroup-v2.rst, cgroup-v1/blkio-controller.rst"
        "Limits that the process's cgroups set on a device.";
    Scheduler "scheduler" "Google: Optimizing persistent disk and local SSD performance; kernel: block/switching-sched.rst"
        "I/O scheduler.";
    NrRequests "nr-requests" "kernel: ABI/stable/sysfs-block; From 2K to 160K fio IOPS (queue depths)"
        "Requests that may be queued for a device.";
    DeviceDepth "device-depth" "kernel: scsi/scsi_mid_low_api.rst"
        "Queue depth of a SCSI device.";
    HardwareQueues "hardware-queues" "Google: Optimizing persistent disk and local SSD performance (multi-queue SCSI); kernel: block/blk-mq.rst"
        "Number of hardware queues relative to CPUs.";
    QueueSpread "queue-spread" "kernel: block/blk-mq.rst"
        "Distribution of CPUs over hardware queues.";
    InterruptSpread "interrupt-spread" "Google: Optimizing persistent disk and local SSD performance (guest environment); kernel: core-api/irq/irq-affinity.rst"
        "CPUs that handle the queues' interrupts.";
    RqAffinity "rq-affinity" "kernel: ABI/stable/sysfs-block"
        "CPUs that handle completions.";
    Rotational "rotational" "kernel: ABI/stable/sysfs-block; IOPS and latency are not related - HDD performance explored"
        "Moving parts.";
    WriteCache "write-cache" "Google: Optimizing persistent disk and local SSD performance (cache flushing); kernel: block/writeback_cache_control.rst"
        "Write cache of the device, and writes that bypass it.";
    MaxSectors "max-request" "kernel: ABI/stable/sysfs-block"
        "Maximum request size.";
    NoMerges "merges" "kernel: ABI/stable/sysfs-block"
        "Whether adjacent requests are merged.";
    BlockSize "block-size" "kernel: ABI/stable/sysfs-block"
        "Logical and physical block size.";
    Alignment "alignment" "kernel: ABI/stable/sysfs-block (alignment_offset, optimal_io_size)"
        "Alignment of partitions and devices to blocks.";
    DiscardSupport "discard-support" "kernel: ABI/stable/sysfs-block"
        "Whether the device supports discards.";
    IoStats "iostats" "kernel: ABI/stable/sysfs-block, admin-guide/iostats.rst"
        "Whether the kernel counts operations.";
    Polling "polling" "kernel: ABI/stable/sysfs-block (io_poll)"
        "Queues that can be polled.";
    NumaNode "numa-node" "kernel: ABI/stable/sysfs-devices-node"
        "NUMA node of the device.";
    Raid "raid" "kernel: admin-guide/md.rst"
        "Missing disks of a RAID array.";
    LoopDirect "loop-direct" "man 8 losetup"
        "Whether a loop device bypasses the page cache.";
    ReadAhead "read-ahead" "Google: Optimizing persistent disk and local SSD performance (readahead cache)"
        "Readahead of the kernel.";
    DiscardOption "discard" "Google: Optimizing persistent disk and local SSD performance (DISCARD commands)"
        "Whether the filesystem discards free blocks.";
    LazyInit "lazy-init" "Google: Optimizing persistent disk and local SSD performance (lazy initialization); kernel: admin-guide/ext4.rst"
        "Whether lazy initialization of a filesystem is still running.";
    Barrier "barriers" "Google: Optimizing persistent disk and local SSD performance (cache flushing); kernel: admin-guide/ext4.rst"
        "Whether the filesystem flushes the device's write cache.";
    AccessTimes "access-times" "man 8 mount"
        "Whether reads cause writes of access times.";
    SyncOption "synchronous" "man 8 mount; kernel: admin-guide/ext4.rst"
        "Whether mount options make every write synchronous, or double it.";
    Stripe "stripe" "kernel: admin-guide/ext4.rst (stripe)"
        "Whether the filesystem knows the stripe size of the RAID below it.";
    Fullness "fullness" "kernel: filesystems/ext4/allocators.rst"
        "Free space in the filesystem.";
    Kernel "kernel" "Google: Optimizing persistent disk and local SSD performance (multi-queue since 3.19); man 7 io_uring"
        "Kernel release.";
    FreeCpus "free-cpus" "Google: Optimizing persistent disk and local SSD performance (free CPUs)"
        "Idle CPUs.";
    Governor "governor" "kernel: admin-guide/pm/cpufreq.rst"
        "CPU frequency governor.";
    NativeAio "libaio" "kernel: admin-guide/sysctl/fs.rst (aio-nr, aio-max-nr)"
        "Free slots for libaio operations.";
    IoUring "io-uring" "kernel: admin-guide/sysctl/kernel.rst (io_uring_disabled)"
        "Permission to use io_uring.";
    DirtyPages "dirty-pages" "kernel: admin-guide/sysctl/vm.rst"
        "Dirty pages that may accumulate in memory.";
    Swap "swap" "kernel: admin-guide/sysctl/vm.rst"
        "Memory that has been swapped out.";
}
