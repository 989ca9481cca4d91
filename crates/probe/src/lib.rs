//! Read-only inspection of the host and its block devices.
//!
//! Facts come from `/proc` and `/sys` below a `root`, which is `/` except in tests, and from the bytes of a device, in
//! which [`examine`] finds filesystems, partition tables and members of volumes. An unreadable value is returned with
//! its reason and is not a failure.
//!
//! This crate does *not* open devices, write or decide. `engine::gate` decides what may be written, `analyse::doctor` what
//! is wrong with a host.

mod cpus;
mod device;
mod disk;
mod filesystem;
mod host;
mod memory;
mod mounts;
mod namespace;
mod network;
mod occupants;
mod permissions;
mod queue;
pub mod reading;
mod scsi;
mod signature;
mod stack;

pub use cpus::{allowed_cpus, cpu_pressure, governors, load, nodes, online_cpus};

pub use device::{ProbedDevice, Relations, device, number_named, number_of, relations};
pub use disk::{ProbedDisk, counters, disk, disk_under};
pub use filesystem::{
    capacity_bytes, existing_ancestor, ext4_options, free_bytes, initialises_lazily, trims_regularly,
};
pub use host::{ProbedHost, host, page_bytes};
pub use memory::{dirty, swaps};
pub use mounts::{MountEntry, filesystem_of, mount_number, mounts, number as number_in};
pub use namespace::{NamespaceNode, namespace, namespace_at};
pub use network::{is_network_filesystem, link_bytes_per_second};
pub use occupants::{Occupant, swap_paths, users};
pub use permissions::{filtered, io_limits, kernel, native_operations, rings};
pub use queue::{
    DeviceIdentity, driver, first_sector, identity, interrupts, loop_direct, loop_offset_bytes, mapping, node, queue,
    raid, read_ahead_kb,
};
pub use scsi::{block_of_scsi_generic, is_scsi_generic, scsi_type};
pub use signature::{Examination, KIND_BYTES, Signature, SignatureClass, examine, file_kind};
pub use stack::{DeviceStack, LayerKind, StackLayer, UnknownNameError, device_names, stack};

pub use record::host::Number;

/// Splits a device number from the metadata of a file.
fn split(device: u64) -> Number {
    (rustix::fs::major(device), rustix::fs::minor(device))
}
