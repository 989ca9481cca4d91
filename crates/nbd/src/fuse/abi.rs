//! Constants and structures of the kernel's FUSE interface. All numbers are in the byte order of the host.

use nbd_wire::bytes::ByteReader;
use rustix::io::Errno;

pub(super) const MAJOR: u32 = 7;
/// Newest supported minor version.
pub(super) const MINOR: u32 = 38;
/// Oldest supported minor version, of Linux 5.6. Its structures have today's sizes.
pub(super) const OLDEST_MINOR: u32 = 31;

pub(super) const ROOT: u64 = 1;
/// Maximum size of one read or write; the host may permit less (`fs.fuse.max_pages_limit`).
pub const MOST_BYTES: u32 = 1 << 20;
/// The same in pages of 4 KiB; with larger pages, the kernel's own limit applies.
pub(super) const MAX_PAGES_PER_REQUEST: u16 = 256;

pub(super) mod opcode {
    pub(crate) const FORGET: u32 = 2;
    pub(crate) const GETATTR: u32 = 3;
    pub(crate) const SETATTR: u32 = 4;
    pub(crate) const OPEN: u32 = 14;
    pub(crate) const READ: u32 = 15;
    pub(crate) const WRITE: u32 = 16;
    pub(crate) const STATFS: u32 = 17;
    pub(crate) const RELEASE: u32 = 18;
    pub(crate) const FSYNC: u32 = 20;
    pub(crate) const FLUSH: u32 = 25;
    pub(crate) const INIT: u32 = 26;
    pub(crate) const ACCESS: u32 = 34;
    pub(crate) const INTERRUPT: u32 = 36;
    pub(crate) const DESTROY: u32 = 38;
    pub(crate) const BATCH_FORGET: u32 = 42;
    pub(crate) const FALLOCATE: u32 = 43;
    pub(crate) const LSEEK: u32 = 46;
}

/// Flags of the initialization: parallel reads, long writes, asynchronous direct I/O, long requests.
pub(super) mod init {
    pub(crate) const ASYNC_READ: u32 = 1 << 0;
    pub(crate) const BIG_WRITES: u32 = 1 << 5;
    pub(crate) const ASYNC_DIO: u32 = 1 << 15;
    pub(crate) const MAX_PAGES: u32 = 1 << 22;
    pub(crate) const WANTED: u32 = ASYNC_READ | BIG_WRITES | ASYNC_DIO | MAX_PAGES;
}

/// Flags of open files: direct I/O, no flush at close, parallel writes.
pub(super) mod open {
    pub(crate) const DIRECT_IO: u32 = 1 << 0;
    pub(crate) const NOFLUSH: u32 = 1 << 5;
    pub(crate) const PARALLEL_DIRECT_WRITES: u32 = 1 << 6;
}

/// Attributes to be set.
pub(super) mod attribute {
    pub(crate) const MODE: u32 = 1 << 0;
    pub(crate) const UID: u32 = 1 << 1;
    pub(crate) const GID: u32 = 1 << 2;
    pub(crate) const SIZE: u32 = 1 << 3;
}

/// Reads the fields of a request in order; [`Errno::INVAL`] past the end.
pub(super) struct AbiFields<'a>(ByteReader<'a>);

impl<'a> AbiFields<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(ByteReader(bytes))
    }

    pub(super) fn skip(&mut self, bytes: usize) -> Result<(), Errno> {
        self.0.take(bytes).map(drop).ok_or(Errno::INVAL)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Errno> {
        self.0.array().map(u32::from_ne_bytes).ok_or(Errno::INVAL)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Errno> {
        self.0.array().map(u64::from_ne_bytes).ok_or(Errno::INVAL)
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.0.0
    }
}
