//! NVMe commands by ioctl.

use std::io;
use std::os::fd::RawFd;

/// `NVME_IOCTL_ID`: `_IO('N', 0x40)`.
const NVME_IOCTL_ID: libc::Ioctl = 0x4e40;
/// `NVME_IOCTL_ADMIN_CMD`: `_IOWR('N', 0x41, struct nvme_admin_cmd)`.
const NVME_IOCTL_ADMIN_CMD: libc::Ioctl = 0xc048_4e41_u32 as libc::Ioctl;
/// `NVME_IOCTL_IO_CMD`: `_IOWR('N', 0x43, struct nvme_passthru_cmd)`.
const NVME_IOCTL_IO_CMD: libc::Ioctl = 0xc048_4e43_u32 as libc::Ioctl;

/// Generic status codes.
const INVALID_OPCODE: i32 = 0x01;
const INVALID_FIELD: i32 = 0x02;

/// Size of `struct nvme_uring_cmd` and `struct nvme_passthru_cmd`.
const COMMAND_BYTES: usize = 72;

/// A command, with the fields of `struct nvme_uring_cmd` in their order.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NvmeCommand {
    pub(crate) opcode: u8,
    pub(crate) flags: u8,
    pub(crate) reserved: u16,
    pub(crate) nsid: u32,
    pub(crate) cdw2: u32,
    pub(crate) cdw3: u32,
    pub(crate) metadata: u64,
    pub(crate) addr: u64,
    pub(crate) metadata_len: u32,
    pub(crate) data_len: u32,
    pub(crate) cdw10: u32,
    pub(crate) cdw11: u32,
    pub(crate) cdw12: u32,
    pub(crate) cdw13: u32,
    pub(crate) cdw14: u32,
    pub(crate) cdw15: u32,
    pub(crate) timeout_ms: u32,
    pub(crate) result: u32,
}

const _: () = assert!(size_of::<NvmeCommand>() == COMMAND_BYTES);

/// Returns the number of the namespace of an open character device.
pub(super) fn number(fd: RawFd) -> io::Result<u32> {
    // SAFETY: the call takes no memory.
    match repeated(|| unsafe { libc::ioctl(fd, NVME_IOCTL_ID) })? {
        0 => Err(io::Error::from_raw_os_error(libc::ENOTTY)),
        nsid => Ok(nsid as u32),
    }
}

/// Executes an admin command. Its memory must stay valid until it returns.
pub(super) fn administer(fd: RawFd, command: NvmeCommand) -> io::Result<()> {
    submit(fd, NVME_IOCTL_ADMIN_CMD, command)
}

/// Executes an I/O command without data.
pub(crate) fn execute(fd: RawFd, command: NvmeCommand) -> io::Result<()> {
    submit(fd, NVME_IOCTL_IO_CMD, command)
}

/// Executes an I/O command that reads into `answer`.
pub(crate) fn receive(fd: RawFd, command: NvmeCommand, answer: &mut [u8]) -> io::Result<()> {
    let command = NvmeCommand { addr: answer.as_mut_ptr() as u64, data_len: answer.len() as u32, ..command };
    submit(fd, NVME_IOCTL_IO_CMD, command)
}

/// A status other than success.
#[derive(Clone, Copy, Debug)]
pub(super) struct NvmeStatus(i32);

impl std::fmt::Display for NvmeStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the device returned status {:#x}", self.0)
    }
}

impl std::error::Error for NvmeStatus {}

impl NvmeStatus {
    /// Returns the status in an error; `None` for an error of the system.
    fn of(error: &io::Error) -> Option<i32> {
        error.get_ref()?.downcast_ref().map(|Self(status)| *status)
    }

    /// Reports whether an error says that the device does not know the command or what it asks for.
    pub(super) fn is_unknown(error: &io::Error) -> bool {
        matches!(Self::of(error).map(|status| status & 0x7ff), Some(INVALID_OPCODE | INVALID_FIELD))
    }
}

/// Returns the error number of an error of a command.
pub(crate) fn errno_of(error: &io::Error) -> i32 {
    NvmeStatus::of(error).map_or(error.raw_os_error().unwrap_or(libc::EIO), errno_of_status)
}

/// Returns the error number for a status that a device has reported.
pub(crate) const fn errno_of_status(status: i32) -> i32 {
    match status & 0x7ff {
        // Generic: invalid opcode, invalid field, namespace not ready, write protected, out of range, full, reserved.
        0x01 => libc::EOPNOTSUPP,
        0x02 | 0x0b | 0x12 => libc::EINVAL,
        0x82 => libc::EAGAIN,
        0x20 | 0x182 => libc::EROFS,
        0x80 => libc::ERANGE,
        0x81 => libc::ENOSPC,
        0x83 => libc::EBADE,
        // Media: checks of protection information and comparisons, access, unwritten blocks.
        0x282..=0x285 => libc::EILSEQ,
        0x286 => libc::EACCES,
        0x281 | 0x287 => libc::ENODATA,
        // Zones: too many active, too many open.
        0x1bd => libc::EOVERFLOW,
        0x1be => libc::ETOOMANYREFS,
        _ => libc::EIO,
    }
}

/// Executes a command whose memory the caller keeps until it returns.
fn submit(fd: RawFd, call: libc::Ioctl, mut command: NvmeCommand) -> io::Result<()> {
    // SAFETY: `command` has the layout of `struct nvme_passthru_cmd`, and it and its buffer outlive the call.
    match repeated(|| unsafe { libc::ioctl(fd, call, &raw mut command) })? {
        0 => Ok(()),
        status => Err(io::Error::other(NvmeStatus(status))),
    }
}

fn repeated(mut call: impl FnMut() -> i32) -> io::Result<i32> {
    loop {
        let result = call();
        if result >= 0 {
            return Ok(result);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_becomes_an_error_number() {
        assert_eq!(errno_of_status(0x4002), libc::EINVAL, "the bit that forbids a retry is no part of the status");
        assert_eq!(
            [0x282, 0x285, 0x80, 0x81, 0x281].map(errno_of_status),
            [libc::EILSEQ, libc::EILSEQ, libc::ERANGE, libc::ENOSPC, libc::ENODATA]
        );
        assert_eq!([0x6, 0x1be, 0x1bd].map(errno_of_status), [libc::EIO, libc::ETOOMANYREFS, libc::EOVERFLOW]);
    }

    #[test]
    fn errors_have_the_numbers_of_their_status() {
        let reported = |status| io::Error::other(NvmeStatus(status));
        assert_eq!([errno_of(&reported(0x20)), errno_of(&io::Error::from_raw_os_error(5))], [libc::EROFS, libc::EIO]);
        let unknown = [0x4002, 0x1, 0x82].map(|status| NvmeStatus::is_unknown(&reported(status)));
        assert_eq!(unknown, [true, true, false]);
        assert!(!NvmeStatus::is_unknown(&io::Error::from_raw_os_error(libc::EINVAL)));
    }
}
