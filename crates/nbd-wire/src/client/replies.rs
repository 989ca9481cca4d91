//! Replies taken apart: protocol document, "Simple reply message" and "Structured reply types".
//!
//! Only the head of a reply is looked at, in place; the bytes of a read follow it and are the caller's to move.

use crate::bytes::ByteReader;
use crate::number::STRING_MOST;
use crate::{Errno, reply};

/// As many bytes as [`ServerReply::decode`] may want to see before it can tell what a reply is.
pub const REPLY_HEADER_MOST: usize = HEADER + ERROR_MOST;

/// The head of every chunk, in bytes.
const HEADER: usize = 20;
/// The longest payload of an error: its words, and what stands around them.
const ERROR_MOST: usize = STRING_MOST + 64;
/// The shortest payloads of both kinds of errors.
const ERROR_LEAST: usize = 6;
const ERROR_OFFSET_LEAST: usize = 14;

/// The head of a reply, or of one part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerReply<'a> {
    /// Of the request that it answers.
    pub cookie: u64,
    /// Whether nothing else follows about this request.
    pub last: bool,
    /// What it says.
    pub part: ReplyPart<'a>,
}

/// Content of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyPart<'a> {
    /// The request went well. Where it was a read and replies are simple, all of its bytes follow.
    Done,
    /// Bytes of a read follow.
    Data {
        /// Where they are in the export; [`ReplyPart::place`] says where that is in the request.
        offset: u64,
        /// How many.
        length: u32,
    },
    /// Bytes of a read are zeroes, and do not follow.
    Hole {
        /// Where they are in the export.
        offset: u64,
        /// How many.
        length: u32,
    },
    /// What is allocated follows, in pieces of [`StatusExtent::BYTES`].
    Status {
        /// Which metadata context.
        context: u32,
        /// How many pieces; at least one.
        extents: u32,
    },
    /// The request, or a part of it, failed.
    Failed {
        /// Why.
        errno: Errno,
        /// Where in the export, if the server says so.
        offset: Option<u64>,
        /// What the server says to people: UTF-8 if it is well-behaved.
        words: &'a [u8],
    },
}

/// A stretch of bytes in the answer to `NBD_CMD_BLOCK_STATUS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusExtent {
    /// How many bytes.
    pub length: u32,
    /// What is to be said of them; for `base:allocation` 1 for a hole and 2 for zeroes.
    pub flags: u32,
}

impl StatusExtent {
    /// How long one is on the wire.
    pub const BYTES: usize = 8;

    /// Takes one apart.
    #[must_use]
    pub fn decode(bytes: [u8; Self::BYTES]) -> Self {
        let bits = u64::from_be_bytes(bytes);
        Self { length: (bits >> 32) as u32, flags: bits as u32 }
    }
}

/// The server does what the document forbids: nothing after it can be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Neither kind of reply begins so.
    #[error("a reply begins with {0:#010x}")]
    Magic(u32),
    /// Structured replies were not negotiated.
    #[error("a structured reply comes unasked")]
    Unasked,
    /// A chunk of no known type that is no error.
    #[error("a chunk has the unknown type {0}")]
    Type(u16),
    /// A chunk whose length its type does not allow.
    #[error("a chunk of type {kind:#x} has a payload of {length} bytes")]
    Length {
        /// Its type.
        kind: u16,
        /// Its length in bytes.
        length: u32,
    },
    /// An error that is none.
    #[error("an error chunk says that there is no error")]
    NoError,
    /// A last chunk that does not say so.
    #[error("a chunk without content is not the last of its reply")]
    NotLast,
    /// Bytes that were not requested.
    #[error("{length} bytes at {offset} are outside of what was read")]
    Outside {
        /// Where.
        offset: u64,
        /// How many.
        length: u32,
    },
}

/// The fixed part of a chunk.
struct ReplyChunk {
    last: bool,
    kind: u16,
    cookie: u64,
    length: u32,
}

impl<'a> ServerReply<'a> {
    /// Reads the head of a reply at the beginning of `input` and tells how many bytes it has; `None` while it is not whole.
    ///
    /// # Errors
    /// When the server breaks the protocol.
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

    /// How many bytes follow the head; `read` is how many a read has asked for whose replies are simple, else zero.
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
    /// Where in a read of `length` bytes from `offset` on the bytes of this part belong; empty where it has none.
    ///
    /// # Errors
    /// When they are none of the read's.
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

/// What the payload of each type says; `None` while too little of it is there.
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

    /// Also errors of unknown types, which all begin alike.
    fn failed<'a>(&self, reader: &mut ByteReader<'a>) -> Result<Option<ReplyPart<'a>>, Malformed> {
        let length = self.length as usize;
        let has_offset = self.kind == reply::ERROR_OFFSET;
        let least = if has_offset { ERROR_OFFSET_LEAST } else { ERROR_LEAST };
        if !(least..=ERROR_MOST).contains(&length) {
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
