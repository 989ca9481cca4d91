//! Records the environment of a run: host, files and devices.

use std::collections::BTreeSet;
use std::path::Path;

use crate::root;
use probe::LayerKind;
use record::{DeviceRecord, EnvironmentRecord, FilesystemRecord, Run, TargetEnvironment, TargetFacts, TargetKind};

/// Returns the host and the storage stacks of a run's files, even if its time was virtual. The working directory and
/// the local time are not set.
#[must_use]
pub fn environment_record(run: &Run) -> EnvironmentRecord {
    let facts = probe::host(root());
    let mut environment = EnvironmentRecord::of(run);
    let on_device = |kind| matches!(kind, TargetKind::Regular | TargetKind::Block | TargetKind::Memory);
    // Jobs may have very many files, and the files of a mount have the same storage under them.
    let mut mounts = BTreeSet::new();
    let is_new = |target: &&TargetFacts| {
        let is_file = matches!(target.kind, TargetKind::Regular | TargetKind::Memory);
        probe::mount_number(Path::new(&target.path)).is_none_or(|number| !is_file || mounts.insert(number))
    };
    let places = environment.targets.iter().filter(|target| on_device(target.kind)).filter(is_new);
    environment.grounds = places.filter_map(|target| under(&target.path)).collect();
    EnvironmentRecord { host: crate::host(), memory_bytes: facts.memory_bytes, ..environment }
}

fn under(path: &str) -> Option<TargetEnvironment> {
    let stack = probe::stack(root(), path).ok()?;
    let is_device = path.starts_with("/dev/") && stack.bottom.is_none();
    let filesystem = stack.mounts.into_iter().next().filter(|_| !is_device).map(|mount| FilesystemRecord {
        kind: mount.filesystem,
        at: mount.at.to_string_lossy().into_owned(),
        source: mount.source,
        options: mount.options,
    });
    Some(TargetEnvironment { path: path.to_owned(), filesystem, devices: stack.layers.iter().map(device).collect() })
}

fn device(layer: &probe::StackLayer) -> DeviceRecord {
    let (name, queue) = (&layer.name, probe::queue(root(), &layer.name));
    let probe::DeviceIdentity { serial, firmware } = probe::identity(root(), name);
    let backing_file = match &layer.kind {
        LayerKind::Loop(file) => Some(file.to_string_lossy().into_owned()),
        _ => None,
    };
    let kind = match layer.kind {
        LayerKind::Partition(_) => "partition",
        LayerKind::Mapping => "mapping",
        LayerKind::Raid => "raid",
        LayerKind::Loop(_) => "loop",
        LayerKind::Disk => "disk",
    };
    DeviceRecord {
        name: name.clone(),
        kind: kind.to_owned(),
        bytes: layer.bytes,
        model: layer.model.clone(),
        serial,
        firmware,
        backing_file,
        scheduler: queue.scheduler.ok().map(|(chosen, _)| chosen),
        nr_requests: queue.nr_requests.ok(),
        device_depth: queue.device_depth.ok(),
        hardware_queues: queue.hardware_queues.ok().map(|queues| queues.len() as u32),
        rotational: queue.rotational.ok(),
        write_cache: queue.write_cache.ok(),
        logical_block_bytes: queue.logical_block_bytes.ok(),
        physical_block_bytes: queue.physical_block_bytes.ok(),
    }
}
