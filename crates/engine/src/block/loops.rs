//! Loop devices: files as block devices (`linux/loop.h`).

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::{Error, ErrorKind};
use crate::loop_info::LoopInfo;
use probe::reading;

const LOOP_CLR_FD: libc::Ioctl = 0x4C01;
const LOOP_CONFIGURE: libc::Ioctl = 0x4C0A;
const LOOP_CTL_GET_FREE: libc::Ioctl = 0x4C82;
const CONTROL: &str = "/dev/loop-control";

const READ_ONLY: u32 = 1;
const DIRECT_IO: u32 = 16;

/// Settings of a loop device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopSetup {
    /// Logical block size in bytes: a power of two from 512 to the page size.
    pub block_bytes: u32,
    /// Bytes of the file that the device shows; 0 for all.
    pub size: u64,
    /// Whether the device rejects writes.
    pub read_only: bool,
    /// Whether I/O bypasses the page cache of the file, with many requests in flight at once.
    pub direct: bool,
}

/// A loop device with a backing file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopDevice {
    /// Device node, such as `/dev/loop3`.
    pub path: PathBuf,
    /// Backing file as the kernel reports it: its path when the device was created, or now.
    pub backing: PathBuf,
    /// Whether I/O bypasses the page cache of the file.
    pub direct: bool,
}

/// `struct loop_config`
#[repr(C)]
struct LoopConfig {
    fd: u32,
    block_size: u32,
    info: LoopInfo,
    reserved: [u64; 8],
}

/// Creates a loop device over `backing` and returns its path. The device stays until [`detach_loop`]. This opens and
/// reads the file, so a file of a mount must be served by another thread meanwhile.
///
/// # Errors
/// Fails if the host has no loop devices, this user may not create any, or the file cannot be opened.
pub fn attach_loop(backing: &Path, setup: &LoopSetup) -> Result<PathBuf, Error> {
    let file = OpenOptions::new().read(true).write(!setup.read_only).open(backing);
    let file = file.map_err(|error| Error::file("open", backing, &error))?;
    let control = OpenOptions::new().read(true).write(true).open(CONTROL);
    let control = control.map_err(|error| loop_error("open", Path::new(CONTROL), &error))?;
    let config = config(&file, backing, setup);
    for _ in 0..MAX_TRIES {
        let path = free(&control)?;
        match configure(&path, &config) {
            // Another program took the device first.
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {}
            result => return result.map(|()| path.clone()).map_err(|error| loop_error("set up", &path, &error)),
        }
    }
    Err(Error::found(ErrorKind::Host, "set up", "a loop device", "other programs took all free devices")
        .with_remedy("try again (see losetup)"))
}

/// Detaches a loop device from its file, after writing back what was written through it.
///
/// # Errors
/// Fails if this user has no permission, or the device is in use: the kernel then detaches it after its last user.
pub fn detach_loop(path: &Path) -> Result<(), Error> {
    let device = OpenOptions::new().read(true).open(path);
    let device = device.map_err(|error| loop_error("open", path, &error))?;
    // SAFETY: the call takes no argument.
    if unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CLR_FD, 0) } < 0 {
        let error = io::Error::last_os_error();
        // It is detached already.
        return if error.raw_os_error() == Some(libc::ENXIO) {
            Ok(())
        } else {
            Err(loop_error("detach", path, &error))
        };
    }
    drop(device);
    wait_until_free(path)
}

/// Returns all loop devices with a backing file. `root` is the root directory of the host.
#[must_use]
pub fn loop_devices(root: &Path) -> Vec<LoopDevice> {
    let names = reading::names(root, "sys/block").unwrap_or_default();
    names.iter().filter(|name| name.starts_with("loop")).filter_map(|name| status(root, name)).collect()
}

/// Returns a loop device, or `None` if it has no backing file.
fn status(root: &Path, name: &str) -> Option<LoopDevice> {
    let backing = reading::line(root, &format!("sys/block/{name}/loop/backing_file")).ok()?;
    let direct = reading::line(root, &format!("sys/block/{name}/loop/dio")).is_ok_and(|direct| direct == "1");
    Some(LoopDevice { path: Path::new("/dev").join(name), backing: backing.into(), direct })
}

/// Waits until the device is free: programs that probe every new device hold it open for a moment.
fn wait_until_free(path: &Path) -> Result<(), Error> {
    let until = Instant::now() + DETACH_TIMEOUT;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    while status(Path::new("/"), &name).is_some() {
        if Instant::now() > until {
            return Err(Error::found(ErrorKind::Host, "detach", path.display().to_string(), "it is in use")
                .with_remedy(
                    "unmount it or stop the program that uses it (see lsblk and fuser); the kernel then removes it",
                ));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

const MAX_TRIES: u32 = 32;
const DETACH_TIMEOUT: Duration = Duration::from_secs(1);

fn free(control: &File) -> Result<PathBuf, Error> {
    // SAFETY: the call takes no argument.
    let number = unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE, 0) };
    if number < 0 {
        return Err(loop_error("get a free loop device from", Path::new(CONTROL), &io::Error::last_os_error()));
    }
    Ok(format!("/dev/loop{number}").into())
}

fn configure(path: &Path, config: &LoopConfig) -> io::Result<()> {
    let device = OpenOptions::new().read(true).write(true).open(path)?;
    // SAFETY: the call reads `config`, which has the kernel's layout and outlives the call.
    if unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CONFIGURE, std::ptr::from_ref(config)) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

fn config(file: &File, backing: &Path, setup: &LoopSetup) -> LoopConfig {
    // SAFETY: all zeroes is valid for both structures, which consist of numbers.
    let mut config: LoopConfig = unsafe { std::mem::zeroed() };
    config.fd = file.as_raw_fd() as u32;
    config.block_size = setup.block_bytes;
    config.info.size_limit = setup.size;
    config.info.flags = if setup.read_only { READ_ONLY } else { 0 } | if setup.direct { DIRECT_IO } else { 0 };
    // Only informative, and NUL-terminated.
    let name = backing.as_os_str().as_encoded_bytes();
    let shown = name.len().min(config.info.file_name.len() - 1);
    config.info.file_name[..shown].copy_from_slice(&name[..shown]);
    config
}

fn loop_error(operation: &'static str, path: &Path, error: &io::Error) -> Error {
    let failed = Error::system(ErrorKind::Host, operation, path.display().to_string(), error);
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::ENODEV | libc::ENXIO) => {
            failed.with_remedy("load the loop driver (modprobe loop), or run the container with --privileged")
        }
        Some(libc::EACCES | libc::EPERM) => failed.with_remedy("run as root"),
        Some(libc::EINVAL) => {
            failed.with_remedy("use a block size of 512 to 4096 bytes, a power of two; requires Linux 5.8")
        }
        _ => failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_kernels_sizes() {
        assert_eq!((size_of::<LoopInfo>(), size_of::<LoopConfig>()), (232, 304));
    }
}
