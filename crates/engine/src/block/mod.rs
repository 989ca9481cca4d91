//! Block devices backed by a server: kernel NBD, or FUSE and a loop device.
//!
//! The kernel's own network block device where it has one ([`KernelNbd`]); else a file of a FUSE mount ([`mount_file`]) and
//! a loop device over it ([`attach_loop`]). A [`Lease`] is the place in the file system of the second, and remembers it
//! beyond the death of the process.
//!
//! Everything here may wait for the server of the bytes, so it is never called by the thread that serves.

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

/// Ways of this host to create a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockDriver {
    /// Through the driver of network block devices.
    KernelNbd,
    /// Through a file of a FUSE mount and a loop device over it.
    FuseLoop,
}

/// Returns the driver to use: [`BlockDriver::KernelNbd`] where the kernel has it loaded. `root` stands for the host.
#[must_use]
pub fn available_driver(root: &Path) -> BlockDriver {
    let has = |path: &str| root.join(path).exists();
    if has("dev/nbd0") && has("sys/block/nbd0") { BlockDriver::KernelNbd } else { BlockDriver::FuseLoop }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_without_its_driver_is_no_device() {
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
