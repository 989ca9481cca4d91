//! Looking at the host and its devices, and never changing them.
//!
//! What `/proc` and `/sys` tell is read below a `root`, which is `/` outside of tests.

mod device;
mod disk;
mod host;
mod mounts;
mod occupants;
mod residency;
mod signature;
mod usage;

pub use device::{Device, device, number_of};
pub use disk::{Counters, Disk, counters, disk, disk_under};
pub use host::{Host, host, last_processor, page_bytes};
pub use mounts::{Mount, filesystem_of, free_bytes, mounts};
pub use occupants::{Occupant, occupants, users};
pub use residency::resident_bytes;
pub use signature::{Signature, Sort, signatures};
pub use usage::Usage;

/// The number of a device: major and minor.
pub type Number = (u32, u32);

/// The first line of a small file of `/proc` or `/sys`; `None` where there is none, or nothing in it.
fn line(path: &std::path::Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.lines().next()?.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

/// The names in a directory, in order; none where there is no directory.
fn names(path: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}
