//! The kernel's NBD client (`linux/nbd.h`).

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind};
use probe::reading;

const NBD_SET_SOCK: libc::Ioctl = 0xab00;
const NBD_SET_BLKSIZE: libc::Ioctl = 0xab01;
const NBD_DO_IT: libc::Ioctl = 0xab03;
const NBD_CLEAR_SOCK: libc::Ioctl = 0xab04;
const NBD_SET_SIZE_BLOCKS: libc::Ioctl = 0xab07;
const NBD_DISCONNECT: libc::Ioctl = 0xab08;
const NBD_SET_FLAGS: libc::Ioctl = 0xab0a;

/// Settings of an export for the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NbdSetup {
    /// Size in bytes, a multiple of the block size. The kernel omits a partial block at the end.
    pub size: u64,
    /// Logical block size in bytes: a power of two from 512 to the page size.
    pub block_bytes: u32,
    /// Transmission flags that the server sent at the end of the handshake.
    pub flags: u16,
}

/// A network block device of the kernel that was free when it was opened.
#[derive(Debug)]
pub struct KernelNbd {
    device: File,
    path: PathBuf,
}

impl KernelNbd {
    /// Opens the first free `/dev/nbdN`.
    ///
    /// # Errors
    /// Fails if the driver is not loaded, all devices are in use, or this user has no permission.
    pub fn open() -> Result<Self, Error> {
        let path = Path::new("/dev").join(first_free(Path::new("/"))?);
        match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(device) => Ok(Self { device, path }),
            Err(error) => Err(Error::file("open", &path, &error)),
        }
    }

    /// Returns the device node.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Serves the device from the server at the other end of `socket`, after the handshake, until another thread calls
    /// [`KernelNbd::disconnect`] or the server ends. The device is free again afterwards.
    ///
    /// # Errors
    /// Fails if the kernel rejects a setting, or the server ended without a disconnect.
    pub fn serve(&self, socket: BorrowedFd<'_>, setup: &NbdSetup) -> Result<(), Error> {
        let served = self.configure(socket, setup).and_then(|()| self.call(NBD_DO_IT, 0, "serve"));
        let cleared = self.call(NBD_CLEAR_SOCK, 0, "clear");
        served.and(cleared)
    }

    /// Ends [`KernelNbd::serve`].
    ///
    /// # Errors
    /// Fails if the device is not being served.
    pub fn disconnect(&self) -> Result<(), Error> {
        self.call(NBD_DISCONNECT, 0, "disconnect")
    }

    /// Reports whether the device can be used, that is, [`KernelNbd::serve`] is waiting in the kernel.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        in_use(Path::new("/"), &name)
    }

    fn configure(&self, socket: BorrowedFd<'_>, setup: &NbdSetup) -> Result<(), Error> {
        let blocks = setup.size / u64::from(setup.block_bytes.max(1));
        self.call(NBD_SET_SOCK, socket.as_raw_fd() as libc::c_ulong, "pass a socket to")?;
        self.call(NBD_SET_BLKSIZE, libc::c_ulong::from(setup.block_bytes), "set the block size of")?;
        self.call(NBD_SET_SIZE_BLOCKS, blocks as libc::c_ulong, "set the size of")?;
        self.call(NBD_SET_FLAGS, libc::c_ulong::from(setup.flags), "set the flags of")
    }

    fn call(&self, request: libc::Ioctl, argument: libc::c_ulong, operation: &'static str) -> Result<(), Error> {
        // SAFETY: these calls take a number; none of them writes to this process's memory.
        if unsafe { libc::ioctl(self.device.as_raw_fd(), request, argument) } < 0 {
            return Err(Error::file(operation, &self.path, &io::Error::last_os_error()));
        }
        Ok(())
    }
}

/// Returns the name of the first free device.
fn first_free(root: &Path) -> Result<String, Error> {
    let mut numbers: Vec<u32> = reading::names(root, "sys/block")
        .unwrap_or_default()
        .iter()
        .filter_map(|name| name.strip_prefix("nbd")?.parse().ok())
        .collect();
    numbers.sort_unstable();
    let refused = |reason: &str, remedy: &str| {
        Error::found(ErrorKind::Host, "open", "a network block device", reason).with_remedy(remedy)
    };
    if numbers.is_empty() {
        return Err(refused(
            "the kernel driver is not loaded",
            "load it (modprobe nbd), or use FUSE and a loop device",
        ));
    }
    let names = numbers.iter().map(|number| format!("nbd{number}"));
    names.into_iter().find(|name| !in_use(root, name)).ok_or_else(|| {
        refused(
            &format!("all {} devices are in use", numbers.len()),
            "disconnect one, or load more (modprobe nbd nbds_max=64)",
        )
    })
}

/// Reports whether a device is in use: the kernel lists the process that serves it.
fn in_use(root: &Path, name: &str) -> bool {
    root.join("sys/block").join(name).join("pid").exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_first_free_device() {
        let root = std::env::temp_dir().join(format!("fathom-nbd-{}", std::process::id()));
        let make = |path: &str| std::fs::create_dir_all(root.join("sys/block").join(path)).unwrap();
        make("loop0");
        assert!(first_free(&root).unwrap_err().to_string().contains("modprobe nbd"));
        make("nbd0/pid");
        make("nbd1/pid");
        assert!(first_free(&root).unwrap_err().to_string().contains("all 2 devices are in use"));
        make("nbd10");
        make("nbd2");
        assert_eq!(first_free(&root).unwrap(), "nbd2");
        std::fs::remove_dir_all(root).unwrap();
    }
}
