//! What is known of a namespace: its number, size, block format and protection information.

mod call;
mod zones;

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

pub(crate) use call::{NvmeCommand, errno_of, errno_of_status, execute, receive};

use units::ZoneReport;

use crate::error::{Error, ErrorKind};

const IDENTIFY: u8 = 0x06;
/// Identify: the namespace.
const CNS_NAMESPACE: u32 = 0x00;
/// Identify: the namespace as the NVM command set has it.
const CNS_NAMESPACE_OF_NVM: u32 = 0x05;
const IDENTIFY_BYTES: usize = 4096;

/// A namespace, as its device identifies it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Namespace {
    pub(crate) nsid: u32,
    /// Number of its block format.
    pub(crate) format: usize,
    pub(crate) blocks: u64,
    /// Data of a block in bytes, a power of two.
    pub(crate) data_bytes: u32,
    /// Metadata of a block in bytes.
    pub(crate) metadata_bytes: u32,
    /// Whether metadata follow the data of each block in the same buffer.
    pub(crate) extended: bool,
    /// Its protection information, if it is formatted with it.
    pub(crate) protection: Option<Protection>,
}

/// Protection information of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Protection {
    /// Whether reference tags count blocks (types 1 and 2).
    pub(crate) counts: bool,
    /// Format of the checksum.
    pub(crate) guard: GuardFormat,
    /// Whether it is at the start of the metadata instead of its end.
    pub(crate) first: bool,
}

/// Formats of checksums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GuardFormat {
    /// CRC-16 in 8 bytes of protection information.
    Crc16,
    /// CRC-32C in 16 bytes.
    Crc32c,
    /// CRC-64 in 16 bytes.
    Crc64,
}

impl GuardFormat {
    /// Returns the size of protection information in bytes.
    pub(crate) const fn bytes(self) -> u32 {
        match self {
            Self::Crc16 => 8,
            Self::Crc32c | Self::Crc64 => 16,
        }
    }
}

impl Namespace {
    /// Returns the bytes of data that the namespace holds.
    #[must_use]
    pub const fn data_capacity(&self) -> u64 {
        self.blocks.saturating_mul(self.data_bytes as u64)
    }

    /// Returns the bytes that a job transfers at most from or to the namespace: its metadata included, if they are part of
    /// each block. `device_protects` says whether the device inserts and strips protection information.
    #[must_use]
    pub const fn capacity(&self, device_protects: bool) -> u64 {
        self.blocks.saturating_mul(self.block_bytes(device_protects) as u64)
    }

    /// Returns the size of a block in a buffer.
    #[must_use]
    pub const fn block_bytes(&self, device_protects: bool) -> u32 {
        if self.extended && !self.is_stripped(device_protects) {
            self.data_bytes + self.metadata_bytes
        } else {
            self.data_bytes
        }
    }

    /// Returns the metadata of a block in a buffer of their own.
    pub(crate) const fn separate_bytes(&self, device_protects: bool) -> u32 {
        if self.extended || self.is_stripped(device_protects) { 0 } else { self.metadata_bytes }
    }

    /// Reports whether all metadata are protection information that the device inserts and strips.
    const fn is_stripped(&self, device_protects: bool) -> bool {
        match self.protection {
            Some(protection) => device_protects && self.metadata_bytes == protection.guard.bytes(),
            None => false,
        }
    }

    /// Reads the answers to Identify. `None` if they make no sense.
    fn parse(nsid: u32, identified: &[u8; IDENTIFY_BYTES], of_nvm: Option<&[u8; IDENTIFY_BYTES]>) -> Option<Self> {
        let flbas = identified[26];
        let format = usize::from(flbas & 0xf | (flbas >> 1) & 0x30);
        let described = word(identified, 128 + 4 * format);
        let (metadata_bytes, shift) = (described & 0xffff, described >> 16 & 0xff);
        if !(9..=31).contains(&shift) {
            return None;
        }
        let protected = identified[29];
        let elbaf = of_nvm.map_or(0, |bytes| word(bytes, 12 + 4 * format));
        let guard = match elbaf >> 7 & 3 {
            1 => GuardFormat::Crc32c,
            2 => GuardFormat::Crc64,
            _ => GuardFormat::Crc16,
        };
        let protection = Protection { counts: protected & 7 != 3, guard, first: protected & 8 != 0 };
        let is_protected = matches!(protected & 7, 1..=3) && metadata_bytes >= guard.bytes();
        let blocks = identified.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))?;
        Some(Self {
            nsid,
            format,
            blocks,
            data_bytes: 1 << shift,
            metadata_bytes,
            extended: metadata_bytes > 0 && flbas & 0x10 != 0,
            protection: is_protected.then_some(protection),
        })
    }

    /// Identifies the namespace of an open character device.
    pub(crate) fn of(fd: RawFd) -> io::Result<Self> {
        let nsid = call::number(fd)?;
        let identified = identify(fd, nsid, CNS_NAMESPACE, 0)?;
        let is_protected = identified[29] & 7 != 0;
        // A device without this answer has the first format only.
        let of_nvm = if is_protected { identify(fd, nsid, CNS_NAMESPACE_OF_NVM, 0).ok() } else { None };
        let foreign = || io::Error::new(io::ErrorKind::InvalidData, "the device reports no block format");
        Self::parse(nsid, &identified, of_nvm.as_deref()).ok_or_else(foreign)
    }
}

/// Identifies the NVMe namespace of the character device at `path`.
///
/// # Errors
/// Fails if it is something else, or does not answer.
pub fn identify_namespace(path: &Path) -> Result<Namespace, Error> {
    of_fd(open_to_ask(path)?.as_raw_fd(), path)
}

/// Returns the zones of the NVMe namespace of the character device at `path`, in the units in which jobs address it
/// ([`Namespace::capacity`]); `None` without zones.
///
/// # Errors
/// Fails if it is something else, or does not answer.
pub fn zones_of_namespace(path: &Path, device_protects: bool) -> Result<Option<ZoneReport>, Error> {
    let file = open_to_ask(path)?;
    let namespace = of_fd(file.as_raw_fd(), path)?;
    let zones = namespace.zones(file.as_raw_fd(), namespace.block_bytes(device_protects));
    zones.map_err(|error| Error::file("report the zones of", path, &error))
}

/// Opens a character device for commands that change nothing.
fn open_to_ask(path: &Path) -> Result<std::fs::File, Error> {
    let metadata = std::fs::metadata(path).map_err(|error| Error::file("stat", path, &error))?;
    if !metadata.file_type().is_char_device() {
        return Err(not_a_namespace(path));
    }
    let opened = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path);
    opened.map_err(|error| Error::file("open", path, &error))
}

/// Returns the number of 32 bits at a place of an answer.
fn word(bytes: &[u8; IDENTIFY_BYTES], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Identifies the NVMe namespace of an open character device.
pub(crate) fn of_fd(fd: RawFd, path: &Path) -> Result<Namespace, Error> {
    Namespace::of(fd).map_err(|error| match error.raw_os_error() {
        Some(libc::ENOTTY | libc::EINVAL) => not_a_namespace(path),
        _ => Error::file("identify", path, &error),
    })
}

/// Returns the error for a file that takes no NVMe commands.
pub(crate) fn not_a_namespace(path: &Path) -> Error {
    let reason = "it is not the character device of an NVMe namespace, which ioengine=io_uring_cmd needs";
    Error::found(ErrorKind::File, "use", path.display().to_string(), reason)
        .with_remedy("use a device /dev/ngXnY, or ioengine=io_uring for other files and devices")
}

fn identify(fd: RawFd, nsid: u32, structure: u32, command_set: u32) -> io::Result<Box<[u8; IDENTIFY_BYTES]>> {
    let mut answer = Box::new([0; IDENTIFY_BYTES]);
    let cdw11 = command_set << 24;
    let mut command = NvmeCommand { opcode: IDENTIFY, nsid, cdw10: structure, cdw11, ..NvmeCommand::default() };
    command.addr = answer.as_mut_ptr() as u64;
    command.data_len = IDENTIFY_BYTES as u32;
    call::administer(fd, command)?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identified(blocks: u64, flbas: u8, dps: u8, formats: &[(usize, u16, u8)]) -> [u8; IDENTIFY_BYTES] {
        let mut bytes = [0; IDENTIFY_BYTES];
        bytes[..8].copy_from_slice(&blocks.to_le_bytes());
        (bytes[26], bytes[29]) = (flbas, dps);
        for &(format, metadata, shift) in formats {
            bytes[128 + 4 * format..130 + 4 * format].copy_from_slice(&metadata.to_le_bytes());
            bytes[130 + 4 * format] = shift;
        }
        bytes
    }

    #[test]
    fn a_plain_namespace_has_blocks_of_data() {
        let bytes = identified(1000, 1, 0, &[(0, 0, 9), (1, 0, 12)]);
        let plain = Namespace::parse(5, &bytes, None).unwrap();
        assert_eq!((plain.nsid, plain.data_bytes, plain.capacity(true)), (5, 4096, 4_096_000));
        assert_eq!((plain.block_bytes(false), plain.separate_bytes(false)), (4096, 0));
        assert_eq!(plain.protection, None);
    }

    /// Formats from 16 on have two more bits.
    #[test]
    fn formats_beyond_the_first_sixteen_are_found() {
        let bytes = identified(8, 0x20 | 2, 0, &[(2, 0, 9), (18, 0, 12)]);
        assert_eq!(Namespace::parse(1, &bytes, None).unwrap().data_bytes, 4096);
    }

    #[test]
    fn metadata_that_the_device_inserts_need_no_buffer() {
        let protected = Namespace::parse(1, &identified(8, 0, 1, &[(0, 8, 9)]), None).unwrap();
        assert_eq!((protected.separate_bytes(true), protected.separate_bytes(false)), (0, 8));
        let extended = Namespace::parse(1, &identified(8, 0x10, 2, &[(0, 8, 9)]), None).unwrap();
        assert_eq!((extended.block_bytes(true), extended.block_bytes(false)), (512, 520));
        assert_eq!((extended.capacity(false), extended.data_capacity()), (8 * 520, 8 * 512));
        let larger = Namespace::parse(1, &identified(8, 0x10, 3 | 8, &[(0, 64, 9)]), None).unwrap();
        assert_eq!((larger.block_bytes(true), larger.block_bytes(false)), (576, 576));
        assert_eq!(larger.protection, Some(Protection { counts: false, guard: GuardFormat::Crc16, first: true }));
    }

    #[test]
    fn the_format_of_the_checksum_is_that_of_the_block_format() {
        let mut of_nvm = [0; IDENTIFY_BYTES];
        of_nvm[12 + 4..12 + 8].copy_from_slice(&(2_u32 << 7 | 48).to_le_bytes());
        let wide = Namespace::parse(1, &identified(8, 1, 1, &[(1, 16, 12)]), Some(&of_nvm)).unwrap();
        assert_eq!(wide.protection.map(|protection| protection.guard), Some(GuardFormat::Crc64));
        // Metadata that cannot hold the protection information have none.
        let small = Namespace::parse(1, &identified(8, 1, 1, &[(1, 8, 12)]), Some(&of_nvm)).unwrap();
        assert_eq!(small.protection, None);
    }

    #[test]
    fn impossible_block_sizes_are_refused() {
        for shift in [0, 8, 32, 255] {
            assert_eq!(Namespace::parse(1, &identified(8, 0, 0, &[(0, 0, shift)]), None), None, "{shift}");
        }
    }

    #[test]
    fn other_files_are_no_namespaces() {
        for path in ["/dev/null", "/proc/version", "/tmp"] {
            let error = identify_namespace(Path::new(path)).unwrap_err();
            assert!(error.to_string().contains("not the character device of an NVMe namespace"), "{error}");
        }
    }
}
