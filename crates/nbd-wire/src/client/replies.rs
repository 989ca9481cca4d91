//! Parses replies: protocol document, "Simple reply message" and "Structured reply types".
//!
//! Only the header of a reply is parsed, in place; the caller receives the data that follows it.

use crate::bytes::ByteReader;
use crate::number::MAX_STRING;
use crate::{Errno, reply};

/// Maximum number of bytes that [`ServerReply::decode`] needs to parse a reply.
pub const REPLY_HEADER_MOST: usize = HEADER + MAX_ERROR;

/// Length of a chunk's header, in bytes.
const HEADER: usize = 20;
/// Longest payload of an error: its message and its fields.
const MAX_ERROR: usize = MAX_STRING + 64;
/// Shortest payloads of both kinds of errors.
const MIN_ERROR: usize = 6;
const MIN_ERROR_OFFSET: usize = 14;

/// The header of a reply or of one of its chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerReply<'a> {
    /// Identifier of the request.
    pub cookie: u64,
    /// Whether this is the last chunk of the reply.
    pub last: bool,
    /// Content.
    pub part: ReplyPart<'a>,
}

/// Content of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyPart<'a> {
    /// Success. All data follows if the request was a read and replies are simple.
    Done,
    /// Data of a read follows.
    Data {
        /// Offset in the export; [`ReplyPart::place`] converts it to one in the request.
        offset: u64,
        /// Length in bytes.
        length: u32,
    },
    /// A range of a read is zero; no data follows.
    Hole {
        /// Offset in the export.
        offset: u64,
        /// Length in bytes.
        length: u32,
    },
    /// Extents follow, each of [`StatusExtent::BYTES`].
    Status {
        /// ID of the metadata context.
        context: u32,
        /// Number of extents; at least one.
        extents: u32,
    },
    /// The request or a part of it failed.
    Failed {
        /// Reason.
        errno: Errno,
        /// Offset of the failure in the export, if known.
        offset: Option<u64>,
        /// Message of the server, which should be UTF-8.
        words: &'a [u8],
    },
}

/// An extent in the reply to `NBD_CMD_BLOCK_STATUS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusExtent {
    /// Length in bytes.
    pub length: u32,
    /// Status flags; of `base:allocation`, 1 for a hole and 2 for zeroes.
    pub flags: u32,
}

impl StatusExtent {
    /// Length on the wire, in bytes.
    pub const BYTES: usize = 8;

    /// Parses an extent.
    #[must_use]
    pub fn decode(bytes: [u8; Self::BYTES]) -> Self {
        let bits = u64::from_be_bytes(bytes);
        Self { length: (bits >> 32) as u32, flags: bits as u32 }
    }
}

/// Violations of the protocol. Nothing after them can be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The magic number is unknown.
    #[error("a reply starts with {0:#010x}")]
    Magic(u32),
    /// Structured replies were not negotiated.
    #[error("unexpected structured reply")]
    Unasked,
    /// The type of a chunk is unknown and no error.
    #[error("unknown chunk type {0}")]
    Type(u16),
    /// The type of a chunk does not allow its length.
    #[error("a chunk of type {kind:#x} has a payload of {length} bytes")]
    Length {
        /// Type of the chunk.
        kind: u16,
        /// Length in bytes.
        length: u32,
    },
    /// An error chunk has error number 0.
    #[error("an error chunk without an error")]
    NoError,
    /// The only chunk without content is not marked as the last.
    #[error("an empty chunk is not the last of its reply")]
    NotLast,
    /// Data outside the requested range.
    #[error("{length} bytes at {offset} are outside the requested range")]
    Outside {
        /// Offset in the export.
        offset: u64,
        /// Length in bytes.
        length: u32,
    },
}

struct ReplyChunk {
    last: bool,
    kind: u16,
    cookie: u64,
    length: u32,
}

impl<'a> ServerReply<'a> {
    /// Parses the header at the start of `input` and returns its length; `None` while it is incomplete.
    ///
    /// # Errors
    /// When the server violates the protocol.
    #[inline]
    pub fn decode(input: &'a [u8], structured: bool) -> Result<Option<(usize, Self)>, Malformed> {
        let Some(magic) = input.first_chunk().map(|bytes| u32::from_be_bytes(*bytes)) else { return Ok(None) };
        match magic {
            reply::SIMPLE => Ok(Self::simple(input)),
            reply::CHUNK if structured => Self::chunk(input),
            reply::CHUNK => Err(Malformed::Unasked),
            magic => Err(Malformed::Magic(magic)),
        }
    }

    /// Returns the number of bytes after the header; `read` is the length of a read with simple replies, else zero.
    #[inline]
    #[must_use]
    pub fn payload(&self, read: u32) -> u64 {
        match self.part {
            ReplyPart::Done => u64::from(read),
            ReplyPart::Data { length, .. } => u64::from(length),
            ReplyPart::Status { extents, .. } => u64::from(extents) * StatusExtent::BYTES as u64,
            ReplyPart::Hole { .. } | ReplyPart::Failed { .. } => 0,
        }
    }

    #[inline]
    fn simple(input: &'a [u8]) -> Option<(usize, Self)> {
        let header = input.first_chunk::<16>()?;
        let mut reader = ByteReader(&header[4..]);
        let (error, cookie) = (reader.u32()?, reader.u64()?);
        let part = match error {
            0 => ReplyPart::Done,
            number => ReplyPart::Failed { errno: errno(number), offset: None, words: &[] },
        };
        Some((header.len(), Self { cookie, last: true, part }))
    }

    #[inline]
    fn chunk(input: &'a [u8]) -> Result<Option<(usize, Self)>, Malformed> {
        let mut reader = ByteReader(input);
        let Some(chunk) = ReplyChunk::read(&mut reader) else { return Ok(None) };
        let part = match chunk.kind {
            reply::OFFSET_DATA => chunk.data(&mut reader)?,
            reply::NONE => chunk.none()?,
            reply::OFFSET_HOLE => chunk.hole(&mut reader)?,
            reply::BLOCK_STATUS => chunk.status(&mut reader)?,
            kind if kind & reply::ERRORS != 0 => chunk.failed(&mut reader)?,
            kind => return Err(Malformed::Type(kind)),
        };
        let consumed = input.len() - reader.0.len();
        Ok(part.map(|part| (consumed, Self { cookie: chunk.cookie, last: chunk.last, part })))
    }
}

impl ReplyPart<'_> {
    /// Returns the range of this part within a read of `length` bytes at `offset`; empty if it has no data.
    ///
    /// # Errors
    /// When it is outside the read.
    #[inline]
    pub fn place(&self, offset: u64, length: u32) -> Result<std::ops::Range<usize>, Malformed> {
        let (Self::Data { offset: at, length: some } | Self::Hole { offset: at, length: some }) = *self else {
            return Ok(0..0);
        };
        let inside = |begin: &u64| begin.saturating_add(u64::from(some)) <= u64::from(length);
        let begin = at.checked_sub(offset).filter(inside);
        let begin = begin.ok_or(Malformed::Outside { offset: at, length: some })? as usize;
        Ok(begin..begin + some as usize)
    }
}

/// Parsers of payloads; `None` while a payload is incomplete.
impl ReplyChunk {
    #[inline]
    fn read(reader: &mut ByteReader<'_>) -> Option<Self> {
        reader.u32()?;
        let last = reader.u16()? & reply::DONE != 0;
        Some(Self { last, kind: reader.u16()?, cookie: reader.u64()?, length: reader.u32()? })
    }

    #[inline]
    fn data(&self, reader: &mut ByteReader<'_>) -> Result<Option<ReplyPart<'static>>, Malformed> {
        let length = self.length.checked_sub(8).filter(|&length| length > 0).ok_or_else(|| self.wrong())?;
        Ok(reader.u64().map(|offset| ReplyPart::Data { offset, length }))
    }

    fn none(&self) -> Result<Option<ReplyPart<'static>>, Malformed> {
        match (self.length, self.last) {
            (0, true) => Ok(Some(ReplyPart::Done)),
            (0, false) => Err(Malformed::NotLast),
            _ => Err(self.wrong()),
        }
    }

    fn hole(&self, reader: &mut ByteReader<'_>) -> Result<Option<ReplyPart<'static>>, Malformed> {
        if self.length != 12 {
            return Err(self.wrong());
        }
        match reader.u64().zip(reader.u32()) {
            Some((_, 0)) => Err(self.wrong()),
            hole => Ok(hole.map(|(offset, length)| ReplyPart::Hole { offset, length })),
        }
    }

    fn status(&self, reader: &mut ByteReader<'_>) -> Result<Option<ReplyPart<'static>>, Malformed> {
        let extents = self.length.checked_sub(4).filter(|&bytes| bytes > 0 && bytes % 8 == 0);
        let extents = extents.ok_or_else(|| self.wrong())? / 8;
        Ok(reader.u32().map(|context| ReplyPart::Status { context, extents }))
    }

    /// Parses all errors; those of unknown types have the same first fields.
    fn failed<'a>(&self, reader: &mut ByteReader<'a>) -> Result<Option<ReplyPart<'a>>, Malformed> {
        let length = self.length as usize;
        let has_offset = self.kind == reply::ERROR_OFFSET;
        let least = if has_offset { MIN_ERROR_OFFSET } else { MIN_ERROR };
        if !(least..=MAX_ERROR).contains(&length) {
            return Err(self.wrong());
        }
        let Some(payload) = reader.take(length) else { return Ok(None) };
        let mut payload = ByteReader(payload);
        let (Some(number), Some(words)) = (payload.u32(), payload.u16()) else { return Err(self.wrong()) };
        let words = payload.take(usize::from(words)).ok_or_else(|| self.wrong())?;
        let offset = if has_offset { Some(payload.u64().ok_or_else(|| self.wrong())?) } else { None };
        if number == 0 {
            return Err(Malformed::NoError);
        }
        Ok(Some(ReplyPart::Failed { errno: errno(number), offset, words }))
    }

    fn wrong(&self) -> Malformed {
        Malformed::Length { kind: self.kind, length: self.length }
    }
}

fn errno(number: u32) -> Errno {
    Errno::from_os(i32::try_from(number).unwrap_or(0))
}
