//! Gathers facts about the host and about storage stacks for the rules of `analyse::doctor`.

use std::path::Path;

use analyse::doctor::{DiskFacts, DoctorSubject, FactLayerKind, FilesystemFacts, HostFacts, LayerFacts};
use probe::{DeviceStack, MountEntry};
use record::Throttle;
use record::host::{IoLimit, Reading, UnreadCause, UnreadFact};

/// Returns the facts about the host at `root`.
#[must_use]
pub fn host(root: &Path) -> HostFacts {
    HostFacts {
        kernel: probe::kernel(root),
        online_cpus: probe::online_cpus(root),
        allowed_cpus: probe::allowed_cpus(root),
        cpu_pressure: probe::cpu_pressure(root),
        load: probe::load(root),
        nodes: probe::nodes(root),
        governors: probe::governors(root),
        native_operations: probe::native_operations(root),
        rings: probe::rings(root),
        filtered: probe::filtered(root),
        dirty: probe::dirty(root),
        swaps: probe::swaps(root),
        io_limits: probe::io_limits(root),
    }
}

/// Returns the facts about the storage stack of a path or device name.
#[must_use]
pub fn subject(root: &Path, asked: &str, stack: &DeviceStack) -> DoctorSubject {
    let highest = stack.layers.first();
    let kib = highest.map(|layer| probe::read_ahead_kb(root, &layer.name));
    DoctorSubject {
        asked: asked.to_owned(),
        filesystems: stack.mounts.iter().map(|mount| filesystem(root, mount, stack)).collect(),
        layers: stack.layers.iter().map(|found| layer(root, found)).collect(),
        parts: stack.parts.iter().map(|found| layer(root, found)).collect(),
        read_ahead_bytes: kib.map(|kib| kib.map(|kib| kib.saturating_mul(1024))),
        bottom: stack.bottom,
    }
}

fn filesystem(root: &Path, mount: &MountEntry, stack: &DeviceStack) -> FilesystemFacts {
    let mut devices = stack.layers.iter().chain(&stack.parts);
    let ext4 = devices.find(|layer| layer.number == mount.number).filter(|_| mount.filesystem == "ext4");
    FilesystemFacts {
        at: mount.at.to_string_lossy().into_owned(),
        kind: mount.filesystem.clone(),
        options: mount.options.clone(),
        ext4_options: ext4.map(|layer| probe::ext4_options(root, &layer.name)),
        // Only for ext4, because this reads an entry of every process.
        initialising: if mount.filesystem == "ext4" { probe::initialises_lazily(root) } else { Ok(false) },
        trimmed_regularly: probe::trims_regularly(root),
        capacity_bytes: capacity(root, &mount.at),
    }
}

/// Returns the size and free space of a filesystem, which only the kernel that has mounted it knows.
fn capacity(root: &Path, at: &Path) -> Reading<(u64, u64)> {
    let unread = |why| UnreadFact { path: at.to_string_lossy().into_owned(), why };
    if root != Path::new("/") {
        return Err(unread(UnreadCause::Copy));
    }
    probe::capacity_bytes(at).map_err(|error| unread(UnreadCause::Failed(error.to_string())))
}

fn layer(root: &Path, layer: &probe::StackLayer) -> LayerFacts {
    let name = &layer.name;
    let kind = match &layer.kind {
        probe::LayerKind::Partition(disk) => {
            FactLayerKind::Partition { disk: disk.clone(), first_sector: probe::first_sector(root, name) }
        }
        probe::LayerKind::Mapping => {
            let (name, kind) = probe::mapping(root, name).unwrap_or_default();
            FactLayerKind::Mapping { name, kind }
        }
        probe::LayerKind::Raid => FactLayerKind::Raid(probe::raid(root, name)),
        probe::LayerKind::Loop(file) => FactLayerKind::Loop {
            file: file.to_string_lossy().into_owned(),
            direct: probe::loop_direct(root, name),
            offset_bytes: probe::loop_offset_bytes(root, name),
        },
        probe::LayerKind::Disk => FactLayerKind::Disk(Box::new(disk(root, layer))),
    };
    LayerFacts { name: name.clone(), number: layer.number, bytes: layer.bytes, kind }
}

fn disk(root: &Path, layer: &probe::StackLayer) -> DiskFacts {
    let name = &layer.name;
    DiskFacts {
        name: name.clone(),
        model: layer.model.clone().unwrap_or_default(),
        driver: probe::driver(root, name),
        queue: probe::queue(root, name),
        interrupts: probe::interrupts(root, name),
        node: probe::node(root, name),
    }
}

/// Returns the throttles that cgroups of this process set for the devices below a file or device.
#[must_use]
pub fn throttles(root: &Path, place: &Path) -> Vec<Throttle> {
    let limits = probe::io_limits(root).unwrap_or_default();
    if limits.is_empty() {
        return Vec::new();
    }
    let Ok(stack) = probe::stack(root, &place.to_string_lossy()) else { return Vec::new() };
    let of_layer = |layer: &probe::StackLayer| {
        let strictest = IoLimit::strictest(&limits, layer.number, &IoLimit::RATE_KEYS).cloned();
        let device = layer.name.clone();
        let throttle = move |IoLimit { file, key, value, .. }| Throttle { device: device.clone(), file, key, value };
        strictest.map(throttle).collect::<Vec<_>>()
    };
    stack.layers.iter().chain(&stack.parts).flat_map(of_layer).collect()
}
