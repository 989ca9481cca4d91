//! Titles, sources of facts and reasons of the doctor's checks.

use analyse::doctor::{Check, CheckState, DoctorCase, DoctorFinding};
use record::host::{StackBottom, UnreadCause, UnreadFact};

/// Returns the title of a check, two or three words.
pub(super) fn title(check: Check) -> &'static str {
    match check {
        Check::CgroupLimits => "cgroup I/O limits",
        Check::Scheduler => "I/O scheduler",
        Check::NrRequests => "requests queued",
        Check::DeviceDepth => "device depth",
        Check::HardwareQueues => "hardware queues",
        Check::QueueSpread => "CPUs per queue",
        Check::InterruptSpread => "interrupts",
        Check::RqAffinity => "completion CPU",
        Check::Rotational => "moving parts",
        Check::WriteCache => "write cache",
        Check::MaxSectors => "largest request",
        Check::NoMerges => "merging",
        Check::BlockSize => "block size",
        Check::Alignment => "alignment",
        Check::DiscardSupport => "discard support",
        Check::IoStats => "I/O statistics",
        Check::Polling => "polling queues",
        Check::NumaNode => "memory node",
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
        Check::NativeAio => "libaio room",
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
        Check::HardwareQueues => "`mq/`, the processors that are online",
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
        Check::NumaNode => "`numa_node`, the processors that this process may use",
        Check::Raid => "`md/level`, `md/degraded`",
        Check::LoopDirect => "`loop/dio`",
        Check::ReadAhead => "`queue/read_ahead_kb` of the highest device",
        Check::DiscardOption => "mount options, systemd's `fstrim.timer`",
        Check::LazyInit => "the kernel's thread `ext4lazyinit`, `/proc/fs/ext4/*/options`",
        Check::Barrier | Check::AccessTimes | Check::SyncOption => "mount options",
        Check::Stripe => "`/proc/fs/ext4/*/options`, `queue/optimal_io_size`",
        Check::Fullness => "`statvfs`",
        Check::Kernel => "`/proc/sys/kernel/osrelease`",
        Check::FreeCpus => "`/proc/loadavg`, the processors that this process may use",
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
        Check::CgroupLimits => {
            "Where cgroups set rates, the kernel holds this process's operations back to them, whatever the device could do."
        }
        Check::Scheduler => {
            "Ordering and weighing requests costs time for each of them, and a device without moving parts gains \
             nothing by their order."
        }
        Check::NrRequests => {
            "No more than this can wait in each hardware queue; further submitters sleep. By Little's law 64,000 IOPS \
             at 2 ms are 128 requests at a time."
        }
        Check::DeviceDepth => {
            "The device is handed no more commands than this at a time, so it can neither reorder them nor work on \
             several."
        }
        Check::HardwareQueues => {
            "Processors that share a hardware queue wait for each other to submit, and its completions come back \
             through one interrupt."
        }
        Check::QueueSpread => "A queue that many processors share is their bottleneck while others stand idle.",
        Check::InterruptSpread => {
            "Every completion begins with an interrupt. The processors that handle them are a ceiling of IOPS."
        }
        Check::RqAffinity => {
            "With 1 a completion is handled near the processor that asked, with 2 on that very one. Where one \
             interrupt serves many processors only 2 spreads the work."
        }
        Check::Rotational => {
            "Filesystems and swap choose by this flag how they place data, and schedulers how they wait."
        }
        Check::WriteCache => {
            "A write-back cache answers writes at once, and a flush makes them durable. Without FUA each single durable \
             write is followed by a flush of everything."
        }
        Check::MaxSectors => {
            "LargerVolume operations are split into requests of this size, each with its own share of latency and of the \
             IOPS that were bought."
        }
        Check::NoMerges => {
            "Neighbouring requests of a sequential stream become one large one only while merging is on."
        }
        Check::BlockSize => {
            "Writes that are smaller than a physical block, or not aligned to one, are a read and a write of the whole \
             block."
        }
        Check::Alignment => {
            "Where a partition does not begin at a block of the device, operations that look aligned touch one more \
             block than they should. Moving it takes a backup, and nothing mounted."
        }
        Check::DiscardSupport => {
            "Without discards the device keeps copying blocks that are no longer in use, and thin volumes never shrink."
        }
        Check::IoStats => "With counting off iostat, fio and Fathom see a device that does nothing.",
        Check::Polling => {
            "Programs that ask for it (hipri) save the interrupt of each operation at the price of a busy processor. \
             On NVMe: nvme.poll_queues=N on the kernel's command line."
        }
        Check::NumaNode => {
            "Where this process may only use processors far from the device, each operation and its data cross between \
             the nodes."
        }
        Check::Raid => "While disks are missing every read of theirs is computed from all the others.",
        Check::LoopDirect => {
            "Without direct I/O everything is cached twice, once for the loop device and once for its file, and direct \
             operations are not."
        }
        Check::ReadAhead => {
            "More of it makes sequential buffered reads faster and spends memory and IOPS on random ones. Direct I/O \
             does not read ahead."
        }
        Check::DiscardOption => {
            "The device learns what is free only if it is told, by each deletion (discard) or from time to time (fstrim). \
             Otherwise it slows down as it fills."
        }
        Check::LazyInit => {
            "After a lazy mkfs one thread of the kernel fills the inode tables of all ext4 filesystems, at the cost of \
             everything else. init_itable=0 finishes it at full speed; mkfs with lazy_itable_init=0 leaves nothing to do."
        }
        Check::Barrier => {
            "Without barriers flushes do not reach the device: that is faster, and a power failure may cost the \
             filesystem. The sources allow it for local SSD alone, whose data may be lost anyway."
        }
        Check::AccessTimes => "With strictatime every read writes an inode.",
        Check::SyncOption => "With sync, every write waits for the device, whatever the program requested.",
        Check::Stripe => {
            "An allocator that does not know the stripes of the device makes writes that cover parts of them, whose \
             parity has to be read first."
        }
        Check::Fullness => {
            "In a full filesystem new files are in many pieces, and an SSD has little room left to collect its garbage \
             in."
        }
        Check::Kernel => {
            "io_uring came with 5.1 and is complete enough for load generators since 5.11. Earlier kernels have libaio \
             only."
        }
        Check::FreeCpus => {
            "Operations take processor time, and a host that is busy cannot ask for as many as the device would give. \
             Counted by the load of the last minute, of which tasks that wait for disks are a part."
        }
        Check::Governor => {
            "Between operations a processor slows down, and each completion waits until it is fast again. A fixed speed \
             shortens and steadies latency."
        }
        Check::NativeAio => "io_setup fails when all programs together ask for more operations than this.",
        Check::IoUring => "Where it is not permitted programs fall back to slower engines, or end with an error.",
        Check::DirtyPages => {
            "So much may gather in memory before it is written, all at once: an fsync or a full limit then waits for \
             seconds behind it."
        }
        Check::Swap => "Swapped-out memory is read back from a disk during the measurement.",
    }
}

fn of_case(check: Check, case: DoctorCase) -> Option<&'static str> {
    Some(match (check, case) {
        (Check::CgroupLimits, DoctorCase::Low) => {
            "In competition with other cgroups this process gets less than an equal share."
        }
        (Check::Scheduler, DoctorCase::Mechanical) => "Heads that move are worth the time to put requests in order.",
        (Check::NrRequests, DoctorCase::Hardware) => {
            "Without a scheduler these are the device's own tags; only the device or its hypervisor has more. By \
             Little's law 64,000 IOPS at 2 ms are 128 requests at a time."
        }
        (Check::HardwareQueues, DoctorCase::Virtual) => {
            "Processors share a queue and wait for each other. The hypervisor decides how many there are: num-queues \
             of virtio, or a larger machine at a provider."
        }
        (Check::HardwareQueues, DoctorCase::Hardware) => {
            "Processors that share a hardware queue wait for each other to submit. The device and its driver have no more."
        }
        (Check::HardwareQueues, DoctorCase::Legacy) => {
            "This kernel hands all requests through one queue and one lock. It takes a reboot; kernels since 5.0 have \
             nothing else."
        }
        (Check::InterruptSpread, DoctorCase::Managed) => {
            "Every completion begins with an interrupt. The kernel spreads those of NVMe by itself, so look for \
             isolcpus, offline processors or a device that grants few vectors."
        }
        (Check::RqAffinity, DoctorCase::Low) => {
            "Completions are handled wherever the interrupt lands, whose caches know nothing of the request."
        }
        (Check::Rotational, DoctorCase::Mechanical) => {
            "Heads have to travel: 100 to 200 random operations per second, whatever is set here. Only another device \
             gives more."
        }
        (Check::Rotational, DoctorCase::Virtual) => {
            "The disk is a provider's or speaks NVMe, and only claims to turn. Filesystems, swap and schedulers believe \
             it."
        }
        (Check::WriteCache, DoctorCase::Hardware) => {
            "Every write is durable when it is done, so there is nothing to flush."
        }
        (Check::MaxSectors, DoctorCase::Hardware) => {
            "The device takes no larger requests, so there is nothing to change."
        }
        (Check::BlockSize, DoctorCase::Hardware) => {
            "Operations of 4 KiB are smaller than a block of the device: each write of that size is a read and a write of \
             the whole block. Use a multiple of the physical block."
        }
        (Check::Alignment, DoctorCase::Hardware) => {
            "The device itself begins in the middle of a block of the medium, most often because of a layer below it."
        }
        (Check::Alignment, DoctorCase::Low) => {
            "The data begin in the middle of a block of the file's filesystem: most operations touch one more than they \
             should, and direct I/O to the file is refused. Make the loop device anew with another --offset."
        }
        (Check::DiscardSupport, DoctorCase::Virtual) => {
            "The device offers none; the hypervisor or provider decides. Thin volumes never shrink, and the SSD behind \
             it copies blocks that are no longer in use."
        }
        (Check::DiscardSupport, DoctorCase::Hardware) => {
            "The device does not support discards, so it keeps copying blocks that are no longer in use. No setting changes that."
        }
        (Check::Polling, DoctorCase::Hardware) => "Of the drivers in use only NVMe has queues that can be polled.",
        (Check::SyncOption, DoctorCase::Low) => {
            "All data are written twice, first to the journal. It takes an unmount: take data=journal out of the mount \
             options, and of tune2fs -o."
        }
        (Check::FreeCpus, DoctorCase::RuleOfThumb) => {
            "The provider's rule is one free processor for every 2,000 random reads or 2,500 random writes per second \
             of a persistent disk."
        }
        (Check::Governor, DoctorCase::Low) => {
            "With this driver powersave is the lowest frequency all the time: every operation takes longer, on each of its \
             ways."
        }
        (Check::IoUring, DoctorCase::Unrestricted) => "This kernel has no switch against it.",
        (Check::IoUring, DoctorCase::Filtered) => {
            "The kernel allows it, but a filter of system calls (seccomp) is on this process, as in containers, and may \
             refuse it: --ioengine=io_uring tells."
        }
        _ => return None,
    })
}

/// Returns why a figure is unknown.
pub(super) fn unread(unread: &UnreadFact) -> String {
    let path = &unread.path;
    match &unread.why {
        UnreadCause::Missing => format!("there is no {path}"),
        UnreadCause::Denied => format!("{path} may not be read by this user: run it as root"),
        UnreadCause::Empty => format!("{path} is empty"),
        UnreadCause::Foreign(text) => format!("{path} says \"{text}\""),
        UnreadCause::Outside => format!("{path} leads out of --root"),
        UnreadCause::Failed(error) => format!("{path}: {error}"),
        UnreadCause::Copy => "known only on the running host; --root is a copy".to_owned(),
    }
}

/// Describes the lowest layer of a stack that does not end in a block device.
pub(super) fn bottom(bottom: StackBottom) -> &'static str {
    match bottom {
        StackBottom::Memory => "no block device behind it: its files are in memory",
        StackBottom::Network => "no block device behind it here: its files are on another host; ask the doctor there",
        StackBottom::Elsewhere => {
            "no block device behind it here: a program or the host of this machine keeps its files; ask the doctor there"
        }
        StackBottom::Kernel => "no block device behind it: a virtual filesystem of the kernel",
        StackBottom::Pool => {
            "a pool of its own kind of devices, which the mount does not name: ask about a disk of `zpool status`"
        }
        StackBottom::Layers => {
            "layers of other filesystems that cannot be seen from inside this container: ask about a volume of it, or \
             outside"
        }
        StackBottom::Hidden => "the host does not show the device behind it",
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
