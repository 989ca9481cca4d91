//! Block devices backed by a server: kernel NBD, or FUSE and a loop device.
//!
//! Uses the kernel's network block device ([`KernelNbd`]) if it is loaded, and otherwise a file of a FUSE mount
//! ([`mount_file`]) under a loop device ([`attach_loop`]). A [`Lease`] owns the files of the second kind and records
//! them for cleanup after the process has died.
//!
//! Any function here may wait for the server, so the server's own thread must not call them.

mod device;
mod kernel_nbd;
mod lease;
mod loops;
mod mount;

use std::path::Path;

pub use device::{Cleaned, Device, DeviceDraft, DeviceSetup, clean_up};
pub use kernel_nbd::{KernelNbd, NbdSetup};
pub use lease::{Lease, abandoned};
pub use loops::{LoopDevice, LoopSetup, attach_loop, detach_loop, loop_devices};
pub use mount::{FILESYSTEM, MountSetup, mount_file, unmount};

/// Drivers that can create a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockDriver {
    /// The kernel's NBD driver.
    KernelNbd,
    /// A file of a FUSE mount under a loop device.
    FuseLoop,
}

/// Returns the driver to use: [`BlockDriver::KernelNbd`] if the kernel has it loaded. `root` is the root directory of
/// the host.
#[must_use]
pub fn available_driver(root: &Path) -> BlockDriver {
    let has = |path: &str| root.join(path).exists();
    if has("dev/nbd0") && has("sys/block/nbd0") { BlockDriver::KernelNbd } else { BlockDriver::FuseLoop }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_without_a_driver_is_ignored() {
        let root = std::env::temp_dir().join(format!("fathom-driver-{}", std::process::id()));
        std::fs::create_dir_all(root.join("dev")).unwrap();
        assert_eq!(available_driver(&root), BlockDriver::FuseLoop);
        std::fs::write(root.join("dev/nbd0"), "").unwrap();
        assert_eq!(available_driver(&root), BlockDriver::FuseLoop);
        std::fs::create_dir_all(root.join("sys/block/nbd0")).unwrap();
        assert_eq!(available_driver(&root), BlockDriver::KernelNbd);
        std::fs::remove_dir_all(root).unwrap();
    }
}
