//! Parses and answers requests of the kernel.

use rustix::io::Errno;

use super::abi::{self, AbiFields, opcode};
use super::reply::{FuseReply, ReplyTicket};
use super::seek::SeekFilesystem;
use crate::store::Operation;

/// The single file of a mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Size in bytes, which never changes.
    pub size: u64,
    /// Preferred unit of I/O and, for loop devices, of discards, in bytes; never zero.
    pub block_bytes: u32,
    /// Whether writes are refused.
    pub read_only: bool,
    /// Owner: user and group.
    pub owner: (u32, u32),
}

/// A parsed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FuseRequest<'a> {
    /// Number that identifies the request in its reply.
    pub unique: u64,
    /// Required action.
    pub ask: Ask<'a>,
}

/// The action that a request requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask<'a> {
    /// Execute the operation, which is within the disk, then send [`ReplyTicket::reply`].
    Do(ReplyTicket, Operation<&'a [u8]>),
    /// Send [`SeekFilesystem::answer`].
    Seek(SeekFilesystem),
    /// Send this reply; the disk is not involved.
    Answer(FuseReply),
    /// Send no reply.
    Nothing,
}

/// Constants of `fcntl.h` and `falloc.h`.
const ACCESS_MODE: u32 = 3;
const DSYNC: u32 = 0o10000;
const KEEP_SIZE: u32 = 1;
const PUNCH_HOLE: u32 = 2;
const ZERO_RANGE: u32 = 0x10;
const SEEK_DATA: u32 = 3;
const SEEK_HOLE: u32 = 4;
const REGULAR: u32 = 0o100_000;

impl Node {
    /// Parses the request that one read of `/dev/fuse` returned. Invalid fields are answered with an error; `None` if
    /// it is shorter than a header or its length contradicts its header.
    #[must_use]
    pub fn request<'a>(&self, bytes: &'a [u8]) -> Option<FuseRequest<'a>> {
        let mut fields = AbiFields::new(bytes);
        let (length, code, unique) = (fields.u32().ok()?, fields.u32().ok()?, fields.u64().ok()?);
        // Skips node, user, group, process and extensions: there is one node, and the kernel has checked permissions.
        fields.skip(24).ok()?;
        if usize::try_from(length) != Ok(bytes.len()) {
            return None;
        }
        let failed = |errno| Ask::Answer(FuseReply::failed(unique, errno));
        Some(FuseRequest { unique, ask: self.ask(code, unique, &mut fields).unwrap_or_else(failed) })
    }

    /// Parses the body of a request, `struct fuse_…_in`.
    fn ask<'a>(&self, code: u32, unique: u64, fields: &mut AbiFields<'a>) -> Result<Ask<'a>, Errno> {
        match code {
            opcode::READ => self.read(unique, fields),
            opcode::WRITE => self.write(unique, fields),
            opcode::FSYNC => Ok(Ask::Do(ReplyTicket::end(unique), Operation::Flush)),
            opcode::FALLOCATE => self.allocate(unique, fields),
            opcode::LSEEK => self.seek(unique, fields),
            opcode::INIT => init(unique, fields),
            opcode::OPEN => self.open(fields.u32()?).map(|()| Ask::Answer(FuseReply::opened(unique))),
            opcode::GETATTR => Ok(Ask::Answer(self.attributes(unique))),
            opcode::SETATTR => self.set(fields).map(|()| Ask::Answer(self.attributes(unique))),
            opcode::STATFS => Ok(Ask::Answer(FuseReply::statistics(unique, self.size, self.block_bytes))),
            opcode::ACCESS | opcode::FLUSH | opcode::RELEASE | opcode::DESTROY => {
                Ok(Ask::Answer(FuseReply::done(unique)))
            }
            // An interrupted request is still answered when it ends, as on a disk.
            opcode::FORGET | opcode::BATCH_FORGET | opcode::INTERRUPT => Ok(Ask::Nothing),
            _ => Err(Errno::NOSYS),
        }
    }

    fn read<'a>(&self, unique: u64, fields: &mut AbiFields<'_>) -> Result<Ask<'a>, Errno> {
        let _handle = fields.u64()?;
        let (offset, length) = (fields.u64()?, fields.u32()?);
        if length > abi::MOST_BYTES {
            return Err(Errno::INVAL);
        }
        Ok(match self.within(offset, u64::from(length)) as u32 {
            0 => Ask::Answer(FuseReply::read(unique, 0)),
            length => Ask::Do(ReplyTicket::read(unique, length), Operation::Read { offset, length }),
        })
    }

    /// Clips a write at the end of the file, as a disk does.
    fn write<'a>(&self, unique: u64, fields: &mut AbiFields<'a>) -> Result<Ask<'a>, Errno> {
        let _handle = fields.u64()?;
        let (offset, length, _flags, _owner) = (fields.u64()?, fields.u32()?, fields.u32()?, fields.u64()?);
        let (flags, _padding) = (fields.u32()?, fields.u32()?);
        let (data, durable) = (fields.rest(), flags & DSYNC != 0);
        if usize::try_from(length) != Ok(data.len()) {
            return Err(Errno::INVAL);
        }
        self.open(1)?;
        let length = self.within(offset, data.len() as u64) as usize;
        match (length, data.len()) {
            (0, 0) => Ok(Ask::Answer(FuseReply::written(unique, 0))),
            (0, _) => Err(Errno::NOSPC),
            _ => {
                let data = &data[..length];
                Ok(Ask::Do(ReplyTicket::write(unique, length as u32), Operation::Write { offset, data, durable }))
            }
        }
    }

    /// Both modes write zeroes: a punched hole may be deallocated, a zero range stays allocated. Preallocation is not
    /// supported.
    fn allocate<'a>(&self, unique: u64, fields: &mut AbiFields<'_>) -> Result<Ask<'a>, Errno> {
        let _handle = fields.u64()?;
        let (offset, length, mode) = (fields.u64()?, fields.u64()?, fields.u32()?);
        let allocated = match mode & !KEEP_SIZE {
            PUNCH_HOLE => false,
            ZERO_RANGE => true,
            _ => return Err(Errno::OPNOTSUPP),
        };
        self.open(1)?;
        let within = self.within(offset, length);
        if within < length && mode & KEEP_SIZE == 0 {
            return Err(Errno::NOSPC);
        }
        if within == 0 {
            return Ok(Ask::Answer(FuseReply::done(unique)));
        }
        let zero = Operation::Zero { offset, length: within, durable: false, allocated, fast: false };
        Ok(Ask::Do(ReplyTicket::end(unique), zero))
    }

    fn seek<'a>(&self, unique: u64, fields: &mut AbiFields<'_>) -> Result<Ask<'a>, Errno> {
        let _handle = fields.u64()?;
        let (from, whence) = (fields.u64()?, fields.u32()?);
        match whence {
            SEEK_DATA | SEEK_HOLE => {
                Ok(Ask::Seek(SeekFilesystem { unique, from, size: self.size, hole: whence == SEEK_HOLE }))
            }
            _ => Err(Errno::INVAL),
        }
    }

    fn open(&self, flags: u32) -> Result<(), Errno> {
        if self.read_only && flags & ACCESS_MODE != 0 { Err(Errno::ROFS) } else { Ok(()) }
    }

    /// Ignores times; refuses to change size, owner and mode.
    fn set(&self, fields: &mut AbiFields<'_>) -> Result<(), Errno> {
        let (valid, _padding, _handle, size) = (fields.u32()?, fields.u32()?, fields.u64()?, fields.u64()?);
        let fixed = abi::attribute::MODE | abi::attribute::UID | abi::attribute::GID;
        let resized = valid & abi::attribute::SIZE != 0 && size != self.size;
        if valid & fixed != 0 || resized { Err(Errno::PERM) } else { Ok(()) }
    }

    fn attributes(&self, unique: u64) -> FuseReply {
        let mode = REGULAR | if self.read_only { 0o400 } else { 0o600 };
        FuseReply::attributes(unique, self.size, mode, self.owner, self.block_bytes)
    }

    /// Returns the length of a range clipped to the file.
    fn within(&self, offset: u64, length: u64) -> u64 {
        length.min(self.size.saturating_sub(offset))
    }
}

/// Negotiates the protocol. A kernel that is too old gets an error, which ends its mount.
fn init<'a>(unique: u64, fields: &mut AbiFields<'_>) -> Result<Ask<'a>, Errno> {
    let (major, minor, readahead, flags) = (fields.u32()?, fields.u32()?, fields.u32()?, fields.u32()?);
    match major {
        abi::MAJOR if minor >= abi::OLDEST_MINOR => {
            let flags = flags & abi::init::WANTED;
            Ok(Ask::Answer(FuseReply::init(unique, minor.min(abi::MINOR), readahead, flags)))
        }
        major if major > abi::MAJOR => Ok(Ask::Answer(FuseReply::older(unique))),
        _ => Err(Errno::PROTO),
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
