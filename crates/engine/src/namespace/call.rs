//! NVMe commands by ioctl.

use std::io;
use std::os::fd::RawFd;

/// `NVME_IOCTL_ID`: `_IO('N', 0x40)`.
const NVME_IOCTL_ID: libc::Ioctl = 0x4e40;
/// `NVME_IOCTL_ADMIN_CMD`: `_IOWR('N', 0x41, struct nvme_admin_cmd)`.
const NVME_IOCTL_ADMIN_CMD: libc::Ioctl = 0xc048_4e41_u32 as libc::Ioctl;
/// `NVME_IOCTL_IO_CMD`: `_IOWR('N', 0x43, struct nvme_passthru_cmd)`.
const NVME_IOCTL_IO_CMD: libc::Ioctl = 0xc048_4e43_u32 as libc::Ioctl;

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

/// Executes a command whose memory the caller keeps until it returns.
fn submit(fd: RawFd, call: libc::Ioctl, mut command: NvmeCommand) -> io::Result<()> {
    // SAFETY: `command` has the layout of `struct nvme_passthru_cmd`, and it and its buffer outlive the call.
    match repeated(|| unsafe { libc::ioctl(fd, call, &raw mut command) })? {
        0 => Ok(()),
        status => Err(io::Error::other(format!("the device reports the status {status:#x}"))),
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
