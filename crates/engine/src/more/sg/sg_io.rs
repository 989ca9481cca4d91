//! The kernel's interface for SCSI commands, version 3 (`scsi/sg.h`).

use std::io;
use std::os::fd::RawFd;
use std::ptr;

use super::command::Cdb;
use super::sense::{SENSE_BYTES, Sense};
use crate::inline::{repeated, retried};

/// `SG_IO` of `scsi/sg.h`.
const SG_IO: libc::Ioctl = 0x2285;
/// Time after which the kernel aborts a command, in milliseconds: longer than a device takes to unmap a large range.
const TIMEOUT_MS: u32 = 120_000;
/// `SGV4_FLAG_HIPRI` of newer drivers; others ignore it.
const HIPRI: u32 = 0x800;

/// Direction of a transfer, with its `SG_DXFER_*` number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(super) enum DataDirection {
    Nothing = -1,
    ToDevice = -2,
    FromDevice = -3,
}

/// `struct sg_io_hdr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct ScsiHeader {
    interface: i32,
    direction: i32,
    command_bytes: u8,
    sense_room: u8,
    vectors: u16,
    data_bytes: u32,
    data: *mut u8,
    command: *const u8,
    sense: *mut u8,
    timeout_ms: u32,
    flags: u32,
    /// Number by which a completion is recognized.
    pub(super) number: i32,
    user: *mut u8,
    status: u8,
    masked_status: u8,
    message_status: u8,
    sense_bytes: u8,
    host_status: u16,
    driver_status: u16,
    rest_bytes: i32,
    duration: u32,
    info: u32,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<ScsiHeader>() == 88);

/// `S` of version 3.
const INTERFACE: i32 = b'S' as i32;
/// SAM status: the device can take the command later.
const BUSY: [u8; 2] = [0x08, 0x28];
/// SAM status: another host has reserved the device.
const RESERVED: u8 = 0x18;

impl ScsiHeader {
    /// A header that completions are read into.
    pub(super) const EMPTY: Self = Self {
        interface: INTERFACE,
        direction: DataDirection::Nothing as i32,
        command_bytes: 0,
        sense_room: 0,
        vectors: 0,
        data_bytes: 0,
        data: ptr::null_mut(),
        command: ptr::null(),
        sense: ptr::null_mut(),
        timeout_ms: TIMEOUT_MS,
        flags: 0,
        number: -1,
        user: ptr::null_mut(),
        status: 0,
        masked_status: 0,
        message_status: 0,
        sense_bytes: 0,
        host_status: 0,
        driver_status: 0,
        rest_bytes: 0,
        duration: 0,
        info: 0,
    };

    /// Returns what the device made of the command.
    pub(super) fn outcome(&self, sense: &[u8; SENSE_BYTES]) -> CommandOutcome {
        // Bit 3 only says that there are sense data.
        if self.status == 0 && self.host_status == 0 && self.driver_status & 0x7 == 0 {
            return CommandOutcome::Done { rest_bytes: u32::try_from(self.rest_bytes).unwrap_or(0) };
        }
        if BUSY.contains(&self.status) {
            return CommandOutcome::Busy;
        }
        let length = usize::from(self.sense_bytes).min(SENSE_BYTES);
        let text = match Sense::decode(&sense[..length]) {
            // A recovered error is none: the command was carried out.
            Some(sense) if sense.key == 1 => {
                return CommandOutcome::Done { rest_bytes: u32::try_from(self.rest_bytes).unwrap_or(0) };
            }
            Some(sense) => sense.to_string(),
            None if self.status == RESERVED => "reservation conflict: another host has reserved the device".to_owned(),
            None => format!(
                "the command was not executed (status {:02X}h, host {:02X}h, driver {:02X}h)",
                self.status, self.host_status, self.driver_status
            ),
        };
        CommandOutcome::Failed { text }
    }
}

/// What a device made of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CommandOutcome {
    /// It was carried out; so many bytes were not transferred.
    Done { rest_bytes: u32 },
    /// The device can take it later.
    Busy,
    /// It was not carried out, for this reason.
    Failed { text: String },
}

/// A command with the memory that the kernel uses while it is carried out.
pub(super) struct ScsiRequest {
    header: ScsiHeader,
    command: Cdb,
    pub(super) sense: [u8; SENSE_BYTES],
    /// Parameters that are not in a buffer.
    parameters: [u8; 32],
}

impl ScsiRequest {
    pub(super) const fn new() -> Self {
        let command = Cdb::EMPTY;
        Self { header: ScsiHeader::EMPTY, command, sense: [0; SENSE_BYTES], parameters: [0; 32] }
    }

    /// Prepares a command without a transfer.
    pub(super) fn prepare(&mut self, command: Cdb) {
        self.command = command;
        self.sense = [0; SENSE_BYTES];
        self.header = ScsiHeader { command_bytes: command.as_slice().len() as u8, ..ScsiHeader::EMPTY };
    }

    /// Adds the transfer of a buffer.
    ///
    /// # Safety
    /// `length` bytes from `start` on must be valid for reads and writes, and not used elsewhere until the command has
    /// completed.
    pub(super) unsafe fn transfer(&mut self, direction: DataDirection, start: *mut u8, length: u32) {
        if length > 0 {
            (self.header.direction, self.header.data, self.header.data_bytes) = (direction as i32, start, length);
        }
    }

    /// Adds parameters of at most 32 bytes, or room for an answer of that size.
    pub(super) fn exchange(&mut self, direction: DataDirection, parameters: &[u8]) {
        let length = parameters.len().min(self.parameters.len());
        self.parameters[..length].copy_from_slice(&parameters[..length]);
        (self.header.direction, self.header.data_bytes) = (direction as i32, length as u32);
        self.header.data = ptr::null_mut();
    }

    /// Returns the answer of the device.
    pub(super) fn answer(&self) -> &[u8; 32] {
        &self.parameters
    }

    pub(super) fn poll_for(&mut self) {
        self.header.flags |= HIPRI;
    }

    /// Sets the addresses of what is in this request, which must not move until the command has completed.
    fn connect(&mut self, number: i32) {
        self.header.number = number;
        self.header.command = self.command.as_slice().as_ptr();
        (self.header.sense, self.header.sense_room) = (self.sense.as_mut_ptr(), SENSE_BYTES as u8);
        if self.header.data.is_null() && self.header.data_bytes > 0 {
            self.header.data = self.parameters.as_mut_ptr();
        }
    }

    /// Carries the command out. The error is a negated error number of the system call.
    pub(super) fn execute(&mut self, fd: RawFd) -> Result<CommandOutcome, i32> {
        self.connect(0);
        let header = &raw mut self.header;
        // SAFETY: the header and what it refers to outlive the call; `transfer` required it of the buffer.
        let result = retried(0, || unsafe { libc::ioctl(fd, SG_IO, header) });
        if result < 0 { Err(result) } else { Ok(self.header.outcome(&self.sense)) }
    }

    /// Hands the command to a generic device. The error is a negated error number of the system call.
    pub(super) fn submit(&mut self, fd: RawFd, number: i32) -> Result<(), i32> {
        self.connect(number);
        let header = (&raw const self.header).cast();
        // SAFETY: the kernel reads the header, which outlives the call. What it refers to outlives the command, because
        // requests are not moved, and their buffers are not used, until it has completed.
        let written = repeated(|| unsafe { libc::write(fd, header, size_of::<ScsiHeader>()) });
        if written < 0 { Err(written) } else { Ok(()) }
    }
}

/// Takes a completion from a generic device. Returns `None` if none has arrived.
///
/// # Errors
/// Returns the negated error number of the system call.
pub(super) fn take_completion(fd: RawFd) -> Result<Option<ScsiHeader>, i32> {
    let mut header = ScsiHeader::EMPTY;
    let place = (&raw mut header).cast();
    // SAFETY: the kernel reads and writes the header, which outlives the call.
    match repeated(|| unsafe { libc::read(fd, place, size_of::<ScsiHeader>()) }) {
        errno if errno == -libc::EAGAIN => Ok(None),
        errno if errno < 0 => Err(errno),
        _ => Ok(Some(header)),
    }
}

pub(super) fn system_error(negated: i32) -> io::Error {
    io::Error::from_raw_os_error(-negated)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(status: u8, sense_bytes: u8) -> ScsiHeader {
        ScsiHeader { status, sense_bytes, ..ScsiHeader::EMPTY }
    }

    #[test]
    fn outcomes_follow_status_and_sense() {
        let mut sense = [0; SENSE_BYTES];
        let done = |rest_bytes| CommandOutcome::Done { rest_bytes };
        assert_eq!(header(0, 0).outcome(&sense), done(0));
        assert_eq!(ScsiHeader { rest_bytes: 512, ..ScsiHeader::EMPTY }.outcome(&sense), done(512));
        assert_eq!(ScsiHeader { rest_bytes: -512, ..ScsiHeader::EMPTY }.outcome(&sense), done(0));
        assert_eq!(ScsiHeader { driver_status: 8, ..ScsiHeader::EMPTY }.outcome(&sense), done(0));
        assert_eq!(header(0x28, 0).outcome(&sense), CommandOutcome::Busy);
        let text = |header: ScsiHeader, sense: &[u8; SENSE_BYTES]| match header.outcome(sense) {
            CommandOutcome::Failed { text } => text,
            other => format!("{other:?}"),
        };
        assert!(text(header(0x18, 0), &sense).starts_with("reservation conflict"));
        assert!(text(ScsiHeader { host_status: 1, ..ScsiHeader::EMPTY }, &sense).contains("host 01h"));
        (sense[0], sense[2]) = (0x70, 1);
        assert_eq!(header(2, 18).outcome(&sense), done(0));
        sense[2] = 0xe;
        assert!(text(header(2, 18), &sense).starts_with("miscompare"));
        // A length beyond the room is the kernel's mistake.
        assert!(matches!(header(2, 255).outcome(&sense), CommandOutcome::Failed { .. }));
    }
}
