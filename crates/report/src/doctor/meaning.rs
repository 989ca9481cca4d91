//! Titles, sources of facts and reasons of the doctor's checks.

use analyse::doctor::{Check, CheckState, DoctorCase, DoctorFinding};
use record::host::{StackBottom, UnreadCause, UnreadFact};

/// Returns the title of a check, two or three words.
pub(super) fn title(check: Check) -> &'static str {
    match check {
        Check::CgroupLimits => "cgroup I/O limits",
        Check::Scheduler => "I/O scheduler",
        Check::NrRequests => "queued requests",
        Check::DeviceDepth => "device depth",
        Check::HardwareQueues => "hardware queues",
        Check::QueueSpread => "CPUs per queue",
        Check::InterruptSpread => "interrupts",
        Check::RqAffinity => "completion CPU",
        Check::Rotational => "rotational flag",
        Check::WriteCache => "write cache",
        Check::MaxSectors => "maximum request",
        Check::NoMerges => "merging",
        Check::BlockSize => "block size",
        Check::Alignment => "alignment",
        Check::DiscardSupport => "discard support",
        Check::IoStats => "I/O statistics",
        Check::Polling => "polling queues",
        Check::NumaNode => "NUMA node",
        Check::Raid => "RAID",
        Check::LoopDirect => "loop direct I/O",
        Check::ReadAhead => "read-ahead",
        Check::DiscardOption => "discard",
        Check::LazyInit => "lazy init",
        Check::Barrier => "barriers",
        Check::AccessTimes => "access times",
        Check::SyncOption => "synchronous writes",
        Check::Stripe => "stripe",
        Check::Fullness => "fullness",
        Check::Kernel => "kernel",
        Check::FreeCpus => "free CPUs",
        Check::Governor => "CPU governor",
        Check::NativeAio => "libaio limit",
        Check::IoUring => "io_uring",
        Check::DirtyPages => "dirty pages",
        Check::Swap => "swap",
    }
}

/// Returns the files that a check reads.
pub(super) fn place(check: Check) -> &'static str {
    match check {
        Check::CgroupLimits => "`io.max`, `io.weight`, `io.latency`; `blkio.throttle.*` of version 1",
        Check::Scheduler => "`queue/scheduler`",
        Check::NrRequests => "`queue/nr_requests`",
        Check::DeviceDepth => "`device/queue_depth`",
        Check::HardwareQueues => "`mq/`, online CPUs",
        Check::QueueSpread => "`mq/*/cpu_list`",
        Check::InterruptSpread => "`msi_irqs`, `/proc/irq/*/effective_affinity_list`",
        Check::RqAffinity => "`queue/rq_affinity`",
        Check::Rotational => "`queue/rotational`, driver and model",
        Check::WriteCache => "`queue/write_cache`, `queue/fua`",
        Check::MaxSectors => "`queue/max_sectors_kb`, `queue/max_hw_sectors_kb`",
        Check::NoMerges => "`queue/nomerges`",
        Check::BlockSize => "`queue/logical_block_size`, `queue/physical_block_size`",
        Check::Alignment => "`start`, `alignment_offset`, `queue/optimal_io_size`, `loop/offset`",
        Check::DiscardSupport => "`queue/discard_max_bytes`, `queue/discard_granularity`",
        Check::IoStats => "`queue/iostats`",
        Check::Polling => "`queue/io_poll`",
        Check::NumaNode => "`numa_node`, the CPUs that this process may use",
        Check::Raid => "`md/level`, `md/degraded`",
        Check::LoopDirect => "`loop/dio`",
        Check::ReadAhead => "`queue/read_ahead_kb` of the highest device",
        Check::DiscardOption => "mount options, systemd's `fstrim.timer`",
        Check::LazyInit => "the kernel's thread `ext4lazyinit`, `/proc/fs/ext4/*/options`",
        Check::Barrier | Check::AccessTimes | Check::SyncOption => "mount options",
        Check::Stripe => "`/proc/fs/ext4/*/options`, `queue/optimal_io_size`",
        Check::Fullness => "`statvfs`",
        Check::Kernel => "`/proc/sys/kernel/osrelease`",
        Check::FreeCpus => "`/proc/loadavg`, the CPUs that this process may use",
        Check::Governor => "`cpufreq/policy*/scaling_governor`",
        Check::NativeAio => "`/proc/sys/fs/aio-nr`, `aio-max-nr`",
        Check::IoUring => "`/proc/sys/kernel/io_uring_disabled`, `io_uring_group`, `/proc/self/status`",
        Check::DirtyPages => "`/proc/sys/vm/dirty_*`",
        Check::Swap => "`/proc/swaps`",
    }
}

/// Returns why a check matters, in one or two sentences; for an unusual case, of that case.
pub(super) fn why(check: Check, case: DoctorCase) -> &'static str {
    of_case(check, case).unwrap_or_else(|| usual(check))
}

fn usual(check: Check) -> &'static str {
    match check {
        Check::CgroupLimits => "The cgroup throttles this process to these rates, regardless of the device.",
        Check::Scheduler => "Sorting requests costs CPU time and gains nothing on an SSD.",
        Check::NrRequests => {
            "Maximum number of requests queued per hardware queue; further submitters sleep. By Little's law 64,000 IOPS \
             at 2 ms take 128."
        }
        Check::DeviceDepth => {
            "The device accepts at most this many commands at once, so it cannot overlap or reorder more."
        }
        Check::HardwareQueues => {
            "CPUs that share a hardware queue contend for it, and its completions use one interrupt."
        }
        Check::QueueSpread => "A queue shared by many CPUs becomes a bottleneck while other queues are idle.",
        Check::InterruptSpread => "Every completion starts with an interrupt; the CPUs that handle them bound IOPS.",
        Check::RqAffinity => {
            "1: completes on a CPU that shares a cache with the submitter; 2: on the submitting CPU. With one interrupt \
             for many CPUs only 2 spreads the work."
        }
        Check::Rotational => "Filesystems, swap and schedulers choose their strategy by this flag.",
        Check::WriteCache => {
            "A write-back cache acknowledges writes at once; a flush makes them durable. Without FUA every durable write \
             flushes the whole cache."
        }
        Check::MaxSectors => {
            "Larger operations are split into requests of this size; each request adds latency and counts against the \
             IOPS limit."
        }
        Check::NoMerges => "Adjacent requests of a sequential stream are combined only while merging is on.",
        Check::BlockSize => {
            "A write smaller than a physical block, or not aligned to one, becomes a read-modify-write of the whole block."
        }
        Check::Alignment => {
            "If a partition does not start on a block boundary, aligned operations touch one extra block. Moving it \
             requires a backup and an unmounted filesystem."
        }
        Check::DiscardSupport => {
            "Without discards the SSD keeps copying deleted blocks, and thin volumes never shrink."
        }
        Check::IoStats => "With I/O statistics off, iostat, fio and Fathom see an idle device.",
        Check::Polling => {
            "Polled I/O (hipri) saves the interrupt per operation and uses a whole CPU. On NVMe: nvme.poll_queues=N on the \
             kernel command line."
        }
        Check::NumaNode => "If this process may only use CPUs of another NUMA node, every operation crosses nodes.",
        Check::Raid => "While disks are missing, their reads are reconstructed from all other disks.",
        Check::LoopDirect => "Without direct I/O data is cached twice: for the loop device and for its file.",
        Check::ReadAhead => {
            "More read-ahead speeds up sequential buffered reads and wastes memory and IOPS on random ones. Direct I/O \
             is not affected."
        }
        Check::DiscardOption => {
            "The SSD learns of free space only from discards, at each deletion (discard) or periodically (fstrim); \
             otherwise it slows down as it fills."
        }
        Check::LazyInit => {
            "After a lazy mkfs a kernel thread initializes inode tables in the background and competes for I/O. \
             init_itable=0 finishes at full speed; mkfs with lazy_itable_init=0 avoids it."
        }
        Check::Barrier => {
            "Without barriers flushes do not reach the device: faster, but a power failure can corrupt the filesystem. \
             Acceptable only on local SSD with disposable data."
        }
        Check::AccessTimes => "With strictatime every read writes an inode.",
        Check::SyncOption => "With sync every write waits for the device.",
        Check::Stripe => {
            "If the filesystem does not know the RAID stripe, partial-stripe writes must read parity first."
        }
        Check::Fullness => {
            "On a nearly full filesystem new files fragment, and the SSD has little spare space for garbage collection."
        }
        Check::Kernel => "io_uring exists since Linux 5.1 and is complete since 5.11; older kernels have libaio only.",
        Check::FreeCpus => {
            "A busy CPU submits fewer I/Os than the device could serve. Measured by the 1-minute load average, which \
             includes tasks waiting for I/O."
        }
        Check::Governor => {
            "The CPU clocks down between operations and ramps up at each completion; a fixed clock lowers latency."
        }
        Check::NativeAio => "io_setup fails when all programs together request more operations than this.",
        Check::IoUring => "If io_uring is not permitted, programs fall back to slower engines or fail.",
        Check::DirtyPages => {
            "This much dirty data may accumulate before writeback; an fsync, or reaching the limit, then stalls for seconds."
        }
        Check::Swap => "Swapped-out memory is read back from disk during the measurement.",
    }
}

fn of_case(check: Check, case: DoctorCase) -> Option<&'static str> {
    Some(match (check, case) {
        (Check::CgroupLimits, DoctorCase::Low) => "Under contention this cgroup gets less than an equal share.",
        (Check::Scheduler, DoctorCase::Mechanical) => "On a hard disk sorting requests saves seeks.",
        (Check::NrRequests, DoctorCase::Hardware) => {
            "Without a scheduler these are the device's own tags, set by the device or its hypervisor. By Little's law \
             64,000 IOPS at 2 ms take 128."
        }
        (Check::HardwareQueues, DoctorCase::Virtual) => {
            "CPUs contend for a shared queue. The hypervisor sets the number: num-queues of virtio, or a larger machine type."
        }
        (Check::HardwareQueues, DoctorCase::Hardware) => {
            "CPUs contend for a shared queue; the device and its driver offer no more."
        }
        (Check::HardwareQueues, DoctorCase::Legacy) => {
            "This kernel sends all requests through one queue and one lock. Kernels from 5.0 always use multiple queues."
        }
        (Check::InterruptSpread, DoctorCase::Managed) => {
            "Every completion starts with an interrupt. The kernel spreads NVMe interrupts itself: check isolcpus, offline \
             CPUs, or a device with few vectors."
        }
        (Check::RqAffinity, DoctorCase::Low) => {
            "Completions run where the interrupt lands, with cold caches for the request."
        }
        (Check::Rotational, DoctorCase::Mechanical) => {
            "A hard disk must seek: expect 100 to 200 random IOPS regardless of this setting."
        }
        (Check::Rotational, DoctorCase::Virtual) => {
            "Reports rotational=1 but is a cloud or NVMe disk; filesystems, swap and schedulers rely on the flag."
        }
        (Check::WriteCache, DoctorCase::Hardware) => {
            "Every write is durable when it completes; there is nothing to flush."
        }
        (Check::MaxSectors, DoctorCase::Hardware) => "The device accepts no larger requests.",
        (Check::BlockSize, DoctorCase::Hardware) => {
            "4 KiB writes are smaller than a physical block, so each becomes a read-modify-write. Use a multiple of the \
             physical block."
        }
        (Check::Alignment, DoctorCase::Hardware) => {
            "The device itself starts in the middle of a physical block, usually because of a layer below it."
        }
        (Check::Alignment, DoctorCase::Low) => {
            "The data starts in the middle of a filesystem block: most operations touch one extra block, and direct I/O to \
             the file is refused. Recreate the loop device with another --offset."
        }
        (Check::DiscardSupport, DoctorCase::Virtual) => {
            "The hypervisor or provider does not offer discards: thin volumes never shrink, and the SSD keeps copying \
             deleted blocks."
        }
        (Check::DiscardSupport, DoctorCase::Hardware) => {
            "The device does not support discards, so it keeps copying deleted blocks. No setting changes that."
        }
        (Check::Polling, DoctorCase::Hardware) => "Only NVMe has polled queues.",
        (Check::SyncOption, DoctorCase::Low) => {
            "All data is written twice, first to the journal. Remove data=journal from the mount options and from \
             tune2fs -o; this requires an unmount."
        }
        (Check::FreeCpus, DoctorCase::RuleOfThumb) => {
            "The provider requires one free CPU per 2,000 random reads or 2,500 random writes per second of a persistent disk."
        }
        (Check::Governor, DoctorCase::Low) => {
            "powersave pins the CPU at its lowest frequency, which adds latency to every operation."
        }
        (Check::IoUring, DoctorCase::Unrestricted) => "This kernel has no switch to disable io_uring.",
        (Check::IoUring, DoctorCase::Filtered) => {
            "The kernel permits it, but a seccomp filter (as in containers) may refuse it; try --ioengine=io_uring."
        }
        _ => return None,
    })
}

/// Returns why a figure is unknown.
pub(super) fn unread(unread: &UnreadFact) -> String {
    let path = &unread.path;
    match &unread.why {
        UnreadCause::Missing => format!("{path} does not exist"),
        UnreadCause::Denied => format!("{path}: permission denied; run as root"),
        UnreadCause::Empty => format!("{path} is empty"),
        UnreadCause::Foreign(text) => format!("{path} says \"{text}\""),
        UnreadCause::Outside => format!("{path} points outside --root"),
        UnreadCause::Failed(error) => format!("{path}: {error}"),
        UnreadCause::Copy => "known only on the running host; --root is a copy".to_owned(),
    }
}

/// Describes the lowest layer of a stack that does not end in a block device.
pub(super) fn bottom(bottom: StackBottom) -> &'static str {
    match bottom {
        StackBottom::Memory => "no block device: files are in memory",
        StackBottom::Network => "no block device here: files are on another host; run `fathom doctor` there",
        StackBottom::Elsewhere => {
            "no block device here: a program or the hypervisor's host has the files; run `fathom doctor` there"
        }
        StackBottom::Kernel => "no block device: a virtual filesystem of the kernel",
        StackBottom::Pool => "a storage pool: name one of its disks (see `zpool status`)",
        StackBottom::Layers => {
            "overlay layers that are not visible in this container: name a volume, or run it outside"
        }
        StackBottom::Hidden => "the host does not expose the device",
    }
}

pub(super) fn state(state: CheckState) -> &'static str {
    match state {
        CheckState::Good => "good",
        CheckState::Unknown => "unknown",
        CheckState::CouldBeBetter => "could be better",
        CheckState::Problem => "problem",
    }
}

/// Returns the title of a finding and the device or filesystem that it concerns.
pub(super) fn about(finding: &DoctorFinding) -> String {
    let title = title(finding.check);
    if finding.about.is_empty() { title.to_owned() } else { format!("{title}, {}", super::clean(&finding.about)) }
}
