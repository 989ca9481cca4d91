//! Backing files of loop devices, identified by device and inode: their names do not account for hard links, bind
//! mounts and other mount namespaces.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use super::identity::FileIdentity;
use crate::loop_info::LoopInfo;
use probe::Number;
use units::{Problem, ProblemCode};

/// `LOOP_GET_STATUS64` of `linux/loop.h`.
const LOOP_GET_STATUS64: libc::Ioctl = 0x4C05;

/// A loop device and its backing file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loop {
    /// Name, such as `loop3`.
    pub(super) name: String,
    pub(super) number: Number,
    /// Identity of the backing file or device; `None` if unknown.
    pub(super) backing: Option<FileIdentity>,
    /// Whether `backing` comes from the driver. Otherwise it comes from a name, which may refer to another file in
    /// another mount namespace.
    pub(super) is_certain: bool,
    span: Option<LoopSpan>,
}

/// The part of its file that a loop device shows, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LoopSpan {
    offset: u64,
    bytes: u64,
    /// Whether the setup limits the size, so that the device may end before the file does.
    is_limited: bool,
}

impl Loop {
    /// Reports whether a file of `bytes` bytes may be the backing file, judged by its size. A device without a limit
    /// ends where its file ended at setup.
    pub(super) fn can_be_over(&self, bytes: u64) -> bool {
        let Some(LoopSpan { offset, bytes: shown, is_limited }) = self.span else { return true };
        let Some(rest) = bytes.checked_sub(offset) else { return false };
        if is_limited { rest >= shown } else { rest / SECTOR_BYTES == shown / SECTOR_BYTES }
    }
}

const SECTOR_BYTES: u64 = 512;

/// Returns all loop devices with a backing file.
///
/// # Errors
/// Returns a message if the kernel's list of block devices cannot be read.
pub(super) fn loops(root: &Path) -> Result<Vec<Loop>, Problem> {
    let names = std::fs::read_dir(root.join("sys/block"));
    let names = names.map_err(|error| {
        Problem::error(ProblemCode::Host, format!("cannot list block devices (/sys/block): {error}"))
    })?;
    let names = names.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    Ok(names.filter(|name| name.starts_with("loop")).filter_map(|name| read_loop(root, name)).collect())
}

/// A device that another program attaches or detaches, which has no file for the driver, is read again so often.
const READINGS_MAX: u32 = 20;
const READING_PAUSE: Duration = Duration::from_millis(5);

/// Returns a loop device, or `None` if it has no backing file.
fn read_loop(root: &Path, name: String) -> Option<Loop> {
    let place = root.join("sys/block").join(&name);
    let number_in_file = |file: &str| std::fs::read_to_string(place.join(file)).ok()?.trim().parse::<u64>().ok();
    let mut readings = 0;
    let (name_bytes, number, driver) = loop {
        let name_bytes = std::fs::read(place.join("loop/backing_file")).ok()?;
        let number = probe::number_in(&std::fs::read_to_string(place.join("dev")).ok()?)?;
        readings += 1;
        match from_driver(&name, number) {
            Err(error) if error.raw_os_error() == Some(libc::ENXIO) && readings < READINGS_MAX => {
                std::thread::sleep(READING_PAUSE);
            }
            driver => break (name_bytes, number, driver.ok().flatten()),
        }
    };
    let (is_certain, backing, offset, limit) = match driver {
        Some((backing, info)) => (true, Some(backing), Some(info.offset), Some(info.size_limit)),
        None => (false, from_name(&name_bytes), number_in_file("loop/offset"), number_in_file("loop/sizelimit")),
    };
    let span = || {
        let bytes = number_in_file("size")?.checked_mul(SECTOR_BYTES)?;
        Some(LoopSpan { offset: offset?, bytes, is_limited: limit? > 0 })
    };
    let span = span();
    Some(Loop { name, number, backing, is_certain, span })
}

/// Returns the identity of the backing file and the device's state from the driver, or `None` if the node is another device.
///
/// # Errors
/// Fails if this user has no access, and with `ENXIO` while the device is attached or detached.
fn from_driver(name: &str, number: Number) -> io::Result<Option<(FileIdentity, LoopInfo)>> {
    let device = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(Path::new("/dev").join(name))?;
    if FileIdentity::of(&device.metadata()?) != FileIdentity::Block(number) {
        return Ok(None);
    }
    let info = status(&device)?;
    let backing = match info.rdevice {
        0 => FileIdentity::File { device: info.device, inode: info.inode },
        device => FileIdentity::Block((libc::major(device), libc::minor(device))),
    };
    Ok(Some((backing, info)))
}

fn status(device: &File) -> io::Result<LoopInfo> {
    // SAFETY: all zeroes is valid for the structure, which consists of numbers.
    let mut info: LoopInfo = unsafe { std::mem::zeroed() };
    // SAFETY: the call writes `info`, which has the kernel's layout and outlives the call.
    match unsafe { libc::ioctl(device.as_raw_fd(), LOOP_GET_STATUS64, &raw mut info) } {
        0 => Ok(info),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Identifies the backing file by its name in `/sys`, for users without access to the device.
fn from_name(name_bytes: &[u8]) -> Option<FileIdentity> {
    use std::os::unix::ffi::OsStrExt;
    let path = name_bytes.strip_suffix(b"\n").unwrap_or(name_bytes);
    FileIdentity::at(Path::new(std::ffi::OsStr::from_bytes(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shows(offset: u64, bytes: u64, is_limited: bool) -> Loop {
        let span = Some(LoopSpan { offset, bytes, is_limited });
        Loop { name: "loop3".into(), number: (7, 3), backing: None, is_certain: false, span }
    }

    #[test]
    fn a_backing_file_must_match_the_size_of_its_device() {
        for (offset, limited, sizes) in [
            (0, false, [(4096, true), (4600, true), (4608, false), (4095, false)]),
            (1024, false, [(5120, true), (4096, false), (512, false), (9216, false)]),
            (1024, true, [(5120, true), (4096, false), (512, false), (9216, true)]),
        ] {
            for (bytes, can) in sizes {
                assert_eq!(shows(offset, 4096, limited).can_be_over(bytes), can, "{offset} {limited} {bytes}");
            }
        }
        let unknown = Loop { span: None, ..shows(0, 0, false) };
        assert!(unknown.can_be_over(1));
    }
}
