//! Replies to the kernel.

use rustix::io::Errno;

use super::abi;
use nbd_wire as wire;

const HEADER_BYTES: usize = 16;
/// Length of the longest body, that of attributes.
const BODY_BYTES: usize = 104;

/// A reply, to be written with one `write` or `writev`: [`FuseReply::bytes`], then the data of a read, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FuseReply {
    bytes: [u8; HEADER_BYTES + BODY_BYTES],
    used: usize,
    payload: u32,
}

impl FuseReply {
    fn new(unique: u64, errno: i32) -> Self {
        let mut bytes = [0; HEADER_BYTES + BODY_BYTES];
        bytes[4..8].copy_from_slice(&(-errno).to_ne_bytes());
        bytes[8..16].copy_from_slice(&unique.to_ne_bytes());
        Self { bytes, used: HEADER_BYTES, payload: 0 }.sealed()
    }

    pub(super) fn done(unique: u64) -> Self {
        Self::new(unique, 0)
    }

    /// Reports failure.
    #[must_use]
    pub fn failed(unique: u64, errno: Errno) -> Self {
        Self::new(unique, errno.raw_os_error())
    }

    pub(super) fn read(unique: u64, payload: u32) -> Self {
        Self { payload, ..Self::done(unique) }.sealed()
    }

    pub(super) fn written(unique: u64, length: u32) -> Self {
        Self::done(unique).u32(length).zeroes(4)
    }

    /// Reports the offset that `lseek` found.
    pub(super) fn position(unique: u64, offset: u64) -> Self {
        Self::done(unique).u64(offset)
    }

    pub(super) fn opened(unique: u64) -> Self {
        let flags = abi::open::DIRECT_IO | abi::open::NOFLUSH | abi::open::PARALLEL_DIRECT_WRITES;
        Self::done(unique).u64(0).u32(flags).zeroes(4)
    }

    pub(super) fn init(unique: u64, minor: u32, readahead: u32, flags: u32) -> Self {
        let reply = Self::done(unique).u32(abi::MAJOR).u32(minor).u32(readahead).u32(flags);
        let reply = reply.u16(MAX_IN_FLIGHT).u16(MAX_IN_FLIGHT / 4 * 3).u32(abi::MOST_BYTES);
        reply.u32(1).u16(abi::MAX_PAGES_PER_REQUEST).u16(0).zeroes(32)
    }

    /// Reports the supported version to a newer kernel, which then retries with it.
    pub(super) fn older(unique: u64) -> Self {
        Self::done(unique).u32(abi::MAJOR).u32(abi::MINOR).zeroes(56)
    }

    /// Reports the attributes of a regular file; they never change.
    pub(super) fn attributes(unique: u64, size: u64, mode: u32, (user, group): (u32, u32), block_bytes: u32) -> Self {
        let reply = Self::done(unique).u64(ATTRIBUTE_TIMEOUT_S).u32(0).zeroes(4);
        let reply = reply.u64(abi::ROOT).u64(size).u64(size.div_ceil(512)).zeroes(3 * 8 + 3 * 4);
        reply.u32(mode).u32(1).u32(user).u32(group).u32(0).u32(block_bytes).u32(0)
    }

    /// Reports the statistics of a filesystem that its single file fills.
    pub(super) fn statistics(unique: u64, size: u64, block_bytes: u32) -> Self {
        let reply = Self::done(unique).u64(size.div_ceil(u64::from(block_bytes))).zeroes(2 * 8);
        reply.u64(1).u64(0).u32(block_bytes).u32(NAME_BYTES).u32(block_bytes).zeroes(7 * 4)
    }

    /// Returns the bytes to write first.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.used]
    }

    /// Returns how many bytes of data must follow in the same call.
    #[must_use]
    pub fn payload_bytes(&self) -> u32 {
        self.payload
    }

    fn u16(self, value: u16) -> Self {
        self.put(&value.to_ne_bytes())
    }

    fn u32(self, value: u32) -> Self {
        self.put(&value.to_ne_bytes())
    }

    fn u64(self, value: u64) -> Self {
        self.put(&value.to_ne_bytes())
    }

    fn put(mut self, field: &[u8]) -> Self {
        self.bytes[self.used..self.used + field.len()].copy_from_slice(field);
        self.zeroes(field.len())
    }

    fn zeroes(mut self, count: usize) -> Self {
        self.used += count;
        self.sealed()
    }

    fn sealed(mut self) -> Self {
        let length = self.used as u32 + self.payload;
        self.bytes[..4].copy_from_slice(&length.to_ne_bytes());
        self
    }
}

/// Maximum background requests of the kernel. Its default of 12 would limit every queue depth.
const MAX_IN_FLIGHT: u16 = 1024;
/// Ten years, in seconds.
const ATTRIBUTE_TIMEOUT_S: u64 = 315_360_000;
const NAME_BYTES: u32 = 255;

/// Builds the reply to an operation in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyTicket {
    unique: u64,
    awaits: Awaits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaits {
    Bytes(u32),
    Count(u32),
    End,
}

impl ReplyTicket {
    pub(super) fn read(unique: u64, length: u32) -> Self {
        Self { unique, awaits: Awaits::Bytes(length) }
    }

    pub(super) fn write(unique: u64, length: u32) -> Self {
        Self { unique, awaits: Awaits::Count(length) }
    }

    pub(super) fn end(unique: u64) -> Self {
        Self { unique, awaits: Awaits::End }
    }

    /// Returns the reply to the ended operation. For a successful read, all requested bytes must follow it.
    #[must_use]
    pub fn reply(self, result: Result<(), wire::Errno>) -> FuseReply {
        match (result, self.awaits) {
            (Err(errno), _) => FuseReply::failed(self.unique, system(errno)),
            (Ok(()), Awaits::Bytes(length)) => FuseReply::read(self.unique, length),
            (Ok(()), Awaits::Count(length)) => FuseReply::written(self.unique, length),
            (Ok(()), Awaits::End) => FuseReply::done(self.unique),
        }
    }
}

/// Converts an NBD error, whose number is that of Linux.
pub(super) fn system(errno: wire::Errno) -> Errno {
    Errno::from_raw_os_error(errno.number() as i32)
}
