//! Writes replies of the transmission phase.

use super::{Errno, NbdRequest};
use crate::Extent;

/// Negotiated style of replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyStyle {
    /// An error number and, for reads, the data.
    Simple,
    /// Typed chunks.
    Structured,
    /// Typed chunks with offsets and 64-bit lengths.
    Extended,
}

pub(super) const SIMPLE: u32 = 0x6744_6698;
pub(super) const CHUNK: u32 = 0x668e_33ef;
const EXTENDED_CHUNK: u32 = 0x6e8a_278c;

pub(super) const DONE: u16 = 1;

pub(super) const NONE: u16 = 0;
pub(super) const OFFSET_DATA: u16 = 1;
pub(super) const OFFSET_HOLE: u16 = 2;
pub(super) const BLOCK_STATUS: u16 = 5;
const BLOCK_STATUS_EXT: u16 = 6;
/// Bit of all error types.
pub(super) const ERRORS: u16 = 1 << 15;
const ERROR: u16 = ERRORS | 1;
pub(super) const ERROR_OFFSET: u16 = ERRORS | 2;

/// Bits of an extent in the context `base:allocation`.
const STATE_HOLE: u32 = 1;
const STATE_ZERO: u32 = 2;

/// Longest message, in bytes.
const MAX_STRING_BYTES: usize = 4096;

impl ReplyStyle {
    /// Appends the header of the data of a read, all of which must follow.
    #[inline]
    pub fn data(self, request: &NbdRequest, out: &mut Vec<u8>) {
        match self {
            Self::Simple => self.done(request, out),
            Self::Structured | Self::Extended => {
                self.chunk(OFFSET_DATA, request, request.length + 8, out);
                out.extend_from_slice(&request.offset.to_be_bytes());
            }
        }
    }

    /// Appends the reply to a successful request without data.
    #[inline]
    pub fn done(self, request: &NbdRequest, out: &mut Vec<u8>) {
        match self {
            Self::Simple => simple(0, request, out),
            Self::Structured | Self::Extended => self.chunk(NONE, request, 0, out),
        }
    }

    /// Appends the reply to a failed request; `why` is a message for users.
    pub fn error(self, request: &NbdRequest, errno: Errno, why: &str, out: &mut Vec<u8>) {
        if self == Self::Simple {
            return simple(errno.number(), request, out);
        }
        let most = (0..=why.len().min(MAX_STRING_BYTES)).rfind(|&end| why.is_char_boundary(end));
        let why = &why.as_bytes()[..most.unwrap_or(0)];
        self.chunk(ERROR, request, 6 + why.len() as u64, out);
        out.extend_from_slice(&errno.number().to_be_bytes());
        out.extend_from_slice(&(why.len() as u16).to_be_bytes());
        out.extend_from_slice(why);
    }

    /// Appends the extents of a range in the metadata context `context`.
    pub fn extents(self, request: &NbdRequest, context: u32, extents: &[Extent], out: &mut Vec<u8>) {
        let count = extents.len() as u64;
        if self == Self::Extended {
            self.chunk(BLOCK_STATUS_EXT, request, 8 + 16 * count, out);
            out.extend_from_slice(&context.to_be_bytes());
            out.extend_from_slice(&(count as u32).to_be_bytes());
        } else {
            self.chunk(BLOCK_STATUS, request, 4 + 8 * count, out);
            out.extend_from_slice(&context.to_be_bytes());
        }
        for extent in extents {
            let state = (u32::from(extent.hole) * STATE_HOLE) | (u32::from(extent.zero) * STATE_ZERO);
            if self == Self::Extended {
                out.extend_from_slice(&extent.length.to_be_bytes());
                out.extend_from_slice(&u64::from(state).to_be_bytes());
            } else {
                out.extend_from_slice(&(extent.length as u32).to_be_bytes());
                out.extend_from_slice(&state.to_be_bytes());
            }
        }
    }

    /// Appends the header of a reply's only chunk.
    #[inline]
    fn chunk(self, kind: u16, request: &NbdRequest, length: u64, out: &mut Vec<u8>) {
        let extended = self == Self::Extended;
        out.extend_from_slice(&(if extended { EXTENDED_CHUNK } else { CHUNK }).to_be_bytes());
        out.extend_from_slice(&DONE.to_be_bytes());
        out.extend_from_slice(&kind.to_be_bytes());
        out.extend_from_slice(&request.cookie.to_be_bytes());
        if extended {
            out.extend_from_slice(&request.offset.to_be_bytes());
            out.extend_from_slice(&length.to_be_bytes());
        } else {
            out.extend_from_slice(&(length as u32).to_be_bytes());
        }
    }
}

#[inline]
fn simple(error: u32, request: &NbdRequest, out: &mut Vec<u8>) {
    out.extend_from_slice(&SIMPLE.to_be_bytes());
    out.extend_from_slice(&error.to_be_bytes());
    out.extend_from_slice(&request.cookie.to_be_bytes());
}
