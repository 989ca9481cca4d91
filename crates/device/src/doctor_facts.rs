//! Converts facts about the host and about storage stacks for the rules of `analyse::doctor`.

use std::path::Path;

use analyse::doctor::{
    Bottom, DiskFacts, DoctorSubject, FactLayerKind, FilesystemFacts, HostFacts, InterruptFacts, IoLimitFacts, Known,
    LayerFacts, RingFacts, SwapFacts, UnreadCause, UnreadFact,
};
use probe::{DeviceStack, MountEntry, Reading};

/// Converts a reading.
fn known<T>(reading: Reading<T>) -> Known<T> {
    reading.map_err(|unread| UnreadFact {
        path: unread.path.to_string_lossy().into_owned(),
        why: match unread.why {
            probe::UnreadReason::Missing => UnreadCause::Missing,
            probe::UnreadReason::Denied => UnreadCause::Denied,
            probe::UnreadReason::Empty => UnreadCause::Empty,
            probe::UnreadReason::Foreign(text) => UnreadCause::Foreign(text),
            probe::UnreadReason::Outside => UnreadCause::Outside,
            probe::UnreadReason::Failed(error) => UnreadCause::Failed(error),
        },
    })
}

/// Returns the facts about the host at `root`.
#[must_use]
pub fn host(root: &Path) -> HostFacts {
    let limits = |limits: Vec<probe::IoLimit>| {
        let limit = |limit: probe::IoLimit| IoLimitFacts {
            file: limit.file.to_string_lossy().into_owned(),
            device: limit.device,
            key: limit.key,
            value: limit.value,
        };
        limits.into_iter().map(limit).collect()
    };
    let swaps = |swaps: Vec<probe::SwapDevice>| {
        let swap =
            |swap: probe::SwapDevice| SwapFacts { path: swap.path, bytes: swap.bytes, used_bytes: swap.used_bytes };
        swaps.into_iter().map(swap).collect()
    };
    HostFacts {
        kernel: known(probe::kernel(root)),
        online_cpus: known(probe::online_cpus(root)),
        allowed_cpus: known(probe::allowed_cpus(root)),
        cpu_pressure: known(probe::cpu_pressure(root)),
        load: known(probe::load(root)),
        nodes: known(probe::nodes(root)),
        governors: known(probe::governors(root)),
        native_operations: known(probe::native_operations(root)),
        rings: known(probe::rings(root)).map(|rings| RingFacts { disabled: rings.disabled, member: rings.member }),
        filtered: probe::filtered(root),
        dirty: known(probe::dirty(root)).map(|dirty| (dirty.background_bytes, dirty.limit_bytes)),
        swaps: known(probe::swaps(root)).map(swaps),
        io_limits: known(probe::io_limits(root)).map(limits),
    }
}

/// Returns the facts about the storage stack of a path or device name.
#[must_use]
pub fn subject(root: &Path, asked: &str, stack: &DeviceStack) -> DoctorSubject {
    let highest = stack.layers.first();
    let kib = highest.map(|layer| known(probe::read_ahead_kb(root, &layer.name)));
    DoctorSubject {
        asked: asked.to_owned(),
        filesystems: stack.mounts.iter().map(|mount| filesystem(root, mount, stack)).collect(),
        layers: stack.layers.iter().map(|found| layer(root, found)).collect(),
        parts: stack.parts.iter().map(|found| layer(root, found)).collect(),
        read_ahead_bytes: kib.map(|kib| kib.map(|kib| kib.saturating_mul(1024))),
        bottom: stack.bottom.map(bottom),
    }
}

fn bottom(bottom: probe::StackBottom) -> Bottom {
    match bottom {
        probe::StackBottom::Memory => Bottom::Memory,
        probe::StackBottom::Network => Bottom::Network,
        probe::StackBottom::Elsewhere => Bottom::Elsewhere,
        probe::StackBottom::Kernel => Bottom::Kernel,
        probe::StackBottom::Pool => Bottom::Pool,
        probe::StackBottom::Layers => Bottom::Layers,
        probe::StackBottom::Hidden => Bottom::Hidden,
    }
}

fn filesystem(root: &Path, mount: &MountEntry, stack: &DeviceStack) -> FilesystemFacts {
    let mut devices = stack.layers.iter().chain(&stack.parts);
    let ext4 = devices.find(|layer| layer.number == mount.number).filter(|_| mount.filesystem == "ext4");
    FilesystemFacts {
        at: mount.at.to_string_lossy().into_owned(),
        kind: mount.filesystem.clone(),
        options: mount.options.clone(),
        ext4_options: ext4.map(|layer| known(probe::ext4_options(root, &layer.name))),
        // Only for ext4, because this reads an entry of every process.
        initialising: if mount.filesystem == "ext4" { known(probe::initialises_lazily(root)) } else { Ok(false) },
        trimmed_regularly: probe::trims_regularly(root),
        capacity_bytes: capacity(root, &mount.at),
    }
}

/// Returns the size and free space of a filesystem, which only the kernel that has mounted it knows.
fn capacity(root: &Path, at: &Path) -> Known<(u64, u64)> {
    let unread = |why| UnreadFact { path: at.to_string_lossy().into_owned(), why };
    if root != Path::new("/") {
        return Err(unread(UnreadCause::Copy));
    }
    probe::capacity_bytes(at).map_err(|error| unread(UnreadCause::Failed(engine::describe(&error))))
}

fn layer(root: &Path, layer: &probe::StackLayer) -> LayerFacts {
    let name = &layer.name;
    let kind = match &layer.kind {
        probe::LayerKind::Partition(disk) => {
            FactLayerKind::Partition { disk: disk.clone(), first_sector: known(probe::first_sector(root, name)) }
        }
        probe::LayerKind::Mapping => {
            let (name, kind) = probe::mapping(root, name).unwrap_or_default();
            FactLayerKind::Mapping { name, kind }
        }
        probe::LayerKind::Raid => FactLayerKind::Raid(known(probe::raid(root, name))),
        probe::LayerKind::Loop(file) => FactLayerKind::Loop {
            file: file.to_string_lossy().into_owned(),
            direct: known(probe::loop_direct(root, name)),
            offset_bytes: known(probe::loop_offset_bytes(root, name)),
        },
        probe::LayerKind::Disk => FactLayerKind::Disk(Box::new(disk(root, layer))),
    };
    LayerFacts { name: name.clone(), number: layer.number, bytes: layer.bytes, kind }
}

fn disk(root: &Path, layer: &probe::StackLayer) -> DiskFacts {
    let name = &layer.name;
    let queue = probe::queue(root, name);
    let interrupts = |interrupts: Vec<probe::QueueInterrupt>| {
        interrupts.into_iter().map(|irq| InterruptFacts { number: irq.number, cpus: irq.cpus }).collect()
    };
    DiskFacts {
        name: name.clone(),
        model: layer.model.clone().unwrap_or_default(),
        driver: probe::driver(root, name),
        scheduler: known(queue.scheduler),
        nr_requests: known(queue.nr_requests),
        device_depth: known(queue.device_depth),
        logical_block_bytes: known(queue.logical_block_bytes),
        physical_block_bytes: known(queue.physical_block_bytes),
        optimal_io_bytes: known(queue.optimal_io_bytes),
        alignment_offset_bytes: known(queue.alignment_offset_bytes),
        rotational: known(queue.rotational),
        write_cache: known(queue.write_cache),
        fua: known(queue.fua),
        rq_affinity: known(queue.rq_affinity),
        nomerges: known(queue.nomerges),
        max_sectors_kb: known(queue.max_sectors_kb),
        max_hw_sectors_kb: known(queue.max_hw_sectors_kb),
        discard_max_bytes: known(queue.discard_max_bytes),
        discard_max_hw_bytes: known(queue.discard_max_hw_bytes),
        discard_granularity_bytes: known(queue.discard_granularity_bytes),
        iostats: known(queue.iostats),
        polls: known(queue.polls),
        hardware_queues: known(queue.hardware_queues),
        interrupts: known(probe::interrupts(root, name)).map(interrupts),
        node: known(probe::node(root, name)),
    }
}
