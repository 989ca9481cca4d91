//! All checks, each with its source document.

use serde::Serialize;

/// Declares the checks with their names and sources, so that none can be without.
macro_rules! checks {
    ($($name:ident $id:literal $source:literal $doc:literal;)+) => {
        /// A thing that is looked at.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        pub enum Check {
            $(#[doc = $doc] #[serde(rename = $id)] $name,)+
        }

        impl Check {
            /// All of them, in the order in which they are shown.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Its name for programs and links.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Self::$name => $id,)+ }
            }

            /// The document that it is from.
            #[must_use]
            pub const fn source(self) -> &'static str {
                match self { $(Self::$name => $source,)+ }
            }
        }
    };
}

checks! {
    CgroupLimits "cgroup-limits" "kernel: admin-guide/cgroup-v2.rst, cgroup-v1/blkio-controller.rst"
        "Limits that the cgroups of this process set on a device.";
    Scheduler "scheduler" "Google: Optimizing persistent disk and local SSD performance; kernel: block/switching-sched.rst"
        "The I/O scheduler.";
    NrRequests "nr-requests" "kernel: ABI/stable/sysfs-block; From 2K to 160K fio IOPS (queue depths)"
        "Requests that may wait for a device.";
    DeviceDepth "device-depth" "kernel: scsi/scsi_mid_low_api.rst"
        "Commands that a SCSI device takes at a time.";
    HardwareQueues "hardware-queues" "Google: Optimizing persistent disk and local SSD performance (multi-queue SCSI); kernel: block/blk-mq.rst"
        "Hardware queues against processors.";
    QueueSpread "queue-spread" "kernel: block/blk-mq.rst"
        "How processors share the hardware queues.";
    InterruptSpread "interrupt-spread" "Google: Optimizing persistent disk and local SSD performance (guest environment); kernel: core-api/irq/irq-affinity.rst"
        "Processors that handle the interrupts of the queues.";
    RqAffinity "rq-affinity" "kernel: ABI/stable/sysfs-block"
        "Processors that handle completions.";
    Rotational "rotational" "kernel: ABI/stable/sysfs-block; IOPS and latency are not related - HDD performance explored"
        "Moving parts.";
    WriteCache "write-cache" "Google: Optimizing persistent disk and local SSD performance (cache flushing); kernel: block/writeback_cache_control.rst"
        "The device's write cache, and writes that go past it.";
    MaxSectors "max-request" "kernel: ABI/stable/sysfs-block"
        "The largest request.";
    NoMerges "merges" "kernel: ABI/stable/sysfs-block"
        "Whether neighbouring requests are merged.";
    BlockSize "block-size" "kernel: ABI/stable/sysfs-block"
        "Logical and physical blocks.";
    Alignment "alignment" "kernel: ABI/stable/sysfs-block (alignment_offset, optimal_io_size)"
        "Whether partitions and devices begin where blocks do.";
    DiscardSupport "discard-support" "kernel: ABI/stable/sysfs-block"
        "Whether the device takes discards.";
    IoStats "iostats" "kernel: ABI/stable/sysfs-block, admin-guide/iostats.rst"
        "Whether operations are counted.";
    Polling "polling" "kernel: ABI/stable/sysfs-block (io_poll)"
        "Queues that can be polled.";
    NumaNode "numa-node" "kernel: ABI/stable/sysfs-devices-node"
        "The memory node of the device.";
    Raid "raid" "kernel: admin-guide/md.rst"
        "Missing disks of a RAID.";
    LoopDirect "loop-direct" "man 8 losetup"
        "Whether a loop device bypasses the page cache.";
    ReadAhead "read-ahead" "Google: Optimizing persistent disk and local SSD performance (readahead cache)"
        "How far the kernel reads ahead.";
    DiscardOption "discard" "Google: Optimizing persistent disk and local SSD performance (DISCARD commands)"
        "Whether the filesystem discards free blocks.";
    LazyInit "lazy-init" "Google: Optimizing persistent disk and local SSD performance (lazy initialization); kernel: admin-guide/ext4.rst"
        "Whether a lazily made filesystem is still being made.";
    Barrier "barriers" "Google: Optimizing persistent disk and local SSD performance (cache flushing); kernel: admin-guide/ext4.rst"
        "Whether the filesystem flushes the device's cache.";
    AccessTimes "access-times" "man 8 mount"
        "Whether reads cause writes.";
    SyncOption "synchronous" "man 8 mount; kernel: admin-guide/ext4.rst"
        "Whether the mount waits for, or doubles, every write.";
    Stripe "stripe" "kernel: admin-guide/ext4.rst (stripe)"
        "Whether the filesystem knows the stripe of the RAID under it.";
    Fullness "fullness" "kernel: filesystems/ext4/allocators.rst"
        "Room in the filesystem.";
    Kernel "kernel" "Google: Optimizing persistent disk and local SSD performance (multi-queue since 3.19); man 7 io_uring"
        "The kernel's release.";
    FreeCpus "free-cpus" "Google: Optimizing persistent disk and local SSD performance (free CPUs)"
        "Processors that are free.";
    Governor "governor" "kernel: admin-guide/pm/cpufreq.rst"
        "The governor of the processors' frequency.";
    NativeAio "libaio" "kernel: admin-guide/sysctl/fs.rst (aio-nr, aio-max-nr)"
        "Room for operations of libaio.";
    IoUring "io-uring" "kernel: admin-guide/sysctl/kernel.rst (io_uring_disabled)"
        "Permission to use io_uring.";
    DirtyPages "dirty-pages" "kernel: admin-guide/sysctl/vm.rst"
        "Written pages that may wait in memory.";
    Swap "swap" "kernel: admin-guide/sysctl/vm.rst"
        "Memory that was swapped out.";
}
