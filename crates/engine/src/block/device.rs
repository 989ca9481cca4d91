//! Creates a block device for an export.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::{
    BlockDriver, FILESYSTEM, KernelNbd, Lease, LoopSetup, MountSetup, NbdSetup, attach_loop, available_driver,
    mount_file,
};
use crate::error::{Error, ErrorKind};
use crate::exports;

/// Settings of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceSetup {
    /// Source name in the mount table.
    pub name: String,
    /// Address of the export, for the kernel's NBD client.
    pub uri: String,
    /// Whether the device rejects writes.
    pub read_only: bool,
    /// Maximum size of a read through a mount that the server accepts, in bytes.
    pub most_bytes: u32,
}

/// A prepared device whose server has not started yet.
#[derive(Debug)]
pub struct DeviceDraft {
    setup: DeviceSetup,
    lease: Option<Lease>,
}

/// A block device backed by a server. [`Device::tear_down`] removes it; otherwise the next cleanup after the end of
/// this process does.
#[derive(Debug)]
pub struct Device {
    path: PathBuf,
    backing: Backing,
}

#[derive(Debug)]
enum Backing {
    Mount(Lease),
    Kernel { device: Arc<KernelNbd>, client: JoinHandle<Result<(), Error>> },
}

/// Logical block size in bytes, as cloud disks have it.
const BLOCK_BYTES: u32 = 512;
/// Maximum time until the kernel uses the device.
const READY_TIMEOUT: Duration = Duration::from_secs(5);

impl DeviceDraft {
    /// Prepares a device, with its files in `directory`. Returns the `/dev/fuse` descriptor of a mount, which the
    /// server must serve from its start, or `None` if the kernel connects to the export as an NBD client.
    ///
    /// # Errors
    /// Fails if the host supports neither driver, or this user has no permission.
    pub fn new(setup: DeviceSetup, directory: &Path) -> Result<(Self, Option<OwnedFd>), Error> {
        if available_driver(Path::new("/")) == BlockDriver::KernelNbd {
            return Ok((Self { setup, lease: None }, None));
        }
        let lease = Lease::new(directory)?;
        let mount = MountSetup {
            source: setup.name.clone(),
            read_only: setup.read_only,
            others: false,
            most_bytes: setup.most_bytes,
        };
        match mount_file(&lease.mount_point(), &mount) {
            Ok(fuse) => Ok((Self { setup, lease: Some(lease) }, Some(fuse))),
            Err(error) => {
                // Nothing is mounted: only two files remain to be removed.
                let _ = lease.tear_down();
                Err(error)
            }
        }
    }

    /// Creates the device. Another thread must run the server meanwhile.
    ///
    /// # Errors
    /// Fails if the kernel refuses; nothing is left behind then.
    pub fn attach(self) -> Result<Device, Error> {
        match self.lease {
            Some(lease) => attach_over_mount(lease, self.setup.read_only),
            None => attach_kernel_nbd(&self.setup),
        }
    }

    /// Removes what was prepared.
    pub fn abandon(self) {
        if let Some(lease) = self.lease {
            // A later cleanup removes what is left.
            let _ = lease.tear_down();
        }
    }
}

fn attach_over_mount(lease: Lease, read_only: bool) -> Result<Device, Error> {
    let at = lease.mount_point();
    // Until the kernel knows the file size, it treats every write as one beyond the end and does one at a time.
    let metadata = std::fs::metadata(&at).map_err(|error| Error::file("stat", &at, &error));
    let setup = LoopSetup { block_bytes: BLOCK_BYTES, size: 0, read_only, direct: true };
    match metadata.and_then(|_| attach_loop(&at, &setup)) {
        Ok(path) => Ok(Device { path, backing: Backing::Mount(lease) }),
        Err(error) => {
            let _ = lease.tear_down();
            Err(error)
        }
    }
}

fn attach_kernel_nbd(setup: &DeviceSetup) -> Result<Device, Error> {
    let device = Arc::new(KernelNbd::open()?);
    let (socket, served) = exports::connect(&setup.uri)?;
    let nbd_setup = NbdSetup { size: served.size, block_bytes: BLOCK_BYTES, flags: served.flags.bits() };
    let serving = Arc::clone(&device);
    let client = std::thread::spawn(move || serving.serve(socket.as_fd(), &nbd_setup));
    let until = Instant::now() + READY_TIMEOUT;
    while !device.is_ready() {
        if client.is_finished() {
            return Err(client.join().ok().and_then(Result::err).unwrap_or_else(|| unready(device.path())));
        }
        if Instant::now() > until {
            let _ = device.disconnect();
            return Err(unready(device.path()));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(Device { path: device.path().to_owned(), backing: Backing::Kernel { device, client } })
}

fn unready(path: &Path) -> Error {
    let reason = "the kernel did not attach it";
    Error::found(ErrorKind::Host, "connect", path.display().to_string(), reason).with_remedy("see dmesg")
}

impl Device {
    /// Returns the device node, such as `/dev/loop3`.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the device. Another thread must still run the server, because pending writes are flushed to it first.
    ///
    /// # Errors
    /// Returns one error, with a remedy, for each part that could not be removed because it is still in use.
    pub fn tear_down(self) -> Result<(), Vec<Error>> {
        match self.backing {
            Backing::Mount(lease) => lease.tear_down(),
            Backing::Kernel { device, client } => {
                let disconnected = device.disconnect();
                let served = client.join().unwrap_or(Ok(()));
                disconnected.and(served).map_err(|error| vec![error])
            }
        }
    }
}

/// Result of a cleanup.
#[derive(Debug, Default)]
pub struct Cleaned {
    /// Removed devices and mounts of processes that have ended.
    pub gone: Vec<String>,
    /// Failures to remove devices and mounts.
    pub errors: Vec<Error>,
}

/// Removes what processes that have ended left below `directory`.
#[must_use]
pub fn clean_up(directory: &Path) -> Cleaned {
    let (leases, errors) = super::abandoned(directory);
    let mut cleaned = Cleaned { gone: Vec::new(), errors };
    for lease in leases {
        let devices = lease.loop_devices();
        let mut names: Vec<String> = devices.iter().map(|path| path.display().to_string()).collect();
        if lease.is_mounted() {
            names.push(format!("the {FILESYSTEM} mount at {}", lease.mount_point().display()));
        }
        let left = if names.is_empty() { "two state files".to_owned() } else { names.join(", ") };
        match lease.tear_down() {
            Ok(()) => cleaned.gone.push(format!("{left}, of process {}", lease.pid())),
            Err(errors) => cleaned.errors.extend(errors),
        }
    }
    cleaned
}
